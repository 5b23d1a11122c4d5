// SPDX-License-Identifier: MIT
/* The last ten seconds, and the last one or two: how figures stood at one of a few samples. */
#include <string.h>

#include "basic/clock.h"
#include "figures/ledger_priv.h"
#include "figures/gpu_time.h"
#include "table/events.h"

static uint64_t tap_counter(const struct gs_figures *fig, unsigned int c)
{
	uint64_t n = 0;

	gs_tap_counter(fig->hub->table, c, &n);
	return n;
}

static void take_troubles(struct gs_figures *fig, uint64_t ret[TROUBLE_MAX])
{
#define X(group, name, value) ret[TROUBLE_##name] = value;
	TROUBLES(X)
#undef X
}

/* Since its last sample nothing happened to it. */
static void catch_up(struct kept *k, uint64_t n)
{
	const struct tsg_sample last = k->samples[(k->sampled - 1) % SAMPLES];

	for (uint64_t i = k->sampled + SAMPLES > n ? k->sampled : n - SAMPLES; i < n; i++)
		k->samples[i % SAMPLES] = last;
}

static void take_tsg(struct gs_figures *fig, struct kept *k)
{
	uint64_t n = fig->ledger->nsamples;
	struct gs_turn_sums t = { 0 };

	if (fig->hub->account)
		gs_account_of(fig->hub->account, k->id, &t);
	if (k->sampled)
		catch_up(k, n);
	k->samples[n % SAMPLES] =
		(struct tsg_sample){ t.held_ns,  t.wait_ns,  t.turns, t.ended[GS_TURN_SLICE],
				     t.alone_ns, t.worked_ns };
	k->sampled = n + 1;
}

static struct tsg_sample sample_of(const struct kept *k, uint64_t at)
{
	if (!k->sampled || k->first_sample > at)
		return (struct tsg_sample){ 0 };
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

static uint64_t not_held(const struct gpu_sample *m)
{
	return m->lost_ns + m->open_ns + m->unknown_ns;
}

/* Returns false if since the last sample at most a turn went on: none began, none ended. */
static bool take_gpu(struct gs_figures *fig, size_t i)
{
	struct gs_ledger *l = fig->ledger;
	struct gpu_kept *k = &l->gpus[i];
	const struct gpu_sample *before = &k->samples[(l->nsamples + SAMPLES - 1) % SAMPLES];
	struct gs_account_gpu g = { 0 };
	const struct gs_runlist_sums *r = &g.sums;
	struct gpu_sample m;

	if (fig->hub->account)
		gs_account_gpu(fig->hub->account, fig->hub->gpus[i].index, &g);
	m = (struct gpu_sample){
		r->held_ns, r->lost_ns, r->open_ns, r->unknown_ns, r->as_of_ns - r->since_ns,
		r->switches
	};
	k->samples[l->nsamples % SAMPLES] = m;
	return m.switches != before->switches || m.span_ns < before->span_ns ||
	       (m.held_ns != before->held_ns && not_held(&m) != not_held(before));
}

void ledger_sample(struct gs_figures *fig)
{
	struct gs_ledger *l = fig->ledger;
	size_t slot = l->nsamples % SAMPLES;
	bool all = l->anew;

	gs_sight_flush(fig);
	l->sampled_ns[slot] = gs_now_ns();
	take_troubles(fig, l->troubles[slot]);
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

static bool is_old(const struct gs_ledger *l, uint64_t at)
{
	return gs_now_ns() - l->sampled_ns[at % SAMPLES] >= NS_PER_S;
}

/* The oldest sample that is there; false: none is older than a second. */
static bool oldest(const struct gs_ledger *l, uint64_t *ret)
{
	uint64_t at;

	if (!l || l->nsamples == l->first_sample)
		return false;
	at = l->nsamples > SAMPLES ? l->nsamples - SAMPLES : 0;
	*ret = at > l->first_sample ? at : l->first_sample;
	return is_old(l, *ret);
}

/* The youngest that is older than a second. */
static bool youngest(const struct gs_ledger *l, uint64_t *ret)
{
	uint64_t first;

	if (!oldest(l, &first))
		return false;
	for (*ret = l->nsamples - 1; *ret > first && !is_old(l, *ret); (*ret)--)
		;
	return true;
}

/* The GPU's log has a time of its own: what is held is part of that. */
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
	bool known = oldest(l, &at);

	for (struct group *g = l->groups; g; g = g->hh.next)
		g->recent_ns = 0;
	for (const struct kept *k = known ? l->all : NULL; k; k = k->hh.next) {
		uint64_t was = sample_of(k, at).held_ns;

		if (k->group && k->seen.held_ns > was)
			k->group->recent_ns += k->seen.held_ns - was;
	}
}

double gs_ledger_share(struct gs_figures *fig, const struct group *g)
{
	double span;
	uint64_t at;

	if (!fig->hub->account || !oldest(fig->ledger, &at))
		return g->live ? -1 : 0;
	span = span_of(fig, g->key.gpu, at);
	if (span <= 0)
		return g->live ? -1 : 0;
	return (double)g->recent_ns / span;
}

/* ---- JSON: with the keys of what stands beside it --------------------------------------------- */

/* One that came since then had nothing. */
void gs_ledger_ago_tsg(const struct gs_figures *fig, uint64_t id, json_t *o)
{
	struct tsg_sample m;
	struct kept *k = NULL;
	uint64_t at;

	if (fig && fig->ledger)
		HASH_FIND(hh, fig->ledger->all, &id, sizeof(id), k);
	if (!k || !oldest(fig->ledger, &at)) {
		json_object_set_new(o, "ago", json_null());
		return;
	}
	m = sample_of(k, at);
	json_object_set_new(o, "ago",
			    json_pack("{s:I, s:I, s:{s:I, s:I, s:I, s:I}}", "gpu_time_ns",
				      (json_int_t)m.held_ns, "wait_time_ns", (json_int_t)m.wait_ns,
				      "turns", "turns", (json_int_t)m.turns, "slice_ended",
				      (json_int_t)m.cut, "alone_ns", (json_int_t)m.alone_ns,
				      "worked_estimated_ns", (json_int_t)m.worked_ns));
}

/* A log that was opened since then began at 0. */
static json_t *gpu_json(const struct gs_figures *fig, size_t i, uint64_t at, const json_t *now)
{
	struct gpu_sample m = fig->ledger->gpus[i].samples[at % SAMPLES];

	if (json_integer_value(json_object_get(now, "span_ns")) < (json_int_t)m.span_ns)
		m = (struct gpu_sample){ 0 };
	return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I}", "held_ns", (json_int_t)m.held_ns,
			 "lost_ns", (json_int_t)m.lost_ns, "open_ns", (json_int_t)m.open_ns,
			 "unknown_ns", (json_int_t)m.unknown_ns, "span_ns", (json_int_t)m.span_ns,
			 "switches", (json_int_t)m.switches);
}

void gs_ledger_ago_gpu(const struct gs_figures *fig, size_t i, json_t *o)
{
	uint64_t at;

	gs_json_put(o, "ago", oldest(fig->ledger, &at) ? gpu_json(fig, i, at, o) : NULL);
	gs_json_put(o, "lately", youngest(fig->ledger, &at) ? gpu_json(fig, i, at, o) : NULL);
}

void gs_ledger_ago_stats(const struct gs_figures *fig, json_t *o)
{
	const uint64_t *t;
	json_t *ago;
	uint64_t at;

	if (!oldest(fig->ledger, &at)) {
		json_object_set_new(o, "ago", json_null());
		return;
	}
	t = fig->ledger->troubles[at % SAMPLES];
	ago = json_object();
#define X(group, name, value) \
	if (!json_object_get(ago, #group)) \
		json_object_set_new(ago, #group, json_object()); \
	json_object_set_new(json_object_get(ago, #group), #name, \
			    json_integer((json_int_t)t[TROUBLE_##name]));
	TROUBLES(X)
#undef X
	json_object_set_new(
		ago, "ms",
		json_integer((json_int_t)((gs_now_ns() - fig->ledger->sampled_ns[at % SAMPLES]) /
					  NS_PER_MS)));
	json_object_set_new(o, "ago", ago);
}
