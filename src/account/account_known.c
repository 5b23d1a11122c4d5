// SPDX-License-Identifier: MIT
/* Gives what the account knows to policies, the engine and answers. */
#include "account/priv.h"

#include <errno.h>
#include <string.h>

int gs_account_of(const struct gs_account *a, uint64_t id, struct gs_turn_sums *ret)
{
	/* not by the TSG's own entry: most TSGs have no turns, and entries are too many for a cache */
	for (size_t i = 0; i < a->ngpus; i++)
		if (a->gpus[i].turns && !gs_turns_of(a->gpus[i].turns, id, ret))
			return 0;
	return -ENOENT;
}

static uint64_t clock_of(const void *user, uint64_t gpu_ns)
{
	const struct gpu *g = user;

	return gs_switchlog_to_monotonic(&g->clock, gpu_ns);
}

int gs_account_facts(const struct gs_account *a, uint64_t id, struct gpusched_facts *ret)
{
	const struct tsg *t = account_tsg(a, id);
	const struct maker *m = t ? account_maker(a, t->gpu, t->maker) : NULL;
	const struct gpu *g = t ? account_gpu(a, t->gpu) : NULL;
	struct gs_turn_sums sums;

	*ret = (struct gpusched_facts){ 0 };
	/* turns of this TSG may be among those that were attributed to no TSG */
	if (!g || !g->turns || !m || m->unattributed ||
	    (!t->contexts && m->ntsgs != 1 && gs_turns_of(g->turns, id, &sums)) ||
	    gs_facts_of(g->turns, id, clock_of, g, ret))
		return -ENOENT;
	ret->runlist = t->runlist;
	return 0;
}

struct telling {
	struct gs_account *a;
	const struct gs_account_news *news;
};

static void tell_tsg(struct gs_account *a, struct tsg *t, const struct gs_account_news *news)
{
	struct gpusched_facts facts;

	if (!gs_account_facts(a, t->id, &facts)) {
		news->tsg(&facts, !t->told, news->user);
		t->told = true;
	} else if (t->told) {
		news->unknown(t->id, news->user);
		t->told = false;
	}
}

static void tell_changed(uint64_t id, void *user)
{
	const struct telling *x = user;
	struct tsg *t = account_tsg(x->a, id);

	if (t)
		tell_tsg(x->a, t, x->news);
}

static void ignore(uint64_t id, void *user)
{
}

static void tell_runlist(struct gpu *g, const struct gs_account_news *news)
{
	struct gpusched_runlist_facts facts;
	struct gpusched_gpu costs;

	if (g->turns && !gs_facts_of_runlist(g->turns, clock_of, g, &facts)) {
		gs_facts_of_gpu(g->turns, &g->alone.told, &costs);
		if (!g->told || memcmp(&costs, &g->costs, sizeof(costs)))
			news->costs(g->gpu.index, &costs, news->user);
		g->costs = costs;
		g->told = true;
		news->runlist(g->gpu.index, &facts, news->user);
	} else if (g->told) {
		g->told = false;
		news->closed(g->gpu.index, news->user);
	}
}

/*
 * Reports TSGs before their runlist, since its as_of_ns says until when the facts of its TSGs hold.
 */
void gs_account_tell(struct gs_account *a, const struct gs_account_news *news)
{
	struct telling x = { a, news };
	bool anew = false;

	for (size_t i = 0; i < a->ngpus; i++) {
		struct gpu *g = &a->gpus[i];
		struct gs_runlist_sums r = { 0 };

		if (g->turns)
			gs_turns_runlist(g->turns, &r);
		if (!g->told && r.since_ns) /* the first record has come */
			g->anew = true;
		anew |= g->anew;
		if (g->turns)
			gs_turns_changed(g->turns, g->anew ? ignore : tell_changed, &x);
	}
	for (struct tsg *t = anew ? a->tsgs : NULL; t; t = t->hh.next)
		if (account_gpu(a, t->gpu)->anew)
			tell_tsg(a, t, news);
	for (size_t i = 0; i < a->ngpus; i++) {
		a->gpus[i].anew = false;
		tell_runlist(&a->gpus[i], news);
	}
}

void gs_account_gpu(const struct gs_account *a, uint32_t gpu, struct gs_account_gpu *ret)
{
	const struct gpu *g = account_gpu(a, gpu);

	*ret = (struct gs_account_gpu){ 0 };
	if (!g)
		return;
	ret->open = g->log != NULL;
	memcpy(ret->reason, g->reason, sizeof(ret->reason));
	memcpy(ret->blank, g->blank, sizeof(ret->blank));
	ret->error_ns = g->clock.error_ns;
	ret->costs = g->begin;
	ret->idle_ns = g->alone.idle_ns;
	if (g->turns) {
		gs_turns_runlist(g->turns, &ret->sums);
		ret->costs = gs_turns_costs(g->turns);
		ret->save_unknown = g->log ? gs_turns_save_unknown(g->turns) : NULL;
	}
}

struct teller {
	const struct gpu *g;
	gs_turn_fn fn;
	void *user;
};

static void tell_open(const struct gs_turn *turn, void *user)
{
	const struct teller *t = user;

	account_tell_to(t->g, turn, t->fn, t->user);
}

void gs_account_open(const struct gs_account *a, gs_turn_fn fn, void *user)
{
	for (size_t i = 0; i < a->ngpus; i++) {
		struct teller t = { &a->gpus[i], fn, user };

		if (t.g->turns)
			gs_turns_open(t.g->turns, tell_open, &t);
	}
}

uint64_t gs_account_counter(const struct gs_account *a, enum gs_account_counter c)
{
	return c < GS_ACC_MAX ? a->counters[c] : 0;
}
