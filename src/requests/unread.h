/* SPDX-License-Identifier: MIT */
/*
 * unread.h - limits the memory that a user's answers take until the user has read them
 *
 * Otherwise users could make the daemon use any amount of memory by not reading their answers. An
 * answer counts from the first record that is copied for it.
 */
#ifndef GPUSCHED_REQUESTS_UNREAD_H
#define GPUSCHED_REQUESTS_UNREAD_H

#include <stddef.h>
#include <sys/types.h>

#include "basic/error.h"

#define GS_UNREAD_SMALL (64u << 10) /* an answer up to this size is never refused */

struct gs_requests;
struct gs_unread_user;

/*
 * Charges @bytes, the present size of one answer, to user @uid. *@inout_held is the size charged
 * for that answer so far. Returns -EBUSY with a message if the user's answers take too much memory:
 * the request must then fail.
 */
int gs_unread_hold(struct gs_requests *rs, uid_t uid, size_t bytes, size_t *inout_held,
		   struct gs_error *err);
/* Ends the charge for an answer. */
void gs_unread_drop(struct gs_requests *rs, uid_t uid, size_t *inout_held);

#endif /* GPUSCHED_REQUESTS_UNREAD_H */
