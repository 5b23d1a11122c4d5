// SPDX-License-Identifier: MIT
#include "requests/view.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "process/inside.h"
#include "requests/requests.h"
#include "table/events.h"

#define HIDEPID_NS NS_PER_S /* /proc's mount options are read again after this time */

/* ---- the rights of a peer -------------------------------------------------------------------- */

static bool may_trace(const struct gs_requests *rs, const struct gs_peer *peer)
{
	const struct gs_who *who;

	for (size_t i = 0; (who = gs_classes_tracer(rs->hub->classes, i)); i++)
		if (who->is_group ? gs_peer_in_group(peer, who->gid) : peer->uid == who->uid)
			return true;
	return false;
}

static bool is_hidden_from(struct gs_requests *rs, const struct gs_peer *peer)
{
	uint64_t now = gs_now_ns();

	if (!rs->hidepid_ns || now - rs->hidepid_ns >= HIDEPID_NS) {
		gs_hidepid(&rs->hidepid);
		rs->hidepid_ns = now;
	}
	return rs->hidepid.on && !(rs->hidepid.has_gid && gs_peer_in_group(peer, rs->hidepid.gid));
}

struct gs_view gs_view_of(struct gs_requests *rs, const struct gs_peer *peer)
{
	struct gs_view v = { .uid = peer->uid, .others = GS_SEES_LOAD };

	if (*peer->pod)
		return (struct gs_view){ .uid = peer->uid, .pod = peer->pod, .pid = peer->pid };
	if (!peer->uid) {
		v.others = ~0u;
	} else if (rs) {
		v.others |= is_hidden_from(rs, peer) ? 0 : GS_SEES_WHO;
		v.others |= may_trace(rs, peer) ? GS_SEES_TIMES : 0;
	}
	return v;
}

/* ---- processes and TSGs that a request may name ---------------------------------------------- */

int gs_view_pid(const struct gs_view *v, pid_t pid, uid_t *ret_owner)
{
	int r = gs_process_uid(pid, ret_owner);

	return r || gs_view_process(v, *ret_owner) & GS_SEES_WHO ? r : -ESRCH;
}

static bool is_in_pod(const struct gs_view *v, pid_t pid)
{
	char pod[GS_CONTAINER_LEN];

	return gs_inside_of(pid, pod) && !strcmp(pod, v->pod);
}

bool gs_view_finds(const struct gs_view *v, const struct gs_target *t,
		   const struct gpusched_tsg *rec)
{
	if (v->pod)
		return is_in_pod(v, (pid_t)rec->task.pid);
	if (gs_view_process(v, rec->task.uid) & GS_SEES_WHO)
		return true;
	for (size_t i = 0; i < t->n; i++)
		if (t->part[i].kind != GS_TARGET_CLASS && t->part[i].kind != GS_TARGET_GPU)
			return false;
	return true;
}

/* ---- fields of an answer --------------------------------------------------------------------- */

/* Keys in the JSON objects of TSGs and events, and the right that a viewer needs for each. */
static const struct {
	unsigned int needs;
	const char *key;
} keys[] = {
	{ GS_SEES_LOAD, "gpu" },
	{ GS_SEES_LOAD, "gpu_uuid" },
	{ GS_SEES_LOAD, "gpu_pci" },
	{ GS_SEES_LOAD, "class" },
	{ GS_SEES_LOAD, "kind" },
	{ GS_SEES_LOAD, "looks_like" }, /* says whether this viewer may see it */
	{ GS_SEES_LOAD, "looks_like_why" },

	{ GS_SEES_WHO, "id" },
	{ GS_SEES_WHO, "pid" },
	{ GS_SEES_WHO, "tid" },
	{ GS_SEES_WHO, "cpu" },
	{ GS_SEES_WHO, "runlist" },
	{ GS_SEES_WHO, "comm" },
	{ GS_SEES_WHO, "uid" },
	{ GS_SEES_WHO, "engine" },
	{ GS_SEES_WHO, "class_source" },
	{ GS_SEES_WHO, "weight" },
	{ GS_SEES_WHO, "limit_pct" },
	{ GS_SEES_WHO, "request_pct" },
	{ GS_SEES_WHO, "request_over_pct" },
	{ GS_SEES_WHO, "asked" },
	{ GS_SEES_WHO, "is" },
	{ GS_SEES_WHO, "want" },
	{ GS_SEES_WHO, "manual" },
	{ GS_SEES_WHO, "known_by" },
	{ GS_SEES_WHO, "assumed" },
	{ GS_SEES_WHO, "channels" },
	{ GS_SEES_WHO, "memory_bytes" },
	{ GS_SEES_WHO, "memory_shared_bytes" },
	{ GS_SEES_WHO, "scheduled" },
	{ GS_SEES_WHO, "mps" },
	{ GS_SEES_WHO, "restored" },
	{ GS_SEES_WHO, "mig" },
	{ GS_SEES_WHO, "gpu_instance" },
	{ GS_SEES_WHO, "compute_instance" },
	{ GS_SEES_WHO, "held" },
	{ GS_SEES_WHO, "held_by" },
	{ GS_SEES_WHO, "held_how" },
	{ GS_SEES_WHO, "suspended_by" },
	{ GS_SEES_WHO, "held_for" },
	{ GS_SEES_WHO, "changed" },
	{ GS_SEES_WHO, "event" },
	{ GS_SEES_WHO, "time_ns" },
	{ GS_SEES_WHO, "timeslice_us" },
	{ GS_SEES_WHO, "interleave" },
	{ GS_SEES_WHO, "preempt_mode" },
	{ GS_SEES_WHO, "share" },
	{ GS_SEES_WHO, "call" },
	{ GS_SEES_WHO, "value" },
	{ GS_SEES_WHO, "done" },
	{ GS_SEES_WHO, "dry_run" },

	{ GS_SEES_TIMES, "gpu_time_ns" },
	{ GS_SEES_TIMES, "wait_time_ns" },
	{ GS_SEES_TIMES, "switches" },
	{ GS_SEES_TIMES, "last_run_ns" },
	{ GS_SEES_TIMES, "idle_since_ns" },
	{ GS_SEES_TIMES, "turns" },
	{ GS_SEES_TIMES, "what" },
	{ GS_SEES_TIMES, "text" },
	{ GS_SEES_TIMES, "do" },
	{ GS_SEES_TIMES, "limit" },
	{ GS_SEES_TIMES, "times" },
	{ GS_SEES_TIMES, "held_pct" },
	{ GS_SEES_TIMES, "waited_pct" },
	{ GS_SEES_TIMES, "turns_per_s" },
	{ GS_SEES_TIMES, "alone_pct" },
	{ GS_SEES_TIMES, "work_estimated_pct" },
	{ GS_SEES_TIMES, "window_10s" },
	{ GS_SEES_TIMES, "wait_share_pct" },
	{ GS_SEES_TIMES, "calm_wait_pct" },
	{ GS_SEES_TIMES, "slice_ended_pct" },
	{ GS_SEES_TIMES, "mean_turn_us" },
	{ GS_SEES_TIMES, "waiting" },
	{ GS_SEES_TIMES, "sums" },
	{ GS_SEES_WHO, "came" },
	{ GS_SEES_WHO, "hidden" },
	{ GS_SEES_WHO, "asked_timeslice_us" },
	{ GS_SEES_WHO, "policy_acts" },
	{ GS_SEES_TIMES, "policy_says" },
	{ GS_SEES_TIMES, "requests" },
	{ GS_SEES_WHO, "preempt_mode_before" },

	{ GS_SEES_WHO, "by" },
	{ GS_SEES_TIMES, "gpu_time_ms" },
	{ GS_SEES_TIMES, "contended_ms" },
	{ GS_SEES_TIMES, "alone_ms" },
	{ GS_SEES_TIMES, "worked_ms" },
	{ GS_SEES_TIMES, "used_ms" },
	{ GS_SEES_TIMES, "used_most_ms" },
	{ GS_SEES_TIMES, "suspended_ms" },
	{ GS_SEES_TIMES, "request_wait_ms" },
	{ GS_SEES_TIMES, "parked_ms" },
	{ GS_SEES_TIMES, "memory_mib_s" },
	{ GS_SEES_TIMES, "wait_ms" },
	{ GS_SEES_TIMES, "waits" },
	{ GS_SEES_TIMES, "wait_p50_us" },
	{ GS_SEES_TIMES, "wait_p99_us" },
	{ GS_SEES_TIMES, "slice_ended" },
	{ GS_SEES_TIMES, "requests_ms" },
	{ GS_SEES_TIMES, "requests_itself_ms" },
	{ GS_SEES_TIMES, "requests_others_ms" },
	{ GS_SEES_TIMES, "requests_neither_ms" },
	{ GS_SEES_TIMES, "requests_unknown_ms" },
	{ GS_SEES_TIMES, "slo_requests" },
	{ GS_SEES_TIMES, "slo_missed" },
	{ GS_SEES_TIMES, "slo_missed_itself" },
	{ GS_SEES_TIMES, "slo_missed_others" },
};

static bool is_shown(unsigned int sees, const char *key)
{
	for (size_t i = 0; i < GS_COUNT(keys); i++)
		if (!strcmp(keys[i].key, key))
			return sees & keys[i].needs;
	return false;
}

static void hide(unsigned int sees, json_t *o)
{
	const char *key;
	json_t *value;

	if (sees & GS_SEES_ALL)
		return;
	json_object_foreach(o, key, value)
		if (!is_shown(sees, key))
			json_object_set_new(o, key, json_null());
}

void gs_view_tsg(const struct gs_view *v, uid_t owner, json_t *o)
{
	hide(gs_view_process(v, owner), o);
}

unsigned int gs_view_record(const struct gs_view *v, const struct gpusched_tsg *rec)
{
	return v->pod ? GS_SEES_LOAD | GS_SEES_WHO | GS_SEES_TIMES
		      : gs_view_process(v, rec->task.uid);
}

void gs_view_row(const struct gs_view *v, const struct gpusched_tsg *rec, json_t *o)
{
	pid_t pid;

	hide(gs_view_record(v, rec), o);
	if (!v->pod)
		return;
	pid = gs_inside_pid((pid_t)rec->task.pid, v->pid);
	gs_json_put_number(o, "pid", pid != 0, (uint64_t)pid);
	gs_json_put(o, "tid", NULL);
	gs_json_put(o, "mps", NULL);
}

/*
 * True if even the event's existence is private, since it reveals a process's times or launches, or
 * facts about a user.
 */
static bool is_private(const json_t *event)
{
	const char *name = json_string_value(json_object_get(event, "event"));

	return name && (!strcmp(name, gs_event_name(GPUSCHED_EV_FINDING)) ||
			!strcmp(name, gs_event_name(GPUSCHED_EV_BUDGET)) ||
			!strcmp(name, gs_event_name(GPUSCHED_EV_LIMITED)));
}

json_t *gs_view_event(const struct gs_view *v, uid_t owner, json_t *event)
{
	unsigned int sees = gs_view_process(v, owner);
	json_t *shown, *value;
	const char *key;

	if (sees & GS_SEES_ALL)
		return json_incref(event);
	shown = sees & GS_SEES_WHO && (sees & GS_SEES_TIMES || !is_private(event)) ? json_object()
										   : NULL;
	json_object_foreach(event, key, value)
		if (shown && is_shown(sees, key))
			json_object_set(shown, key, value);
	return shown;
}

/* ---- events ---------------------------------------------------------------------------------- */

/*
 * The process may have ended before its TSG's last events are sent. Its pid may then belong to
 * another user, so we remember the owners of TSGs with recent events.
 */
uid_t gs_view_owner(struct gs_requests *rs, const struct gpusched_event *ev)
{
	struct gs_owner *known = &rs->owners[ev->id % GS_OWNERS];
	struct gpusched_tsg rec;
	uid_t uid = 0;

	if (ev->id && !gs_table_get(rs->hub->table, &ev->key, &rec) && rec.task.id == ev->id)
		uid = rec.task.uid;
	else if (ev->id && known->tsg == ev->id)
		return known->uid;
	else if (gs_event_uid(ev, &uid))
		return 0;
	if (ev->id)
		*known = (struct gs_owner){ ev->id, uid };
	return uid;
}
