// SPDX-License-Identifier: MIT
/* Writes sums to the history: each minute, and before a change of policy. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "basic/clock.h"
#include "basic/log.h"
#include "figures/gpu_time.h"
#include "figures/ledger_priv.h"
#include "hub/loop.h"

#define REST_NS (600 * NS_PER_S) /* a TSG without work is written down only this often */
#define REST_MOST 1024           /* such TSGs in one write, since rows take memory until then */
#define STEP_S 2                 /* a change of the clock by less is drift */

static uint64_t seconds_since(uint64_t ns, uint64_t now)
{
	return (now - ns + NS_PER_S / 2) / NS_PER_S;
}

/* Names the policy that was in force from @since_ns on: at a change of policy, the old one. */
static void put_policy(const struct gs_figures *fig, struct gs_history_who *who, uint64_t since_ns)
{
	const struct ledger_giving *g = &fig->ledger->giving;
	const char *now = fig->hub->policy ? gs_policy_running(fig->hub->policy)->name : "";

	snprintf(who->policy, sizeof(who->policy), "%s",
		 g->ids && since_ns < g->began_ns ? g->policy : now);
}

void ledger_give(struct gs_figures *fig, struct kept *k, bool always)
{
	uint64_t now = gs_now_ns();

	ledger_take_tsg(fig, k);
	k->given_sampled = k->sampled;
	if (!fig->ledger->history ||
	    (!always && now - k->given_ns < REST_NS && gs_history_sums_is_nothing(&k->pending)))
		return;
	k->pending.v[GS_SUM_BLIND] = !k->pending.v[GS_SUM_SEEN];
	put_policy(fig, &k->who, k->given_ns);
	ledger_learn(fig->ledger, k);
	gs_history_add(fig->ledger->history, &k->who, seconds_since(k->given_ns, now), &k->pending);
	k->pending = (struct gs_history_sums){ 0 };
	k->news = false;
	k->given_ns = now;
}

/* True if the TSG may have worked between its last write to the history and the last sample. */
static bool may_have_worked(const struct gs_figures *fig, const struct kept *k)
{
	if (k->news || k->suspended_ns || k->sampled != k->given_sampled)
		return true;
	for (size_t i = 0; i < fig->hub->ngpus; i++)
		if (fig->hub->gpus[i].index == k->who.gpu)
			return !fig->ledger->gpus[i].tells;
	return true;
}

static void give_gpu(struct gs_figures *fig, size_t i, uint64_t now)
{
	struct gpu_kept *k = &fig->ledger->gpus[i];
	struct gs_history_who who = { .gpu = fig->hub->gpus[i].index };

	ledger_take_gpu(fig, i);
	if (!fig->ledger->history || gs_history_sums_is_nothing(&k->pending)) {
		k->given_ns = now;
		return;
	}
	snprintf(who.gpu_uuid, sizeof(who.gpu_uuid), "%s", fig->hub->gpus[i].uuid);
	put_policy(fig, &who, k->given_ns);
	gs_history_add(fig->ledger->history, &who, seconds_since(k->given_ns, now), &k->pending);
	k->pending = (struct gs_history_sums){ 0 };
	k->given_ns = now;
}

void ledger_check_clock(struct gs_figures *fig)
{
	struct gs_ledger *l = fig->ledger;
	struct timespec boot, real;
	int64_t now, by;

	clock_gettime(CLOCK_BOOTTIME, &boot);
	clock_gettime(CLOCK_REALTIME, &real);
	now = real.tv_sec - boot.tv_sec;
	by = now - l->clock_s;
	if (l->clock_s && (by > STEP_S || by < -STEP_S)) {
		gs_log(LOG_NOTICE,
		       "the clock was set by %lld s: nothing is removed or forgiven by that until "
		       "it has agreed with the machine's other clock for hours",
		       (long long)by);
		gs_observers_say(&fig->hub->observers,
				 json_pack("{s:I, s:s, s:I}", "time_ns", (json_int_t)gs_now_ns(),
					   "event", "clock", "by_s", (json_int_t)by),
				 GS_NOBODY);
		if (l->history)
			gs_history_stepped(l->history);
	}
	l->clock_s = now;
}

/* ---- all TSGs and GPUs ----------------------------------------------------------------------- */

static void end_giving(struct gs_figures *fig)
{
	struct gs_ledger *l = fig->ledger;
	uint64_t now = gs_now_ns();

	for (size_t i = 0; i < fig->hub->ngpus; i++)
		give_gpu(fig, i, now);
	gs_slices_drop(&fig->hub->slices, &l->giving.sliced);
	free(l->giving.ids);
	l->giving.ids = NULL;
	l->given_ns = now;
}

/* Returns false if there is more to do. */
static bool give_some(struct gs_figures *fig, uint64_t until_ns)
{
	struct ledger_giving *g = &fig->ledger->giving;

	for (; g->ids && g->at < g->n && gs_now_ns() < until_ns; g->at++) {
		struct kept *k = NULL;

		HASH_FIND(hh, fig->ledger->all, &g->ids[g->at], sizeof(*g->ids), k);
		if (!k)
			continue;
		k->events = 0;
		ledger_give(fig, k, false);
	}
	if (g->ids && g->at < g->n)
		return false;
	if (g->ids)
		end_giving(fig);
	return true;
}

static void work(struct gs_sliced *w, uint64_t until_ns)
{
	struct ledger_giving *g = GS_SLICED_OF(w, struct ledger_giving, sliced);

	if (!give_some(g->fig, until_ns))
		gs_loop_slice(g->fig->hub, w, true);
}

/* True if the GPU's log would have told of a turn, though none may have been told yet. */
static bool tells_turns(const struct gs_figures *fig, uint32_t gpu)
{
	struct gs_account_gpu a = { 0 };

	if (fig->hub->account)
		gs_account_gpu(fig->hub->account, gpu, &a);
	return a.open && !a.sums.blind;
}

/*
 * Returns the TSGs that have something to write, and some that have rested for long, in a list that
 * the caller frees; NULL: no memory.
 */
static uint64_t *ids_of(struct gs_figures *fig, bool all, size_t *ret_n)
{
	struct gs_ledger *l = fig->ledger;
	uint64_t *ids = calloc(HASH_COUNT(l->all) + 1, sizeof(*ids)), now = gs_now_ns();
	unsigned int rested = 0;

	*ret_n = 0;
	for (struct kept *k = ids ? l->all : NULL; k; k = k->hh.next) {
		if (all || may_have_worked(fig, k) ||
		    (now - k->given_ns >= REST_NS && rested++ < REST_MOST))
			ids[(*ret_n)++] = k->id;
		else if (k->events)
			k->events = 0;
	}
	return ids;
}

static void begin(struct gs_figures *fig, struct ledger_giving *g)
{
	struct gs_ledger *l = fig->ledger;

	ledger_check_clock(fig);
	gs_gpu_time_flush(fig);
	g->began_ns = gs_now_ns();
	for (size_t i = 0; i < fig->hub->ngpus; i++)
		l->gpus[i].tells = tells_turns(fig, fig->hub->gpus[i].index);
	snprintf(g->policy, sizeof(g->policy), "%s",
		 fig->hub->policy ? gs_policy_running(fig->hub->policy)->name : "");
	g->fig = fig;
	g->sliced.work = work;
	g->sliced.uid = GS_SLICES_OURS;
}

/*
 * Begins to write all TSGs' work. At a change of policy, some ms of the new policy may be counted
 * for the old one. @all: work since the last sample counts too, so no TSG is left out.
 */
void ledger_give_begin(struct gs_figures *fig, bool all)
{
	struct ledger_giving *g = &fig->ledger->giving;
	uint64_t *ids;
	size_t n;

	if (g->ids && (g->all || !all))
		return;
	if (!g->ids)
		begin(fig, g);
	ids = ids_of(fig, all, &n);
	if (!ids)
		return;
	free(g->ids); /* a write that left TSGs out begins anew */
	g->ids = ids;
	g->n = n;
	g->at = 0;
	g->all = all;
	gs_loop_slice(fig->hub, &g->sliced, false);
}

void ledger_give_all(struct gs_figures *fig)
{
	ledger_give_begin(fig, true);
	give_some(fig, UINT64_MAX);
}

void gs_ledger_policy_changes(void *self)
{
	struct gs_figures *fig = self;

	if (!fig->ledger)
		return;
	/*
	 * An earlier change's write may still be under way. Finish it, since the rest of that work
	 * belongs to the policy before both changes.
	 */
	give_some(fig, UINT64_MAX);
	ledger_give_begin(fig, true);
}

bool gs_ledger_give_for_answer(struct gs_figures *fig, uint64_t until_ns)
{
	struct gs_ledger *l = fig->ledger;

	if (!l || (!l->giving.ids && gs_now_ns() - l->given_ns < NS_PER_S))
		return true;
	ledger_give_begin(fig, true);
	return give_some(fig, until_ns);
}
