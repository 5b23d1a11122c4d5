// SPDX-License-Identifier: MIT
#include "requests/metrics.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "figures/memory.h"
#include "figures/openmetrics.h"
#include "requests/requests.h"
#include "requests/state.h"
#include "hub/json.h"
#include "hub/limited.h"
#include "hub/loop.h"
#include "hub/records.h"
#include "requests/unread.h"
#include "requests/json.h"

#define FRESH_NS (100 * NS_PER_MS)
#define KINDS 3
#define PARTITIONS 256u

/* A finished text with a reference count; its last user frees it. */
struct shared {
	unsigned int refs;
	size_t n;
	char *text;
};

struct view;
enum part { BEGIN, SUMS, FIGURES, TSGS, END, PARTS };

/* State of a text that is being written. */
struct making {
	enum part part;
	FILE *out; /* NULL: no text is being written */
	char *text;
	size_t size;
	struct gs_openmetrics *figures;
	struct gpusched_tsg *recs;
	size_t n, at, suspended; /* records, those counted so far, and suspended TSGs */
	uint32_t *counts;        /* number of TSGs by GPU, class and kind */
	uint32_t *parts; /* number of TSGs by GPU and MIG partition (an engine's high byte) */
};

/* One of the two texts: one with figures of cgroups and users, the other without. */
struct view {
	struct gs_sliced sliced;
	struct gs_metrics *of;
	bool by_cgroup;
	struct making m;
	int code;         /* 0, or -errno if the last text failed */
	uint64_t made_ns; /* when the last text was finished; 0: never */
	struct shared *last;
};

struct gs_metrics {
	struct gs_requests *rs;
	struct view views[2];
	void (*put)(FILE *f, void *user);
	void *user;
};

static void unref(struct shared *t)
{
	if (!t || --t->refs)
		return;
	free(t->text);
	free(t);
}

/* ---- the parts of a text --------------------------------------------------------------------- */

/* Each do_*() writes one part. Returns 0, -errno, or -EINPROGRESS if work is left at @until_ns. */

static void limit_text(uid_t uid, const char *limit, uint64_t times, void *user)
{
	FILE *f = user;

	fprintf(f, "gpusched_limited_total{limit=\"%s\",uid=\"%d\"} %" PRIu64 "\n", limit, (int)uid,
		times);
}

/* Writes how often each limit took effect, for each user (@by_user) or as sums over users. */
static void limits_text(const struct gs_requests *rs, bool by_user, FILE *f)
{
	gs_openmetrics_head(f, "limited", "counter",
			    "times that a limit by user cut, deferred or refused a user's work");
	if (by_user)
		gs_limited_each(rs->hub, limit_text, f);
	for (int i = 0; !by_user && i < GS_LIMIT_MAX; i++)
		fprintf(f, "gpusched_limited_total{limit=\"%s\"} %" PRIu64 "\n", gs_limit_name(i),
			gs_limited_sum(rs->hub, i));
}

static int do_begin(struct gs_requests *rs, struct view *v, uint64_t until_ns)
{
	struct making *m = &v->m;

	m->out = open_memstream(&m->text, &m->size);
	if (!m->out)
		return -ENOMEM;
	gs_stats_text(rs, m->out);
	limits_text(rs, v->by_cgroup, m->out);
	gs_memory_text(rs->figures, m->out);
	return 0;
}

static int do_sums(struct gs_requests *rs, struct view *v, uint64_t until_ns)
{
	return gs_openmetrics_new(rs->figures, v->by_cgroup, v->m.out, until_ns, &v->m.figures);
}

static int do_figures(struct gs_requests *rs, struct view *v, uint64_t until_ns)
{
	return !v->m.figures || gs_openmetrics_text(v->m.figures, v->m.out, until_ns)
		       ? 0
		       : -EINPROGRESS;
}

static size_t slots(const struct gs_requests *rs)
{
	return (rs->hub->ngpus + 1) * GPUSCHED_MAX_CLASSES * KINDS;
}

static void count(const struct gs_requests *rs, struct making *m, const struct gpusched_tsg *rec)
{
	const struct gs_gpu *gpu = gs_record_gpu(rs->hub, rec);
	size_t g = gpu ? (size_t)(gpu - rs->hub->gpus) : rs->hub->ngpus;

	m->counts[(g * GPUSCHED_MAX_CLASSES + rec->task.class_id % GPUSCHED_MAX_CLASSES) * KINDS +
		  rec->task.kind % KINDS]++;
	m->parts[g * PARTITIONS + (rec->task.engine >> 8)]++;
	m->suspended += rec->suspend_by != GPUSCHED_BY_NOBODY;
}

/* Writes how many TSGs are in each partition. */
static void parts_text(const struct gs_requests *rs, const struct making *m)
{
	gs_openmetrics_head(m->out, "partition_tsgs", "gauge",
			    "TSGs in MIG partitions that are known");
	for (size_t i = 0; i < rs->hub->ngpus * PARTITIONS; i++) {
		uint16_t engine = (uint16_t)(i % PARTITIONS << 8);
		const struct gs_gpu *gpu = &rs->hub->gpus[i / PARTITIONS];

		if (engine && m->parts[i])
			fprintf(m->out,
				"gpusched_partition_tsgs{gpu=\"%u\",UUID=\"%s\",GPU_I_ID=\"%d\","
				"compute_instance=\"%d\"} %u\n",
				gpu->index, gpu->uuid, (int)gpusched_gpu_instance(engine),
				(int)gpusched_compute_instance(engine), m->parts[i]);
	}
}

/*
 * Writes the number of TSGs by GPU, class and kind. No label names a process: that would make the
 * number of series unbounded.
 */
static void counts_text(const struct gs_requests *rs, const struct making *m)
{
	gs_openmetrics_head(m->out, "tsgs", "gauge", "TSGs in the table");
	for (size_t i = 0; i < slots(rs); i++) {
		size_t g = i / KINDS / GPUSCHED_MAX_CLASSES;

		if (!m->counts[i])
			continue;
		if (g < rs->hub->ngpus)
			fprintf(m->out, "gpusched_tsgs{gpu=\"%u\",UUID=\"%s\",",
				rs->hub->gpus[g].index, rs->hub->gpus[g].uuid);
		else
			fprintf(m->out, "gpusched_tsgs{gpu=\"\",UUID=\"\",");
		fprintf(m->out, "class=\"%s\",kind=\"%s\"} %u\n",
			gs_stats_class(rs, (uint32_t)(i / KINDS % GPUSCHED_MAX_CLASSES)),
			gs_kind_name(i % KINDS), m->counts[i]);
	}
	gs_openmetrics_head(m->out, "tsgs_suspended", "gauge", "TSGs whose channels are disabled");
	fprintf(m->out, "gpusched_tsgs_suspended %zu\n", m->suspended);
}

static int do_tsgs(struct gs_requests *rs, struct view *v, uint64_t until_ns)
{
	struct making *m = &v->m;

	if (!m->recs) {
		m->counts = calloc(slots(rs), sizeof(*m->counts));
		m->parts = calloc((rs->hub->ngpus + 1) * PARTITIONS, sizeof(*m->parts));
		if (!m->counts || !m->parts)
			return -ENOMEM;
		return gs_table_all(rs->hub->table, &m->recs, &m->n) ? -EIO : -EINPROGRESS;
	}
	for (; m->at < m->n && gs_now_ns() < until_ns; m->at++)
		count(rs, m, &m->recs[m->at]);
	if (m->at < m->n)
		return -EINPROGRESS;
	counts_text(rs, m);
	parts_text(rs, m);
	return 0;
}

static int do_end(struct gs_requests *rs, struct view *v, uint64_t until_ns)
{
	struct making *m = &v->m;
	FILE *out = m->out;

	gs_stats_launches_text(rs, out);
	gs_state_metrics(rs, out);
	gs_openmetrics_head(out, "policy", "gauge", "the running policy");
	if (rs->hub->policy)
		fprintf(out, "gpusched_policy{policy=\"%s\"} 1\n",
			gs_policy_running(rs->hub->policy)->name);
	if (v->of->put)
		v->of->put(out, v->of->user);
	fputs("# EOF\n", out);
	m->out = NULL;
	return fclose(out) ? -ENOMEM : 0;
}

static int (*const parts[PARTS])(struct gs_requests *rs, struct view *v, uint64_t until_ns) = {
	[BEGIN] = do_begin, [SUMS] = do_sums, [FIGURES] = do_figures,
	[TSGS] = do_tsgs,   [END] = do_end,
};

/* ---- writing a text -------------------------------------------------------------------------- */

static void making_end(struct making *m)
{
	if (m->out)
		fclose(m->out);
	gs_openmetrics_free(m->figures);
	free(m->recs);
	free(m->counts);
	free(m->parts);
	free(m->text);
	*m = (struct making){ 0 };
}

/* Makes the finished text the current one. Requests that use an older text keep that. */
static int share(struct view *v)
{
	struct shared *t = calloc(1, sizeof(*t));

	if (!t)
		return -ENOMEM;
	t->refs = 1;
	t->n = v->m.size;
	t->text = TAKE_PTR(v->m.text);
	unref(v->last);
	v->last = t;
	return 0;
}

static void take_slice(struct gs_sliced *w, uint64_t until_ns)
{
	struct view *v = GS_SLICED_OF(w, struct view, sliced);
	struct gs_requests *rs = v->of->rs;
	int r = 0;

	while (v->m.part < PARTS && !r && gs_now_ns() < until_ns) {
		r = parts[v->m.part](rs, v, until_ns);
		v->m.part += !r;
	}
	if ((!r && v->m.part < PARTS) || r == -EINPROGRESS) {
		gs_loop_slice(rs->hub, w, true);
		return;
	}
	v->code = r ? r : share(v);
	v->made_ns = gs_now_ns();
	making_end(&v->m);
	gs_completions_happened(&rs->hub->waits, GS_ON_METRICS);
}

/* ---- requests for a text --------------------------------------------------------------------- */

struct asked {
	struct gs_completion base;
	struct gs_requests *rs;
	struct view *view;
	uid_t uid;
	uint64_t since_ns;
	struct shared *text;
	size_t held;
};

static int check(struct gs_completion *c, uint64_t now_ns)
{
	struct asked *a = (struct asked *)c;
	struct view *v = a->view;
	int r;

	if (!v->made_ns || v->made_ns + FRESH_NS < a->since_ns) {
		gs_loop_slice(a->rs->hub, &v->sliced, false);
		return -EINPROGRESS;
	}
	if (v->code)
		return gs_fail(&c->err, v->code, "the counters cannot be read");
	r = gs_unread_hold(a->rs, a->uid, v->last->n, &a->held, &c->err);
	if (r)
		return r;
	a->text = v->last;
	a->text->refs++;
	c->shared = a->text->text;
	return 0;
}

static void release(struct gs_completion *c)
{
	struct asked *a = (struct asked *)c;

	gs_unread_drop(a->rs, a->uid, &a->held);
	unref(a->text);
	free(a);
}

static struct gs_metrics *metrics_of(struct gs_requests *rs)
{
	struct gs_metrics *m = rs->metrics;

	if (m)
		return m;
	m = calloc(1, sizeof(*m));
	if (!m)
		return NULL;
	m->rs = rs;
	for (int i = 0; i < 2; i++)
		m->views[i] = (struct view){
			.sliced = { .work = take_slice, .uid = GS_SLICES_OURS },
			.of = m,
			.by_cgroup = i,
		};
	rs->metrics = m;
	return m;
}

struct gs_completion *gs_requests_ask_metrics(struct gs_requests *rs, const struct gs_peer *peer)
{
	const struct gs_view view = gs_view_of(rs, peer);
	struct gs_metrics *m = metrics_of(rs);
	struct asked *a = m ? calloc(1, sizeof(*a)) : NULL;

	if (!a)
		return NULL;
	*a = (struct asked){
		.base = { .check = check, .on = GS_ON_METRICS, .release = release },
		.rs = rs,
		.view = &m->views[gs_view_sees_all_times(&view)],
		.uid = peer->uid,
		.since_ns = gs_now_ns(),
	};
	gs_completion_begin(&a->base, &rs->hub->waits, a->since_ns);
	return &a->base;
}

void gs_requests_add_metrics(struct gs_requests *rs, void (*put)(FILE *f, void *user), void *user)
{
	struct gs_metrics *m = metrics_of(rs);

	if (!m)
		return;
	m->put = put;
	m->user = user;
}

void gs_metrics_free(struct gs_requests *rs)
{
	struct gs_metrics *m = rs->metrics;

	for (int i = 0; m && i < 2; i++) {
		gs_slices_drop(&rs->hub->slices, &m->views[i].sliced);
		making_end(&m->views[i].m);
		unref(m->views[i].last);
	}
	free(m);
	rs->metrics = NULL;
}
