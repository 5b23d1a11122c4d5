/* SPDX-License-Identifier: MIT */
/*
 * budget_rule.h - Budget= of the configuration: the GPU time of users or cgroups, and how much each
 * may have
 *
 * Pure, but for the time zone.
 */
#ifndef GPUSCHED_CONFIG_BUDGET_RULE_H
#define GPUSCHED_CONFIG_BUDGET_RULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "basic/error.h"

struct gs_config;

enum gs_period { GS_PERIOD_DAY, GS_PERIOD_WEEK, GS_PERIOD_MONTH };
const char *gs_period_name(enum gs_period p);
/* The one that @at_s (since 1970) is in: local time, a week begins on Monday. */
void gs_period_of(enum gs_period p, int64_t at_s, int64_t *ret_begins_s, int64_t *ret_ends_s);

struct gs_budget_rule {
	bool by_user;
	bool every;        /* user=*: each but root has one */
	uid_t uid;         /* with by_user, unless every */
	char cgroup[1024]; /* without by_user: a pattern; each cgroup that it matches has one */
	enum gs_period period;
	uint64_t ns;
	bool stop;  /* over=stop: without time left it is suspended, though nobody else waits */
	bool known; /* spending.h's: what was used before is known, as far as anybody knows */
};

struct gs_budget_rules {
	struct gs_budget_rule *all;
	size_t n;
};

/* One line: user=NAME|uid=N|user=*|cgroup=PATTERN gpu_seconds=N per=day|week|month [over=wait|stop] */
int gs_budget_rule_parse(const char *line, struct gs_budget_rule *ret, struct gs_error *err);
/* All of @c. Errors name file and line. */
int gs_config_budgets(const struct gs_config *c, struct gs_budget_rules *ret, struct gs_error *err);
void gs_budget_rules_done(struct gs_budget_rules *rules);

/*
 * Is a process of @uid in @cgroup counted by @rule? The name of the account: the uid, or the
 * highest part of @cgroup that the pattern matches, into @ret_name.
 */
bool gs_budget_rule_counts(const struct gs_budget_rule *rule, uid_t uid, const char *cgroup,
			   char *ret_name, size_t size);

#endif /* GPUSCHED_CONFIG_BUDGET_RULE_H */
