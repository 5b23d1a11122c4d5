// SPDX-License-Identifier: MIT
/*
 * core_mode.c - keeps the modes CTA and WFI off programs that did not ask for them
 *
 * In these modes a thread block leaves the GPU only when it ends. A block that waits for another
 * GPU may not end before the other GPU's program runs, and after 4.29 s the driver removes its
 * channel (Xid 109). So CILP is the only mode that a policy may wish, besides the owner's own. For
 * a process with work on two GPUs a person's wish counts no more either.
 */
#include <stdlib.h>
#include <string.h>

#include "engine/core_priv.h"

#define ANY_GPU UINT32_MAX /* stands for the process: @n counts its GPUs */

static struct gs_work *find(const struct gs_core *c, struct gs_work_key key)
{
	struct gs_work *w = NULL;

	HASH_FIND(hh, c->works, &key, sizeof(key), w);
	return w;
}

static struct gs_work *more(struct gs_core *c, struct gs_work_key key)
{
	struct gs_work *w = find(c, key);

	if (!w) {
		w = calloc(1, sizeof(*w));
		if (!w)
			return NULL;
		w->key = key;
		HASH_ADD(hh, c->works, key, sizeof(w->key), w);
	}
	w->n++;
	return w;
}

static void less(struct gs_core *c, struct gs_work *w)
{
	if (!w || --w->n)
		return;
	HASH_DELETE(hh, c->works, w);
	free(w);
}

static struct gs_work_key on_any(struct gs_work_key key)
{
	key.gpu = ANY_GPU;
	return key;
}

/* The process's TSGs on its other GPUs may have a mode that they may have no more, or again. */
static void look_at_others(struct gs_core *c, const struct gs_work *w)
{
	for (struct gs_node *n = c->nodes; n; n = n->hh.next)
		if (n->work && n->work != w && n->work->key.pid == w->key.pid &&
		    n->work->key.start_ns == w->key.start_ns)
			gs_core_set_due(c, n, 1);
}

void gs_mode_leave(struct gs_core *c, struct gs_node *n)
{
	struct gs_work *w = n->work, *all;

	if (!w)
		return;
	n->work = NULL;
	if (w->n == 1) {
		all = find(c, on_any(w->key));
		if (all && all->n == 2)
			look_at_others(c, w);
		less(c, all);
	}
	less(c, w);
}

void gs_mode_follow(struct gs_core *c, struct gs_node *n, const struct gpusched_tsg *rec)
{
	const struct gs_work_key key = { rec->owner_start_ns, rec->task.pid, rec->task.gpu };
	bool counts = rec->task.kind == GPUSCHED_KIND_COMPUTE && rec->nchannels &&
		      rec->task.gpu != GPUSCHED_GPU_UNKNOWN &&
		      !(rec->flags & (GPUSCHED_TSG_ALIAS | GPUSCHED_TSG_GONE));
	struct gs_work *all;

	if (n->work && counts && !memcmp(&n->work->key, &key, sizeof(key)))
		return;
	gs_mode_leave(c, n);
	if (!counts)
		return;
	n->work = more(c, key);
	if (!n->work || n->work->n > 1)
		return;
	all = more(c, on_any(key));
	if (all && all->n == 2)
		look_at_others(c, n->work);
}

bool gs_mode_allowed(const struct gpusched_tsg *rec, uint32_t mode)
{
	return mode == GPUSCHED_PREEMPT_CILP || mode == gs_fields_asked(rec).preempt_mode;
}

bool gs_core_mode_spans(const struct gs_core *c, const struct gpusched_tsg *rec, uint32_t mode)
{
	const struct gs_work_key key = { rec->owner_start_ns, rec->task.pid, ANY_GPU };
	const struct gs_work *all = find(c, key);

	return all && all->n > 1 && !gs_mode_allowed(rec, mode);
}
