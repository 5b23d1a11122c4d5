/* SPDX-License-Identifier: MIT */
/*
 * view.h - decides which facts about a process a peer may see
 *
 * Root and the process's user see everything. Other users see what ps shows (pid, name, user), and
 * the calls that gpusched makes on its TSGs. Users named by AllowTrace= also see its use of the GPU
 * (times, turns). Other users never see handles, cgroup ids, launches, errors or reasons. If /proc
 * is mounted with hidepid, they see only GPU, class and kind of the TSG, and targets match it only
 * by GPU and class. A pod that connects by the socket for pods sees only its own processes, with
 * the fields that AllowTrace= allows.
 *
 * All output goes through these functions. view.c lists the keys that other users may see; all
 * other keys of an object are for root and the process's user.
 */
#ifndef GPUSCHED_REQUESTS_VIEW_H
#define GPUSCHED_REQUESTS_VIEW_H

#include <jansson.h>
#include <stdbool.h>
#include <sys/types.h>

struct gpusched_event;
struct gpusched_tsg;
struct gs_peer;
struct gs_requests;
struct gs_target;

#define GS_SEES_LOAD (1u << 0)  /* GPU, class, kind: for everybody */
#define GS_SEES_WHO (1u << 1)   /* what ps shows, and calls on the TSGs */
#define GS_SEES_TIMES (1u << 2) /* GPU time and turns */
#define GS_SEES_ALL (1u << 3)   /* everything */

struct gs_view {
	uid_t uid;           /* the peer's user */
	unsigned int others; /* GS_SEES_* for processes of other users */
	/*
	 * Not NULL: the viewer is in this pod, and sees only records of the pod's processes:
	 * gs_view_finds() keeps all others out of selections.
	 */
	const char *pod;
	pid_t pid; /* the viewer's pid, if it is in a pod */
};

/* The rights that @peer has now. */
struct gs_view gs_view_of(struct gs_requests *rs, const struct gs_peer *peer);

/* Returns GS_SEES_* for a process of user @owner. */
static inline unsigned int gs_view_process(const struct gs_view *v, uid_t owner)
{
	return !v->pod && v->uid == owner ? ~0u : v->others;
}
/* Returns GS_SEES_* for a record that a selection found for the viewer. */
unsigned int gs_view_record(const struct gs_view *v, const struct gpusched_tsg *rec);
/* True if the viewer may see the times and names of all users' processes. */
static inline bool gs_view_sees_all_times(const struct gs_view *v)
{
	const unsigned int needs = GS_SEES_WHO | GS_SEES_TIMES;

	return (v->others & needs) == needs;
}
/* Gets the process's user. Returns -ESRCH if the viewer may not see the process. */
int gs_view_pid(const struct gs_view *v, pid_t pid, uid_t *ret_owner);
/* True if target @t may match @rec: a target matches hidden TSGs only by GPU and class. */
bool gs_view_finds(const struct gs_view *v, const struct gs_target *t,
		   const struct gpusched_tsg *rec);
/* Sets the fields of a TSG's object that the viewer may not see to null. */
void gs_view_tsg(const struct gs_view *v, uid_t owner, json_t *o);
/*
 * Like gs_view_tsg(), for a record that a selection found for the viewer. For a pod, converts pids
 * to those of its own pid namespace.
 */
void gs_view_row(const struct gs_view *v, const struct gpusched_tsg *rec, json_t *o);
/* Returns the part of an event that the viewer may see, as a new reference; NULL: none of it. */
json_t *gs_view_event(const struct gs_view *v, uid_t owner, json_t *event);

/* The user of an event's process; root if the user can no longer be found. */
uid_t gs_view_owner(struct gs_requests *rs, const struct gpusched_event *ev);

#endif /* GPUSCHED_REQUESTS_VIEW_H */
