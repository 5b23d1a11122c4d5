/* SPDX-License-Identifier: MIT */
/*
 * launch_again.h - private to the launch probes: what is tried again, and when
 *
 * A reason that passes is seldom told by anybody. So there is a next time for each, rarer and rarer:
 * after 1 s, 2 s, and so on to 64 s.
 */
#ifndef GPUSCHED_LAUNCH_LAUNCH_AGAIN_H
#define GPUSCHED_LAUNCH_LAUNCH_AGAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define GS_AGAIN_PROCESSES 256
#define GS_AGAIN_SHARE (GS_AGAIN_PROCESSES / 8) /* of one user, but root */

/* Does what failed with -errno @r have a chance without anybody's doing? */
bool gs_again_passes(int r);

struct gs_again {
	uint64_t due_ns;
	unsigned int tries;
};
/* Sets when it is tried next. */
void gs_again_put_off(struct gs_again *a, uint64_t now_ns);

/* Processes that are to be looked at again. All zeros: none are. */
struct gs_again_list {
	struct gs_again_process {
		struct gs_again again;
		pid_t pid;
		uid_t uid;
	} all[GS_AGAIN_PROCESSES];
	size_t n;
	uint64_t not_before_ns;
};
/* One that is there keeps its time. False: there is no room. */
bool gs_again_add(struct gs_again_list *l, pid_t pid, uid_t uid, uint64_t now_ns);
void gs_again_drop(struct gs_again_list *l, pid_t pid);
bool gs_again_has(const struct gs_again_list *l, pid_t pid);
/* The first one that is due, which is put off; 0: there is none. */
pid_t gs_again_next(struct gs_again_list *l, uint64_t now_ns);
/* That took so long: the next one waits, so that no more than a part of the time goes there. */
void gs_again_took(struct gs_again_list *l, uint64_t now_ns, uint64_t ns);
/* UINT64_MAX: never. */
uint64_t gs_again_due(const struct gs_again_list *l);

#endif /* GPUSCHED_LAUNCH_LAUNCH_AGAIN_H */
