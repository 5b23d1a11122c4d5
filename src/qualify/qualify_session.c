// SPDX-License-Identifier: MIT
/* qualify_session.c - starts our own daemon and programs, changes settings, and reads the log */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "basic/json_sheet.h"
#include "local/ask.h"
#include "qualify/judge.h"
#include "qualify/priv.h"

#define READY_MS 30000
#define REST_S 0.04 /* time for a changed setting to take effect */
#define READ_MS 10  /* time between two readings of the log */
#define RM_NS (100 * NS_PER_MS)

/* ---- results ----------------------------------------------------------------------------------- */

#define PUT_WORDS(to) \
	do { \
		va_list args; \
\
		va_start(args, format); \
		vsnprintf(to, sizeof(to), format, args); \
		va_end(args); \
	} while (0)

void qualify_yes(struct qualify *q, enum qualify_check_id id, const char *format, ...)
{
	q->r->checks[id].known = q->r->checks[id].works = true;
	PUT_WORDS(q->r->checks[id].why);
}

void qualify_no(struct qualify *q, enum qualify_check_id id, const char *format, ...)
{
	q->r->checks[id].known = true;
	q->r->checks[id].works = false;
	PUT_WORDS(q->r->checks[id].why);
}

void qualify_cost(struct qualify *q, enum qualify_cost_id id, double us)
{
	q->r->costs[id].us = us;
	q->r->costs[id].why[0] = '\0';
}

void qualify_dark(struct qualify *q, enum qualify_cost_id id, const char *format, ...)
{
	q->r->costs[id].us = NAN;
	PUT_WORDS(q->r->costs[id].why);
}

/* ---- waiting and asking ------------------------------------------------------------------------ */

bool qualify_over(const struct qualify *q)
{
	return *q->run.stop;
}

static int wait_ns(const struct qualify *q, uint64_t ns)
{
	uint64_t until = gs_now_ns() + ns, now;

	while (!qualify_over(q) && (now = gs_now_ns()) < until)
		gs_sleep_ns(until - now < 50 * NS_PER_MS ? until - now : 50 * NS_PER_MS);
	return qualify_over(q) ? -EINTR : 0;
}

int qualify_wait(const struct qualify *q, double seconds)
{
	return wait_ns(q, (uint64_t)(seconds * q->run.dilate * 1e9));
}

int qualify_ask(const char *verb, json_t *args, json_t **ret, struct gs_error *err)
{
	CLEANUP(gs_closep) struct gpusched *g = NULL;
	CLEANUP_JSON json_t *owned = args;
	int r = gpusched_open(NULL, &g);

	if (!r)
		r = gs_ask(g, verb, owned, ret);
	return r ? gs_fail(err, r, "%s: %s", verb, g ? gpusched_error(g) : strerror(-r)) : 0;
}

static void target_of(const struct qualify *q, unsigned int i, char *ret, size_t size)
{
	snprintf(ret, size, "pid:%d", q->all[i].child.pid);
}

json_t *qualify_tsg(const struct qualify *q, unsigned int i)
{
	CLEANUP_JSON json_t *list = NULL;
	char target[32];
	json_t *t;
	size_t k;

	target_of(q, i, target, sizeof(target));
	if (qualify_ask("list", json_pack("{s:s}", "target", target), &list, NULL))
		return NULL;
	json_array_foreach(json_object_get(list, "tsgs"), k, t) {
		const char *kind = json_string_value(json_object_get(t, "kind"));

		if (kind && !strcmp(kind, "compute"))
			return json_incref(t);
	}
	return NULL;
}

/* The error of the first failed call in an answer; NULL: no call failed. */
static const char *refusal(const json_t *answer)
{
	json_t *t;
	size_t i;

	json_array_foreach(json_object_get(answer, "results"), i, t) {
		const char *why = json_string_value(json_object_get(t, "error"));

		if (why)
			return why;
	}
	return NULL;
}

int qualify_set(const struct qualify *q, unsigned int n, const char *key, json_t *value,
		struct gs_error *err)
{
	CLEANUP_JSON json_t *owned = value;
	int r = 0;

	for (unsigned int i = 0; !r && i < n; i++) {
		CLEANUP_JSON json_t *answer = NULL;
		json_t *args = json_object();
		const char *why;
		char target[32];

		target_of(q, i, target, sizeof(target));
		json_object_set_new(args, "target", json_string(target));
		if (value)
			json_object_set(args, key, value);
		r = qualify_ask(value ? "set" : key, args, &answer, err);
		why = refusal(answer);
		if (!r && why)
			r = gs_fail(err, -EREMOTEIO, "%s: %.150s", key, why);
	}
	return r;
}

/* ---- the log ------------------------------------------------------------------------------------ */

static void take_record(const struct gs_switchlog_record *rec, void *user)
{
	struct qualify *q = user;

	qualify_window_feed(&q->window, rec);
}

static void pass_over(const struct gs_switchlog_record *rec, void *user)
{
}

int qualify_watch(struct qualify *q, double seconds)
{
	uint64_t until, now = 0;
	int ours[QUALIFY_PROGRAMS] = { 0 }, r = q->log ? qualify_wait(q, REST_S) : -ENODATA;

	for (unsigned int i = 0; i < q->n; i++)
		ours[i] = q->all[i].child.pid;
	qualify_window_begin(&q->window, ours, q->n);
	if (r)
		return r;
	gs_switchlog_flush(q->log, RM_NS);
	gs_switchlog_read(q->log, pass_over, NULL);
	until = gs_now_ns() + (uint64_t)(seconds * q->run.dilate * 1e9);
	while (!r && (now = gs_now_ns()) < until) {
		r = wait_ns(q,
			    until - now < READ_MS * NS_PER_MS ? until - now : READ_MS * NS_PER_MS);
		gs_switchlog_read(q->log, take_record, q);
	}
	gs_switchlog_flush(q->log, RM_NS);
	gs_switchlog_read(q->log, take_record, q);
	q->r->records += q->window.records;
	q->r->lost = gs_switchlog_lost(q->log);
	return r;
}

/* ---- programs ----------------------------------------------------------------------------------- */

int qualify_start(struct qualify *q, const struct bench_program *what, struct gs_error *err)
{
	struct program *p = &q->all[q->n];
	int r = bench_program_start(q->run.path, bench_table_scheme("default"), what,
				    what->work == BENCH_REQUESTS, 0, q->n + 1, p, err);

	if (r)
		return r;
	q->n++;
	r = bench_program_ready(p, READY_MS);
	return r ? gs_fail(err, r, "a load did not begin: %s", strerror(-r)) : 0;
}

void qualify_stop_programs(struct qualify *q)
{
	for (unsigned int i = 0; i < q->n; i++)
		if (q->all[i].child.pid > 0)
			kill(q->all[i].child.pid, SIGTERM);
	for (unsigned int i = 0; i < q->n; i++)
		bench_program_free(&q->all[i]);
	q->n = 0;
}

/* Sets the reason for all results that only the log could give: the log cannot be read. */
static void no_log(struct qualify *q, const char *why)
{
	char reason[200];

	qualify_judge_no_log_reason(why, reason, sizeof(reason));
	qualify_no(q, QUALIFY_LOG, "%.190s", why);
	for (int i = 0; i <= QUALIFY_IDLE_TURN; i++)
		qualify_dark(q, i, "%s", reason);
	for (int i = QUALIFY_SLICE; i <= QUALIFY_INTERLEAVE; i++)
		snprintf(q->r->checks[i].why, sizeof(q->r->checks[i].why), "%s", reason);
}

int qualify_session_begin(struct qualify *q, struct gs_error *err)
{
	CLEANUP_JSON json_t *stats = NULL;
	struct gs_error why = { 0 };
	int r = bench_path_daemon(&q->run, &q->daemon, err);

	if (!r)
		r = qualify_ask("stats", NULL, &stats, err);
	if (!r && !bench_program_policy_runs(bench_table_scheme("default"), stats))
		r = gs_fail(err, -EBUSY,
			    "a policy starts with each daemon: stop it by 'gpusched policy stop "
			    "--permanent' first");
	if (r)
		return r;
	r = gs_switchlog_open(&q->gpu, &q->log, &why);
	if (r)
		no_log(q, why.text[0] ? why.text : strerror(-r));
	return 0;
}

void qualify_session_end(struct qualify *q)
{
	qualify_stop_programs(q);
	if (q->log)
		gs_switchlog_close(q->log, RM_NS);
	q->log = NULL;
	bench_spawned_free_(&q->daemon);
}
