// SPDX-License-Identifier: MIT
#include "control/discarding.h"

#include <stdlib.h>

#include "hub/task.h"

struct discarding {
	struct gs_task task;
	struct gs_policy *policy;
	struct gs_task *before; /* frees the policy before this one; NULL: none */
};

static void work(struct gs_task *e)
{
	const struct discarding *t = (const struct discarding *)e;
	const bool never = false;

	if (t->before)
		gs_task_follow(t->before, &never);
	gs_policy_discard(t->policy);
}

static void end(struct gs_task *e)
{
	struct gs_task *before = ((struct discarding *)e)->before;
	struct gs_control *ctl = e->owner;

	if (ctl->discarding == e)
		ctl->discarding = before && !before->over ? before : NULL;
}

static void free_task(struct gs_task *e)
{
	struct discarding *t = (struct discarding *)e;

	gs_task_unref(t->before);
	free(t);
}

void gs_discarding_begin(struct gs_control *ctl, struct gs_policy *p)
{
	struct discarding *t = calloc(1, sizeof(*t));

	if (t) {
		t->task = (struct gs_task){ work, end, free_task };
		t->policy = p;
		t->before = ctl->discarding;
		if (t->before)
			t->before->refs++;
	}
	if (t && !gs_task_begin(&t->task, ctl->hub, ctl)) {
		ctl->discarding = &t->task;
		gs_task_unref(&t->task); /* the thread has a reference, which is enough */
		return;
	}
	if (t)
		gs_task_unref(&t->task);
	gs_policy_discard(p); /* no thread can be made: free it here */
}

void gs_discarding_end(struct gs_control *ctl)
{
	while (ctl->discarding)
		gs_task_wait(ctl->discarding);
}
