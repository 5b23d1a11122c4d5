/* SPDX-License-Identifier: MIT */
/*
 * call.h - messages to and from the park helper: each is one libcuda checkpoint call on one process
 *
 * The helper (helper_main.c) is a separate program, since it loads libcuda and talks to code in
 * users' processes. It gets one socket and no other descriptor of ours. All messages have one size;
 * an answer counts only if it fits its request (gs_park_answer_check()).
 */
#ifndef GPUSCHED_PARK_CALL_H
#define GPUSCHED_PARK_CALL_H

#include <stdbool.h>
#include <stdint.h>

#define GS_PARK_HELPER "gpusched-park-helper" /* beside our programs, or below GPUSCHED_LIBEXEC */
#define GS_PARK_GPUS 16 /* indices; a process on a GPU with a higher index is not parked */

enum gs_park_op {
	GS_PARK_HELLO, /* is libcuda installed, and does it have these calls? */
	GS_PARK_STATE,
	GS_PARK_LOCK, /* waits until the process's GPU work is done, and lets none begin */
	GS_PARK_OUT,  /* moves its memory to the host */
	GS_PARK_IN,   /* moves it back, once enough GPU memory was found free */
	GS_PARK_UNLOCK,
	GS_PARK_OPS
};

/* CUprocessState */
enum gs_park_state { GS_PARK_RUNNING, GS_PARK_LOCKED, GS_PARK_IS_OUT, GS_PARK_FAILED };

/*
 * CUresult of a restore for which GPU memory was short, and of every later restore of that process.
 */
#define GS_PARK_CU_NO_MEMORY 2
#define GS_PARK_CU_LOST 304

struct gs_park_request {
	uint32_t op, seq;
	int32_t pid;
	uint32_t timeout_ms;           /* LOCK */
	uint64_t start_ns;             /* start time of the process, as in /proc */
	uint64_t margin[GS_PARK_GPUS]; /* IN: bytes that must be free besides @bytes */
	/* IN: bytes that were moved out; else what is known of its memory */
	uint64_t bytes[GS_PARK_GPUS];
};

struct gs_park_answer {
	uint32_t op, seq;
	int32_t pid;
	/*
	 * 0: the call was made. Not made: -ESRCH the process has ended, -ENOTSUP RM does not say
	 * what it holds, -ENOSYS libcuda lacks the calls, -ENOSPC (IN) too little GPU memory is
	 * free
	 */
	int32_t code;
	int32_t result;   /* CUresult of the call */
	int32_t state;    /* the process's state after the call; -1: libcuda does not say */
	uint32_t version; /* HELLO: cuDriverGetVersion */
	uint32_t gpu;     /* -ENOSPC: the GPU that lacks memory */
	uint32_t unsure;  /* IN: number of GPUs on which RM refused a placeholder */
	/* OUT: what the process held just before. -ENOSPC: what is free */
	uint64_t bytes[GS_PARK_GPUS];
};

/* -EPROTO: @a does not answer @rq, or has values that our helper never sends. */
int gs_park_answer_check(const struct gs_park_request *rq, const struct gs_park_answer *a);

#endif /* GPUSCHED_PARK_CALL_H */
