// SPDX-License-Identifier: MIT
/* verbs_gpus.c - lists the GPUs, whether each GPU's log is read, and what a switch costs there */
#include "figures/gpu_time.h"
#include "figures/unread.h"
#include "requests/request.h"
#include "requests/requests.h"
#include "requests/verbs_gpus.h"

static json_t *row_json(struct gs_requests *rs, size_t i)
{
	const struct gs_gpu *gpu = &rs->hub->gpus[i];
	struct gs_account_gpu a;
	json_t *o = json_object(), *costs = gs_gpu_time_costs_json(rs->figures, i);

	gs_json_put_number(o, "gpu", true, gpu->index);
	gs_json_put_text(o, "name", gpu->name);
	gs_json_put_text(o, "gpu_uuid", gpu->uuid);
	gs_json_put_text(o, "pci", gpu->pci);
	gs_json_put_number(o, "minor", true, gpu->minor);
	gs_json_put_number(o, "driver_branch", rs->hub->branch, rs->hub->branch);
	gs_json_put_text(o, "driver", rs->hub->driver);
	gs_json_put_text(o, "vbios", gpu->vbios);
	gs_unread_gpu(rs->hub, i, &a);
	json_object_set_new(o, "log", json_boolean(a.open));
	gs_json_put_text(o, "reason", a.reason);
	gs_json_put_text(o, "save_reason", a.save_unknown);
	json_object_update(o, costs);
	json_decref(costs);
	return o;
}

int gs_verb_gpus(struct gs_request *rq)
{
	json_t *list = json_array();

	for (size_t i = 0; i < rq->rs->hub->ngpus; i++)
		json_array_append_new(list, row_json(rq->rs, i));
	json_object_set_new(rq->answer, "gpus", list);
	return 0;
}
