/* SPDX-License-Identifier: MIT */
/*
 * limited.h - counts how often each limit cut, deferred or refused a user's work
 *
 * All limits by user are counted in this one place. It makes the metric, the event and the log line
 * that name the user.
 */
#ifndef GPUSCHED_HUB_LIMITED_H
#define GPUSCHED_HUB_LIMITED_H

#include <stdint.h>
#include <sys/types.h>

/* Symbol, name, help text. */
#define GS_USER_LIMITS(X) \
	X(ANSWERS, "answers", "answers given up: those not read yet take up 32 MiB") \
	X(CONNECTIONS, "connections", "connections closed: the user has its share") \
	X(WATCHERS, "watchers", "watchers refused: the user has its share") \
	X(EVENTS, "events", "watchers dropped: they did not read their events") \
	X(LINES, "lines", "lines of a recording left out: its reader was too slow") \
	X(TURNS, "turns", "requests that waited for their user's turn for more than a second") \
	X(TABLE, "table", "times that a process had its share of the table of TSGs") \
	X(AGENTS, "agents", "agents refused a page: too many, or asked too often") \
	X(ADOPTION, "adoption", "TSGs not adopted: too many others of the user waited for that") \
	X(FILES, "files", "open files from before the taps not looked at to the end: too many") \
	X(READS, "reads", "programs or libraries not read: that takes too long, or too many wait") \
	X(KICKS, "kicks", "rounds of the policy not made: its TSGs ask for too many") \
	X(POOLS, "pools", "pools refused: the user has its share") \
	X(PARKING, "parking", \
	  "calls of libcuda that hung; from the third on it waits for a while") \
	X(AUDIT, "audit", "requests not noted: more than 10 a minute") \
	X(ALERTS, "alerts", "findings about its programs not reported: it has 16 already")

enum gs_user_limit {
#define X(sym, name, text) GS_LIMIT_##sym,
	GS_USER_LIMITS(X)
#undef X
		GS_LIMIT_MAX
};

struct gs_hub;

const char *gs_limit_name(enum gs_user_limit limit);
/* Counts that @limit struck @uid, once or several times. */
void gs_limited(struct gs_hub *hub, uid_t uid, enum gs_user_limit limit);
void gs_limited_times(struct gs_hub *hub, uid_t uid, enum gs_user_limit limit, uint64_t times);
/*
 * gs_limited_sum() returns how often @limit struck all users together. gs_limited_each() calls @fn
 * for each user and each limit that struck that user.
 */
uint64_t gs_limited_sum(const struct gs_hub *hub, enum gs_user_limit limit);
typedef void (*gs_limited_fn)(uid_t uid, const char *limit, uint64_t times, void *user);
void gs_limited_each(const struct gs_hub *hub, gs_limited_fn fn, void *user);
void gs_limited_free(struct gs_hub *hub);

#endif /* GPUSCHED_HUB_LIMITED_H */
