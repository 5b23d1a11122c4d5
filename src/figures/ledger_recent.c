// SPDX-License-Identifier: MIT
/* Takes samples of the figures, for the last ten seconds. */
#include <stdlib.h>
#include <string.h>

#include "basic/clock.h"
#include "figures/ledger_judged.h"
#include "figures/ledger_priv.h"
#include "figures/gpu_time.h"
#include "table/events.h"

static uint64_t tap_counter(const struct gs_figures *fig, unsigned int c)
{
	uint64_t n = 0;

	gs_events_counter(fig->hub->table, c, &n);
	return n;
}

struct gs_trouble_counts ledger_troubles(const struct gs_figures *fig)
{
	const struct gs_hub *hub = fig->hub;

	return (struct gs_trouble_counts){
		.stuck = hub->engine ? gs_engine_counter(hub->engine, GS_ENG_STUCK) : 0,
		.gave_up = hub->engine ? gs_engine_counter(hub->engine, GS_ENG_GAVE_UP) : 0,
		.log_lost = hub->account ? gs_account_counter(hub->account, GS_ACC_LOST) : 0,
		.table_full = tap_counter(fig, GPUSCHED_CNT_TABLE_FULL),
	};
}

/* Fills in missing samples: nothing changed for the TSG in them. */
static void catch_up(struct kept *k, uint64_t n)
{
	const struct gs_tsg_sums last = k->samples[(k->sampled - 1) % SAMPLES];

	for (uint64_t i = k->sampled + SAMPLES > n ? k->sampled : n - SAMPLES; i < n; i++)
		k->samples[i % SAMPLES] = last;
}

/*
 * Makes room for samples when they are first needed: most TSGs of a large table never work. Returns
 * false if there is no room: none is needed yet, or out of memory.
 */
static bool need_samples(struct kept *k, const struct gs_tsg_sums *now)
{
	const struct gs_tsg_sums none = { 0 };

	if (!k->samples && memcmp(now, &none, sizeof(none)))
		k->samples = calloc(SAMPLES, sizeof(*k->samples));
	return k->samples;
}

static void take_tsg(struct gs_figures *fig, struct kept *k)
{
	uint64_t n = fig->ledger->nsamples;
	struct gs_turn_sums t = { 0 };
	struct gs_tsg_sums now;

	if (fig->hub->account)
		gs_account_of(fig->hub->account, k->id, &t);
	now = gs_tsg_rates_sums(&t);
	if (need_samples(k, &now)) {
		if (k->sampled)
			catch_up(k, n);
		k->samples[n % SAMPLES] = now;
	}
	k->waiting = t.waiting;
	k->sampled = n + 1;
	if (k->samples || k->waiting)
		ledger_judge(fig->ledger, k);
}

struct gs_tsg_sums ledger_sample_of(const struct kept *k, uint64_t at)
{
	if (!k->samples || !k->sampled || k->first_sample > at)
		return (struct gs_tsg_sums){ 0 };
	return k->samples[(at < k->sampled ? at : k->sampled - 1) % SAMPLES];
}

static void take_loaded(const struct gs_turn *turn, void *user)
{
	struct gs_figures *fig = user;
	struct kept *k = NULL;

	HASH_FIND(hh, fig->ledger->all, &turn->id, sizeof(turn->id), k);
	if (k)
		take_tsg(fig, k);
}

static uint64_t not_held(const struct gs_gpu_sums *m)
{
	return m->lost_ns + m->open_ns + m->unknown_ns;
}

/* Returns false if no turn began or ended on this GPU since the last sample. */
static bool take_gpu(struct gs_figures *fig, size_t i)
{
	struct gs_ledger *l = fig->ledger;
	struct gpu_kept *k = &l->gpus[i];
	const struct gs_gpu_sums *before = &k->samples[(l->nsamples + SAMPLES - 1) % SAMPLES];
	struct gs_account_gpu g = { 0 };
	struct gs_gpu_sums m;

	if (fig->hub->account)
		gs_account_gpu(fig->hub->account, fig->hub->gpus[i].index, &g);
	m = gs_gpu_rates_sums(&g.sums);
	k->samples[l->nsamples % SAMPLES] = m;
	return m.switches != before->switches || m.span_ns < before->span_ns ||
	       (m.held_ns != before->held_ns && not_held(&m) != not_held(before));
}

void ledger_sample(struct gs_figures *fig)
{
	struct gs_ledger *l = fig->ledger;
	size_t slot = l->nsamples % SAMPLES;
	bool all = l->anew;

	gs_gpu_time_catch_up(fig);
	l->sampled_ns[slot] = gs_now_ns();
	l->troubles[slot] = ledger_troubles(fig);
	for (size_t i = 0; i < fig->hub->ngpus; i++)
		all |= take_gpu(fig, i);
	for (struct kept *k = all ? l->all : NULL; k; k = k->hh.next)
		take_tsg(fig, k);
	if (!all && fig->hub->account)
		gs_account_open(fig->hub->account, take_loaded, fig);
	l->anew = false;
	l->nsamples++;
}

void ledger_pause(struct gs_ledger *l)
{
	l->first_sample = l->nsamples;
}

static bool is_old(const struct gs_ledger *l, uint64_t at, uint64_t ns)
{
	return gs_now_ns() - l->sampled_ns[at % SAMPLES] >= ns;
}

bool ledger_oldest(const struct gs_ledger *l, uint64_t *ret)
{
	uint64_t at;

	if (!l || l->nsamples == l->first_sample)
		return false;
	at = l->nsamples > SAMPLES ? l->nsamples - SAMPLES : 0;
	*ret = at > l->first_sample ? at : l->first_sample;
	return is_old(l, *ret, NS_PER_S);
}

bool ledger_older(const struct gs_ledger *l, uint64_t ns, uint64_t *ret)
{
	uint64_t first;

	if (!ledger_oldest(l, &first))
		return false;
	for (*ret = l->nsamples - 1; *ret > first && !is_old(l, *ret, ns); (*ret)--)
		;
	return true;
}

/*
 * The time since sample @at by the clock of the GPU's log, since GPU time is measured by that
 * clock.
 */
static double span_of(struct gs_figures *fig, uint32_t gpu, uint64_t at)
{
	struct gs_account_gpu a = { 0 };

	gs_account_gpu(fig->hub->account, gpu, &a);
	for (size_t i = 0; a.open && a.sums.since_ns && i < fig->hub->ngpus; i++) {
		uint64_t span = a.sums.as_of_ns - a.sums.since_ns,
			 was = fig->ledger->gpus[i].samples[at % SAMPLES].span_ns;

		if (fig->hub->gpus[i].index == gpu)
			return (double)(span - (was < span ? was : 0));
	}
	return 0;
}

void ledger_take_shares(struct gs_figures *fig)
{
	struct gs_ledger *l = fig->ledger;
	uint64_t at;
	bool known = ledger_oldest(l, &at);

	for (struct group *g = l->groups; g; g = g->hh.next)
		g->recent_ns = 0;
	for (const struct kept *k = known ? l->all : NULL; k; k = k->hh.next) {
		uint64_t was = ledger_sample_of(k, at).held_ns;

		if (k->group && k->seen.held_ns > was)
			k->group->recent_ns += k->seen.held_ns - was;
	}
}

double gs_ledger_share(struct gs_figures *fig, const struct group *g)
{
	double span;
	uint64_t at;

	if (!fig->hub->account || !ledger_oldest(fig->ledger, &at))
		return g->live ? -1 : 0;
	span = span_of(fig, g->key.gpu, at);
	if (span <= 0)
		return g->live ? -1 : 0;
	return (double)g->recent_ns / span;
}
