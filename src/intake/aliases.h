/* SPDX-License-Identifier: MIT */
/*
 * aliases.h - records of an MPS server's TSG under the handle of a client
 *
 * A client of the driver's own servers has the server's TSG under a handle of its own. Nobody sees
 * it made, so a start, or its use, has it adopted. The GPU's id says that it is the same TSG: RM
 * tells that id, and no user does. Changes through the handle are put back, and then the
 * record goes. For the loop's thread.
 */
#ifndef GPUSCHED_INTAKE_ALIASES_H
#define GPUSCHED_INTAKE_ALIASES_H

#include <stdbool.h>
#include <stdint.h>
#include <systemd/sd-event.h>

struct gpusched_tsg;
struct gs_errand;
struct gs_intake;

struct gs_aliases {
	struct gs_errand *asking; /* RM, for ids; NULL: nobody is */
	bool wanted;              /* a record has come that may be one, or have one */
	uint64_t next_ns;         /* no round before */
	uint64_t pause_ns;        /* after a round in which RM did not tell an id */
	sd_event_source *due;
};

/* One that has come, or has another process by now. */
void gs_aliases_record(void *self, const struct gpusched_tsg *rec);
void gs_aliases_end(struct gs_intake *in);

#endif /* GPUSCHED_INTAKE_ALIASES_H */
