/* SPDX-License-Identifier: MIT */
/* scenario_event.c - keeps future events in a heap, ordered by time */
#include <errno.h>

#include "basic/grow.h"
#include "sim/scenario_priv.h"

static bool before(const struct sim_event *a, const struct sim_event *b)
{
	return a->ns != b->ns ? a->ns < b->ns : a->seq < b->seq;
}

void sim_event_post(struct sim_sim *x, uint64_t ns, enum sim_event_type type, struct sim_proc *p,
		    unsigned int arg)
{
	struct sim_event ev = { .ns = ns, .seq = x->seq++, .type = type, .arg = arg, .proc = p };
	size_t i;

	if (GS_GROW(x->heap, x->cap, x->nheap + 1)) {
		gs_fail(&x->err, -ENOMEM, "out of memory");
		return;
	}
	for (i = x->nheap++; i && before(&ev, &x->heap[(i - 1) / 2]); i = (i - 1) / 2)
		x->heap[i] = x->heap[(i - 1) / 2];
	x->heap[i] = ev;
}

struct sim_event sim_event_take(struct sim_sim *x)
{
	struct sim_event first = x->heap[0], last = x->heap[--x->nheap];
	size_t i = 0, c;

	while ((c = 2 * i + 1) < x->nheap) {
		if (c + 1 < x->nheap && before(&x->heap[c + 1], &x->heap[c]))
			c++;
		if (!before(&x->heap[c], &last))
			break;
		x->heap[i] = x->heap[c];
		i = c;
	}
	x->heap[i] = last;
	return first;
}
