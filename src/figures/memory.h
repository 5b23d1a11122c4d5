/* SPDX-License-Identifier: MIT */
/*
 * memory.h - which process holds how much of a GPU's memory, and since when without work
 *
 * While a GPU has compute TSGs RM is asked every 5 s, in a thread. The calls hold RM's locks: a
 * pause of 100 times as long follows where that is more, and their time is charged to the GPU's
 * budget of calls. For the loop's thread.
 */
#ifndef GPUSCHED_FIGURES_MEMORY_H
#define GPUSCHED_FIGURES_MEMORY_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "basic/error.h"

struct gpusched_tsg;
struct gs_end;
struct gs_figures;

/* For a daemon. */
int gs_memory_start(struct gs_figures *fig, struct gs_error *err);
void gs_memory_end(struct gs_figures *fig);
/* A TSG is there: the next reading comes soon. */
void gs_memory_record(void *self, const struct gpusched_tsg *rec);
/* Forgets the process with the last of its TSGs. */
void gs_memory_ended(void *self, const struct gs_end *end);

/* A process on one GPU. */
struct gs_memory_process {
	uint32_t pid;
	uint64_t own_bytes, shared_bytes; /* as in struct gs_rm_held */
	uint64_t idle_since_ns; /* none of its compute TSGs worked since then; 0: not known */
	uint64_t tsg;           /* the first of these; 0: it has none */
};
/* The process of @rec, on the GPU of @rec. false: not known. */
bool gs_memory_of(const struct gs_figures *fig, const struct gpusched_tsg *rec,
		  struct gs_memory_process *ret);

struct gs_memory_gpu {
	bool known;
	const char *reason;      /* why not; "": nobody has asked */
	uint64_t as_of_ns;       /* CLOCK_MONOTONIC */
	uint64_t total_bytes;    /* the parts: reserved, used, free */
	uint64_t reserved_bytes; /* the driver's own */
	uint64_t used_bytes, free_bytes;
	uint64_t held_bytes; /* of used: what processes hold, each piece once */
	size_t processes;    /* that hold something */
	bool cut;            /* there may be more processes than the driver lists */
};
/* GPU @i of the hub's. */
void gs_memory_gpu(const struct gs_figures *fig, size_t i, struct gs_memory_gpu *ret);
/* How many processes `status` would name to root; gs_figures.found hears of each. */
unsigned int gs_memory_look_idle(const struct gs_figures *fig);

/* ---- memory_json.c --------------------------------------------------------------------------- */

/* Into the object of a TSG: "memory_bytes", "memory_shared_bytes", "idle_since_ns". */
void gs_memory_tsg_json(const struct gs_figures *fig, const struct gpusched_tsg *rec, json_t *o);
/* The memory of GPU @i of the hub's. */
json_t *gs_memory_gpu_json(const struct gs_figures *fig, size_t i);
/* The memory of each GPU, as OpenMetrics. */
void gs_memory_text(const struct gs_figures *fig, FILE *f);

#endif /* GPUSCHED_FIGURES_MEMORY_H */
