/* SPDX-License-Identifier: MIT */
/*
 * memory.h - reads how much GPU memory each process holds, and how long it has been idle
 *
 * While a GPU has compute TSGs, a thread asks RM every 5 s. The calls hold RM's locks. So the pause
 * is at least 100 times as long as the calls took, and their time is charged to the GPU's budget of
 * calls. The pause also bounds the cost of looking at all TSGs: with 10,000 it is some 20 s. For
 * the loop's thread.
 */
#ifndef GPUSCHED_FIGURES_MEMORY_H
#define GPUSCHED_FIGURES_MEMORY_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "basic/error.h"
#include "gpusched/abi.h"

struct gpusched_tsg;
struct gs_end;
struct gs_figures;

/* For a daemon. */
int gs_memory_start(struct gs_figures *fig, struct gs_error *err);
void gs_memory_end(struct gs_figures *fig);
/* A TSG exists: the next reading comes soon. */
void gs_memory_record(void *self, const struct gpusched_tsg *rec);
/* Forgets the process with its last TSG. */
void gs_memory_ended(void *self, const struct gs_end *end);

/* A process on one GPU. */
struct gs_memory_process {
	uint32_t pid;
	uint64_t own_bytes, shared_bytes; /* as in struct gs_rm_held */
	/* No compute TSG of the process has worked since this time; 0: unknown. */
	uint64_t idle_since_ns;
	uint64_t tsg; /* the process's first compute TSG; 0: it has none */
	bool known;   /* @uid and @comm are known */
	uid_t uid;
	char comm[GPUSCHED_COMM_LEN];
	/*
	 * The process has ended, and others hold its RM client's file. @given: its figures are in
	 * those of process @heir now.
	 */
	bool ended, given;
	bool has_row;  /* while some process has ended: it has a compute TSG */
	uint32_t heir; /* 0: none */
	uint64_t heir_start_ns;
};
/* Finds the process of @rec on the GPU of @rec. Returns false if it is unknown. */
bool gs_memory_of(const struct gs_figures *fig, const struct gpusched_tsg *rec,
		  struct gs_memory_process *ret);

struct gs_memory_gpu {
	bool known;
	const char *reason;      /* why the figures are unknown; "": they were not read yet */
	uint64_t as_of_ns;       /* CLOCK_MONOTONIC */
	uint64_t total_bytes;    /* all of the memory: reserved, used and free */
	uint64_t reserved_bytes; /* held by the driver itself */
	uint64_t used_bytes, free_bytes;
	uint64_t held_bytes; /* part of used: held by processes, with shared memory counted once */
	size_t processes;    /* processes that hold memory */
	bool cut;            /* the driver's list is full, so there may be more processes */
};
/* The memory of GPU @i of the hub. */
void gs_memory_gpu(const struct gs_figures *fig, size_t i, struct gs_memory_gpu *ret);
/*
 * The next process that has ended, and whose memory on GPU @i of the hub no process with TSGs has;
 * NULL: no more. *@inout_at begins with 0.
 */
const struct gs_memory_process *gs_memory_next_ended(const struct gs_figures *fig, size_t i,
						     size_t *inout_at);
/* Counts the processes that `status` would name to root, and calls gs_figures.found for each. */
unsigned int gs_memory_look_idle(const struct gs_figures *fig);

/* ---- memory_json.c --------------------------------------------------------------------------- */

/* Adds "memory_bytes", "memory_shared_bytes", "idle_since_ns" to the object of a TSG. */
void gs_memory_tsg_json(const struct gs_figures *fig, const struct gpusched_tsg *rec, json_t *o);
/* The memory of GPU @i of the hub as JSON. */
json_t *gs_memory_gpu_json(const struct gs_figures *fig, size_t i);
/* Writes the memory of each GPU in OpenMetrics. */
void gs_memory_text(const struct gs_figures *fig, FILE *f);

#endif /* GPUSCHED_FIGURES_MEMORY_H */
