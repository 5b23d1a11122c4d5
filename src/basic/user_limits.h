/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * user_limits.h - how much one user may have of what users share: each number is here
 *
 * Stores that are not here are divided by share.h: a user may have half of what the others leave.
 * tools/lists.sh makes a table of this for docs/security.md.
 */
#ifndef GPUSCHED_BASIC_USER_LIMITS_H
#define GPUSCHED_BASIC_USER_LIMITS_H

/* Symbol, how many, whether it holds for root, of what, and what becomes of more. */
#define GS_USER_MAY(X) \
	X(CONNECTIONS, 48, false, "connections to the socket", "closed at once") \
	X(WATCHERS, 8, false, "watchers of events", "refused") \
	X(WATCHES, 8, false, "requests that watch for a time", "refused") \
	X(UNREAD, 32 << 20, false, "bytes of answers that nobody reads", "the answer is given up") \
	X(READS, 256, false, "reads of programs and libraries that wait", "not read") \
	X(ORPHANS, 16, true, "TSGs that wait to be adopted", "not adopted") \
	X(KICKS, 400, true, "rounds of a policy in a second", "they wait for the tick") \
	X(STUCK, 32, true, "calls to the driver that do not return", "no further call") \
	X(POOLS, 8, true, "pools", "refused") \
	X(COPIES, 2, false, "copies of memory in helpers of their own", "they wait") \
	X(SAVED, 1024, false, "TSGs with settings kept over a restart", "settings are not kept") \
	X(QUARANTINE, 32, true, "programs in quarantine", "the next to end ends") \
	X(REMEMBERED, 128, true, "programs remembered for `--means`", "the oldest is forgotten") \
	X(MEASURED, 128, true, "TSGs measured at a time for `--means`", "not measured") \
	X(STARTS, 8, true, "starts by `--means` at a time", "the oldest is forgotten") \
	X(ALERTS, 16, false, "alerts under way", "not reported") \
	X(ALERTS_A_MINUTE, 16, false, "alerts that begin in a minute", "not reported") \
	X(NOTED, 10, false, "requests noted in a minute", "only counted") \
	X(LIBRARIES, 32, false, "libraries whose launches are counted", "not counted") \
	X(AGAIN, 32, false, "processes whose libraries are looked at again", "not looked at")

enum gs_user_may {
#define X(sym, most, root, of, more) GS_USER_MAY_##sym = (most),
	GS_USER_MAY(X)
#undef X
};

#endif /* GPUSCHED_BASIC_USER_LIMITS_H */
