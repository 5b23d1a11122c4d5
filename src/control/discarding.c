// SPDX-License-Identifier: MIT
#include "control/discarding.h"

#include <stdlib.h>

#include "hub/task.h"

struct discarding {
	struct gs_errand errand;
	struct gs_policy *policy;
	struct gs_errand *before; /* frees the policy before this one; NULL: none */
};

static void work(struct gs_errand *e)
{
	const struct discarding *t = (const struct discarding *)e;
	const bool never = false;

	if (t->before)
		gs_errand_follow(t->before, &never);
	gs_policy_discard(t->policy);
}

static void end(struct gs_errand *e)
{
	struct gs_errand *before = ((struct discarding *)e)->before;
	struct gs_control *ctl = e->owner;

	if (ctl->discarding == e)
		ctl->discarding = before && !before->over ? before : NULL;
}

static void free_errand(struct gs_errand *e)
{
	struct discarding *t = (struct discarding *)e;

	gs_errand_unref(t->before);
	free(t);
}

void gs_discarding_begin(struct gs_control *ctl, struct gs_policy *p)
{
	struct discarding *t = calloc(1, sizeof(*t));

	if (t) {
		t->errand = (struct gs_errand){ work, end, free_errand };
		t->policy = p;
		t->before = ctl->discarding;
		if (t->before)
			t->before->refs++;
	}
	if (t && !gs_errand_begin(&t->errand, ctl->hub, ctl)) {
		ctl->discarding = &t->errand;
		gs_errand_unref(&t->errand); /* the thread has a reference, which is enough */
		return;
	}
	if (t)
		gs_errand_unref(&t->errand);
	gs_policy_discard(p); /* no thread can be made: free it here */
}

void gs_discarding_end(struct gs_control *ctl)
{
	while (ctl->discarding)
		gs_errand_wait(ctl->discarding);
}
