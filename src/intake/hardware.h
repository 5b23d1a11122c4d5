/* SPDX-License-Identifier: MIT */
/*
 * hardware.h - asks RM for the GPU's own ids of TSGs, through a file of the TSG's owner
 *
 * An id is kept as long as the TSG exists. For the loop's thread.
 */
#ifndef GPUSCHED_INTAKE_HARDWARE_H
#define GPUSCHED_INTAKE_HARDWARE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct gpusched_tsg;
struct gs_end;
struct gs_task;
struct gs_intake;

/*
 * Asks for the unknown ids of the TSGs in @recs; if @only is set, of that user's alone. *ret is the
 * caller's reference to a task, which is over when the answers are there. Call it only while
 * `asking` is NULL.
 */
int gs_hardware_ask(struct gs_intake *in, const uid_t *only, const struct gpusched_tsg *recs,
		    size_t n, struct gs_task **ret);
/*
 * Reads one id, in the thread of a task. Returns 0, the borrowing's -errno, or -EBADF if RM
 * refuses.
 */
int gs_hardware_read(struct gs_task *e, const struct gpusched_tsg *rec, uint32_t *ret);
/* Keeps RM's answer; UINT32_MAX: RM gave none. */
void gs_hardware_note(struct gs_intake *in, const struct gpusched_tsg *rec, uint32_t hw);
/* Returns -ENOENT if RM was not asked, or gave no id. */
int gs_hardware_id(const struct gs_intake *in, uint64_t id, uint32_t *ret);
void gs_hardware_ended(void *self, const struct gs_end *end);
void gs_hardware_end(struct gs_intake *in);

#endif /* GPUSCHED_INTAKE_HARDWARE_H */
