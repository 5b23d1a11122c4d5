/* SPDX-License-Identifier: MIT */
/*
 * call.h - what is said with the park helper: one libcuda checkpoint call on one process a message
 *
 * The helper is a program of its own (helper_main.c), since it has libcuda in it and talks to code
 * in users' processes. It has one socket and no other descriptor of ours. Messages have one size;
 * an answer counts only if it fits its request (gs_park_answer_check()).
 */
#ifndef GPUSCHED_PARK_CALL_H
#define GPUSCHED_PARK_CALL_H

#include <stdbool.h>
#include <stdint.h>

#define GS_PARK_HELPER "gpusched-park-helper" /* beside our programs, or below GPUSCHED_LIBEXEC */
#define GS_PARK_GPUS 16                       /* by index; a process on others is not parked */

enum gs_park_op {
	GS_PARK_HELLO, /* is libcuda there, and has it these calls? */
	GS_PARK_STATE,
	GS_PARK_LOCK, /* its work is done, and no new work begins */
	GS_PARK_OUT,  /* its memory goes to the host */
	GS_PARK_IN,   /* ... and back, if that is surely there */
	GS_PARK_UNLOCK,
	GS_PARK_OPS
};

/* CUprocessState */
enum gs_park_state { GS_PARK_RUNNING, GS_PARK_LOCKED, GS_PARK_IS_OUT, GS_PARK_FAILED };

/* CUresult of a restore that met no memory, and of all restores of that process afterwards. */
#define GS_PARK_CU_NO_MEMORY 2
#define GS_PARK_CU_LOST 304

struct gs_park_request {
	uint32_t op, seq;
	int32_t pid;
	uint32_t timeout_ms;           /* LOCK */
	uint64_t start_ns;             /* of the process, as in /proc */
	uint64_t margin[GS_PARK_GPUS]; /* IN: so much has to be free besides */
	uint64_t bytes[GS_PARK_GPUS];  /* IN: so much was taken; else as far as it is known */
};

struct gs_park_answer {
	uint32_t op, seq;
	int32_t pid;
	int32_t code; /* 0: the call was made. Else it was not: -ESRCH the process is gone, -ENOSPC
			   IN: no memory, -ENOTSUP it cannot be known what it holds, -ENOSYS no calls */
	int32_t result;               /* CUresult of the call */
	int32_t state;                /* after it; -1: libcuda does not say */
	uint32_t version;             /* HELLO: cuDriverGetVersion */
	uint32_t gpu;                 /* -ENOSPC: which one lacks memory */
	uint32_t unsure;              /* IN: GPUs of which RM gave no placeholder */
	uint64_t bytes[GS_PARK_GPUS]; /* OUT: what it held just before. -ENOSPC: what is free */
};

/* -EPROTO: it is not the answer to that request, or no helper of ours can have said so. */
int gs_park_answer_check(const struct gs_park_request *rq, const struct gs_park_answer *a);

#endif /* GPUSCHED_PARK_CALL_H */
