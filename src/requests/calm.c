// SPDX-License-Identifier: MIT
#include "requests/calm.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "basic/env.h"
#include "figures/ledger.h"
#include "figures/window.h"
#include "hub/task.h"
#include "requests/requests.h"

#define SPAN_S 86400

struct gs_calm {
	struct gs_task task;
	struct gs_history *history;
	/* belong to the thread until the task is over */
	struct gs_calm_of all[GS_CALM_MAX];
	size_t n;
};

/* Takes the row of a process that still runs: an ended process may have had the same pid. */
static int take_row(json_t *row, void *user)
{
	const json_t *calm = json_object_get(row, "calm_wait_pct");

	if (json_is_null(json_object_get(row, "ended_s")) && json_is_number(calm))
		((struct gs_calm_of *)user)->pct = json_number_value(calm);
	return 0;
}

static void look_up(struct gs_task *e)
{
	struct gs_calm *c = (struct gs_calm *)e;

	for (size_t i = 0; i < c->n; i++) {
		const struct gs_history_query q = {
			.since_s = (uint64_t)time(NULL) - SPAN_S,
			.by = GS_BY_PROCESS,
			.pid = c->all[i].pid,
			.calm = true,
			.times = true,
			.root = true,
		};

		gs_history_query_ask(gs_env()->state_dir, &q, take_row, &c->all[i], NULL);
	}
}

static void looked_up(struct gs_task *e)
{
	const struct gs_calm *c = (struct gs_calm *)e;
	struct gs_requests *rs = e->owner;

	rs->question = NULL;
	for (size_t i = 0; i < c->n; i++)
		gs_window_put_calm(rs->figures, c->all[i].tsg, c->all[i].pct);
}

static void calm_free(struct gs_task *e)
{
	free(e);
}

int gs_calm_begin(struct gs_requests *rs, const struct gs_calm_of *all, size_t n,
		  struct gs_calm **ret)
{
	struct gs_calm *c;
	int r;

	if (!gs_ledger_history(rs->figures))
		return -ENOTSUP;
	if (rs->question)
		return -EBUSY;
	c = calloc(1, sizeof(*c));
	if (!c)
		return -ENOMEM;
	c->task = (struct gs_task){ look_up, looked_up, calm_free, .fd = -1, .refs = 1 };
	memcpy(c->all, all, n * sizeof(*all));
	c->n = n;
	r = gs_task_begin(&c->task, rs->hub, rs);
	if (r) {
		gs_task_unref(&c->task);
		return r;
	}
	rs->question = &c->task;
	*ret = c;
	return 0;
}

int gs_calm_is_over(const struct gs_calm *c)
{
	return c->task.over;
}

void gs_calm_unref(struct gs_calm *c)
{
	gs_task_unref(&c->task);
}
