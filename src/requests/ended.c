// SPDX-License-Identifier: MIT
#include "requests/ended.h"

#include "basic/json_sheet.h"
#include "figures/memory.h"
#include "hub/json.h"
#include "requests/view.h"
#include "requests/requests.h"
#include "requests/target.h"
#include "requests/verb.h"

static json_t *row_of(const struct gs_gpu *gpu, const struct gs_memory_process *p)
{
	json_t *o = json_object();

	json_object_set_new(o, "ended", json_true());
	json_object_set_new(o, "id", json_null());
	json_object_set_new(o, "pid", json_integer(p->pid));
	gs_json_put_text(o, "comm", p->known ? p->comm : NULL);
	gs_json_put_number(o, "uid", p->known, p->uid);
	json_object_set_new(o, "gpu", json_integer(gpu->index));
	json_object_set_new(o, "gpu_uuid", json_string(gpu->uuid));
	json_object_set_new(o, "memory_bytes", json_integer((json_int_t)p->own_bytes));
	json_object_set_new(o, "memory_shared_bytes", json_integer((json_int_t)p->shared_bytes));
	return o;
}

static void add(struct gs_request *rq, size_t i, json_t *rows)
{
	const struct gs_memory_process *p;
	size_t at = 0;

	if (rq->view.pod)
		return;
	while ((p = gs_memory_next_ended(rq->rs->figures, i, &at)))
		if (gs_view_process(&rq->view, p->known ? p->uid : (uid_t)-1) & GS_SEES_WHO)
			json_array_append_new(rows, row_of(&rq->rs->hub->gpus[i], p));
}

json_t *gs_ended_of_gpu(struct gs_request *rq, size_t i)
{
	struct gs_memory_gpu m;
	json_t *rows;

	gs_memory_gpu(rq->rs->figures, i, &m);
	if (!m.known)
		return json_null();
	rows = json_array();
	add(rq, i, rows);
	return rows;
}

static bool names(const struct gs_target *t, uint32_t gpu)
{
	for (size_t i = 0; i < t->n; i++)
		if (t->part[i].kind != GS_TARGET_GPU || t->part[i].of_engine ||
		    t->part[i].number != gpu)
			return false;
	return true;
}

json_t *gs_ended_of_target(struct gs_request *rq, const struct gs_target *t)
{
	json_t *rows = json_array();

	for (size_t i = 0; i < rq->rs->hub->ngpus; i++)
		if (names(t, rq->rs->hub->gpus[i].index))
			add(rq, i, rows);
	return rows;
}
