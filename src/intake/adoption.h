/* SPDX-License-Identifier: MIT */
/*
 * adoption.h - TSGs that no tap saw made
 */
#ifndef GPUSCHED_INTAKE_ADOPTION_H
#define GPUSCHED_INTAKE_ADOPTION_H

#include <systemd/sd-event.h>

#include "table/table.h"

struct gs_intake;

struct gs_adoption;
struct gs_adopting_trip;
/* TSGs that no tap saw made. */
#define GS_MAX_ORPHANS 256
struct gs_adopting {
	struct gs_adoption *rest;      /* of the start's; NULL: it is over */
	struct gs_adopting_trip *trip; /* NULL: no errand is under way */
	sd_event_source *due;
	/* clients that a tap saw a TSG of used which the table does not have */
	struct gs_orphan {
		pid_t pid;
		uid_t uid;
		struct gpusched_key key;
	} orphans[GS_MAX_ORPHANS];
	size_t n;
	uid_t last;       /* the user of the last adoption */
	uint64_t next_ns; /* no orphan before */
};

/* Before there is a loop; what is left of it, when there is one. */
void gs_adopting_begin(struct gs_intake *in);
void gs_adopting_go_on(struct gs_intake *in);
void gs_orphan_seen(struct gs_intake *in, const struct gpusched_event *ev);
void gs_adopting_end(struct gs_intake *in);

#endif /* GPUSCHED_INTAKE_ADOPTION_H */
