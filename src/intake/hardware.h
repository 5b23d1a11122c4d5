/* SPDX-License-Identifier: MIT */
/*
 * hardware.h - the GPU's own ids of TSGs, which RM tells through a file of their owner's
 *
 * Kept as long as the TSG is there. For the loop's thread.
 */
#ifndef GPUSCHED_INTAKE_HARDWARE_H
#define GPUSCHED_INTAKE_HARDWARE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct gpusched_tsg;
struct gs_end;
struct gs_errand;
struct gs_intake;

/*
 * Asks for those of @recs that are not known, of user @only alone unless that is NULL. *ret is the caller's
 * reference to an errand, which is over when the answers are there. Only while asking is NULL:
 * one at a time.
 */
int gs_hardware_ask(struct gs_intake *in, const uid_t *only, const struct gpusched_tsg *recs,
		    size_t n, struct gs_errand **ret);
/* For the thread of an errand: 0, or -errno of the borrowing; -EBADF as well when RM refuses. */
int gs_hardware_read(struct gs_errand *e, const struct gpusched_tsg *rec, uint32_t *ret);
/* Its answer: kept; UINT32_MAX: it gave none. */
void gs_hardware_note(struct gs_intake *in, const struct gpusched_tsg *rec, uint32_t hw);
/* -ENOENT: not asked, or RM did not tell. */
int gs_hardware_id(const struct gs_intake *in, uint64_t id, uint32_t *ret);
void gs_hardware_ended(void *self, const struct gs_end *end);
void gs_hardware_end(struct gs_intake *in);

#endif /* GPUSCHED_INTAKE_HARDWARE_H */
