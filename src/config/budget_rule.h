/* SPDX-License-Identifier: MIT */
/*
 * budget_rule.h - parses Budget= of the configuration: how much GPU time users or cgroups get
 *
 * Pure, except for the time zone.
 */
#ifndef GPUSCHED_CONFIG_BUDGET_RULE_H
#define GPUSCHED_CONFIG_BUDGET_RULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "basic/error.h"
#include "classify/user_names.h"

struct gs_config;
struct gs_texts;

enum gs_period { GS_PERIOD_DAY, GS_PERIOD_WEEK, GS_PERIOD_MONTH };
const char *gs_budget_period_name(enum gs_period p);
/* The period that contains @at_s (since 1970), in local time; a week begins on Monday. */
void gs_budget_period_of(enum gs_period p, int64_t at_s, int64_t *ret_begins_s,
			 int64_t *ret_ends_s);

struct gs_budget_rule {
	bool by_user;
	bool every; /* user=*: each user other than root has a budget */
	uid_t uid;  /* with by_user, unless @every */
	/* without by_user: a pattern; each cgroup that it matches has its own budget */
	char cgroup[1024];
	enum gs_period period;
	uint64_t ns;
	/*
	 * over=stop: when the budget is used up, programs are suspended even if nobody else waits.
	 */
	bool stop;
	/* for spending.h: use from before the daemon's start is counted, as far as known */
	bool known;
};

struct gs_budget_rules {
	struct gs_budget_rule *all;
	size_t n;
};

/*
 * Parses one line: user=NAME|uid=N|user=*|cgroup=PATTERN gpu_seconds=N per=day|week|month
 * [over=wait|stop]. Returns GS_NAME_WAITS, with the reason in @err, if its user is not known yet.
 */
int gs_budget_rule_parse(const char *line, enum gs_naming naming, struct gs_budget_rule *ret,
			 struct gs_error *err);
/*
 * Parses all lines of @c. Errors name file and line. Lines that wait for a name are not among
 * *@ret; they are added to @waiting, which may be NULL with GS_NAMING_STRICT.
 */
int gs_config_budgets(const struct gs_config *c, enum gs_naming naming, struct gs_texts *waiting,
		      struct gs_budget_rules *ret, struct gs_error *err);
void gs_budget_rules_done(struct gs_budget_rules *rules);

/*
 * True if @rule counts a process of @uid in @cgroup. @ret_name: the name under which the use is
 * summed. It is the uid, or the highest cgroup on the path @cgroup that the pattern matches.
 */
bool gs_budget_rule_counts(const struct gs_budget_rule *rule, uid_t uid, const char *cgroup,
			   char *ret_name, size_t size);

#endif /* GPUSCHED_CONFIG_BUDGET_RULE_H */
