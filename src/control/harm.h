/* SPDX-License-Identifier: MIT */
/*
 * harm.h - notes damage: the driver's errors, and calls that RM failed
 *
 * For a daemon. At each heartbeat it reads the kernel's log, and finds the TSG, its program, and
 * what gpusched had done to it. quarantine.h says what follows. The engine enforces a quarantine
 * (core_quarantine.c).
 */
#ifndef GPUSCHED_CONTROL_HARM_H
#define GPUSCHED_CONTROL_HARM_H

#include <stdio.h>

#include "control/quarantine.h"
#include "engine/engine.h"
#include "rm/xid.h"

struct gs_control;
struct gs_end;
struct gs_figures;
struct gs_harm;

int gs_harm_start(struct gs_control *ctl, struct gs_figures *fig);
void gs_harm_end(struct gs_control *ctl);

/* Functions of struct gs_observer. */
void gs_harm_called(void *self, const struct gs_engine_call *call);
void gs_harm_ended(void *self, const struct gs_end *end);
void gs_harm_beat(void *self);

/* The end of the quarantine of TSG @id; 0: it is in none. */
uint64_t gs_harm_until(const struct gs_control *ctl, uint64_t id);

/* A report of the driver. Further ones of the same kind within a minute are counted in it. */
struct gs_harm_told {
	struct gs_xid xid;
	int gpu;     /* -1: unknown */
	uint64_t ns; /* of the last one */
	uint64_t first_ns;
	unsigned int times;
	uint64_t tsg; /* 0: none is known */
	bool owned;   /* @uid is known */
	uid_t uid;
	char comm[17];
	char had[160];     /* what gpusched had done to the TSG; "": nothing */
	bool touched;      /* within a minute */
	unsigned int rpcs; /* time-outs of the firmware in a row; 0: this is none */
	bool ended_policy;
};

/* Calls @fn for each report of the last 10 minutes that no program makes by its own mistakes. */
void gs_harm_each(const struct gs_control *ctl,
		  void (*fn)(const struct gs_harm_told *told, void *user), void *user);

/* A suspension, resume or mode that RM failed within the last minute. */
struct gs_harm_failed {
	uint64_t tsg, ns;
	uint32_t pid, gpu;
	uid_t uid;
	const char *comm;
	enum gs_rm_op op;
	uint32_t status;
};
void gs_harm_each_failed(const struct gs_control *ctl,
			 void (*fn)(const struct gs_harm_failed *failed, void *user), void *user);
/* The programs in quarantine. */
void gs_harm_each_quarantine(const struct gs_control *ctl,
			     void (*fn)(const struct gs_quarantine *q, void *user), void *user);
/* Writes the numbers of reports by GPU and Xid as OpenMetrics. */
void gs_harm_metrics(const struct gs_control *ctl, FILE *f);

#endif /* GPUSCHED_CONTROL_HARM_H */
