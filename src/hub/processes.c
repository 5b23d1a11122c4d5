// SPDX-License-Identifier: MIT
#include "hub/processes.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "hub/hub.h"
#include "process/process.h"
#include "table/started.h"

/* Processes checked at one beat: each takes some 60 us. */
#define CHECKS 128u

/* ---- the list -------------------------------------------------------------------------------- */

static struct gs_process *find_entry(const struct gs_hub *hub, pid_t pid)
{
	struct gs_process *p = NULL;

	HASH_FIND(hh, hub->processes.by_pid, &pid, sizeof(pid), p);
	return p;
}

struct gs_process *gs_processes_find(const struct gs_hub *hub, pid_t pid)
{
	struct gs_process *p = find_entry(hub, pid);

	return p && !p->ended ? p : NULL;
}

/* The list that it is in. An ended process waits for the ends of its TSGs, and for no check. */
static struct gs_process **list_of(struct gs_hub *hub, const struct gs_process *p)
{
	bool checked = !p->ended && (!p->ntsgs || p->watched);

	return checked ? &hub->processes.checked : &hub->processes.busy;
}

static void remove_entry(struct gs_hub *hub, struct gs_process *p)
{
	if (p->hashed)
		HASH_DEL(hub->processes.by_pid, p);
	p->hashed = false;
}

static void free_process(struct gs_hub *hub, struct gs_process *p)
{
	remove_entry(hub, p);
	DL_DELETE(*list_of(hub, p), p);
	gs_shares_give(&hub->processes.shares, p->charged_uid);
	free(p);
}

/* True if one of the first @n rooms keeps something of it. */
static bool has_state(const struct gs_process *p, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		if (p->of[i])
			return true;
	return false;
}

static bool is_kept(const struct gs_process *p)
{
	return has_state(p, GS_PROCESS_KEEPERS);
}

void gs_processes_watch(struct gs_hub *hub, struct gs_process *p, bool watched)
{
	DL_DELETE(*list_of(hub, p), p);
	p->watched = watched;
	DL_APPEND(*list_of(hub, p), p);
}

/* ---- the observers ---------------------------------------------------------------------------- */

static void tell_met(const struct gs_observers *o, struct gs_process *p)
{
	for (size_t i = 0; i < o->n; i++)
		if (o->all[i].process_met)
			o->all[i].process_met(o->selves[o->all[i].self], p);
}

static void tell_change(const struct gs_observers *o, struct gs_process *p,
			enum gs_process_change what)
{
	for (size_t i = 0; i < o->n; i++)
		if (o->all[i].process_changed)
			o->all[i].process_changed(o->selves[o->all[i].self], p, what);
}

static void tell_end(const struct gs_observers *o, struct gs_process *p)
{
	for (size_t i = o->n; i--;)
		if (o->all[i].process_ended)
			o->all[i].process_ended(o->selves[o->all[i].self], p);
}

/* ---- begin and end --------------------------------------------------------------------------- */

void gs_processes_end(struct gs_hub *hub, struct gs_process *p)
{
	assert(!p->ended);
	DL_DELETE(*list_of(hub, p), p);
	p->ended = true;
	DL_APPEND(*list_of(hub, p), p);
	tell_end(&hub->observers, p);
	assert(!has_state(p, GS_PROCESS_ROOMS));
	if (!p->ntsgs)
		free_process(hub, p);
}

static void free_list(struct gs_hub *hub, struct gs_process **list)
{
	while (*list) {
		struct gs_process *p = *list;

		if (!p->ended)
			tell_end(&hub->observers, p);
		free_process(hub, p);
	}
}

void gs_processes_free(struct gs_hub *hub)
{
	free_list(hub, &hub->processes.busy);
	free_list(hub, &hub->processes.checked);
	gs_shares_done(&hub->processes.shares);
}

static struct gs_process *new_process(struct gs_hub *hub, const struct gs_process_who *who)
{
	struct gs_process *p = NULL;

	if (gs_shares_take(&hub->processes.shares, who->uid, GS_PROCESSES_MAX)) {
		p = calloc(1, sizeof(*p));
		if (!p)
			gs_shares_give(&hub->processes.shares, who->uid);
	}
	if (!p) {
		gs_count(hub, GS_SVC_PROCESSES_LEFT);
		return NULL;
	}
	p->pid = who->pid;
	p->uid = p->charged_uid = who->uid;
	p->start_ns = who->start_ns;
	if (who->comm)
		memcpy(p->comm, who->comm, sizeof(p->comm));
	p->hashed = true;
	HASH_ADD(hh, hub->processes.by_pid, pid, sizeof(p->pid), p);
	DL_APPEND(*list_of(hub, p), p);
	tell_met(&hub->observers, p);
	return p;
}

struct gs_process *gs_processes_meet(struct gs_hub *hub, const struct gs_process_who *who)
{
	struct gs_process *p = find_entry(hub, who->pid);

	if (p && gs_process_still(0, who->start_ns, p->start_ns) != GS_STILL_NO) {
		p->start_ns = p->start_ns ? p->start_ns : who->start_ns;
		return p->ended ? NULL : p;
	}
	if (p && who->start_ns < p->start_ns)
		return NULL; /* a late word of an earlier process */
	if (p && !p->ended && p->ntsgs)
		remove_entry(hub, p); /* it is freed with its last TSG */
	if (p && !p->ended)
		gs_processes_end(hub, p);
	else if (p)
		remove_entry(hub, p);
	return new_process(hub, who);
}

/* True if it is still there. */
static bool check_process(struct gs_hub *hub, struct gs_process *p)
{
	uid_t uid;

	if (gs_started_still(p->pid, p->start_ns) == GS_STILL_NO || (!p->ntsgs && !is_kept(p))) {
		gs_processes_end(hub, p);
		return false;
	}
	if (!gs_process_uid(p->pid, &uid) && uid != p->uid) {
		p->uid = uid;
		tell_change(&hub->observers, p, GS_PROCESS_UID);
	}
	return true;
}

/* ---- observers ------------------------------------------------------------------------------- */

void gs_processes_tapped(void *self, const struct gpusched_event *ev)
{
	struct gs_hub *hub = self;
	bool execs = ev->type == GPUSCHED_EV_EXEC, exits = ev->type == GPUSCHED_EV_EXIT;
	struct gs_process *p = execs || exits ? gs_processes_find(hub, (pid_t)ev->pid) : NULL;

	if (!p)
		return;
	if (exits) {
		gs_processes_end(hub, p);
		return;
	}
	memcpy(p->comm, ev->comm, sizeof(p->comm));
	gs_process_uid(p->pid, &p->uid);
	tell_change(&hub->observers, p, GS_PROCESS_EXEC);
}

static void take_tsg(struct gs_hub *hub, struct gs_process *p)
{
	DL_DELETE(*list_of(hub, p), p);
	p->ntsgs++;
	DL_APPEND(*list_of(hub, p), p);
}

static void give_tsg(struct gs_hub *hub, struct gs_process *p)
{
	DL_DELETE(*list_of(hub, p), p);
	p->ntsgs--;
	DL_APPEND(*list_of(hub, p), p);
	if (p->ntsgs || (!p->ended && is_kept(p)))
		return;
	if (p->ended)
		free_process(hub, p);
	else
		gs_processes_end(hub, p);
}

static void note_record(struct gs_hub *hub, struct gs_process *p, const struct gpusched_tsg *rec)
{
	bool classed = p->class_id != rec->task.class_id;
	bool moved = p->cgroup_id != rec->task.cgroup_id;

	p->class_id = rec->task.class_id;
	p->cgroup_id = rec->task.cgroup_id;
	if (classed)
		tell_change(&hub->observers, p, GS_PROCESS_CLASS);
	if (moved)
		tell_change(&hub->observers, p, GS_PROCESS_CGROUP);
}

void gs_processes_seen(void *self, const struct gpusched_tsg *rec)
{
	struct gs_hub *hub = self;
	const struct gs_process_who who = { (pid_t)rec->task.pid, rec->task.uid,
					    rec->owner_start_ns, rec->task.comm };
	struct gs_process **at = gs_observers_process_of(&hub->observers, rec->task.id), *was;
	struct gs_process *p = at ? gs_processes_meet(hub, &who) : NULL;

	if (!at)
		return;
	was = *at;
	if (!p && was && was->ended && was->pid == who.pid)
		return; /* the record is about to end, or to go to another process */
	*at = p;
	if (p != was && p)
		take_tsg(hub, p);
	if (p != was && was)
		give_tsg(hub, was);
	if (p)
		note_record(hub, p, rec);
}

void gs_processes_ended(void *self, const struct gs_end *end)
{
	if (end->process)
		give_tsg(self, end->process);
}

/* An exit may have been missed, and the reuse of the pid. */
void gs_processes_events_lost(void *self, pid_t pid)
{
	struct gs_process *p = gs_processes_find(self, pid);

	if (p)
		check_process(self, p);
}

void gs_processes_beat(void *self)
{
	struct gs_hub *hub = self;
	struct gs_process *first = NULL, *p;

	for (unsigned int i = 0; i < CHECKS; i++) {
		p = hub->processes.checked;
		if (!p || p == first)
			return;
		if (!check_process(hub, p))
			continue;
		first = first ? first : p;
		DL_DELETE(*list_of(hub, p), p);
		DL_APPEND(*list_of(hub, p), p);
	}
}
