/* SPDX-License-Identifier: MIT */
/*
 * rm_json.c - prints the simulated RM's state as JSON, for tests that must not trust gpusched
 */
#include <jansson.h>

#include "sim/rm_memory.h"
#include "sim/rm_object.h"

static json_t *hex(uint32_t v)
{
	return json_sprintf("0x%x", v);
}

static json_t *tsg_json(const struct sim_object *o)
{
	struct sim_tsg_state s;
	json_t *j, *channels = json_array();

	sim_model_tsg_state(o->info->tsg, &s);
	for (const struct sim_object *ch = o->first; ch; ch = ch->next)
		if (ch->channel)
			json_array_append_new(channels,
					      json_pack("{s:o,s:i}", "handle", hex(ch->handle),
							"cid", (int)ch->cid));
	j = json_pack(
		"{s:o,s:o,s:i,s:i,s:i,s:i,s:I,s:I,s:i,s:i,s:i,s:i,s:b,s:b,s:b,s:I,s:I,s:I,s:I,s:"
		"I,s:i,s:i,s:o}",
		"client", hex(o->client->handle), "handle", hex(o->handle), "gpu", o->gpu, "engine",
		(int)o->engine, "pid", (int)o->client->pid, "grp_id", (int)o->info->grp_id,
		"timeslice_us", (json_int_t)s.timeslice_us, "timeslice_mirror_us",
		(json_int_t)o->info->timeslice_us, "interleave", (int)s.interleave, "preempt_mode",
		(int)s.preempt_mode, "channels", (int)s.channels, "disabled_channels",
		(int)s.disabled_channels, "scheduled", s.scheduled, "running", s.running,
		"realtime", o->info->realtime, "gpu_time_ns", (json_int_t)s.gpu_time_ns, "held_ns",
		(json_int_t)s.held_ns, "work_done", (json_int_t)s.work_done, "queued",
		(json_int_t)s.queued, "switches_in", (json_int_t)s.switches_in, "mig_instance",
		(int)o->instance, "mig_compute_instance", (int)o->compute - 1, "channel_list",
		channels);
	return j;
}

static json_t *tsgs_json(struct sim_rm *rm)
{
	json_t *list = json_array();
	struct sim_client *client, *next;
	struct sim_object *o, *next_o;

	HASH_ITER(hh, rm->clients, client, next) {
		HASH_ITER(hh, client->objects, o, next_o) {
			if (o->info)
				json_array_append_new(list, tsg_json(o));
		}
	}
	return list;
}

static json_t *counts_json(struct sim_rm *rm)
{
	json_t *map = json_object();
	struct sim_count *k, *next;

	HASH_ITER(hh, rm->counts, k, next) {
		char name[16];

		snprintf(name, sizeof(name), "0x%x", k->cmd);
		json_object_set_new(map, k->cmd ? name : "unknown",
				    json_pack("{s:I,s:I}", "calls", (json_int_t)k->n, "failed",
					      (json_int_t)k->failed));
	}
	return map;
}

static json_t *files_json(struct sim_rm *rm)
{
	static const char *const names[] = { "nvidiactl", "nvidia", "nvidia-uvm",
					     "nvidia-uvm-tools" };
	json_t *list = json_array();

	for (const struct sim_file *f = rm->files; f; f = f->next)
		json_array_append_new(list, json_pack("{s:s,s:i,s:i,s:I}", "node", names[f->node],
						      "minor", (int)f->minor, "pid", (int)f->pid,
						      "calls", (json_int_t)f->calls));
	return list;
}

static json_t *memory_json(const struct sim_rm *rm)
{
	json_t *list = json_array();

	for (unsigned int i = 0; i < rm->config.gpus; i++)
		json_array_append_new(list, json_pack("{s:I,s:I}", "total_bytes",
						      (json_int_t)SIM_GPU_MEMORY, "used_bytes",
						      (json_int_t)rm->gpu_bytes[i]));
	return list;
}

char *sim_rm_state_json(struct sim_rm *rm)
{
	json_t *root =
		json_pack("{s:s,s:i,s:i,s:I,s:I,s:I,s:o,s:o,s:o,s:o}", "version", rm->version,
			  "branch", (int)rm->config.branch, "gpus", (int)rm->config.gpus, "now_ns",
			  (json_int_t)sim_model_now(rm->model), "clients",
			  (json_int_t)HASH_COUNT(rm->clients), "objects", (json_int_t)rm->objects,
			  "tsgs", tsgs_json(rm), "memory", memory_json(rm), "controls",
			  counts_json(rm), "files", files_json(rm));
	char *text = root ? json_dumps(root, JSON_COMPACT | JSON_PRESERVE_ORDER) : NULL;

	json_decref(root);
	return text;
}
