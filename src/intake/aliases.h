/* SPDX-License-Identifier: MIT */
/*
 * aliases.h - finds and removes records of an MPS server's TSG under a client's handle
 *
 * An MPS client has its server's TSG under another handle. No tap sees that handle made, so the TSG
 * is adopted at a start or when it is used. Both handles have the same id on the GPU, which RM
 * reports and no user can forge. Changes made through the alias are restored, and then its record
 * is removed. For the loop's thread.
 */
#ifndef GPUSCHED_INTAKE_ALIASES_H
#define GPUSCHED_INTAKE_ALIASES_H

#include <stdbool.h>
#include <stdint.h>
#include <systemd/sd-event.h>

struct gpusched_tsg;
struct gs_task;
struct gs_intake;

struct gs_aliases {
	struct gs_task *asking; /* the task that asks RM for ids; NULL: none */
	bool wanted;            /* a record has come that may be an alias, or have one */
	uint64_t next_ns;       /* no round before this time */
	uint64_t pause_ns;      /* pause after a round in which RM did not report an id */
	sd_event_source *due;
};

/* Call this when a record is new, or has another process. */
void gs_aliases_record(void *self, const struct gpusched_tsg *rec);
void gs_aliases_end(struct gs_intake *in);

#endif /* GPUSCHED_INTAKE_ALIASES_H */
