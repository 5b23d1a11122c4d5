// SPDX-License-Identifier: MIT
/*
 * scenario_locks.c - takes RM's locks: most calls take those of all GPUs of the host
 *
 * So one such call is under way on a host at a time. A process that starts or ends waits for a call
 * that takes longer than usual.
 * Calls that set a mode or preempt hold their own GPU's lock only. But before a mode is set, another
 * call proves that the caller has the TSG, and that one takes all locks.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "basic/grow.h"
#include "sim/scenario_locks.h"

static bool keeps_all(enum gs_rm_op op)
{
	return op != GS_RM_SET_PREEMPT_MODE && op != GS_RM_PREEMPT;
}

static uint64_t gpu_bit(const struct sim_sim *x, unsigned int worker)
{
	const struct sim_job *j = x->workers[worker].queue;

	return 1ull << j->proc->gpu;
}

static enum gs_rm_op op_of(const struct sim_sim *x, unsigned int worker)
{
	const struct sim_job *j = x->workers[worker].queue;

	return j->plan.steps[j->step].op;
}

static bool may_have(const struct sim_sim *x, const struct sim_waiter *w)
{
	const struct sim_locks *l = &x->locks;

	if (l->all)
		return false;
	if (!w->proc && op_of(x, w->worker) == GS_RM_PREEMPT)
		return !(l->gpus & gpu_bit(x, w->worker));
	return !l->gpus;
}

bool sim_locks_next(struct sim_sim *x, struct sim_waiter *ret)
{
	struct sim_locks *l = &x->locks;

	if (!l->n || !may_have(x, &l->queue[0]))
		return false;
	*ret = l->queue[0];
	memmove(l->queue, l->queue + 1, --l->n * sizeof(*l->queue));
	if (ret->proc) /* it has them for no time */
		return true;
	if (keeps_all(op_of(x, ret->worker))) {
		l->all = true;
		l->all_since = sim_model_now(x->m);
	} else {
		l->gpus |= gpu_bit(x, ret->worker);
	}
	return true;
}

static bool ask(struct sim_sim *x, struct sim_waiter w)
{
	struct sim_locks *l = &x->locks;

	if (GS_GROW(l->queue, l->cap, l->n + 1)) {
		gs_fail(&x->err, -ENOMEM, "out of memory");
		return false;
	}
	l->queue[l->n++] = w;
	return l->n == 1 && sim_locks_next(x, &w);
}

bool sim_locks_owner(struct sim_sim *x, struct sim_proc *p, enum sim_event_type type)
{
	/* the less than 1 ms of any other call is below what a scenario's times mean */
	return !x->locks.stuck || ask(x, (struct sim_waiter){ .proc = p, .type = type });
}

bool sim_locks_ask(struct sim_sim *x, unsigned int worker)
{
	return ask(x, (struct sim_waiter){ .worker = worker });
}

void sim_locks_leave(struct sim_sim *x, unsigned int worker)
{
	struct sim_locks *l = &x->locks;

	if (keeps_all(op_of(x, worker))) {
		l->all = l->stuck = false;
		x->res->lock_ns += sim_model_now(x->m) - l->all_since;
	} else {
		l->gpus &= ~gpu_bit(x, worker);
	}
}

void sim_locks_free(struct sim_sim *x)
{
	free(x->locks.queue);
	free(x->faults);
	free(x->unanswered);
}
