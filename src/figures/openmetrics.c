// SPDX-License-Identifier: MIT
#include "figures/openmetrics.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "basic/escape.h"
#include "basic/grow.h"
#include "hub/json.h"
#include "figures/ledger_priv.h"
#include "figures/memory.h"
#include "figures/request_cost.h"
#include "figures/request_costs.h"

/* Upper bounds of the histogram's buckets: 2^12 ns (4 us) to 2^30 ns (1 s). */
#define LE_FIRST 12
#define LE_LAST 30
#define LE_STEP 2

static void put_label(FILE *f, const char *name, const char *value)
{
	CLEANUP_FREE char *shown = gs_escaped(value);

	if (!*value)
		return;
	fprintf(f, ",%s=\"", name);
	for (const char *c = shown ? shown : ""; *c; c++)
		fprintf(f, *c == '"' || *c == '\\' ? "\\%c" : "%c", *c);
	fputc('"', f);
}

/* Returns malloc'd text: gpu="0",UUID="...",class="be" and further labels. */
static char *labels_of(const struct gs_figures *fig, const struct group *g)
{
	char *text = NULL;
	const struct gs_gpu *gpu = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		return NULL;
	for (size_t i = 0; i < fig->hub->ngpus; i++)
		if (fig->hub->gpus[i].index == g->key.gpu)
			gpu = &fig->hub->gpus[i];
	fprintf(f, "gpu=\"%u\",UUID=\"%s\",class=\"%s\"", g->key.gpu, gpu ? gpu->uuid : "",
		g->key.class);
	put_label(f, "cgroup", g->key.cgroup);
	put_label(f, "namespace", g->pod.namespace);
	put_label(f, "pod", g->pod.pod);
	put_label(f, "container", g->pod.container);
	put_label(f, "pod_uid", g->pod.uid);
	put_label(f, "container_id", g->pod.id);
	return fclose(f) ? NULL : text;
}

/* ---- owners ---------------------------------------------------------------------------------- */

/*
 * True if the group's GPU time is known. If the group had no TSG, the time is known to be 0, unless
 * the log could not be read.
 */
static bool is_known(const struct gs_figures *fig, const struct group *g)
{
	struct gs_account_gpu a = { 0 };

	gs_account_gpu(fig->hub->account, g->key.gpu, &a);
	return g->sums.v[GS_SUM_SEEN] || (a.open ? !g->live : !a.reason[0]);
}

/*
 * A copy of a group as it was when the text began: the group may end before its last line is
 * written.
 */
struct shown {
	char *labels;
	double share;    /* of the last 10 s; negative: unknown */
	bool has_memory; /* the memory of its processes is known */
	uint64_t memory;
	struct gs_history_sums sums;
	struct gs_request_cost *requests; /* NULL: none is known */
};

struct gs_openmetrics {
	struct shown *all;
	size_t n, room;
	size_t family, at; /* the next row to write: its family, its index */
	bool headed;       /* the head of the metric family is written */
};

static bool is_memory_known(const struct gs_figures *fig, const struct group *g)
{
	struct gs_memory_gpu m = { 0 };

	for (size_t i = 0; i < fig->hub->ngpus; i++)
		if (fig->hub->gpus[i].index == g->key.gpu)
			gs_memory_gpu(fig, i, &m);
	return m.known;
}

static void show(struct gs_figures *fig, struct gs_openmetrics *w, const struct group *g)
{
	if (!is_known(fig, g) || GS_GROW(w->all, w->room, w->n + 1))
		return;
	w->all[w->n] = (struct shown){ labels_of(fig, g), gs_ledger_share(fig, g),
				       is_memory_known(fig, g), g->memory, g->sums };
	gs_request_cost_join_new(&w->all[w->n].requests, g->requests);
	if (w->all[w->n].labels)
		w->n++;
	else
		free(w->all[w->n].requests);
}

/* Reads the name of the pod if the group's first TSG came before it was known. */
static void learn_pod(struct group *g)
{
	struct gs_pod_names now;

	if (*g->pod.uid && !*g->pod.pod && gs_pod_names(g->key.cgroup, &now) && *now.pod)
		g->pod = now;
}

static void show_all(struct gs_figures *fig, struct gs_openmetrics *w)
{
	for (struct group *g = fig->ledger->groups; g; g = g->hh.next) {
		learn_pod(g);
		show(fig, w, g);
	}
}

/* Sums up all cgroups of a class on a GPU. */
static void show_coarse(struct gs_figures *fig, struct gs_openmetrics *w)
{
	CLEANUP_FREE struct group *all = calloc(HASH_COUNT(fig->ledger->groups) + 1, sizeof(*all));
	size_t n = 0;

	for (struct group *g = fig->ledger->groups; all && g; g = g->hh.next) {
		struct group *c = all;

		while (c < all + n &&
		       (c->key.gpu != g->key.gpu || strcmp(c->key.class, g->key.class)))
			c++;
		if (c == all + n) {
			c->key = g->key;
			memset(c->key.cgroup, 0, sizeof(c->key.cgroup));
			n++;
		}
		c->live += g->live;
		c->recent_ns += g->recent_ns;
		c->memory += g->memory;
		gs_history_sums_add(&c->sums, &g->sums);
		gs_history_sums_add(&c->sums, &g->ended);
		gs_request_cost_join_new(&c->requests, g->requests);
		gs_request_cost_join_new(&c->requests, g->ended_requests);
	}
	for (size_t i = 0; i < n; i++) {
		show(fig, w, &all[i]);
		free(all[i].requests);
	}
}

void gs_openmetrics_free(struct gs_openmetrics *w)
{
	for (size_t i = 0; w && i < w->n; i++) {
		free(w->all[i].labels);
		free(w->all[i].requests);
	}
	if (w)
		free(w->all);
	free(w);
}

/* ---- text ------------------------------------------------------------------------------------ */

void gs_openmetrics_head(FILE *f, const char *name, const char *type, const char *help)
{
	size_t n = strlen(name);

	fprintf(f, "# TYPE gpusched_%s %s\n", name, type);
	if (n > 8 && !strcmp(name + n - 8, "_seconds"))
		fprintf(f, "# UNIT gpusched_%s seconds\n", name);
	if (n > 6 && !strcmp(name + n - 6, "_bytes"))
		fprintf(f, "# UNIT gpusched_%s bytes\n", name);
	fprintf(f, "# HELP gpusched_%s %s\n", name, help);
}

static void put_figure(FILE *f, const struct shown *w, const struct gs_history_figure *m)
{
	uint64_t v = w->sums.v[m->sum];

	if (m->priced && w->sums.v[GS_SUM_UNPRICED])
		return;
	fprintf(f, "gpusched_%s_total{%s} ", m->metric, w->labels);
	if (strstr(m->metric, "_seconds"))
		fprintf(f, "%.9f\n", (double)v / 1e9);
	else
		fprintf(f, "%" PRIu64 "\n", v);
}

static void put_histogram(FILE *f, const struct shown *w)
{
	const struct gs_history_sums *s = &w->sums;
	uint64_t n = 0;
	int bucket = 0;

	for (int e = LE_FIRST; e <= LE_LAST; e += LE_STEP) {
		for (; bucket < e; bucket++)
			n += s->wait_bucket[bucket];
		fprintf(f, "gpusched_wait_seconds_bucket{%s,le=\"%.9f\"} %" PRIu64 "\n", w->labels,
			(double)(1ull << e) / 1e9, n);
	}
	fprintf(f,
		"gpusched_wait_seconds_bucket{%s,le=\"+Inf\"} %" PRIu64 "\n"
		"gpusched_wait_seconds_count{%s} %" PRIu64 "\n"
		"gpusched_wait_seconds_sum{%s} %.9f\n",
		w->labels, s->v[GS_SUM_WAITS], w->labels, s->v[GS_SUM_WAITS], w->labels,
		(double)s->v[GS_SUM_WAIT] / 1e9);
}

static void put_share(FILE *f, const struct shown *w)
{
	if (w->share >= 0)
		fprintf(f, "gpusched_gpu_share{%s} %.4f\n", w->labels, w->share);
}

static void put_memory(FILE *f, const struct shown *w)
{
	if (w->has_memory)
		fprintf(f, "gpusched_memory_bytes{%s} %" PRIu64 "\n", w->labels, w->memory);
}

/* Indexes of metric families, which follow those of the history's figures. */
#define HISTOGRAM gs_history_nfigures
#define SHARE (gs_history_nfigures + 1)
#define MEMORY (gs_history_nfigures + 2)
#define REQUESTS (gs_history_nfigures + 3)
#define PARTS (gs_history_nfigures + 4)
#define MISSED (gs_history_nfigures + 5)

static void put_head(FILE *f, size_t family)
{
	if (family == HISTOGRAM)
		gs_openmetrics_head(f, "wait_seconds", "histogram",
				    "waits for a turn on the GPU, as far as they are known");
	else if (family == SHARE)
		gs_openmetrics_head(f, "gpu_share", "gauge",
				    "part of the GPU's last 10 s that was held; without log: none");
	else if (family == MEMORY)
		gs_openmetrics_head(f, "memory_bytes", "gauge",
				    "memory of the GPU that processes hold; unknown: none");
	else if (family == REQUESTS)
		gs_openmetrics_head(f, "request_seconds", "histogram",
				    "what requests took that programs tell of");
	else if (family == PARTS)
		gs_openmetrics_head(f, "request_part_seconds", "counter",
				    "time of these requests by who was loaded on the GPU");
	else if (family == MISSED)
		gs_openmetrics_head(f, "requests_missed", "counter",
				    "requests that took longer than slo= of their class");
	else
		gs_openmetrics_head(f, gs_history_figures[family].metric, "counter",
				    gs_history_figures[family].help);
}

static void put(FILE *f, size_t family, const struct shown *w)
{
	if (family == HISTOGRAM)
		put_histogram(f, w);
	else if (family == SHARE)
		put_share(f, w);
	else if (family == MEMORY)
		put_memory(f, w);
	else if (family == REQUESTS && w->requests)
		gs_request_cost_histogram(w->requests, w->labels, f);
	else if (family == PARTS && w->requests)
		gs_request_cost_parts(w->requests, w->labels, f);
	else if (family == MISSED && w->requests)
		gs_slo_metric(&w->requests->slo, w->labels, f);
	else if (family < HISTOGRAM)
		put_figure(f, w, &gs_history_figures[family]);
}

bool gs_openmetrics_text(struct gs_openmetrics *w, FILE *f, uint64_t until_ns)
{
	for (; w->family <= MISSED; w->family++, w->at = 0, w->headed = false) {
		if (w->family < HISTOGRAM && !gs_history_figures[w->family].metric)
			continue;
		if (!w->headed)
			put_head(f, w->family);
		w->headed = true;
		for (; w->at < w->n; w->at++) {
			if (gs_now_ns() >= until_ns)
				return false;
			put(f, w->family, &w->all[w->at]);
		}
	}
	return true;
}

/* Writes one metric for all GPUs; leaves out a GPU if its log cannot be read. */
static void gpu_text(struct gs_figures *fig, FILE *f, const char *name, enum gs_history_sum sum,
		     const char *help)
{
	char full[64];

	snprintf(full, sizeof(full), "gpu_%s_seconds", name);
	gs_openmetrics_head(f, full, "counter", help);
	for (size_t i = 0; i < fig->hub->ngpus; i++) {
		const struct gs_history_sums *t = &fig->ledger->gpus[i].total;
		struct gs_account_gpu g;

		gs_account_gpu(fig->hub->account, fig->hub->gpus[i].index, &g);
		if (t->v[GS_SUM_SEEN] || !g.reason[0])
			fprintf(f, "gpusched_%s_total{gpu=\"%u\",UUID=\"%s\"} %.9f\n", full,
				fig->hub->gpus[i].index, fig->hub->gpus[i].uuid,
				(double)t->v[sum] / 1e9);
	}
}

static void gpus_text(struct gs_figures *fig, FILE *f)
{
	gpu_text(fig, f, "held", GS_SUM_HELD, "time in which a program's context was loaded");
	gpu_text(fig, f, "lost", GS_SUM_LOST, "time between two programs' turns, below 1 ms");
	gpu_text(fig, f, "open", GS_SUM_OPEN, "time in which no context was loaded");
	gpu_text(fig, f, "unknown", GS_SUM_UNKNOWN, "time around lost records");
}

int gs_openmetrics_new(struct gs_figures *fig, bool by_cgroup, FILE *f, uint64_t until_ns,
		       struct gs_openmetrics **ret)
{
	struct gs_openmetrics *w;

	if (!fig->ledger || !fig->hub->account)
		return 0;
	if (!gs_ledger_bring_up(fig, until_ns))
		return -EINPROGRESS;
	w = calloc(1, sizeof(*w));
	if (!w)
		return -ENOMEM;
	gpus_text(fig, f);
	ledger_end_groups(fig);
	if (by_cgroup)
		show_all(fig, w);
	else
		show_coarse(fig, w);
	*ret = w;
	return 0;
}
