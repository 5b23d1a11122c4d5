/* SPDX-License-Identifier: MIT */
/*
 * call.h - defines the requests to the park helper and its answers
 *
 * Each request is for one libcuda checkpoint call on one process. The helper (helper_main.c) is a
 * separate program, since it loads libcuda, which talks to code in users' processes. The helper
 * inherits one socket and no other descriptor of the daemon. All requests have the same size, and
 * all answers; an answer is accepted only if it fits its request (gs_park_core_check_answer()).
 */
#ifndef GPUSCHED_PARK_CALL_H
#define GPUSCHED_PARK_CALL_H

#include <stdbool.h>
#include <stdint.h>

#define GS_PARK_HELPER "gpusched-park-helper" /* beside our programs, or below GPUSCHED_LIBEXEC */
#define GS_PARK_GPUS 16 /* a process on a GPU with this index or a higher one is not parked */

enum gs_park_op {
	GS_PARK_HELLO, /* is libcuda installed, and does it have these calls? */
	GS_PARK_STATE,
	GS_PARK_LOCK, /* waits until the process's GPU work is done, and lets none begin */
	GS_PARK_OUT,  /* moves the process's GPU memory to the host */
	GS_PARK_IN,   /* moves the memory back, if enough GPU memory is free */
	GS_PARK_UNLOCK,
	GS_PARK_OPS
};

/* CUprocessState */
enum gs_park_state { GS_PARK_RUNNING, GS_PARK_LOCKED, GS_PARK_IS_OUT, GS_PARK_FAILED };

/*
 * CUresults of a restore after which the process never comes back: it had memory of another process
 * open; GPU memory was short; and any restore after one of these.
 */
#define GS_PARK_CU_INVALID 1
#define GS_PARK_CU_NO_MEMORY 2
#define GS_PARK_CU_LOST 304
/* CUresult of a checkpoint of a process with managed memory */
#define GS_PARK_CU_NOT_SUPPORTED 801

struct gs_park_request {
	uint32_t op, seq;
	int32_t pid;
	uint32_t timeout_ms;           /* LOCK: how long to wait for the process's GPU work */
	uint64_t start_ns;             /* start time of the process, as in /proc */
	uint64_t margin[GS_PARK_GPUS]; /* IN: bytes that must be free in addition to @bytes */
	/* IN: bytes that were moved out; other calls: bytes that the process holds, if known */
	uint64_t bytes[GS_PARK_GPUS];
	uint64_t room; /* OUT: most bytes that may go to the host */
};

#define GS_PARK_KEPT_UNKNOWN UINT64_MAX

struct gs_park_answer {
	uint32_t op, seq;
	int32_t pid;
	/*
	 * 0: the call was made. Otherwise it was not made. -ESRCH: the process has ended; -ENOTSUP:
	 * RM does not say how much memory the process holds; -EXDEV: it has memory of another
	 * process open; -ENOSYS: libcuda lacks the calls;
	 * -ENOSPC (IN): too little GPU memory is free; -EDQUOT (OUT): it holds more than @room.
	 */
	int32_t code;
	int32_t result;   /* CUresult of the call */
	int32_t state;    /* the process's state after the call; -1: unknown */
	uint32_t version; /* HELLO: cuDriverGetVersion */
	uint32_t gpu;     /* -ENOSPC: the GPU that lacks memory */
	uint32_t unsure;  /* IN: number of GPUs on which RM refused a placeholder */
	/*
	 * OUT: bytes of the process's that are still in use, since others have them open;
	 * GS_PARK_KEPT_UNKNOWN: other programs' use changed meanwhile
	 */
	uint64_t kept;
	/* OUT, -EDQUOT: bytes that the process held just before. -ENOSPC: bytes that are free. */
	uint64_t bytes[GS_PARK_GPUS];
};

/* -EPROTO: @a does not answer @rq, or has values that the helper never sends. */
int gs_park_core_check_answer(const struct gs_park_request *rq, const struct gs_park_answer *a);

#endif /* GPUSCHED_PARK_CALL_H */
