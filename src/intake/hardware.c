// SPDX-License-Identifier: MIT
/*
 * hardware.c - asks RM once for each TSG's id on the GPU, when a request shows ids
 *
 * The driver answers from its memory, without calling the GPU's firmware.
 */
#include "intake/hardware.h"

#include <errno.h>
#include <string.h>
#include <uthash.h>

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "rm/abi.h"
#include "hub/task.h"
#include "intake/intake.h"
#include "taps/taps.h"

#define PATIENCE_NS (500 * NS_PER_MS) /* an id that takes longer is unknown in this answer */
#define END_MS 1000

struct gs_hwid {
	UT_hash_handle hh;
	uint64_t id; /* of the TSG */
	uint32_t hw;
};

struct asking {
	struct gs_task task;
	struct gpusched_tsg *recs; /* TSGs with an unknown id */
	size_t n, at;
	uint32_t *hw; /* ids of the first @at TSGs; UINT32_MAX: no answer */
};

/* ---- the thread ------------------------------------------------------------------------------ */

static int ask_on(int number, const struct gpusched_tsg *rec, uint32_t *ret)
{
	CLEANUP_FD int fd = -1;
	uint32_t hw = 0, status = GS_NV_OK;
	int r = gs_rm_borrow((pid_t)rec->task.pid, rec->task.uid, rec->owner_start_ns, number, &fd,
			     NULL);

	if (!r)
		r = gs_rm_call_control(fd, rec->key.client, rec->key.handle, NV_CMD_TSG_INFO, &hw,
				       sizeof(hw), &status);
	if (r || status != GS_NV_OK)
		return r ? r : -EBADF;
	*ret = hw;
	return 0;
}

int gs_hardware_read(struct gs_task *e, const struct gpusched_tsg *rec, uint32_t *ret)
{
	int number, r = ask_on((int)rec->owner_fd, rec, ret);

	if (r != -EBADF || gs_task_is_left(e))
		return r;
	/* RM refused: the process may have moved the file to another descriptor. */
	number = gs_holders_find_fd(e->hub->table, (pid_t)rec->task.pid, rec->key.file);
	return number >= 0 && number != (int)rec->owner_fd ? ask_on(number, rec, ret) : r;
}

static void work(struct gs_task *e)
{
	struct asking *a = (struct asking *)e;
	uint64_t until = gs_now_ns() + PATIENCE_NS;

	for (; a->at < a->n && gs_now_ns() < until; a->at++)
		if (gs_hardware_read(e, &a->recs[a->at], &a->hw[a->at]))
			a->hw[a->at] = UINT32_MAX;
}

/* ---- the loop -------------------------------------------------------------------------------- */

/* Skips TSGs that ended meanwhile: their end would not be reported again, so the id would stay. */
void gs_hardware_note(struct gs_intake *in, const struct gpusched_tsg *rec, uint32_t hw)
{
	const uint64_t id = rec->task.id;
	struct gpusched_tsg now;
	struct gs_hwid *h = NULL;

	if (gs_table_get(in->hub->table, &rec->key, &now) || now.task.id != id)
		return;
	HASH_FIND(hh, in->hwids, &id, sizeof(id), h);
	if (h || hw == UINT32_MAX)
		return;
	h = calloc(1, sizeof(*h));
	if (!h)
		return;
	h->id = id;
	h->hw = hw;
	HASH_ADD(hh, in->hwids, id, sizeof(h->id), h);
}

static void end(struct gs_task *e)
{
	struct asking *a = (struct asking *)e;

	for (size_t i = 0; i < a->at; i++)
		gs_hardware_note(e->owner, &a->recs[i], a->hw[i]);
	((struct gs_intake *)e->owner)->asking = NULL;
}

static void asking_free(struct gs_task *e)
{
	struct asking *a = (struct asking *)e;

	free(a->recs);
	free(a->hw);
	free(a);
}

/* A read-only instance has no loop that goes on meanwhile, so it waits here. */
static int send(struct gs_intake *in, struct asking *a)
{
	int r;

	if (!in->hub->event) {
		a->task.owner = in;
		work(&a->task);
		end(&a->task);
		a->task.over = true;
		return 0;
	}
	r = gs_task_begin(&a->task, in->hub, in);
	if (!r)
		in->asking = &a->task;
	return r;
}

int gs_hardware_ask(struct gs_intake *in, const uid_t *only, const struct gpusched_tsg *recs,
		    size_t n, struct gs_task **ret)
{
	struct asking *a = calloc(1, sizeof(*a));
	uint32_t hw;
	int r;

	if (!a)
		return -ENOMEM;
	a->task = (struct gs_task){ work, end, asking_free, .fd = -1, .refs = 1 };
	a->recs = calloc(n + 1, sizeof(*a->recs));
	a->hw = calloc(n + 1, sizeof(*a->hw));
	for (size_t i = 0; a->recs && i < n; i++)
		if ((!only || recs[i].task.uid == *only) &&
		    gs_hardware_id(in, recs[i].task.id, &hw))
			a->recs[a->n++] = recs[i];
	r = a->recs && a->hw ? send(in, a) : -ENOMEM;
	if (r)
		gs_task_unref(&a->task);
	else
		*ret = &a->task;
	return r;
}

int gs_hardware_id(const struct gs_intake *in, uint64_t id, uint32_t *ret)
{
	struct gs_hwid *h = NULL;

	HASH_FIND(hh, in->hwids, &id, sizeof(id), h);
	if (!h)
		return -ENOENT;
	*ret = h->hw;
	return 0;
}

void gs_hardware_ended(void *self, const struct gs_end *end)
{
	struct gs_intake *in = self;
	struct gs_hwid *h = NULL;

	HASH_FIND(hh, in->hwids, &end->id, sizeof(end->id), h);
	if (!h)
		return;
	HASH_DEL(in->hwids, h);
	free(h);
}

void gs_hardware_end(struct gs_intake *in)
{
	struct gs_hwid *h, *next;

	if (in->asking)
		gs_task_leave(in->asking, END_MS);
	HASH_ITER(hh, in->hwids, h, next) {
		HASH_DEL(in->hwids, h);
		free(h);
	}
}
