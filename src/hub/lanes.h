/* SPDX-License-Identifier: MIT */
/*
 * lanes.h - makes calls on users' sockets outside the loop, in one thread for each user
 *
 * A user can hang millions of epoll entries on the own end of a connection. The kernel walks all of
 * them in each send() to it, in each recv() that frees room, and in each close() and shutdown(). So
 * the loop makes none of these calls. A lane is a thread that makes them for one user: a walk
 * delays that user only.
 */
#ifndef GPUSCHED_HUB_LANES_H
#define GPUSCHED_HUB_LANES_H

#include <stdint.h>
#include <sys/types.h>

struct gs_lanes; /* all lanes of an instance */
struct gs_lane;  /* one user's */

#define GS_LANES_NOBODY ((uid_t)-1) /* the user is not known */

/* Part of a caller's struct. Runs once in the lane's thread, after the jobs given before. */
struct gs_lane_job {
	struct gs_lane_job *next;
	void (*run)(struct gs_lane_job *job);
};

/* Part of a caller's struct. Its functions run in the lane's thread. */
struct gs_lane_watch {
	struct gs_lane_watch *prev, *next;
	/* something happened at a descriptor that was given to gs_lane_watch() */
	void (*ready)(struct gs_lane_watch *w, uint32_t events);
	void (*tick)(struct gs_lane_watch *w); /* once a second */
	int fds[2];
};

/* The functions up to gs_lanes_left() are for the loop's thread alone. */
int gs_lanes_new(struct gs_lanes **ret);
/* Waits up to a second for threads that still work, and then leaves them behind. */
void gs_lanes_free(struct gs_lanes *lanes);

/*
 * The user's lane; its thread starts with the first. Release it with gs_lane_put(). If there are
 * too many lanes, users share one, but never root's. NULL: no thread can be had.
 */
struct gs_lane *gs_lane_get(struct gs_lanes *lanes, uid_t uid);
/* The thread ends after the last reference and the last job. */
void gs_lane_put(struct gs_lane *lane);
/* Nothing is waited for. */
void gs_lane_do(struct gs_lane *lane, struct gs_lane_job *job);
/* Closes @fd in the lane of a user, or here if that is not possible. */
void gs_lanes_close(struct gs_lanes *lanes, uid_t uid, int fd);
/* How often a user got no lane of the own; of all instances of this process. */
uint64_t gs_lanes_left(void);

/*
 * For the lane's thread alone: waits for events at both of w->fds, edge-triggered. 0 or -errno. The
 * caller closes the descriptors after gs_lane_unwatch().
 */
int gs_lane_watch(struct gs_lane *lane, struct gs_lane_watch *w);
void gs_lane_unwatch(struct gs_lane *lane, struct gs_lane_watch *w);

#endif /* GPUSCHED_HUB_LANES_H */
