// SPDX-License-Identifier: MIT
#include "service/metrics.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "service/openmetrics.h"
#include "service/instance.h"
#include "service/json.h"
#include "service/loop.h"
#include "service/records.h"
#include "service/unread.h"

#define FRESH_NS (100 * NS_PER_MS)
#define KINDS 3

/* Freed with the last of those who have it. */
struct shared {
	unsigned int refs;
	size_t n;
	char *text;
};

struct view;
enum part { BEGIN, SUMS, FIGURES, TSGS, END, PARTS };

/* A text that is being made. */
struct making {
	enum part part;
	FILE *out; /* NULL: none is */
	char *text;
	size_t size;
	struct gs_openmetrics *figures;
	struct gpusched_tsg *recs;
	size_t n, at, suspended;
	uint32_t *counts; /* by GPU, class and kind */
};

struct view {
	struct gs_sliced sliced;
	struct gs_metrics *of;
	bool by_cgroup;
	struct making m;
	int code;         /* of the last one */
	uint64_t made_ns; /* when that was done; 0: never */
	struct shared *last;
};

struct gs_metrics {
	struct gs_service *s;
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

/* ---- parts: each returns 0, -EINPROGRESS if there is more to do after @until_ns, or -errno ----- */

static int do_begin(struct gs_service *s, struct view *v, uint64_t until_ns)
{
	struct making *m = &v->m;

	m->out = open_memstream(&m->text, &m->size);
	if (!m->out)
		return -ENOMEM;
	gs_stats_text(s, m->out);
	return 0;
}

static int do_sums(struct gs_service *s, struct view *v, uint64_t until_ns)
{
	return gs_openmetrics_new(s, v->by_cgroup, v->m.out, until_ns, &v->m.figures);
}

static int do_figures(struct gs_service *s, struct view *v, uint64_t until_ns)
{
	return !v->m.figures || gs_openmetrics_text(v->m.figures, v->m.out, until_ns)
		       ? 0
		       : -EINPROGRESS;
}

static size_t slots(const struct gs_service *s)
{
	return (s->ngpus + 1) * GPUSCHED_MAX_CLASSES * KINDS;
}

static void count(const struct gs_service *s, struct making *m, const struct gpusched_tsg *rec)
{
	const struct gs_gpu *gpu = gs_record_gpu(s, rec);
	size_t g = gpu ? (size_t)(gpu - s->gpus) : s->ngpus;

	m->counts[(g * GPUSCHED_MAX_CLASSES + rec->task.class_id % GPUSCHED_MAX_CLASSES) * KINDS +
		  rec->task.kind % KINDS]++;
	m->suspended += rec->suspend_by != GPUSCHED_BY_NOBODY;
}

/* TSGs by GPU, class and kind: no label per process, or the number of series had no bound. */
static void counts_text(const struct gs_service *s, const struct making *m)
{
	gs_metric_head(m->out, "tsgs", "gauge", "TSGs in the table");
	for (size_t i = 0; i < slots(s); i++) {
		size_t g = i / KINDS / GPUSCHED_MAX_CLASSES;

		if (!m->counts[i])
			continue;
		if (g < s->ngpus)
			fprintf(m->out, "gpusched_tsgs{gpu=\"%u\",UUID=\"%s\",", s->gpus[g].index,
				s->gpus[g].uuid);
		else
			fprintf(m->out, "gpusched_tsgs{gpu=\"\",UUID=\"\",");
		fprintf(m->out, "class=\"%s\",kind=\"%s\"} %u\n",
			gs_class_label(s, (uint32_t)(i / KINDS % GPUSCHED_MAX_CLASSES)),
			gs_kind_name(i % KINDS), m->counts[i]);
	}
	gs_metric_head(m->out, "tsgs_suspended", "gauge", "TSGs whose channels are disabled");
	fprintf(m->out, "gpusched_tsgs_suspended %zu\n", m->suspended);
}

static int do_tsgs(struct gs_service *s, struct view *v, uint64_t until_ns)
{
	struct making *m = &v->m;

	if (!m->recs) {
		m->counts = calloc(slots(s), sizeof(*m->counts));
		if (!m->counts)
			return -ENOMEM;
		return gs_table_all(s->o, &m->recs, &m->n) ? -EIO : -EINPROGRESS;
	}
	for (; m->at < m->n && gs_now_ns() < until_ns; m->at++)
		count(s, m, &m->recs[m->at]);
	if (m->at < m->n)
		return -EINPROGRESS;
	counts_text(s, m);
	return 0;
}

static int do_end(struct gs_service *s, struct view *v, uint64_t until_ns)
{
	struct making *m = &v->m;
	FILE *out = m->out;

	gs_stats_launches_text(s, out);
	gs_metric_head(out, "policy", "gauge", "the running policy");
	if (s->p)
		fprintf(out, "gpusched_policy{policy=\"%s\"} 1\n", gs_policy_running(s->p)->name);
	if (v->of->put)
		v->of->put(out, v->of->user);
	fputs("# EOF\n", out);
	m->out = NULL;
	return fclose(out) ? -ENOMEM : 0;
}

static int (*const parts[PARTS])(struct gs_service *s, struct view *v, uint64_t until_ns) = {
	[BEGIN] = do_begin, [SUMS] = do_sums, [FIGURES] = do_figures,
	[TSGS] = do_tsgs,   [END] = do_end,
};

/* ---- a text ---------------------------------------------------------------------------------- */

static void making_end(struct making *m)
{
	if (m->out)
		fclose(m->out);
	gs_openmetrics_free(m->figures);
	free(m->recs);
	free(m->counts);
	free(m->text);
	*m = (struct making){ 0 };
}

/* Those who have the last one keep it. */
static int share(struct view *v)
{
	struct shared *t = calloc(1, sizeof(*t));

	if (!t)
		return -ENOMEM;
	*t = (struct shared){ .refs = 1, .n = v->m.size, .text = TAKE_PTR(v->m.text) };
	unref(v->last);
	v->last = t;
	return 0;
}

static void take_slice(struct gs_sliced *w, uint64_t until_ns)
{
	struct view *v = GS_SLICED_OF(w, struct view, sliced);
	struct gs_service *s = v->of->s;
	int r = 0;

	while (v->m.part < PARTS && !r && gs_now_ns() < until_ns) {
		r = parts[v->m.part](s, v, until_ns);
		v->m.part += !r;
	}
	if ((!r && v->m.part < PARTS) || r == -EINPROGRESS) {
		gs_loop_slice(s, w, true);
		return;
	}
	v->code = r ? r : share(v);
	v->made_ns = gs_now_ns();
	making_end(&v->m);
	gs_waits_happened(&s->waits, GS_ON_METRICS);
}

/* ---- who asks -------------------------------------------------------------------------------- */

struct asked {
	struct gs_completion base;
	struct gs_service *s;
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
		gs_loop_slice(a->s, &v->sliced, false);
		return -EINPROGRESS;
	}
	if (v->code)
		return gs_fail(&c->err, v->code, "the counters cannot be read");
	r = gs_unread_hold(a->s, a->uid, v->last->n, &a->held, &c->err);
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

	gs_unread_drop(a->s, a->uid, &a->held);
	unref(a->text);
	free(a);
}

static struct gs_metrics *metrics_of(struct gs_service *s)
{
	struct gs_metrics *m = s->metrics;

	if (m)
		return m;
	m = calloc(1, sizeof(*m));
	if (!m)
		return NULL;
	m->s = s;
	for (int i = 0; i < 2; i++)
		m->views[i] = (struct view){
			.sliced = { .work = take_slice, .uid = GS_SLICES_OURS },
			.of = m,
			.by_cgroup = i,
		};
	s->metrics = m;
	return m;
}

struct gs_completion *gs_service_ask_metrics(struct gs_service *s, const struct gs_peer *peer)
{
	const struct gs_view view = gs_view_of(s, peer);
	struct gs_metrics *m = metrics_of(s);
	struct asked *a = m ? calloc(1, sizeof(*a)) : NULL;

	if (!a)
		return NULL;
	*a = (struct asked){
		.base = { .check = check, .on = GS_ON_METRICS, .release = release },
		.s = s,
		.view = &m->views[gs_view_sees_all_times(&view)],
		.uid = peer->uid,
		.since_ns = gs_now_ns(),
	};
	gs_completion_begin(&a->base, &s->waits, a->since_ns);
	return &a->base;
}

void gs_service_add_metrics(struct gs_service *s, void (*put)(FILE *f, void *user), void *user)
{
	struct gs_metrics *m = metrics_of(s);

	if (!m)
		return;
	m->put = put;
	m->user = user;
}

void gs_metrics_free(struct gs_service *s)
{
	struct gs_metrics *m = s->metrics;

	for (int i = 0; m && i < 2; i++) {
		gs_slices_drop(&s->slices, &m->views[i].sliced);
		making_end(&m->views[i].m);
		unref(m->views[i].last);
	}
	free(m);
	s->metrics = NULL;
}
