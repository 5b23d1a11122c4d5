/* SPDX-License-Identifier: MIT */
/*
 * audit.h - writes changes and their authors to the journal, one entry per control or class change
 *
 * The entry has the fields GPUSCHED_UID, _PID, _VERB, _TARGET, _ARGS and _RESULT. Where the
 * ordinary log is not the journal, the same line goes there too. All of root's requests are
 * written. Each other user has 10 entries a minute; the rest are counted.
 */
#ifndef GPUSCHED_REQUESTS_AUDIT_H
#define GPUSCHED_REQUESTS_AUDIT_H

#include <jansson.h>

#include <stdbool.h>
#include <stdint.h>

#include "hub/peer.h"

#define GS_AUDIT_A_MINUTE 10
#define GS_AUDIT_USERS 64

struct gs_requests;

struct gs_audit {
	struct gs_audit_user {
		uid_t uid;
		unsigned int n; /* entries since then; 0: this row is unused */
		uint64_t since_ns;
	} users[GS_AUDIT_USERS];
};

/*
 * Counts one more entry of @uid at @now; returns true if it is within the limit. With too many
 * users, the oldest row is reused.
 */
bool gs_audit_take(struct gs_audit *a, uid_t uid, uint64_t now);

/* @code, @error, @answer: the request's result. @s may be NULL, for verbs that work alone. */
void gs_audit(struct gs_requests *rs, const struct gs_peer *peer, const char *verb,
	      const json_t *args, int code, const char *error, const json_t *answer);

#endif /* GPUSCHED_REQUESTS_AUDIT_H */
