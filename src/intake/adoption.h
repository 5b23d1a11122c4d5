/* SPDX-License-Identifier: MIT */
/*
 * adoption.h - enters TSGs into the table if no tap saw their creation
 */
#ifndef GPUSCHED_INTAKE_ADOPTION_H
#define GPUSCHED_INTAKE_ADOPTION_H

#include <systemd/sd-event.h>

#include "table/table.h"

struct gs_intake;

struct gs_adoption;
struct gs_adopting_trip;
/* Orphans: TSGs in use that the table does not have. */
#define GS_MAX_ORPHANS 256
struct gs_adopting {
	struct gs_adoption *rest;      /* the adoption at start; NULL: it is over */
	struct gs_adopting_trip *trip; /* NULL: no task is under way */
	sd_event_source *due;
	/* clients that own orphans: a tap saw each orphan in use */
	struct gs_orphan {
		pid_t pid;
		uid_t uid;
		struct gpusched_key key;
	} orphans[GS_MAX_ORPHANS];
	size_t n;
	uid_t last;       /* the user whose orphan was adopted last */
	uint64_t next_ns; /* earliest time for the next orphan */
};

/* gs_adopting_begin() runs before there is a loop; the rest is adopted once the loop runs. */
void gs_adopting_begin(struct gs_intake *in);
void gs_adopting_go_on(struct gs_intake *in);
void gs_adopting_seen(struct gs_intake *in, const struct gpusched_event *ev);
void gs_adopting_end(struct gs_intake *in);

#endif /* GPUSCHED_INTAKE_ADOPTION_H */
