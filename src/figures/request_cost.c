// SPDX-License-Identifier: MIT
#include "figures/request_cost.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "basic/clock.h"

#define GPUS 32u /* GPUs of a machine on which a request's turns are looked for */
/*
 * So many turns in a row that ended before the request are enough: some are reported late, and the
 * GPUs' turns one GPU after the other.
 */
#define OLDER 1024u

static unsigned int bin_of(uint64_t ns)
{
	double octaves = ns > GS_COST_LEAST_NS ? log2((double)ns / GS_COST_LEAST_NS) : 0;
	unsigned int bin = (unsigned int)(octaves * GS_COST_OCTAVE);

	return bin < GS_COST_BINS ? bin : GS_COST_BINS - 1;
}

static void add_parts(struct gs_request_parts *sum, const struct gs_request_parts *p)
{
	sum->took_ns += p->took_ns;
	sum->itself_ns += p->itself_ns;
	sum->others_ns += p->others_ns;
	sum->neither_ns += p->neither_ns;
	sum->unknown_ns += p->unknown_ns;
}

void gs_request_cost_add(struct gs_request_cost *c, const struct gs_request_parts *p)
{
	c->n++;
	add_parts(&c->sum, p);
	c->bins[bin_of(p->took_ns)]++;
}

void gs_request_cost_join(struct gs_request_cost *c, const struct gs_request_cost *from)
{
	c->n += from->n;
	add_parts(&c->sum, &from->sum);
	gs_slo_join(&c->slo, &from->slo);
	for (unsigned int i = 0; i < GS_COST_BINS; i++)
		c->bins[i] += from->bins[i];
}

void gs_request_cost_join_new(struct gs_request_cost **to, const struct gs_request_cost *from)
{
	if (from && !*to)
		*to = calloc(1, sizeof(**to));
	if (from && *to)
		gs_request_cost_join(*to, from);
}

uint64_t gs_request_cost_ns(const struct gs_request_cost *c, unsigned int percent)
{
	uint64_t want = (c->n * percent + 99) / 100, n = 0;

	for (unsigned int i = 0; c->n && i < GS_COST_BINS; i++) {
		n += c->bins[i];
		if (n >= want)
			return (uint64_t)(GS_COST_LEAST_NS * exp2((i + 0.5) / GS_COST_OCTAVE));
	}
	return 0;
}

uint64_t gs_request_cost_below(const struct gs_request_cost *c, uint64_t ns)
{
	uint64_t n = 0;

	for (unsigned int i = 0; ns > GS_COST_LEAST_NS && i < bin_of(ns); i++)
		n += c->bins[i];
	return n;
}

void gs_request_cost_histogram(const struct gs_request_cost *c, const char *labels, FILE *f)
{
	static const unsigned int le_ms[] = { 1,   2,   5,    10,   20,   50,   100,
					      200, 500, 1000, 2000, 5000, 10000 };

	for (size_t i = 0; i < sizeof(le_ms) / sizeof(le_ms[0]); i++)
		fprintf(f, "gpusched_request_seconds_bucket{%s,le=\"%.3f\"} %" PRIu64 "\n", labels,
			le_ms[i] / 1e3, gs_request_cost_below(c, le_ms[i] * NS_PER_MS));
	fprintf(f,
		"gpusched_request_seconds_bucket{%s,le=\"+Inf\"} %" PRIu64 "\n"
		"gpusched_request_seconds_count{%s} %" PRIu64 "\n"
		"gpusched_request_seconds_sum{%s} %.9f\n",
		labels, c->n, labels, c->n, labels, (double)c->sum.took_ns / 1e9);
}

void gs_request_cost_parts(const struct gs_request_cost *c, const char *labels, FILE *f)
{
	const struct {
		const char *name;
		uint64_t ns;
	} parts[] = { { "itself", c->sum.itself_ns },
		      { "others", c->sum.others_ns },
		      { "neither", c->sum.neither_ns },
		      { "unknown", c->sum.unknown_ns } };

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		fprintf(f, "gpusched_request_part_seconds_total{%s,part=\"%s\"} %.9f\n", labels,
			parts[i].name, (double)parts[i].ns / 1e9);
}

/* ---- the last turns -------------------------------------------------------------------------- */

void gs_cost_turns_add(struct gs_cost_turns *t, const struct gs_cost_turn *turn)
{
	struct gs_cost_turn *slot = &t->at[t->n % GS_COST_TURNS];

	if (t->n >= GS_COST_TURNS && slot->end_ns > t->since_ns)
		t->since_ns = slot->end_ns;
	*slot = *turn;
	t->n++;
}

struct loaded {
	uint32_t pid;
	uint64_t begin_ns, end_ns;
	uint64_t itself_ns[GPUS], others_ns[GPUS];
};

static void take_turn(struct loaded *l, const struct gs_cost_turn *turn)
{
	uint64_t from = turn->start_ns > l->begin_ns ? turn->start_ns : l->begin_ns;
	uint64_t to = turn->end_ns < l->end_ns ? turn->end_ns : l->end_ns;

	if (turn->gpu >= GPUS || to <= from)
		return;
	if (turn->pid == l->pid)
		l->itself_ns[turn->gpu] += to - from;
	else
		l->others_ns[turn->gpu] += to - from;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

void gs_request_split(const struct gs_cost_turns *t, const struct gs_cost_turn *open,
		      unsigned int n, uint32_t pid, uint32_t gpu, uint64_t begin_ns,
		      uint64_t end_ns, struct gs_request_parts *ret)
{
	uint64_t known_ns = begin_ns > t->since_ns ? begin_ns : least(t->since_ns, end_ns);
	struct loaded l = { .pid = pid, .begin_ns = known_ns, .end_ns = end_ns };
	uint64_t kept = least(t->n, GS_COST_TURNS), left;

	*ret = (struct gs_request_parts){ .took_ns = end_ns - begin_ns,
					  .unknown_ns = known_ns - begin_ns };
	for (uint64_t i = 0, older = 0; i < kept && older < OLDER; i++) {
		const struct gs_cost_turn *turn = &t->at[(t->n - 1 - i) % GS_COST_TURNS];

		older = turn->end_ns <= known_ns ? older + 1 : 0;
		take_turn(&l, turn);
	}
	for (unsigned int i = 0; i < n; i++)
		take_turn(&l, &open[i]);
	if (gpu >= GPUS)
		gpu = 0;
	for (uint32_t i = 0; i < GPUS; i++)
		if (l.itself_ns[i] > l.itself_ns[gpu])
			gpu = i;
	left = end_ns - known_ns;
	ret->itself_ns = least(l.itself_ns[gpu], left);
	left -= ret->itself_ns;
	ret->others_ns = least(l.others_ns[gpu], left);
	ret->neither_ns = left - ret->others_ns;
}
