// SPDX-License-Identifier: MIT
/* Puts figures of GPU memory into JSON and metrics. */
#include <inttypes.h>

#include "basic/json_sheet.h"
#include "figures/figures.h"
#include "figures/memory.h"
#include "figures/openmetrics.h"

void gs_memory_tsg_json(const struct gs_figures *fig, const struct gpusched_tsg *rec, json_t *o)
{
	struct gs_memory_process p = { 0 };
	bool known = gs_memory_of(fig, rec, &p);

	gs_json_put_number(o, "memory_bytes", known, p.own_bytes);
	gs_json_put_number(o, "memory_shared_bytes", known, p.shared_bytes);
	gs_json_put_number(o, "idle_since_ns", p.idle_since_ns, p.idle_since_ns);
}

json_t *gs_memory_gpu_json(const struct gs_figures *fig, size_t i)
{
	struct gs_memory_gpu m;
	json_t *o = json_object();

	gs_memory_gpu(fig, i, &m);
	gs_json_put_number(o, "total_bytes", m.known, m.total_bytes);
	gs_json_put_number(o, "reserved_bytes", m.known, m.reserved_bytes);
	gs_json_put_number(o, "used_bytes", m.known, m.used_bytes);
	gs_json_put_number(o, "free_bytes", m.known, m.free_bytes);
	gs_json_put_number(o, "held_bytes", m.known, m.held_bytes);
	gs_json_put_number(o, "processes", m.known && !m.cut, m.processes);
	gs_json_put_number(o, "as_of_ns", m.known, m.as_of_ns);
	gs_json_put_text(o, "reason", m.reason);
	return o;
}

/* Writes one metric for all GPUs; leaves out a GPU with unknown memory. */
static void put_gauge(const struct gs_figures *fig, FILE *f, const char *name, const char *help,
		      uint64_t (*of)(const struct gs_memory_gpu *m))
{
	gs_openmetrics_head(f, name, "gauge", help);
	for (size_t i = 0; i < fig->hub->ngpus; i++) {
		struct gs_memory_gpu m;

		gs_memory_gpu(fig, i, &m);
		if (m.known)
			fprintf(f, "gpusched_%s{gpu=\"%u\",UUID=\"%s\"} %" PRIu64 "\n", name,
				fig->hub->gpus[i].index, fig->hub->gpus[i].uuid, of(&m));
	}
}

static uint64_t total(const struct gs_memory_gpu *m)
{
	return m->total_bytes;
}

static uint64_t used(const struct gs_memory_gpu *m)
{
	return m->used_bytes;
}

static uint64_t free_(const struct gs_memory_gpu *m)
{
	return m->free_bytes;
}

static uint64_t held(const struct gs_memory_gpu *m)
{
	return m->held_bytes;
}

void gs_memory_text(const struct gs_figures *fig, FILE *f)
{
	put_gauge(fig, f, "gpu_memory_size_bytes", "memory of the GPU, the driver's own included",
		  total);
	put_gauge(fig, f, "gpu_memory_used_bytes", "memory in use, without the driver's own", used);
	put_gauge(fig, f, "gpu_memory_free_bytes", "memory that programs can have", free_);
	put_gauge(fig, f, "gpu_memory_held_bytes", "memory in use that processes hold", held);
}
