/* SPDX-License-Identifier: MIT */
/*
 * launch_again.h - decides when to repeat what has failed; private to the launch probes
 *
 * When the reason for a failure has passed, there is seldom an event. So each failed attempt is
 * repeated after 1 s, 2 s, and so on up to 64 s.
 */
#ifndef GPUSCHED_LAUNCH_LAUNCH_AGAIN_H
#define GPUSCHED_LAUNCH_LAUNCH_AGAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define GS_AGAIN_PROCESSES 256

/* True if an operation that failed with -errno @r may later succeed without anybody's action. */
bool gs_again_passes(int r);

struct gs_again {
	uint64_t due_ns;
	unsigned int tries;
};
/* Sets the time of the next try. */
void gs_again_put_off(struct gs_again *a, uint64_t now_ns);

/* Processes that must be looked at again. All zeros: none. */
struct gs_again_list {
	struct gs_again_process {
		struct gs_again again;
		pid_t pid;
		uid_t uid;
	} all[GS_AGAIN_PROCESSES];
	size_t n;
	uint64_t not_before_ns; /* no look at any process before this time */
};
/* Adds a process, or leaves its time if it is in the list. Returns false if there is no room. */
bool gs_again_add(struct gs_again_list *l, pid_t pid, uid_t uid, uint64_t now_ns);
void gs_again_drop(struct gs_again_list *l, pid_t pid);
bool gs_again_has(const struct gs_again_list *l, pid_t pid);
/* Returns the first process that is due, and sets the time of its next try; 0: none is due. */
pid_t gs_again_next(struct gs_again_list *l, uint64_t now_ns);
/* Called after a look at a process that took @ns: delays the next look, to limit the load. */
void gs_again_took(struct gs_again_list *l, uint64_t now_ns, uint64_t ns);
/* Returns when the next process is due; UINT64_MAX: never. */
uint64_t gs_again_due(const struct gs_again_list *l);

#endif /* GPUSCHED_LAUNCH_LAUNCH_AGAIN_H */
