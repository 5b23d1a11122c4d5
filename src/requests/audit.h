/* SPDX-License-Identifier: MIT */
/*
 * audit.h - writes changes and their authors to the journal, one entry per control or class change
 *
 * The entry has the fields GPUSCHED_UID, _PID, _VERB, _TARGET, _ARGS and _RESULT. If the daemon's
 * ordinary log does not go to the journal, the line is logged there too. All of root's requests
 * are written. Other users get 10 entries a minute each; their further entries are only counted.
 */
#ifndef GPUSCHED_REQUESTS_AUDIT_H
#define GPUSCHED_REQUESTS_AUDIT_H

#include <jansson.h>

#include <stdbool.h>
#include <stdint.h>

#include "hub/peer.h"

#define GS_AUDIT_USERS 64

struct gs_requests;

struct gs_audit {
	struct gs_audit_user {
		uid_t uid;
		unsigned int n;    /* entries since @since_ns; 0: this row is unused */
		uint64_t since_ns; /* when the user's present minute began */
	} users[GS_AUDIT_USERS];
};

/*
 * Counts one more entry of @uid at @now. Returns true if the entry is within the user's limit. If
 * all rows are in use, a new user takes over the oldest row.
 */
bool gs_audit_take(struct gs_audit *a, uid_t uid, uint64_t now);

/*
 * Writes one entry. @code, @error and @answer are the request's result. @rs may be NULL, for verbs
 * that need no service; the limit does not apply then.
 */
void gs_audit(struct gs_requests *rs, const struct gs_peer *peer, const char *verb,
	      const json_t *args, int code, const char *error, const json_t *answer);

#endif /* GPUSCHED_REQUESTS_AUDIT_H */
