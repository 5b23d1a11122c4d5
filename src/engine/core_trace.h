/* SPDX-License-Identifier: MIT */
/*
 * core_trace.h - describes the trace of every input to the core and every answer
 *
 * gs_core_opts.trace gets records: each is a struct gs_core_trace and @size bytes. A core of the
 * same build gives the same answers to the same inputs (docs/testing.md). Inputs are the arguments
 * of gs_core_*().
 */
#ifndef GPUSCHED_ENGINE_CORE_TRACE_H
#define GPUSCHED_ENGINE_CORE_TRACE_H

#include "engine/core.h"

enum gs_core_trace_type {
	GS_TRACE_OPTS = 0x67735400, /* struct gs_core_opts; the first record */
	GS_TRACE_POLICY,            /* u32 active, u32 flags */
	GS_TRACE_CLASS,             /* struct gpusched_class; now_ns: its id */
	GS_TRACE_LIMITS,            /* u32 switch_cost_us, u32 hold_limit_ms */
	GS_TRACE_COSTS,             /* u32 gpu, u32 switch_cost_us */
	GS_TRACE_LOOK,              /* struct gpusched_tsg, struct gs_news or nothing */
	GS_TRACE_DONE,              /* struct gs_plan, struct gpusched_tsg or nothing */
	GS_TRACE_CANCEL,            /* struct gs_plan */
	GS_TRACE_FORGET,            /* struct gpusched_key */
	GS_TRACE_SPENT,             /* u64 gpu, u64 ns */
	GS_TRACE_ROUND,
	GS_TRACE_ROUND_OVER,
	GS_TRACE_DUE, /* the last kind of input */
	/* answers */
	GS_TRACE_TODO,   /* struct gs_todo, unless it is empty */
	GS_TRACE_DUE_IS, /* struct gpusched_key []; now_ns: gs_core_next() */
};

struct gs_core_trace {
	uint32_t type; /* enum gs_core_trace_type */
	uint32_t size;
	uint64_t now_ns;
};

#endif /* GPUSCHED_ENGINE_CORE_TRACE_H */
