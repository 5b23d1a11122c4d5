// SPDX-License-Identifier: MIT
#include "control/budgets.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "basic/clock.h"
#include "basic/env.h"
#include "basic/escape.h"
#include "basic/grow.h"
#include "basic/log.h"
#include "basic/json_sheet.h"
#include "basic/steady.h"
#include "control/control.h"
#include "engine/spend.h"
#include "figures/figures.h"
#include "figures/ledger.h"
#include "hub/json.h"
#include "hub/task.h"
#include "table/events.h"
#include "table/facts.h"

#define LOOK_NS NS_PER_S

/* A compute TSG, as last seen. */
struct spender {
	UT_hash_handle hh;
	uint64_t id;
	struct gpusched_key key;
	uint32_t runlist;
	uid_t uid;
	/* the account that is used up; NULL: time is left */
	const struct gs_spending_account *over;
	uint64_t job; /* 0: unknown, or not over */
	bool works, last, held;
	bool wanted; /* a TSG with time left uses its runlist, or waits for it */
};

/* Use in one period, read from the history. */
struct past {
	enum gs_period period;
	int64_t begins_s;
	bool by_user;
	struct past_row {
		uid_t uid;
		char cgroup[GS_CGROUP_PATH_LEN];
		uint64_t ns;
	} * rows;
	size_t n, room;
};

#define PASTS_MAX 6 /* three periods, each for users and for cgroups */
struct reading {
	struct gs_task task;
	struct past pasts[PASTS_MAX];
	size_t n;
	int64_t from_s, to_s; /* when this daemon may have written records */
	int64_t newest_s;     /* the newest record of before */
	int64_t lost_s;       /* records of before this time may be lost; 0: none are */
	int code;
	struct gs_error err;
	bool stale; /* the rules have changed since the reading began */
};

struct gs_budgets {
	struct gs_control *ctl;
	struct gs_figures *fig;
	struct gs_spending spending;
	struct spender *spenders;
	uint64_t looked_ns;
	struct gs_steady steady;
	int64_t began_s;         /* the first time that was believed, in s since 1970 */
	struct reading *reading; /* NULL: the history is not being read */
	int64_t lost_s;          /* as in struct reading */
	bool incomplete;
	char why[200], why_lost[100];
};

static uint64_t boot_s(void)
{
	struct timespec boot;

	clock_gettime(CLOCK_BOOTTIME, &boot);
	return (uint64_t)boot.tv_sec;
}

/* A clock that jumps neither forgives what was used nor begins a period. */
static int64_t clock_s(struct gs_budgets *b)
{
	unsigned int corrected = b->steady.corrected;
	uint64_t boot = boot_s();
	int64_t was_s = (int64_t)boot + b->steady.off_s;
	int64_t now_s = gs_steady_now(&b->steady, boot, (int64_t)time(NULL));

	if (!b->began_s)
		b->began_s = now_s;
	if (b->steady.corrected == corrected)
		return now_s;
	gs_log(LOG_NOTICE, "budgets: the clock was wrong at the start, by %" PRId64 " s",
	       was_s - now_s);
	gs_spending_rebase(&b->spending, was_s, now_s);
	if (b->reading)
		b->reading->stale = true;
	return now_s;
}

/* ---- use before the start -------------------------------------------------------------------- */

static int take_row(json_t *row, void *user)
{
	const char *cgroup = json_string_value(json_object_get(row, "cgroup"));
	struct past *p = user;
	struct past_row *r;

	if (!p->by_user && !cgroup)
		return 0;
	if (GS_GROW(p->rows, p->room, p->n + 1))
		return -ENOMEM;
	r = &p->rows[p->n++];
	memset(r, 0, sizeof(*r));
	r->uid = (uid_t)json_integer_value(json_object_get(row, "uid"));
	snprintf(r->cgroup, sizeof(r->cgroup), "%s", cgroup ? cgroup : "");
	r->ns = (uint64_t)(json_number_value(json_object_get(row, "used_most_ms")) * 1e6);
	return 0;
}

static void read_past(struct gs_task *e)
{
	struct reading *rd = (struct reading *)e;

	rd->code = gs_history_newest(gs_env()->state_dir, rd->from_s, rd->to_s, &rd->newest_s,
				     &rd->err);
	for (size_t i = 0; i < rd->n && !rd->code; i++) {
		struct past *p = &rd->pasts[i];
		const struct gs_history_query q = {
			.since_s = (uint64_t)p->begins_s,
			.by = p->by_user ? GS_BY_USER : GS_BY_CGROUP,
			.times = true,
			.root = true,
		};

		rd->code = gs_history_query_ask(gs_env()->state_dir, &q, take_row, p, &rd->err);
	}
	if (!rd->code)
		rd->code = gs_history_newest_loss(gs_env()->state_dir, &rd->lost_s, &rd->err);
}

static void note_loss(struct gs_budgets *b, int64_t lost_s)
{
	time_t at = (time_t)lost_s;
	struct tm t = { 0 };

	b->lost_s = lost_s;
	localtime_r(&at, &t);
	strftime(b->why_lost, sizeof(b->why_lost),
		 "the history has lost records of before %F %H:%M", &t);
}

/* True if the history has lost records of a period that a budget is for. */
static bool is_lost(struct gs_budgets *b)
{
	int64_t begins_s, ends_s, now_s = clock_s(b);

	for (size_t i = 0; b->lost_s && i < b->spending.rules.n; i++) {
		gs_budget_period_of(b->spending.rules.all[i].period, now_s, &begins_s, &ends_s);
		if (b->lost_s > begins_s)
			return true;
	}
	return false;
}

static void past_read(struct gs_task *e)
{
	struct reading *rd = (struct reading *)e;
	struct gs_budgets *b = e->owner;

	b->reading = NULL;
	if (!b->steady.corrected) /* later, records of the wrong time may be there */
		b->steady.known_s = rd->newest_s;
	for (size_t i = 0; i < rd->n && !rd->stale; i++)
		for (size_t k = 0; k < rd->pasts[i].n; k++) {
			const struct past *p = &rd->pasts[i];
			const struct past_row *r = &p->rows[k];

			gs_spending_add_past(&b->spending, p->period, p->begins_s, r->uid,
					     p->by_user ? NULL : r->cgroup, r->ns);
		}
	if (!rd->stale) {
		gs_spending_past_over(&b->spending);
		b->incomplete = rd->code != 0;
		note_loss(b, rd->lost_s);
		snprintf(b->why, sizeof(b->why), "%.190s", rd->err.text);
		if (rd->code)
			gs_log(LOG_WARNING,
			       "budgets: GPU time of before this start is not counted: %s",
			       rd->err.text);
	}
	gs_task_unref(e);
}

static void reading_free(struct gs_task *e)
{
	struct reading *rd = (struct reading *)e;

	for (size_t i = 0; i < rd->n; i++)
		free(rd->pasts[i].rows);
	free(rd);
}

/* Plans one query of the history for each period, for users and for cgroups. */
static void plan_past(struct reading *rd, const struct gs_budget_rule *rule, int64_t now_s)
{
	int64_t ends_s;
	struct past *p;

	if (rule->known)
		return;
	for (size_t i = 0; i < rd->n; i++)
		if (rd->pasts[i].period == rule->period && rd->pasts[i].by_user == rule->by_user)
			return;
	p = &rd->pasts[rd->n++];
	p->period = rule->period;
	p->by_user = rule->by_user;
	gs_budget_period_of(rule->period, now_s, &p->begins_s, &ends_s);
}

static int begin_reading(struct gs_budgets *b)
{
	struct reading *rd;
	int64_t now_s;
	int r;

	if (b->reading || !gs_spending_wants_past(&b->spending))
		return 0;
	if (!gs_ledger_history(b->fig)) {
		b->incomplete = true;
		snprintf(b->why, sizeof(b->why), "History=no");
		gs_spending_past_over(&b->spending);
		return 0;
	}
	rd = calloc(1, sizeof(*rd));
	if (!rd)
		return -ENOMEM;
	rd->task = (struct gs_task){ read_past, past_read, reading_free, .fd = -1, .refs = 1 };
	now_s = clock_s(b);
	rd->from_s = b->began_s;
	rd->to_s = now_s + GS_STEADY_JUMP_S;
	for (size_t i = 0; i < b->spending.rules.n; i++)
		plan_past(rd, &b->spending.rules.all[i], now_s);
	r = gs_task_begin(&rd->task, b->ctl->hub, b);
	if (r)
		gs_task_unref(&rd->task);
	else
		b->reading = rd;
	return r;
}

/* ---- charges and their consequences ---------------------------------------------------------- */

static void on_charge(uid_t uid, const char *cgroup, uint64_t ns, void *user)
{
	struct gs_budgets *b = user;
	uint64_t left = b->spending.left;

	gs_spending_charge(&b->spending, uid, cgroup, ns, clock_s(b));
	if (b->spending.left != left)
		gs_count(b->ctl->hub, GS_SVC_BUDGETS_LEFT);
}

static void tell(struct gs_budgets *b, struct gs_spending_account *a, bool over)
{
	char name[2 * GS_CGROUP_PATH_LEN];
	struct tm t = { 0 };
	time_t ends = (time_t)a->ends_s;
	char when[32];
	json_t *o;

	a->told = over;
	gs_escape(name, sizeof(name), a->key.name);
	localtime_r(&ends, &t);
	strftime(when, sizeof(when), "%F %T", &t);
	if (over)
		gs_log(LOG_NOTICE,
		       "budget: %s %s has used up its %" PRIu64
		       " s of GPU time a %s: until %s it %s",
		       a->rule->by_user ? "user" : "cgroup", name,
		       (uint64_t)(a->rule->ns / NS_PER_S), gs_budget_period_name(a->rule->period),
		       when, a->rule->stop ? "is suspended" : "runs only where nobody else waits");
	else
		gs_log(LOG_NOTICE, "budget: %s %s has GPU time again",
		       a->rule->by_user ? "user" : "cgroup", name);
	if (!b->ctl->hub->watched)
		return;
	o = json_object();
	gs_json_put_number(o, "time_ns", true, gs_now_ns());
	gs_json_put_text(o, "event", gs_event_name(GPUSCHED_EV_BUDGET));
	gs_json_put_text(o, "what", over ? "used-up" : "again");
	gs_json_put_number(o, "uid", a->rule->by_user, a->uid);
	gs_json_put(o, "cgroup", a->rule->by_user ? NULL : gs_json_text(a->key.name));
	gs_json_put_text(o, "per", gs_budget_period_name(a->rule->period));
	gs_json_put_text(o, "over", a->rule->stop ? "stop" : "wait");
	gs_json_put_number(o, "again_s", true, (uint64_t)a->ends_s);
	gs_observers_say(&b->ctl->hub->observers, o, a->rule->by_user ? a->uid : 0);
}

static void tell_accounts(struct gs_budgets *b)
{
	for (struct gs_spending_account *a = b->spending.all; a; a = a->hh.next)
		if (gs_spending_is_used_up(a) != a->told)
			tell(b, a, !a->told);
}

static void on_spender(const struct gs_spender *s, void *user)
{
	struct gs_budgets *b = user;
	struct spender *sp = NULL;

	HASH_FIND(hh, b->spenders, &s->id, sizeof(s->id), sp);
	if (!sp) {
		sp = calloc(1, sizeof(*sp));
		if (!sp)
			return;
		sp->id = s->id;
		sp->key = *s->key;
		HASH_ADD(hh, b->spenders, id, sizeof(sp->id), sp);
	}
	sp->runlist = s->runlist;
	sp->uid = s->uid;
	sp->works = s->works;
	sp->over = gs_spending_over(&b->spending, s->uid, s->cgroup);
}

static void set_spent(struct gs_budgets *b, struct spender *s, bool spent)
{
	if (s->held == spent)
		return;
	s->held = spent;
	gs_engine_spend(b->ctl->hub->engine, &s->key, spent);
}

/* Applies the budget to a TSG. @wanted: somebody else wants the runlist of some TSG of its job. */
static void follow(struct gs_budgets *b, struct spender *s, bool wanted)
{
	if (s->last != (s->over != NULL)) {
		s->last = s->over != NULL;
		gs_facts_put_last_job(b->ctl->hub->table, s->id, GS_LAST_SPENT, s->last);
	}
	set_spent(b, s, s->over && (s->over->rule->stop || wanted));
}

static int by_runlist(const struct spender *a, const struct spender *b)
{
	return (a->runlist > b->runlist) - (a->runlist < b->runlist);
}

static int by_job(const struct spender *a, const struct spender *b)
{
	return (a->job > b->job) - (a->job < b->job);
}

static void look_at_runlists(struct gs_budgets *b)
{
	struct spender *first, *s;

	HASH_SRT(hh, b->spenders, by_runlist);
	for (s = first = b->spenders; s; first = s) {
		bool wanted = false;

		for (; s && s->runlist == first->runlist; s = s->hh.next)
			wanted |= s->works && !s->over;
		for (; first != s; first = first->hh.next) {
			first->wanted = wanted && first->over;
			first->job =
				first->over ? gs_facts_get_job(b->ctl->hub->table, first->id) : 0;
		}
	}
}

/*
 * A job is suspended on all runlists or on none. A part of it that runs alone waits for the rest,
 * and may end itself after a while.
 */
static void look(struct gs_budgets *b)
{
	struct spender *first, *s;

	gs_spending_roll(&b->spending, clock_s(b));
	gs_ledger_spenders(b->fig, on_spender, b);
	tell_accounts(b);
	look_at_runlists(b);
	HASH_SRT(hh, b->spenders, by_job);
	for (s = first = b->spenders; s; first = s) {
		bool wanted = false;

		do {
			wanted |= s->wanted;
			s = s->hh.next;
		} while (s && s->job && s->job == first->job);
		for (; first != s; first = first->hh.next)
			follow(b, first, wanted);
	}
}

void gs_budgets_beat(void *self)
{
	struct gs_control *ctl = self;
	struct gs_budgets *b = ctl->budgets;
	uint64_t now = gs_now_ns();

	if (!b)
		return;
	ctl->hub->beat_soon = true;
	if (now - b->looked_ns < LOOK_NS)
		return;
	b->looked_ns = now;
	if (begin_reading(b))
		return;
	look(b);
}

void gs_budgets_ended(void *self, const struct gs_end *end)
{
	struct gs_control *ctl = self;
	struct spender *s = NULL;

	if (!ctl->budgets)
		return;
	HASH_FIND(hh, ctl->budgets->spenders, &end->id, sizeof(end->id), s);
	if (!s)
		return;
	HASH_DEL(ctl->budgets->spenders, s);
	free(s);
}

/* ---- questions ------------------------------------------------------------------------------- */

const struct gs_spending *gs_budgets_spending(struct gs_control *ctl)
{
	return ctl->budgets ? &ctl->budgets->spending : NULL;
}

int64_t gs_budgets_now_s(struct gs_control *ctl)
{
	return clock_s(ctl->budgets);
}

bool gs_budgets_is_complete(const struct gs_control *ctl, const char **ret_why)
{
	struct gs_budgets *b = ctl->budgets;

	*ret_why = b->reading      ? "the history is being read"
		   : b->incomplete ? b->why
		   : is_lost(b)    ? b->why_lost
		   : gs_steady_is_behind(&b->steady, boot_s())
			   ? "the clock is before the history's last record"
			   : NULL;
	return !*ret_why;
}

unsigned int gs_budgets_held(struct gs_control *ctl, const struct gs_spending_account *a, uid_t uid,
			     bool *ret_mine)
{
	unsigned int n = 0;

	*ret_mine = a->rule->by_user && a->uid == uid;
	for (const struct spender *s = ctl->budgets->spenders; s; s = s->hh.next) {
		if (s->over != a)
			continue;
		n += s->held;
		*ret_mine |= s->uid == uid;
	}
	return n;
}

/* ---- life ------------------------------------------------------------------------------------ */

static struct gs_budgets *make(struct gs_control *ctl, struct gs_figures *fig)
{
	struct gs_budgets *b = calloc(1, sizeof(*b));

	if (!b)
		return NULL;
	b->ctl = ctl;
	b->fig = fig;
	ctl->budgets = b;
	fig->charged = on_charge;
	fig->charged_user = b;
	return b;
}

int gs_budgets_set(struct gs_control *ctl, struct gs_figures *fig, struct gs_budget_rules *rules,
		   struct gs_error *err)
{
	struct gs_spending old;
	struct gs_budgets *b;

	if (!ctl->hub->opts.daemon || (!rules->n && !ctl->budgets))
		return 0;
	b = ctl->budgets ? ctl->budgets : make(ctl, fig);
	if (!b)
		return gs_fail(err, -ENOMEM, "out of memory");
	if (b->reading)
		b->reading->stale = true;
	for (struct spender *s = b->spenders; s; s = s->hh.next)
		s->over = NULL;
	old = b->spending;
	gs_spending_begin(&b->spending, rules, &old);
	return 0;
}

void gs_budgets_end(struct gs_control *ctl)
{
	struct gs_budgets *b = ctl->budgets;
	struct spender *s, *next;

	if (!b)
		return;
	if (b->reading)
		gs_task_wait(&b->reading->task);
	b->fig->charged = NULL;
	ctl->budgets = NULL;
	HASH_ITER(hh, b->spenders, s, next) {
		if (ctl->hub->engine)
			set_spent(b, s, false);
		if (s->last)
			gs_facts_put_last_job(ctl->hub->table, s->id, GS_LAST_SPENT, false);
		HASH_DEL(b->spenders, s);
		free(s);
	}
	gs_spending_done(&b->spending);
	free(b);
}
