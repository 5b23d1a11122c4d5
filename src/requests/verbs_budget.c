// SPDX-License-Identifier: MIT
/*
 * verbs_budget.c - handles the verb `budget`: the GPU time that users and cgroups may use in a
 * period, and how much they have used
 */
#include "basic/clock.h"
#include "basic/json_sheet.h"
#include "figures/verdict.h"
#include "control/budgets.h"
#include "requests/budget.h"
#include "requests/requests.h"

static json_t *seconds(uint64_t ns)
{
	uint64_t ms = ns / NS_PER_MS;

	return json_real((double)ms / 1e3);
}

static json_t *row_of(const struct gs_spending_account *a, unsigned int held, bool complete)
{
	uint64_t used = a->used_ns, all = a->rule->ns;
	json_t *o = json_object();

	gs_json_put_text(o, "of", a->rule->by_user ? "user" : "cgroup");
	gs_json_put_number(o, "uid", a->rule->by_user, a->uid);
	gs_json_put(o, "cgroup", a->rule->by_user ? NULL : gs_json_text(a->key.name));
	gs_json_put_text(o, "per", gs_budget_period_name(a->rule->period));
	gs_json_put(o, "budget_s", seconds(all));
	gs_json_put(o, "used_s", seconds(used));
	gs_json_put(o, "left_s", seconds(used < all ? all - used : 0));
	gs_json_put_text(o, "over", a->rule->stop ? "stop" : "wait");
	gs_json_put(o, "used_up", json_boolean(gs_spending_is_used_up(a)));
	gs_json_put_number(o, "suspended", true, held);
	gs_json_put_number(o, "began_s", true, (uint64_t)a->begins_s);
	gs_json_put_number(o, "again_s", true, (uint64_t)a->ends_s);
	gs_json_put(o, "complete", json_boolean(complete));
	return o;
}

/* The row of a user's budget that is still unused, and therefore has no account yet. */
static json_t *unused(const struct gs_budget_rule *rule, uid_t uid, int64_t now_s, bool complete)
{
	struct gs_spending_account a = { .rule = rule, .uid = uid };

	gs_budget_period_of(rule->period, now_s, &a.begins_s, &a.ends_s);
	return row_of(&a, 0, complete);
}

static bool has_account(const struct gs_spending *s, size_t rule, uid_t uid)
{
	for (const struct gs_spending_account *a = s->all; a; a = a->hh.next)
		if (a->key.rule == rule && a->uid == uid)
			return true;
	return false;
}

static void add_unused(struct gs_control *ctl, uid_t uid, bool complete, json_t *rows)
{
	const struct gs_spending *s = gs_budgets_spending(ctl);
	int64_t now_s = gs_budgets_now_s(ctl);

	for (size_t i = 0; i < s->rules.n; i++) {
		const struct gs_budget_rule *r = &s->rules.all[i];
		uid_t of = r->every ? uid : r->uid;

		if (r->by_user && (!uid || of == uid) && !(r->every && !uid) &&
		    gs_spending_counts_user(s, (uint32_t)i, of) && !has_account(s, i, of))
			json_array_append_new(rows, unused(r, of, now_s, complete));
	}
}

static void judge(const struct gs_spending_account *a, struct gs_findings *ret)
{
	time_t ends = (time_t)a->ends_s;
	char until[32];
	struct tm t;

	strftime(until, sizeof(until), "%F %T", localtime_r(&ends, &t));
	gs_verdict_budget(
		&(struct gs_budget_facts){
			.of = a->rule->by_user ? "user" : "cgroup",
			.name = a->key.name,
			.per = gs_budget_period_name(a->rule->period),
			.until = until,
			.stop = a->rule->stop,
			.used_ns = a->used_ns,
			.all_ns = a->rule->ns,
		},
		ret);
}

void gs_budgets_judge(struct gs_request *rq, struct gs_findings *ret)
{
	struct gs_control *ctl = rq->rs->control;
	const struct gs_spending *s = gs_budgets_spending(ctl);

	for (const struct gs_spending_account *a = s ? s->all : NULL; a; a = a->hh.next) {
		bool mine;

		gs_budgets_held(ctl, a, rq->peer->uid, &mine);
		if (mine || !rq->peer->uid)
			judge(a, ret);
	}
}

unsigned int gs_budgets_used_up(const struct gs_requests *rs)
{
	const struct gs_spending *s = gs_budgets_spending(rs->control);
	unsigned int n = 0;

	for (const struct gs_spending_account *a = s ? s->all : NULL; a; a = a->hh.next)
		n += gs_spending_is_used_up(a);
	return n;
}

int gs_verb_budget(struct gs_request *rq)
{
	struct gs_control *ctl = rq->rs->control;
	const struct gs_spending *s = gs_budgets_spending(ctl);
	json_t *rows = json_array();
	const char *why = NULL;
	bool complete;

	json_object_set_new(rq->answer, "budgets", rows);
	gs_json_put_text(rq->answer, "reason",
			 rq->rs->hub->opts.daemon ? NULL : "no daemon runs: nobody counts");
	if (!s)
		return 0;
	complete = gs_budgets_is_complete(ctl, &why);
	gs_json_put_text(rq->answer, "reason", why);
	for (const struct gs_spending_account *a = s->all; a; a = a->hh.next) {
		bool mine;
		unsigned int held = gs_budgets_held(ctl, a, rq->peer->uid, &mine);

		if (mine || !rq->peer->uid)
			json_array_append_new(rows, row_of(a, held, complete));
	}
	add_unused(ctl, rq->peer->uid, complete, rows);
	return 0;
}
