// SPDX-License-Identifier: MIT
#include "config/budget_rule.h"

#include <fnmatch.h>
#include <string.h>
#include <time.h>

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "basic/parse.h"
#include "classify/patterns.h"
#include "config/config.h"

#define SECONDS_MAX 4000000000ull /* more than a thousand GPUs have in a month */

static const char *const periods[] = {
	[GS_PERIOD_DAY] = "day",
	[GS_PERIOD_WEEK] = "week",
	[GS_PERIOD_MONTH] = "month",
};

const char *gs_budget_period_name(enum gs_period p)
{
	return periods[p];
}

static int64_t midnight(const struct tm *day, int days, int months)
{
	struct tm t = {
		.tm_year = day->tm_year,
		.tm_mon = day->tm_mon + months,
		.tm_mday = day->tm_mday + days,
		.tm_isdst = -1,
	};

	return (int64_t)mktime(&t);
}

void gs_budget_period_of(enum gs_period p, int64_t at_s, int64_t *ret_begins_s, int64_t *ret_ends_s)
{
	time_t at = (time_t)at_s;
	struct tm t = { 0 };
	int back = 0;

	localtime_r(&at, &t);
	if (p == GS_PERIOD_WEEK)
		back = (t.tm_wday + 6) % 7;
	if (p == GS_PERIOD_MONTH)
		back = t.tm_mday - 1;
	*ret_begins_s = midnight(&t, -back, 0);
	if (p == GS_PERIOD_MONTH) {
		t.tm_mday = 1;
		*ret_ends_s = midnight(&t, 0, 1);
	} else {
		*ret_ends_s = midnight(&t, (p == GS_PERIOD_WEEK ? 7 : 1) - back, 0);
	}
}

/* ---- parsing --------------------------------------------------------------------------------- */

static int take_user(enum gs_naming naming, const char *name, struct gs_budget_rule *ret,
		     struct gs_error *err)
{
	ret->by_user = true;
	ret->every = !strcmp(name, "*");
	return ret->every ? 0 : gs_user_id(naming, name, &ret->uid, err);
}

static int take_cgroup(const char *pattern, struct gs_budget_rule *ret, struct gs_error *err)
{
	size_t n = strlen(pattern);

	if (GS_PATTERN_ROOM(n) > sizeof(ret->cgroup))
		return gs_fail(err, -EINVAL, "the cgroup's path is too long");
	strcpy(ret->cgroup, pattern);
	gs_pattern_form(GS_PATTERN_CGROUP, ret->cgroup, NULL);
	n = strlen(ret->cgroup);
	if (*pattern != '/' ||
	    n < 2) /* a budget has its first "/": elsewhere it is a mistyped name */
		return gs_fail(err, -EINVAL, "'%s' is not the path of a cgroup below '/'", pattern);
	return 0;
}

static int take_period(const char *word, struct gs_budget_rule *ret, struct gs_error *err)
{
	for (size_t i = 0; i < GS_COUNT(periods); i++)
		if (!strcmp(word, periods[i])) {
			ret->period = (enum gs_period)i;
			return 0;
		}
	return gs_fail(err, -EINVAL, "'%s' is none of day, week, month", word);
}

enum part { SUBJECT = 1, SECONDS = 2, PER = 4, OVER = 8 };

static int take_word(const char *word, enum gs_naming naming, unsigned int *inout_parts,
		     struct gs_budget_rule *ret, struct gs_error *err)
{
	const char *value = strchr(word, '=');
	size_t n = value ? (size_t)(value++ - word) : 0;
	unsigned int part = 0;
	uint64_t v = 0;
	int r = 0;

#define IS(key) (n == strlen(key) && !strncmp(word, key, n))
	if (IS("user")) {
		part = SUBJECT;
		r = take_user(naming, value, ret, err);
	} else if (IS("uid")) {
		part = SUBJECT;
		r = gs_parse_u64(value, 0, UINT32_MAX - 1, &v, err);
		ret->by_user = true;
		ret->uid = (uid_t)v;
	} else if (IS("cgroup")) {
		part = SUBJECT;
		r = take_cgroup(value, ret, err);
	} else if (IS("gpu_seconds")) {
		part = SECONDS;
		r = gs_parse_u64(value, 1, SECONDS_MAX, &v, err);
		ret->ns = v * NS_PER_S;
	} else if (IS("per")) {
		part = PER;
		r = take_period(value, ret, err);
	} else if (IS("over")) {
		part = OVER;
		ret->stop = !strcmp(value, "stop");
		if (!ret->stop && strcmp(value, "wait"))
			r = gs_fail(err, -EINVAL, "over=%s: wait or stop", value);
	} else {
		r = gs_fail(
			err, -EINVAL,
			"'%s' is none of user=, uid=, cgroup=, gpu_seconds=, per=, over=", word);
	}
#undef IS
	if (r >= 0 && *inout_parts & part)
		r = gs_fail(err, -EINVAL, "'%s': there is one of this kind already", word);
	*inout_parts |= part;
	return r;
}

int gs_budget_rule_parse(const char *line, enum gs_naming naming, struct gs_budget_rule *ret,
			 struct gs_error *err)
{
	const unsigned int all = SUBJECT | SECONDS | PER;
	CLEANUP_FREE char *copy = strdup(line);
	struct gs_error wait = { 0 };
	unsigned int parts = 0;
	char *save = NULL;
	int r;

	*ret = (struct gs_budget_rule){ .by_user = false };
	for (char *w = copy ? strtok_r(copy, " \t", &save) : NULL; w;
	     w = strtok_r(NULL, " \t", &save)) {
		struct gs_error why = { 0 };

		r = take_word(w, naming, &parts, ret, &why);
		if (r < 0)
			return gs_fail(err, r, "%s", why.text);
		if (r == GS_NAME_WAITS)
			wait = why;
	}
	if (!copy)
		return -ENOMEM;
	if ((parts & all) != all)
		return gs_fail(err, -EINVAL,
			       "a budget needs user=, uid= or cgroup=, gpu_seconds=, and per=");
	return wait.code ? gs_fail(err, GS_NAME_WAITS, "%s", wait.text) : 0;
}

int gs_config_budgets(const struct gs_config *c, enum gs_naming naming, struct gs_texts *waiting,
		      struct gs_budget_rules *ret, struct gs_error *err)
{
	*ret = (struct gs_budget_rules){ .n = 0 };
	ret->all = calloc(c->budgets.n + 1, sizeof(*ret->all));
	if (!ret->all)
		return gs_fail(err, -ENOMEM, "out of memory");
	for (size_t i = 0; i < c->budgets.n; i++) {
		struct gs_error why = { 0 };
		int r = gs_budget_rule_parse(c->budgets.text[i], naming, &ret->all[ret->n], &why);

		if (r < 0) {
			gs_budget_rules_done(ret);
			return gs_fail(err, r, "%s: Budget: %s", c->budgets.at[i], why.text);
		}
		if (r == GS_NAME_WAITS)
			gs_config_add_text(waiting, why.text, c->budgets.at[i], NULL);
		else
			ret->n++;
	}
	return 0;
}

void gs_budget_rules_done(struct gs_budget_rules *rules)
{
	free(rules->all);
	*rules = (struct gs_budget_rules){ .n = 0 };
}

/* ---- processes that it counts ---------------------------------------------------------------- */

/* Finds the highest cgroup on the way down to @path that the pattern is, or matches. */
static bool find_part(const char *pattern, const char *path, char *ret, size_t size)
{
	for (const char *end = path; *end;) {
		end = strchrnul(end + 1, '/');
		if ((size_t)(end - path) >= size)
			return false;
		snprintf(ret, size, "%.*s", (int)(end - path), path);
		if (!strcmp(pattern, ret) || !fnmatch(pattern, ret, FNM_PATHNAME))
			return true;
	}
	return false;
}

bool gs_budget_rule_counts(const struct gs_budget_rule *rule, uid_t uid, const char *cgroup,
			   char *ret_name, size_t size)
{
	if (!rule->by_user)
		return *cgroup == '/' && find_part(rule->cgroup, cgroup, ret_name, size);
	if (rule->every ? uid == 0 : uid != rule->uid)
		return false;
	snprintf(ret_name, size, "%u", uid);
	return true;
}
