// SPDX-License-Identifier: MIT
/* started.c - answers a request when a policy or launch counting has started */
#include "requests/started.h"

#include <stdlib.h>

#include "hub/loop.h"
#include "control/starting.h"
#include "requests/verb.h"

struct answer {
	struct gs_starting *t;
	void (*fill)(struct gs_request *rq);
};

static void answer_free(void *state)
{
	struct answer *a = state;

	gs_starting_unref(a->t);
	free(a);
}

static int step_started(struct gs_request *rq, uint64_t now_ns)
{
	const struct answer *a = rq->state;
	int r = gs_starting_result(a->t, rq->err);

	if (!r)
		a->fill(rq);
	return r;
}

int gs_request_wait_start(struct gs_request *rq, struct gs_starting *t,
			  void (*fill)(struct gs_request *rq))
{
	struct answer *a = malloc(sizeof(*a));

	if (!a) {
		gs_starting_unref(t);
		return -ENOMEM;
	}
	*a = (struct answer){ t, fill };
	rq->state = a;
	rq->free_state = answer_free;
	return gs_request_wait(rq, step_started, GS_ON_TASK, 0);
}
