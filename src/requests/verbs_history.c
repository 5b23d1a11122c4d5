// SPDX-License-Identifier: MIT
/* verbs_history.c - queries the history's file in a separate thread, one query at a time */
#include <errno.h>
#include <string.h>

#include "basic/cleanup.h"
#include "basic/env.h"
#include "hub/task.h"
#include "requests/requests.h"
#include "hub/loop.h"
#include "requests/target.h"
#include "requests/question.h"
#include "requests/verbs.h"
#include "figures/ledger.h"
#include "park/times.h"

struct question {
	struct gs_task task;
	struct gs_history *history; /* NULL: no history is being written */
	struct gs_history_query q;

	/* belong to the thread until the task is over */
	char *text;
	int code;
	struct gs_error err;
};

/*
 * Each row is turned into text as soon as it is read: to keep thousands of JSON objects would cost
 * more than the query.
 */
struct answer {
	FILE *out;
	size_t n;
};

static int put_row(json_t *row, void *user)
{
	CLEANUP_FREE char *text = json_dumps(row, JSON_COMPACT);
	struct answer *a = user;

	return !text || fprintf(a->out, "%s%s", a->n++ ? "," : "", text) < 0;
}

static int write_answer(const struct gs_history_query *q, FILE *out, struct gs_error *err)
{
	CLEANUP_JSON json_t *figures = gs_history_figures_json();
	CLEANUP_FREE char *text = json_dumps(figures, JSON_COMPACT);
	struct answer a = { .out = out };
	int r;

	if (!text)
		return -ENOMEM;
	fputs("{\"rows\":[", out);
	r = gs_history_query_ask(gs_env()->state_dir, q, put_row, &a, err);
	fprintf(out, "],\"others_hidden\":%s,\"figures\":%s}",
		gs_history_query_hides(q) ? "true" : "false", text);
	return r;
}

static int answer_text(const struct gs_history_query *q, char **ret, struct gs_error *err)
{
	CLEANUP_FREE char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	int r = out ? write_answer(q, out, err) : -ENOMEM;

	if (out && fclose(out) && !r)
		r = -ENOMEM;
	if (!r)
		*ret = TAKE_PTR(text);
	return r;
}

static void ask(struct gs_task *e)
{
	struct question *qn = (struct question *)e;

	if (qn->history)
		gs_history_flush(qn->history);
	qn->code = qn->history ? gs_history_state(qn->history, &qn->err) : 0;
	if (!qn->code)
		qn->code = answer_text(&qn->q, &qn->text, &qn->err);
}

static void asked(struct gs_task *e)
{
	const struct question *qn = (struct question *)e;

	((struct gs_requests *)e->owner)->question = NULL;
	if (qn->code == -EUCLEAN && qn->history)
		gs_history_damaged(qn->history);
}

static void question_free(struct gs_task *e)
{
	struct question *qn = (struct question *)e;

	free(qn->text);
	free(qn);
}

static void unref(void *state)
{
	gs_task_unref(state);
}

/* ---- parsing the request --------------------------------------------------------------------- */

#define KEPT_BY \
	"pid:N, tsg:N, comm:NAME, user:NAME, uid:N, class:NAME, cgroup:PATH, " \
	"namespace:NAME, pod:NAMESPACE/NAME, job:ID and gpu:N|UUID[/GI[/CI]]"

static int parse_part(const struct gs_target *t, size_t i, struct gs_history_query *q,
		      struct gs_error *err)
{
	const struct gs_target_part *part = &t->part[i];

	switch (part->kind) {
	case GS_TARGET_PID:
		q->pid = (int32_t)part->number;
		return 0;
	case GS_TARGET_TSG:
		q->tsg = part->number;
		return 0;
	case GS_TARGET_UID:
		q->has_uid = true;
		q->of_uid = (int64_t)part->number;
		return 0;
	case GS_TARGET_COMM:
		snprintf(q->comm, sizeof(q->comm), "%s", part->text);
		return 0;
	default:
		return gs_fail(err, -EINVAL, "'%.64s': the history is kept by " KEPT_BY, t->whole);
	}
}

/*
 * Parses class:, cgroup:, gpu:, namespace:, pod: and job:. gs_target_parse() cannot: it looks such
 * names up, and here they may name things that no longer exist. False: @part is something else.
 */
static bool parse_past(const char *part, struct gs_history_query *q)
{
	if (!strncmp(part, "class:", 6)) {
		q->has_class = true;
		snprintf(q->class, sizeof(q->class), "%s",
			 strcmp(part + 6, "none") != 0 ? part + 6 : "");
	} else if (!strncmp(part, "cgroup:/", 8)) {
		snprintf(q->cgroup, sizeof(q->cgroup), "%s", part + 7);
	} else if (!strncmp(part, "gpu:", 4)) {
		snprintf(q->gpu, sizeof(q->gpu), "%s", part + 4);
	} else if (!strncmp(part, "namespace:", 10) && part[10]) {
		snprintf(q->namespace, sizeof(q->namespace), "%s", part + 10);
	} else if (!strncmp(part, "pod:", 4) && strchr(part, '/')) {
		snprintf(q->pod, sizeof(q->pod), "%s", part + 4);
	} else if (!strncmp(part, "job:", 4) && part[4]) {
		snprintf(q->job, sizeof(q->job), "%s", part + 4);
	} else {
		return false;
	}
	return true;
}

static int parse_target(const char *text, struct gs_history_query *q, struct gs_error *err)
{
	CLEANUP_FREE char *copy = text ? strdup(text) : NULL;
	CLEANUP_FREE char *rest = calloc(1, text ? strlen(text) + 1 : 1);
	struct gs_target t = { .n = 0 };
	char *at = copy, *part;
	int r = 0;

	if ((text && !copy) || !rest)
		return -ENOMEM;
	while (at && (part = strsep(&at, ","))) {
		if (!strncmp(part, "gpu:", 4))
			r = gs_target_refuse_mig(part + 4, err);
		if (r)
			return r;
		if (parse_past(part, q))
			continue;
		if (*rest)
			strcat(rest, ",");
		strcat(rest, part);
	}
	if (*rest)
		r = gs_target_parse(rest, NULL, NULL, 0, &t, err);
	for (size_t i = 0; i < t.n && !r; i++)
		r = parse_part(&t, i, q, err);
	if (!r && (q->changes || q->tsg) &&
	    (q->has_class || *q->cgroup || *q->gpu || *q->namespace || *q->pod || *q->job))
		return gs_fail(err, -EINVAL,
			       "'%.64s': class, cgroup, namespace, pod, job and gpu choose sums, "
			       "not changes",
			       text);
	return r;
}

/* Parses the arguments. Users see other users' figures only if they may see all times. */
static int parse(const struct gs_request *rq, struct gs_history_query *q)
{
	const char *by = gs_arg_text(rq, "by");

	q->since_s = (uint64_t)gs_arg_number(rq, "since_s");
	q->until_s = (uint64_t)gs_arg_number(rq, "until_s");
	q->changes = gs_arg_true(rq, "changes");
	q->calm = gs_arg_true(rq, "calm");
	q->uid = rq->view.uid;
	q->root = !rq->view.uid;
	q->times = gs_view_sees_all_times(&rq->view);
	if (by && gs_history_query_parse_by(by, &q->by))
		return gs_fail(
			rq->err, -EINVAL,
			"by '%.64s': one of process, user, cgroup, class, gpu, partition, pod, "
			"namespace, job",
			by);
	return parse_target(gs_arg_text(rq, "target"), q, rq->err);
}

/* ---- the verb -------------------------------------------------------------------------------- */

static int step_asked(struct gs_request *rq, uint64_t now_ns)
{
	struct question *qn = rq->state;

	if (!qn->task.over)
		return -EINPROGRESS;
	if (qn->code)
		return gs_fail(rq->err, qn->code, "%s", qn->err.text);
	rq->c.text = TAKE_PTR(qn->text);
	return 0;
}

static int send_question(struct gs_request *rq)
{
	struct question *qn = rq->state;
	int r = gs_task_begin(&qn->task, rq->rs->hub, rq->rs);

	if (r)
		return r;
	rq->rs->question = &qn->task;
	return gs_request_wait(rq, step_asked, GS_ON_TASK, 0);
}

static int step_free(struct gs_request *rq, uint64_t now_ns)
{
	gs_park_time_tell_all(rq->rs->parking);
	return rq->rs->question ? -EINPROGRESS : send_question(rq);
}

static int step_given(struct gs_request *rq, uint64_t now_ns)
{
	if (!gs_ledger_give_for_answer(rq->rs->figures, rq->until_ns))
		return -EINPROGRESS;
	return rq->rs->question ? gs_request_wait(rq, step_free, GS_ON_TASK, 0) : send_question(rq);
}

static int begin(struct gs_request *rq)
{
	struct question *qn = calloc(1, sizeof(*qn));
	int r;

	if (!qn)
		return -ENOMEM;
	qn->task = (struct gs_task){ ask, asked, question_free, .fd = -1, .refs = 1 };
	rq->state = &qn->task;
	rq->free_state = unref;
	qn->history = gs_ledger_history(rq->rs->figures);
	r = parse(rq, &qn->q);
	return r ? r : gs_request_work(rq, step_given);
}

/* Runs the query in this process, for use without a daemon. Needs the right to read the file. */
static int ask_here(struct gs_request *rq)
{
	struct gs_history_query q = { 0 };
	int r = parse(rq, &q);

	return r ? r : answer_text(&q, &rq->c.text, rq->err);
}

int gs_verb_history(struct gs_request *rq)
{
	if (!rq->rs || !rq->rs->hub->opts.daemon)
		return ask_here(rq);
	if (!gs_ledger_history(rq->rs->figures))
		return gs_fail(rq->err, -ENOTSUP,
			       "no history is kept: the configuration says History=no");
	return begin(rq);
}

/* Waits for the thread of the query under way, since it uses memory that is about to be freed. */
void gs_verb_history_end(struct gs_requests *rs)
{
	struct gs_task *e = rs->question;

	if (!e)
		return;
	e->refs++;
	gs_task_wait(e);
	gs_task_unref(e);
}
