// SPDX-License-Identifier: MIT
#include "control/discarding.h"

#include <stdlib.h>

#include "hub/task.h"

struct discarding {
	struct gs_errand errand;
	struct gs_policy *policy;
};

static void work(struct gs_errand *e)
{
	gs_policy_discard(((struct discarding *)e)->policy);
}

static void end(struct gs_errand *e)
{
	((struct gs_control *)e->owner)->discarding = NULL;
}

static void free_errand(struct gs_errand *e)
{
	free((struct discarding *)e);
}

void gs_discarding_begin(struct gs_control *ctl, struct gs_policy *p)
{
	struct discarding *t = ctl->discarding ? NULL : calloc(1, sizeof(*t));

	if (t) {
		t->errand = (struct gs_errand){ work, end, free_errand };
		t->policy = p;
	}
	if (t && !gs_errand_begin(&t->errand, ctl->hub, ctl)) {
		ctl->discarding = &t->errand;
		gs_errand_unref(&t->errand); /* the thread's is enough */
		return;
	}
	if (t)
		gs_errand_unref(&t->errand);
	gs_policy_discard(p); /* without a thread, here */
}

void gs_discarding_end(struct gs_control *ctl)
{
	if (ctl->discarding)
		gs_errand_wait(ctl->discarding);
}
