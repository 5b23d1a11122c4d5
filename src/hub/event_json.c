// SPDX-License-Identifier: MIT
/* Puts events and calls into JSON, and the fields that they share with records (docs/api.md). */
#include <stdio.h>
#include <string.h>

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "hub/hub.h"
#include "hub/json.h"
#include "hub/records.h"
#include "table/events.h"

void gs_json_put_handle(json_t *o, const char *key, uint32_t handle)
{
	char text[16];

	snprintf(text, sizeof(text), "0x%08x", handle);
	gs_json_put_text(o, key, text);
}

/* A user can choose any bytes as comm: those that are not UTF-8 become '?'. */
void gs_json_put_comm(json_t *o, const char comm[GPUSCHED_COMM_LEN])
{
	char text[GPUSCHED_COMM_LEN + 1];

	snprintf(text, sizeof(text), "%.*s", GPUSCHED_COMM_LEN, comm);
	gs_json_put_text(o, "comm", text);
}

static json_t *setting_json(unsigned int i, uint32_t value)
{
	const char *word = gs_setting_word(GS_BIT(i), value);

	if (gs_settings[i].words)
		return word ? json_string(word) : NULL;
	return gs_settings[i].name ? json_integer(value) : json_boolean(value);
}

json_t *gs_settings_json(const struct gpusched_settings *set)
{
	json_t *o = json_object();

	for (unsigned int i = 0; i < GS_NFIELDS; i++)
		gs_json_put(o, gs_settings[i].key,
			    set->valid & GS_BIT(i) ? setting_json(i, gs_field_get(set, GS_BIT(i)))
						   : NULL);
	return o;
}

void gs_json_put_gpu(struct gs_hub *hub, const struct gpusched_tsg *rec, json_t *o)
{
	const struct gs_gpu *gpu = hub ? gs_record_gpu(hub, rec) : NULL;

	gs_json_put_number(o, "gpu", gpu || rec->task.gpu != GPUSCHED_GPU_UNKNOWN,
			   gpu ? gpu->index : rec->task.gpu);
	gs_json_put_text(o, "gpu_uuid", gpu ? gpu->uuid : NULL);
	gs_json_put_text(o, "gpu_pci", gpu ? gpu->pci : NULL);
}

void gs_event_overrules_text(uint32_t why, char *text, size_t size)
{
	for (unsigned int i = 0; i < GS_OVERRULE_MAX; i++) {
		size_t at = strlen(text);

		if (why & 1u << i)
			snprintf(text + at, size - at, "%s%s", at ? "; " : "",
				 gs_core_overrule_text(i));
	}
}

void gs_event_put_arguments(struct gs_hub *hub, const struct gpusched_event *ev, json_t *o)
{
	static const char *const shares[] = { "tsgs", "devices", "channels" };
	char reason[GS_REASON_LEN] = "";

	switch (ev->type) {
	case GPUSCHED_EV_TSG_NEW:
		if (ev->tid) /* the owner's call: the driver gives each new TSG the same slice */
			gs_json_put_number(o, "timeslice_us", true, GPUSCHED_DRIVER_TIMESLICE_US);
		break;
	case GPUSCHED_EV_SCHEDULE:
	case GPUSCHED_EV_TIMESLICE:
		if (ev->arg[0])
			gs_json_put_number(o, "timeslice_us", true, ev->arg[0]);
		break;
	case GPUSCHED_EV_INTERLEAVE:
		gs_json_put_text(o, "interleave", gs_setting_word(GPUSCHED_INTERLEAVE, ev->arg[0]));
		break;
	case GPUSCHED_EV_PREEMPT_MODE:
		gs_json_put_text(o, "preempt_mode",
				 gs_setting_word(GPUSCHED_PREEMPT_MODE, ev->arg[0]));
		break;
	case GPUSCHED_EV_CHANNEL:
		gs_json_put_handle(o, "channel", ev->arg[0]);
		gs_json_put_number(o, "context_id", ev->arg[1] != 0, ev->arg[1]);
		break;
	case GPUSCHED_EV_CLASS:
		gs_json_put_text(o, "class", hub ? gs_class_name(hub->classes, ev->arg[0]) : NULL);
		break;
	case GPUSCHED_EV_LIMIT:
		gs_json_put_text(o, "share",
				 ev->arg[0] < GS_COUNT(shares) ? shares[ev->arg[0]] : NULL);
		break;
	case GPUSCHED_EV_OVERRULED:
		gs_event_overrules_text(ev->arg[0], reason, sizeof(reason));
		gs_json_put_text(o, "reason", reason);
		break;
	default:
		break;
	}
}

static void put_wish(const struct gpusched_tsg *rec, json_t *o)
{
	gs_json_put(o, "want", gs_settings_json(&rec->task.want));
}

json_t *gs_event_json(struct gs_hub *hub, const struct gpusched_event *ev)
{
	struct gpusched_tsg rec;
	char engine[12];
	json_t *o = json_object();

	gs_json_put_number(o, "time_ns", true, ev->ns);
	gs_json_put_text(o, "event", gs_event_name(ev->type));
	gs_json_put_number(o, "pid", true, ev->pid);
	if (ev->tid) {
		gs_json_put_number(o, "tid", true, ev->tid);
		gs_json_put_number(o, "cpu", true, ev->cpu);
	}
	gs_json_put_comm(o, ev->comm);
	if (ev->key.client)
		gs_json_put_handle(o, "client", ev->key.client);
	if (ev->key.handle)
		gs_json_put_handle(o, "tsg", ev->key.handle);
	if (ev->id)
		gs_json_put_number(o, "id", true, ev->id);
	if (hub && ev->id && !gs_table_get(hub->table, &ev->key, &rec)) {
		gs_json_put_text(o, "engine", gs_engine_name(rec.task.engine, engine));
		gs_json_put_text(o, "kind", gs_kind_name(rec.task.kind));
		gs_json_put_gpu(hub, &rec, o);
		if (ev->type == GPUSCHED_EV_WANT)
			put_wish(&rec, o);
	}
	gs_event_put_arguments(hub, ev, o);
	return o;
}

void gs_event_put_call_arguments(const struct gs_engine_call *call, json_t *o)
{
	if (call->op == GS_RM_SET_TIMESLICE)
		gs_json_put_number(o, "timeslice_us", true, call->arg);
	gs_json_put_text(o, "call", gs_rm_op_name(call->op));
	gs_json_put_number(o, "value", true, call->arg);
	gs_json_put(o, "done", json_boolean(!call->res.err && !call->dry_run));
	gs_json_put(o, "dry_run", json_boolean(call->dry_run));
	gs_json_put_text(o, "status", gs_rm_status_name(call->res.status));
	gs_json_put_number(o, "call_ns", !call->dry_run, call->res.ns);
}

json_t *gs_call_json(struct gs_hub *hub, const struct gs_engine_call *call)
{
	struct gpusched_tsg rec;
	char engine[12];
	json_t *o = json_object();

	gs_json_put_number(o, "time_ns", true, gs_now_ns());
	gs_json_put_text(o, "event", gs_event_name(GPUSCHED_EV_CALL));
	gs_json_put_number(o, "pid", true, call->pid);
	gs_json_put_handle(o, "client", call->key.client);
	gs_json_put_handle(o, "tsg", call->key.handle);
	gs_json_put_number(o, "id", true, call->id);
	gs_json_put_number(o, "gpu", call->gpu != GPUSCHED_GPU_UNKNOWN, call->gpu);
	if (!gs_table_get(hub->table, &call->key, &rec) && rec.task.id == call->id) {
		gs_json_put_comm(o, rec.task.comm);
		gs_json_put_text(o, "engine", gs_engine_name(rec.task.engine, engine));
		gs_json_put_text(o, "kind", gs_kind_name(rec.task.kind));
	}
	gs_event_put_call_arguments(call, o);
	return o;
}
