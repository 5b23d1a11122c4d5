// SPDX-License-Identifier: MIT
#include "figures/spending.h"

#include <stdlib.h>
#include <string.h>

#define UNKNOWN ((uid_t)-1) /* the owner of a cgroup in the past */

static struct gs_spending_account *find(const struct gs_spending *s, uint32_t rule,
					const char *name)
{
	/* zeroed with its padding, since the hash compares all bytes */
	struct gs_spending_key key = { .rule = rule };
	struct gs_spending_account *a = NULL;

	strncpy(key.name, name, sizeof(key.name) - 1);
	HASH_FIND(hh, s->all, &key, sizeof(key), a);
	return a;
}

/* True if the rule counts this process. A rule for one user comes before the rule for all users. */
static bool counts(const struct gs_spending *s, uint32_t rule, uid_t uid, const char *cgroup,
		   char name[GS_CGROUP_PATH_LEN])
{
	const struct gs_budget_rule *r = &s->rules.all[rule];

	if (!gs_budget_rule_counts(r, uid, cgroup, name, GS_CGROUP_PATH_LEN))
		return false;
	for (size_t i = 0; r->by_user && r->every && i < s->rules.n; i++) {
		const struct gs_budget_rule *other = &s->rules.all[i];

		if (other->by_user && !other->every && other->uid == uid &&
		    other->period == r->period)
			return false;
	}
	return true;
}

bool gs_spending_counts_user(const struct gs_spending *s, uint32_t rule, uid_t uid)
{
	char name[GS_CGROUP_PATH_LEN];

	return counts(s, rule, uid, "", name);
}

static void account_free(struct gs_spending *s, struct gs_spending_account *a)
{
	gs_shares_give(&s->shares, a->uid);
	HASH_DEL(s->all, a);
	free(a);
}

static struct gs_spending_account *find_or_new(struct gs_spending *s, uint32_t rule,
					       const char *name, uid_t uid, int64_t now_s)
{
	struct gs_spending_account *a = find(s, rule, name);

	if (a)
		return a;
	if (!gs_shares_take(&s->shares, uid, GS_ACCOUNTS_MAX)) {
		s->left++;
		return NULL;
	}
	a = calloc(1, sizeof(*a));
	if (!a) {
		gs_shares_give(&s->shares, uid);
		s->left++;
		return NULL;
	}
	a->key.rule = rule;
	strncpy(a->key.name, name, sizeof(a->key.name) - 1);
	a->rule = &s->rules.all[rule];
	a->uid = uid;
	gs_budget_period_of(a->rule->period, now_s, &a->begins_s, &a->ends_s);
	HASH_ADD(hh, s->all, key, sizeof(a->key), a);
	return a;
}

/*
 * Begins a new period if the old one is over. If the clock was set back, the account moves to the
 * earlier period and keeps its use.
 */
static void roll(struct gs_spending_account *a, int64_t now_s)
{
	bool back = now_s < a->begins_s;

	if (!back && now_s < a->ends_s)
		return;
	gs_budget_period_of(a->rule->period, now_s, &a->begins_s, &a->ends_s);
	if (back)
		return;
	a->used_ns = a->past_ns = a->later_past_ns = 0;
}

void gs_spending_roll(struct gs_spending *s, int64_t now_s)
{
	struct gs_spending_account *a, *next;

	HASH_ITER(hh, s->all, a, next) {
		roll(a, now_s);
		if (a->used_ns || a->told)
			continue;
		account_free(s, a);
	}
}

static uint64_t past_of(const struct gs_spending_account *a)
{
	return a->past_ns > a->later_past_ns ? a->past_ns : a->later_past_ns;
}

static void add_past(struct gs_spending_account *a, uint64_t ns)
{
	a->used_ns -= past_of(a);
	a->past_ns += ns;
	a->used_ns += past_of(a);
}

static void rebase(struct gs_spending *s, struct gs_budget_rule *rule, int64_t now_s, bool back)
{
	struct gs_spending_account *a, *next;

	rule->known = false;
	HASH_ITER(hh, s->all, a, next) {
		if (a->rule != rule)
			continue;
		gs_budget_period_of(rule->period, now_s, &a->begins_s, &a->ends_s);
		a->used_ns -= back ? 0 : past_of(a);
		a->later_past_ns = back ? past_of(a) : 0;
		a->past_ns = 0;
	}
}

void gs_spending_rebase(struct gs_spending *s, int64_t was_s, int64_t now_s)
{
	for (size_t i = 0; i < s->rules.n; i++) {
		struct gs_budget_rule *rule = &s->rules.all[i];
		int64_t was, now, ends;

		gs_budget_period_of(rule->period, was_s, &was, &ends);
		gs_budget_period_of(rule->period, now_s, &now, &ends);
		if (was != now)
			rebase(s, rule, now_s, now < was);
	}
}

void gs_spending_charge(struct gs_spending *s, uid_t uid, const char *cgroup, uint64_t ns,
			int64_t now_s)
{
	char name[GS_CGROUP_PATH_LEN];

	for (uint32_t i = 0; i < s->rules.n; i++) {
		struct gs_spending_account *a = NULL;

		if (s->rules.all[i].known && counts(s, i, uid, cgroup, name))
			a = find_or_new(s, i, name, uid, now_s);
		if (!a)
			continue;
		roll(a, now_s);
		a->used_ns += ns;
	}
}

void gs_spending_add_past(struct gs_spending *s, enum gs_period period, int64_t begins_s, uid_t uid,
			  const char *cgroup, uint64_t ns)
{
	char name[GS_CGROUP_PATH_LEN];

	for (uint32_t i = 0; i < s->rules.n; i++) {
		const struct gs_budget_rule *r = &s->rules.all[i];
		struct gs_spending_account *a = NULL;

		if (r->known || r->period != period || r->by_user != !cgroup)
			continue;
		if (counts(s, i, uid, cgroup ? cgroup : "", name))
			a = find_or_new(s, i, name, cgroup ? UNKNOWN : uid, begins_s);
		if (a && a->begins_s == begins_s)
			add_past(a, ns);
	}
}

void gs_spending_past_over(struct gs_spending *s)
{
	for (size_t i = 0; i < s->rules.n; i++)
		s->rules.all[i].known = true;
}

bool gs_spending_wants_past(const struct gs_spending *s)
{
	for (size_t i = 0; i < s->rules.n; i++)
		if (!s->rules.all[i].known)
			return true;
	return false;
}

const struct gs_spending_account *gs_spending_over(const struct gs_spending *s, uid_t uid,
						   const char *cgroup)
{
	const struct gs_spending_account *over = NULL;
	char name[GS_CGROUP_PATH_LEN];

	for (uint32_t i = 0; i < s->rules.n; i++) {
		const struct gs_spending_account *a = NULL;

		if (counts(s, i, uid, cgroup, name))
			a = find(s, i, name);
		if (a && gs_spending_is_used_up(a) && (!over || a->rule->stop > over->rule->stop))
			over = a;
	}
	return over;
}

/* ---- life ------------------------------------------------------------------------------------ */

/*
 * True if the rules differ at most in their amount: they count the same use over the same period.
 */
static bool is_same(const struct gs_budget_rule *a, const struct gs_budget_rule *b)
{
	return a->by_user == b->by_user && a->every == b->every && a->uid == b->uid &&
	       a->period == b->period && !strcmp(a->cgroup, b->cgroup);
}

static void keep(struct gs_spending *s, const struct gs_spending_account *a)
{
	for (uint32_t i = 0; i < s->rules.n; i++) {
		struct gs_spending_account *kept;

		if (!is_same(&s->rules.all[i], a->rule))
			continue;
		kept = find_or_new(s, i, a->key.name, a->uid, a->begins_s);
		if (!kept)
			continue;
		kept->begins_s = a->begins_s;
		kept->ends_s = a->ends_s;
		kept->used_ns = a->used_ns;
		kept->past_ns = a->past_ns;
		kept->later_past_ns = a->later_past_ns;
		kept->told = a->told && gs_spending_is_used_up(kept);
	}
}

void gs_spending_begin(struct gs_spending *s, struct gs_budget_rules *rules,
		       struct gs_spending *old)
{
	*s = (struct gs_spending){ .rules = *rules };
	*rules = (struct gs_budget_rules){ .n = 0 };
	for (size_t i = 0; i < s->rules.n; i++)
		for (size_t k = 0; k < old->rules.n; k++)
			if (is_same(&s->rules.all[i], &old->rules.all[k]))
				s->rules.all[i].known = old->rules.all[k].known;
	for (const struct gs_spending_account *a = old->all; a; a = a->hh.next)
		keep(s, a);
	s->left = old->left;
	gs_spending_done(old);
}

void gs_spending_done(struct gs_spending *s)
{
	struct gs_spending_account *a, *next;

	HASH_ITER(hh, s->all, a, next)
		account_free(s, a);
	gs_shares_done(&s->shares);
	gs_budget_rules_done(&s->rules);
	*s = (struct gs_spending){ .left = 0 };
}
