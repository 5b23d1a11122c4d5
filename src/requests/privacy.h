/* SPDX-License-Identifier: MIT */
/*
 * privacy.h - what a peer may see of a process
 *
 * Root, and the process's user, see all of it. Others see what ps shows (pid, name, user) and
 * what is done to its TSGs; what it does with the GPU (times, turns) where AllowTrace= has them;
 * never handles, cgroup ids, launches, errors, reasons. Where /proc is mounted with hidepid, of
 * others nothing is seen but GPU, class and kind, and no target finds them by anything else.
 *
 * One place for every channel: keys are named here that others see, all other keys of an object are
 * its owner's and root's.
 */
#ifndef GPUSCHED_REQUESTS_PRIVACY_H
#define GPUSCHED_REQUESTS_PRIVACY_H

#include <jansson.h>
#include <stdbool.h>
#include <sys/types.h>

struct gpusched_event;
struct gpusched_tsg;
struct gs_peer;
struct gs_requests;
struct gs_target;

#define GS_SEES_LOAD (1u << 0)  /* GPU, class, kind: everybody */
#define GS_SEES_WHO (1u << 1)   /* as ps */
#define GS_SEES_TIMES (1u << 2) /* GPU time and turns */
#define GS_SEES_ALL (1u << 3)

struct gs_view {
	uid_t uid;           /* of the peer */
	unsigned int others; /* GS_SEES_* of processes of other users */
};

/* As it is now. */
struct gs_view gs_view_of(struct gs_requests *rs, const struct gs_peer *peer);

/* GS_SEES_* of a process of user @owner. */
static inline unsigned int gs_view_process(const struct gs_view *v, uid_t owner)
{
	return v->uid == owner ? ~0u : v->others;
}
/* Others' times, and their names. */
static inline bool gs_view_sees_all_times(const struct gs_view *v)
{
	const unsigned int needs = GS_SEES_WHO | GS_SEES_TIMES;

	return (v->others & needs) == needs;
}
/* Its user, where the viewer may see it: -ESRCH. */
int gs_view_pid(const struct gs_view *v, pid_t pid, uid_t *ret_owner);
/* @rec may be found by @t: hidden ones by GPU and class alone. */
bool gs_view_finds(const struct gs_view *v, const struct gs_target *t,
		   const struct gpusched_tsg *rec);
/* A TSG's object: what is not for these eyes becomes null. */
void gs_view_tsg(const struct gs_view *v, uid_t owner, json_t *o);
/* As much as may be seen of an event, a new reference; NULL: nothing. */
json_t *gs_view_event(const struct gs_view *v, uid_t owner, json_t *event);

/* The user of an event's process. Root when nobody can tell any more. */
uid_t gs_event_owner(struct gs_requests *rs, const struct gpusched_event *ev);

#endif /* GPUSCHED_REQUESTS_PRIVACY_H */
