/* SPDX-License-Identifier: MIT */
/*
 * privacy.h - what a peer may see of a process
 *
 * Root and the process's user see everything. Other users see what ps shows (pid, name, user) and
 * what is done to its TSGs. Those named by AllowTrace= also see its use of the GPU (times, turns).
 * They never see handles, cgroup ids, launches, errors or reasons. If /proc is mounted with
 * hidepid, users see only GPU, class and kind of other users' TSGs, and targets find those by
 * nothing else. A pod that asks by the socket for pods sees records of its own processes alone, with
 * what AllowTrace= shows.
 *
 * All output goes through here. The keys that others may see are listed; all other keys of an
 * object are for its owner and root.
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

#define GS_SEES_LOAD (1u << 0)  /* GPU, class, kind: for everybody */
#define GS_SEES_WHO (1u << 1)   /* what ps shows */
#define GS_SEES_TIMES (1u << 2) /* GPU time and turns */
#define GS_SEES_ALL (1u << 3)

struct gs_view {
	uid_t uid;           /* of the peer */
	unsigned int others; /* GS_SEES_* for processes of other users */
	/*
	 * Not NULL: the viewer is this pod, and sees records of its own processes alone: those that
	 * gs_view_finds() lets into a selection.
	 */
	const char *pod;
	pid_t pid; /* the viewer's pid, if it is a pod */
};

/* The view of @peer at this moment. */
struct gs_view gs_view_of(struct gs_requests *rs, const struct gs_peer *peer);

/* Returns GS_SEES_* for a process of user @owner. */
static inline unsigned int gs_view_process(const struct gs_view *v, uid_t owner)
{
	return !v->pod && v->uid == owner ? ~0u : v->others;
}
/* The same for a record in a selection of the viewer's. */
unsigned int gs_view_record(const struct gs_view *v, const struct gpusched_tsg *rec);
/* True if the viewer may see others' times and names. */
static inline bool gs_view_sees_all_times(const struct gs_view *v)
{
	const unsigned int needs = GS_SEES_WHO | GS_SEES_TIMES;

	return (v->others & needs) == needs;
}
/* Gets the process's user. Returns -ESRCH if the viewer may not see it. */
int gs_view_pid(const struct gs_view *v, pid_t pid, uid_t *ret_owner);
/* True if target @t may find @rec: hidden TSGs are found by GPU and class alone. */
bool gs_view_finds(const struct gs_view *v, const struct gs_target *t,
		   const struct gpusched_tsg *rec);
/* Sets the fields of a TSG's object that the viewer may not see to null. */
void gs_view_tsg(const struct gs_view *v, uid_t owner, json_t *o);
/* The same for a record in a selection of the viewer's. A pod gets pids as it knows them. */
void gs_view_row(const struct gs_view *v, const struct gpusched_tsg *rec, json_t *o);
/* A new reference to what the viewer may see of an event; NULL: nothing. */
json_t *gs_view_event(const struct gs_view *v, uid_t owner, json_t *event);

/* The user of an event's process; root if the user is unknown by now. */
uid_t gs_event_owner(struct gs_requests *rs, const struct gpusched_event *ev);

#endif /* GPUSCHED_REQUESTS_PRIVACY_H */
