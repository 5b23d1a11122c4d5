/* SPDX-License-Identifier: MIT */
/*
 * turns.h - shares the helper's time between users
 *
 * The helper makes one call at a time, and libcuda's calls take as long as the program in question
 * wants. So users take turns: the user with the least time in calls lately goes first. If a user's
 * calls hung three times, that user waits, 10 s at first and twice as long after each further time.
 * Pure.
 */
#ifndef GPUSCHED_PARK_TURNS_H
#define GPUSCHED_PARK_TURNS_H

#include <stdbool.h>
#include <stdint.h>

#define GS_PARK_USERS 64u

struct gs_park_user {
	uint32_t uid;
	uint64_t last_ns;  /* its last call; 0: the entry is free */
	uint64_t took_ns;  /* what its calls took, halved every 30 s */
	unsigned int hung; /* calls that hung; forgotten 10 min after the last, or its wait */
	uint64_t hung_ns, until_ns;
};

struct gs_park_turns {
	struct gs_park_user all[GS_PARK_USERS];
};

/* A call for @uid has ended or was set aside after @took_ns. */
void gs_park_turns_took(struct gs_park_turns *t, uint32_t uid, uint64_t now_ns, uint64_t took_ns);
/* A call for @uid hung. Root never waits. */
void gs_park_turns_hung(struct gs_park_turns *t, uint32_t uid, uint64_t now_ns, double dilate);
/* The user with the least goes first. */
uint64_t gs_park_turns_of(const struct gs_park_turns *t, uint32_t uid, uint64_t now_ns);
/* The time until which @uid waits; 0: it does not. */
uint64_t gs_park_turns_waits(const struct gs_park_turns *t, uint32_t uid, uint64_t now_ns);

#endif /* GPUSCHED_PARK_TURNS_H */
