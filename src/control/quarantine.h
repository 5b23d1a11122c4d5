/* SPDX-License-Identifier: MIT */
/*
 * quarantine.h - judges the driver's reports: which programs go into quarantine, when a policy ends
 *
 * Pure: no clock, no I/O; times are ns, never 0. An Xid of a switch (8, 109, 151) of a program on
 * which gpusched acted within a minute puts that program of that user into quarantine, for an hour.
 * Each further time within a day of the last one lasts twice as long. A time-out of the driver's
 * firmware (119), a lost GPU, and Xids 109 of programs of two users within 10 minutes end the
 * policy. Xids that programs make by their own mistakes do neither: a user could make them at will.
 */
#ifndef GPUSCHED_CONTROL_QUARANTINE_H
#define GPUSCHED_CONTROL_QUARANTINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "means/program.h"

#define GS_TOUCHED_NS (60ull * 1000000000)
#define GS_QUARANTINE_NS (3600ull * 1000000000)
#define GS_QUARANTINE_MOST_NS (168 * GS_QUARANTINE_NS)
#define GS_QUARANTINE_MAX 256u
#define GS_XID_GPUS 64u /* time-outs are counted for these GPUs */

/* A program in quarantine, or one that was. */
struct gs_quarantine {
	struct gs_program_id program; /* program.uid: its user */
	uint64_t since_ns, until_ns, last_ns;
	unsigned int times;
	uint32_t xid;
};

struct gs_quarantines {
	struct gs_quarantine all[GS_QUARANTINE_MAX];
	size_t n;
	/* the last Xid 109 of a program on which gpusched acted; 0: none */
	uint64_t timeout_ns;
	uid_t timeout_uid;
	unsigned int rpcs[GS_XID_GPUS]; /* time-outs of the firmware in a row */
	double dilate;                  /* factor for all times; 0: 1 */
};

struct gs_harm_report {
	uint32_t xid; /* 0: a lost GPU */
	int gpu;      /* -1: unknown */
	bool reset;   /* the GPU is lost, or needs a reset */
	bool touched; /* gpusched made a call on a TSG of the program there within GS_TOUCHED_NS */
	const struct gs_program_id *program; /* NULL: unknown */
};

struct gs_harm_verdict {
	const struct gs_quarantine *quarantine; /* it begins, or lasts longer now; NULL: none */
	bool left;                              /* there was no place for it */
	bool ends_policy;
	unsigned int rpcs; /* time-outs of the firmware in a row on this GPU, for Xid 119 */
	char why[160];     /* why the policy ends */
};

void gs_quarantine_judge(struct gs_quarantines *q, const struct gs_harm_report *r, uint64_t now,
			 struct gs_harm_verdict *ret);
/* A call on the GPU succeeded: its firmware answers. */
void gs_quarantine_answered(struct gs_quarantines *q, uint32_t gpu);
/* The program's quarantine; NULL: it is in none at @now. */
const struct gs_quarantine *gs_quarantine_of(const struct gs_quarantines *q,
					     const struct gs_program_id *program, uint64_t now);
/* True if any program is in quarantine at @now. */
bool gs_quarantine_any(const struct gs_quarantines *q, uint64_t now);

#endif /* GPUSCHED_CONTROL_QUARANTINE_H */
