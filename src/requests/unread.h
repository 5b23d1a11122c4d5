/* SPDX-License-Identifier: MIT */
/*
 * unread.h - how much memory a user's answers take, from the first copy of a record until they are
 * read
 *
 * Otherwise a user could make the daemon keep any amount of memory by not reading answers.
 */
#ifndef GPUSCHED_REQUESTS_UNREAD_H
#define GPUSCHED_REQUESTS_UNREAD_H

#include <stddef.h>
#include <sys/types.h>

#include "basic/error.h"

#define GS_UNREAD_MAX (32u << 20)   /* for each user other than root */
#define GS_UNREAD_SMALL (64u << 10) /* an answer up to this size is never refused */

struct gs_requests;
struct gs_unread_user;

/*
 * @uid's answer takes @bytes now; *@inout_held is its size as charged before. Returns -EBUSY with
 * one line if the user has too much: the answer is to be given up.
 */
int gs_unread_hold(struct gs_requests *rs, uid_t uid, size_t bytes, size_t *inout_held,
		   struct gs_error *err);
void gs_unread_drop(struct gs_requests *rs, uid_t uid, size_t *inout_held);

#endif /* GPUSCHED_REQUESTS_UNREAD_H */
