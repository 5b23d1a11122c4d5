// SPDX-License-Identifier: MIT
/* verbs_class.c - handles the verbs about classes, and the verbs limit and request */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/syscall.h>

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "classify/job.h"
#include "classify/rules.h"
#include "process/process.h"
#include "control/counted_requests.h"
#include "requests/limit.h"
#include "requests/requests.h"
#include "hub/json.h"
#include "intake/rescan.h"
#include "requests/selection.h"
#include "requests/verbs.h"
#include "requests/verbs_pods.h"
#include "table/procs.h"
#include "table/started.h"

#define SETTLE_MS 200

/* A request's processes. Its slices of time call @fn for one after the other, and then @end. */
struct each {
	struct gs_selection sel;
	int (*fn)(struct gs_request *rq, pid_t pid, uint32_t to);
	uint32_t to;     /* class id for @fn */
	uint64_t act_ns; /* time of the request; part of the grants that it makes */
	/* a target without processes is no error; the request clears a cgroup's class */
	bool may_be_none, of_clear;
	int (*end)(struct gs_request *rq, struct each *e);
	pid_t *pids; /* NULL: not found yet */
	size_t n, at;
	json_int_t done; /* calls of @fn that succeeded */
	json_int_t kept; /* those of @done that keep another class, which outranks the cgroup's */
	json_int_t none; /* those of @done that had nothing to clear */
	json_int_t mute; /* those of @done that are lc, run, and show no requests */
	int first;       /* the first error */
	json_t *list;    /* for class_get */
};

static void each_free(void *state)
{
	struct each *e = state;

	gs_selection_free(&e->sel);
	free(e->pids);
	json_decref(e->list);
	free(e);
}

static int by_pid(const void *a, const void *b)
{
	pid_t x = *(const pid_t *)a, y = *(const pid_t *)b;

	return x < y ? -1 : x > y;
}

/*
 * Finds the processes of the target. pid:N names a process whether or not it has TSGs; all other
 * targets find processes by their TSGs.
 */
static int find_processes(struct gs_request *rq, struct each *e)
{
	const struct gs_target *t = &e->sel.target;
	bool one = gs_target_kind(t) == GS_TARGET_PID;
	size_t n = 0;
	uid_t uid;
	int r = one ? 0 : gs_selection_step(rq, &e->sel);

	if (r)
		return r;
	if (one && gs_view_pid(&rq->view, (pid_t)t->part[0].number, &uid))
		return gs_selection_none(&rq->view, t, rq->err);
	e->pids = calloc(e->sel.n + 1, sizeof(pid_t));
	if (!e->pids)
		return -ENOMEM;
	if (one)
		e->pids[n++] = (pid_t)t->part[0].number;
	for (size_t i = 0; i < e->sel.n; i++)
		e->pids[n++] = (pid_t)e->sel.recs[i].task.pid;
	qsort(e->pids, n, sizeof(*e->pids), by_pid);
	for (size_t i = 0; i < n; i++)
		if (!e->n || e->pids[i] != e->pids[e->n - 1])
			e->pids[e->n++] = e->pids[i];
	return 0;
}

static int step_each(struct gs_request *rq, uint64_t now_ns)
{
	struct each *e = rq->state;
	int r = e->pids ? 0 : find_processes(rq, e);

	if (r)
		return r;
	for (; e->at < e->n && gs_request_has_time(rq); e->at++) {
		r = e->fn(rq, e->pids[e->at], e->to);
		e->done += !r;
		e->first = e->first ? e->first : r;
	}
	return e->at < e->n ? -EINPROGRESS : e->end(rq, e);
}

static int for_each(struct gs_request *rq, struct each what)
{
	struct each *e = malloc(sizeof(*e));
	int r;

	if (!e) {
		json_decref(what.list);
		return -ENOMEM;
	}
	*e = what;
	e->act_ns = gs_now_ns();
	rq->state = e;
	rq->free_state = each_free;
	r = gs_selection_target(rq, &e->sel.target);
	return r ? r : gs_request_work(rq, step_each);
}

static int end_change(struct gs_request *rq, struct each *e)
{
	if (!e->n && !e->may_be_none)
		return gs_selection_none(&rq->view, &e->sel.target, rq->err);
	json_object_set_new(rq->answer, "processes", json_integer(e->done - e->kept - e->none));
	json_object_set_new(rq->answer, "kept", json_integer(e->kept));
	json_object_set_new(rq->answer, "failed", json_integer((json_int_t)e->n - e->done));
	if (e->mute)
		json_object_set_new(rq->answer, "without_agent", json_integer(e->mute));
	if (e->n && !e->done)
		return e->first;
	*rq->err = (struct gs_error){ 0 };
	return gs_request_settle(rq, SETTLE_MS);
}

static bool nobody_is_in_it(const void *self, gid_t gid)
{
	return false;
}

/* The ceilings of this asker hold: those of the caller, or of the user that root names. */
static struct gs_asker judged(const struct gs_request *rq)
{
	if (!gs_arg_given(rq, "as_uid"))
		return gs_peer_asker(rq->peer);
	return (struct gs_asker){ .uid = (uid_t)gs_arg_number(rq, "as_uid"),
				  .in_group = nobody_is_in_it };
}

/* Classifies a process. @o: the table; NULL: ignore classes that commands have set. */
static int classify(struct gs_request *rq, struct gs_table *o, pid_t pid,
		    struct gs_class_answer *ret)
{
	struct gs_classes *c = rq->rs->hub->classes;
	int r = gs_arg_given(rq, "as_uid") ? gs_classify_as(c, o, pid, judged(rq).uid, ret, rq->err)
					   : gs_classify(c, o, pid, ret, rq->err);

	return r ? gs_fail(rq->err, r, "process %d cannot be classified: %s", pid, strerror(-r))
		 : 0;
}

/*
 * Finds the highest class that the caller may set. That is the present class, or, if the owner set
 * it by a command, the class before the command if that is higher: owners may undo their changes.
 */
static int ceiling(struct gs_request *rq, pid_t pid, struct gs_class_answer *ret)
{
	struct gs_class_answer without = { 0 };
	int d, r = classify(rq, rq->rs->hub->table, pid, ret);

	if (r || ret->source != GPUSCHED_SRC_OWNER)
		return r;
	r = classify(rq, NULL, pid, &without);
	d = gs_class_compare(rq->rs->hub->classes, without.class_id, ret->class_id);
	if (!r && (d > 0 || (!d && without.weight > ret->weight)))
		*ret = without;
	return r;
}

static int check_owner(struct gs_request *rq, pid_t pid, uid_t *ret_owner)
{
	if (gs_view_pid(&rq->view, pid, ret_owner))
		return gs_fail(rq->err, -ENOENT, "there is no process %d", pid);
	if (rq->peer->uid && *ret_owner != rq->peer->uid)
		return gs_fail(rq->err, -EPERM,
			       "process %d belongs to another user: only root may touch it", pid);
	return 0;
}

static int check_may(struct gs_request *rq, pid_t pid, uint32_t from, uint32_t to)
{
	const struct gs_asker by = judged(rq);
	uid_t owner;
	const char *name = gs_class_name(rq->rs->hub->classes, to);
	int r = check_owner(rq, pid, &owner);

	if (r)
		return r;
	if (gs_arg_given(rq, "as_uid")) /* it is about to become that user's */
		owner = by.uid;
	if (!gs_class_may(rq->rs->hub->classes, &by, owner, from, to))
		return gs_fail(rq->err, -EPERM,
			       "raising process %d to class '%s' needs root, or AllowClass= in "
			       "gpusched.conf",
			       pid, name ? name : "none");
	return 0;
}

/* The weight in the request; 0: none was given, so the weight of the class holds. */
static uint32_t weight_of(const struct gs_request *rq)
{
	return (uint32_t)gs_arg_number(rq, "weight");
}

/* Only root may give a process more weight than its class has. */
static int check_weight(struct gs_request *rq, uint32_t to)
{
	const struct gpusched_class *cls = gs_class_of(rq->rs->hub->classes, to);

	if (judged(rq).uid && cls && weight_of(rq) > cls->weight)
		return gs_fail(rq->err, -EPERM,
			       "only root may give more weight than the class has: %u",
			       cls->weight);
	return 0;
}

/* Only root may give a process more weight than it has now. */
static int check_present_weight(struct gs_request *rq, pid_t pid, const struct gs_class_answer *now,
				uint32_t to)
{
	const struct gpusched_class *cls = gs_class_of(rq->rs->hub->classes, to);
	uint32_t w = weight_of(rq);

	if (!w && cls)
		w = cls->weight;
	if (!judged(rq).uid || now->class_id != to || w <= now->weight || now->weight_kept)
		return 0;
	return gs_fail(rq->err, -EPERM, "only root may give process %d more weight than it has: %u",
		       pid, now->weight);
}

/* The limit in the request, in percent; 0: none. */
static uint16_t limit_of(const struct gs_request *rq)
{
	return (uint16_t)gs_arg_number(rq, "limit");
}

static uint16_t request_of(const struct gs_request *rq)
{
	return (uint16_t)gs_arg_number(rq, "request");
}

/* Refuses a limit from an owner if the class, the cgroup or the pod has a limit from root. */
static int check_other_limit(struct gs_request *rq, pid_t pid, uint32_t to)
{
	const struct gpusched_class *cls = gs_class_of(rq->rs->hub->classes, to);
	struct gs_class_answer now = { 0 };
	const struct gs_grant *g = &now.grants.part[GS_LIMIT];
	int r;

	if (cls && cls->limit_pct)
		return gs_fail(rq->err, -EPERM,
			       "class %s has a limit: only root may give a program of it another",
			       cls->name);
	r = classify(rq, rq->rs->hub->table, pid, &now);
	if (r || !g->by_root || (g->to != GS_GRANTED_CGROUP && g->to != GS_GRANTED_POD))
		return r;
	return gs_fail(rq->err, -EPERM,
		       "the %s of process %d has a limit: only root may give it another",
		       g->to == GS_GRANTED_POD ? "pod" : "cgroup", pid);
}

/*
 * Checks the right to set a limit. Owners may limit their own programs, and undo that. If root set
 * a program's limit, its owner may only lower the limit.
 */
static int check_limit(struct gs_request *rq, pid_t pid, uint32_t to, uint32_t limit)
{
	struct gpusched_proc proc;
	int r = judged(rq).uid && limit ? check_other_limit(rq, pid, to) : 0;

	if (!judged(rq).uid || r)
		return r;
	if (gs_proc_get(rq->rs->hub->table, pid, &proc) || !proc.limit_pct ||
	    !(proc.limit_grant & GPUSCHED_GRANT_ROOT) || (limit && limit <= proc.limit_pct))
		return 0;
	return gs_fail(rq->err, -EPERM, "only root may raise the limit of process %d: %u %%", pid,
		       proc.limit_pct);
}

/*
 * Finds a process's entry, or fills in a new one. Takes none of the process's locks, since the
 * process could hold them for any time.
 */
static int entry_of(struct gs_request *rq, pid_t pid, struct gpusched_proc *ret)
{
	bool known = !gs_proc_get(rq->rs->hub->table, pid, ret);
	uint64_t start_ns;
	int r = gs_started(pid, &start_ns);

	if (r && r != -ESRCH)
		return known ? 0
			     : gs_fail(rq->err, r, "process %d cannot be looked at: %s", pid,
				       strerror(-r));
	/* an entry made now would stay: the exit that would remove it has already happened */
	if (r || !gs_process_has_memory(pid))
		return gs_fail(rq->err, -ENOENT, "process %d has ended", pid);
	if (!known || !gs_process_same(ret->start_ns, start_ns))
		*ret = (struct gpusched_proc){ .start_ns = start_ns };
	return 0;
}

static bool has_ended(int pidfd)
{
	struct pollfd p = { .fd = pidfd, .events = POLLIN };

	return poll(&p, 1, 0) > 0;
}

/*
 * Refuses to change an MPS client's class: its kernels run in the server's TSG, and its priority
 * there is fixed when it starts. Only its user claims that a process is a client, and that must not
 * stop root. Root's class then holds for the process's own TSGs.
 */
static int check_client(struct gs_request *rq, pid_t pid)
{
	const struct gs_pool *p = rq->peer->uid ? gs_pool_of_client(rq->rs->intake, pid) : NULL;
	uid_t owner;
	int r = p ? check_owner(rq, pid, &owner) : 0;

	if (!p || r)
		return r;
	if (p->share)
		return gs_fail(rq->err, -ENOTSUP,
			       "process %d is a client of MPS server %d (share %s): its priority "
			       "is that of its class when it started, and fixed: start it again "
			       "with 'gpusched run --share --class CLASS'",
			       pid, p->server, p->name);
	return gs_fail(rq->err, -ENOTSUP,
		       "process %d is a client of MPS server %d (pool %s), and the pool has one "
		       "class: set that of pid:%d, or start the program again outside",
		       pid, p->server, p->name, p->server);
}

static int check_one(struct gs_request *rq, pid_t pid, uint32_t to)
{
	struct gs_class_answer now;
	int r = ceiling(rq, pid, &now);

	if (!r)
		r = check_may(rq, pid, now.class_id, to);
	return r ? r : check_present_weight(rq, pid, &now, to);
}

/* Weight, limit and request of one process, with their grants; 0: that of its class holds. */
struct part {
	uint32_t weight;
	uint16_t limit_pct, request_pct;
	uint64_t limit_grant, request_grant;
};

/*
 * The grant of a limit or request. One request gives all processes of a job the same grant. If an
 * owner changes a limit that root granted, the grant stays root's.
 */
static uint64_t grant_of(struct gs_request *rq, pid_t pid, uint64_t was, uint32_t pct)
{
	const struct each *e = rq->state;

	if (!pct)
		return 0;
	if (judged(rq).uid && (was & GPUSCHED_GRANT_ROOT))
		return was;
	return gs_grant_new(e->act_ns, gs_job_of(rq->rs->hub->table, pid), !judged(rq).uid);
}

/* Enters class @to and @part for the process into the table, as set by a command. */
static int note_one(struct gs_request *rq, pid_t pid, uint32_t to, const struct part *part)
{
	CLEANUP_FD int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	struct gpusched_proc proc = { 0 };
	int r = pidfd < 0 ? gs_fail(rq->err, -ENOENT, "process %d has ended", pid) : 0;

	if (!r)
		r = check_limit(rq, pid, to, part->limit_pct);
	if (!r)
		r = entry_of(rq, pid, &proc);
	if (r)
		return r;
	proc.class_id = to;
	/* a class that root set still counts as root's after an owner's change */
	proc.source = judged(rq).uid && proc.source != GPUSCHED_SRC_COMMAND ? GPUSCHED_SRC_OWNER
									    : GPUSCHED_SRC_COMMAND;
	proc.weight = part->weight;
	proc.limit_pct = part->limit_pct;
	proc.request_pct = part->request_pct;
	proc.limit_grant = part->limit_grant;
	proc.request_grant = part->request_grant;
	r = gs_proc_set(rq->rs->hub->table, pid, &proc);
	if (r)
		return gs_fail(rq->err, r, "the class of process %d cannot be noted: %s", pid,
			       strerror(-r));
	/* the process's exit removes the entry; if it came first, the entry is removed here */
	if (has_ended(pidfd) || gs_proc_forget_dead(rq->rs->hub->table, pid, proc.start_ns)) {
		gs_proc_del(rq->rs->hub->table, pid);
		return gs_fail(rq->err, -ENOENT, "process %d has ended", pid);
	}
	gs_rescan_process(rq->rs->intake, pid);
	return 0;
}

/* Weight, limit and request that commands have set for the process; 0: none set. */
static struct part part_of(struct gs_request *rq, pid_t pid)
{
	struct gpusched_proc proc;

	if (gs_proc_get(rq->rs->hub->table, pid, &proc) || proc.source < GPUSCHED_SRC_COMMAND)
		return (struct part){ 0 };
	return (struct part){ proc.weight, proc.limit_pct, proc.request_pct, proc.limit_grant,
			      proc.request_grant };
}

/* True for a service that runs and shows no requests: its next start can give it an agent. */
static bool lacks_agent(struct gs_request *rq, pid_t pid, uint32_t class_id)
{
	const struct gpusched_tsg its = { .task = { .pid = (uint32_t)pid,
						    .kind = GPUSCHED_KIND_COMPUTE } };
	struct gpusched_proc proc;

	return class_id == GPUSCHED_CLASS_LC && !gs_requests_of(rq->rs->control, &its) &&
	       !gs_proc_get(rq->rs->hub->table, pid, &proc) && proc.tsgs;
}

static int set_one(struct gs_request *rq, pid_t pid, uint32_t to)
{
	struct each *e = rq->state;
	const struct part was = part_of(rq, pid);
	struct part part = { weight_of(rq), limit_of(rq), request_of(rq) };
	int r = check_client(rq, pid);

	if (!r)
		r = check_one(rq, pid, to);
	part.limit_grant = grant_of(rq, pid, was.limit_grant, part.limit_pct);
	part.request_grant = grant_of(rq, pid, was.request_grant, part.request_pct);
	if (!r)
		r = note_one(rq, pid, to, &part);
	e->mute += !r && lacks_agent(rq, pid, to);
	return r;
}

static int check_class(struct gs_request *rq, pid_t pid, const struct gs_class_answer *now,
		       const char *option)
{
	if (now->class_id)
		return 0;
	return gs_fail(
		rq->err, -EINVAL,
		"process %d has no class, and weights, limits and requests are kept of classes: "
		"'gpusched class set pid:%d be --%s %u'",
		pid, pid, option, (unsigned int)gs_arg_number(rq, option));
}

/*
 * Sets only the limit or only the request of a process. The process keeps its class, which counts
 * as set by a command from now on.
 */
static int part_one(struct gs_request *rq, pid_t pid, bool is_limit)
{
	struct part part = part_of(rq, pid);
	uint16_t *at = is_limit ? &part.limit_pct : &part.request_pct;
	uint64_t *grant = is_limit ? &part.limit_grant : &part.request_grant;
	const char *option = is_limit ? "limit" : "request";
	uint16_t pct = (uint16_t)gs_arg_number(rq, option);
	struct each *e = rq->state;
	struct gs_class_answer now = { 0 };
	uid_t owner;
	int r = check_owner(rq, pid, &owner);

	if (!r)
		r = check_client(rq, pid);
	if (!r)
		r = classify(rq, rq->rs->hub->table, pid, &now);
	if (r)
		return r;
	if (!pct && !*at) {
		e->none++;
		return 0;
	}
	*at = pct;
	*grant = grant_of(rq, pid, *grant, pct);
	part.weight = now.weight;
	r = check_class(rq, pid, &now, option);
	return r ? r : note_one(rq, pid, now.class_id, &part);
}

static int limit_one(struct gs_request *rq, pid_t pid, uint32_t unused)
{
	return part_one(rq, pid, true);
}

static int request_one(struct gs_request *rq, pid_t pid, uint32_t unused)
{
	return part_one(rq, pid, false);
}

/* Sets only the weight of a process, which keeps its class. */
static int weigh_one(struct gs_request *rq, pid_t pid, uint32_t unused)
{
	struct part part = part_of(rq, pid);
	struct gs_class_answer now = { 0 };
	int r = check_client(rq, pid);

	if (!r)
		r = classify(rq, rq->rs->hub->table, pid, &now);
	if (!r)
		r = check_class(rq, pid, &now, "weight");
	if (!r)
		r = check_weight(rq, now.class_id);
	if (!r)
		r = check_one(rq, pid, now.class_id);
	part.weight = weight_of(rq);
	return r ? r : note_one(rq, pid, now.class_id, &part);
}

/*
 * Classifies a process again after its cgroup's class was set or cleared. Counts processes that
 * keep another class, since a class set for the process itself outranks the cgroup's.
 */
static int look_again(struct gs_request *rq, pid_t pid, uint32_t to)
{
	struct each *e = rq->state;
	struct gs_class_answer now;

	gs_rescan_process(rq->rs->intake, pid);
	if (!gs_classify(rq->rs->hub->classes, rq->rs->hub->table, pid, &now, NULL))
		e->kept += e->of_clear ? now.source >= GPUSCHED_SRC_COMMAND : now.class_id != to;
	return 0;
}

static int clear_one(struct gs_request *rq, pid_t pid, uint32_t unused)
{
	struct each *e = rq->state;
	struct gpusched_proc proc;
	struct gs_class_answer now, then = { 0 };
	uid_t owner;
	int r = check_owner(rq, pid, &owner);

	if (r)
		return r;
	if (gs_proc_get(rq->rs->hub->table, pid, &proc) || proc.source < GPUSCHED_SRC_COMMAND) {
		e->none++;
		return 0;
	}
	r = ceiling(rq, pid, &now);
	if (!r)
		r = classify(rq, NULL, pid, &then);
	if (!r)
		r = check_may(rq, pid, now.class_id, then.class_id);
	if (!r)
		r = check_present_weight(rq, pid, &now, then.class_id);
	if (!r)
		r = check_limit(rq, pid, then.class_id, 0);
	if (r)
		return r;
	proc.class_id = then.class_id;
	proc.source = then.source;
	proc.weight = 0;
	proc.limit_pct = proc.request_pct = 0;
	proc.limit_grant = proc.request_grant = 0;
	r = gs_proc_set(rq->rs->hub->table, pid, &proc);
	gs_rescan_process(rq->rs->intake, pid);
	return r;
}

static bool is_rule_for_cgroup(const struct gs_request *rq, const struct gs_target *t)
{
	return !rq->peer->uid && rq->rs->hub->opts.daemon && gs_target_kind(t) == GS_TARGET_CGROUP;
}

/*
 * If root sets a class for a cgroup, the daemon keeps a rule for the cgroup's present and future
 * processes. For other users, or without a daemon, each present process gets the class, and the
 * answer says that later processes do not ("covers_later").
 */
static int set_for_cgroup(struct gs_request *rq, struct each *e)
{
	struct gs_target t;
	bool covers;
	int r = gs_selection_target(rq, &t);

	if (r || !gs_target_has(&t, GS_TARGET_CGROUP))
		return r;
	covers = is_rule_for_cgroup(rq, &t);
	json_object_set_new(rq->answer, "covers_later", json_boolean(covers));
	if (!covers)
		return 0;
	if (limit_of(rq) || request_of(rq))
		return gs_fail(rq->err, -EINVAL,
			       "a %s for a cgroup is that of its class: Class=%s %s=%u",
			       limit_of(rq) ? "limit" : "request", gs_arg_text(rq, "class"),
			       limit_of(rq) ? "limit" : "request",
			       limit_of(rq) ? limit_of(rq) : request_of(rq));
	if (gs_rules_set_cgroup(rq->rs->hub->classes, t.part[0].text, e->to, weight_of(rq)))
		return gs_fail(rq->err, -ENOSPC, "classes are set for %d cgroups already",
			       GS_MAX_CGROUPS);
	e->fn = look_again;
	e->may_be_none = true;
	return 0;
}

/* Removes a cgroup's rule. Classes of single processes stay; `class clear pid:N` clears those. */
static int clear_for_cgroup(struct gs_request *rq, struct each *e)
{
	struct gs_target t;
	int r = gs_selection_target(rq, &t);

	if (r || !is_rule_for_cgroup(rq, &t))
		return r;
	if (!gs_rules_clear_cgroup(rq->rs->hub->classes, t.part[0].text))
		return gs_fail(
			rq->err, -ENOENT,
			"no class was set for cgroup:%.200s: 'gpusched class list' shows for "
			"which cgroups; 'class clear pid:N' takes back a process's own",
			t.part[0].text);
	e->fn = look_again;
	e->of_clear = e->may_be_none = true;
	return 0;
}

static int check_request(struct gs_request *rq)
{
	if (request_of(rq) && judged(rq).uid)
		return gs_fail(rq->err, -EPERM,
			       "only root gives requests: others could have less for it");
	if (request_of(rq) && limit_of(rq) && request_of(rq) > limit_of(rq))
		return gs_fail(rq->err, -EINVAL, "the request is more than the limit");
	return 0;
}

static int set_weight(struct gs_request *rq)
{
	struct gs_target t;
	int r;

	if (!weight_of(rq))
		return gs_fail(rq->err, -EINVAL, "the class is missing, or a weight alone");
	if (limit_of(rq) || request_of(rq))
		return gs_fail(rq->err, -EINVAL,
			       "the class is missing: the verbs limit and request do without");
	r = gs_selection_target(rq, &t);
	if (!r && gs_target_has(&t, GS_TARGET_CGROUP))
		return gs_fail(rq->err, -EINVAL,
			       "the class is missing: a cgroup's weight needs it");
	return r ? r : for_each(rq, (struct each){ .fn = weigh_one, .end = end_change });
}

int gs_verb_class_set(struct gs_request *rq)
{
	struct each e = { .fn = set_one, .end = end_change };
	const char *name = gs_arg_text(rq, "class");
	int r;

	if (gs_arg_given(rq, "as_uid") && rq->peer->uid)
		return gs_fail(rq->err, -EPERM, "only root asks for another user: as_uid");
	if (!name)
		return set_weight(rq);
	if (gs_class_id(rq->rs->hub->classes, name, &e.to))
		return gs_fail(rq->err, -EINVAL,
			       "there is no class '%s': 'gpusched class list' shows them", name);
	r = check_weight(rq, e.to);
	if (!r)
		r = check_request(rq);
	if (!r)
		r = set_for_cgroup(rq, &e);
	return r ? r : for_each(rq, e);
}

int gs_verb_limit(struct gs_request *rq)
{
	return for_each(rq, (struct each){ .fn = limit_one, .end = end_change });
}

int gs_verb_request(struct gs_request *rq)
{
	return for_each(rq, (struct each){ .fn = request_one, .end = end_change });
}

int gs_verb_class_clear(struct gs_request *rq)
{
	struct each e = { .fn = clear_one, .end = end_change };
	int r = clear_for_cgroup(rq, &e);

	return r ? r : for_each(rq, e);
}

/* A process's class as JSON. Its owner sees "why", even if the text of root's rules is in it. */
static json_t *process_json(struct gs_request *rq, pid_t pid, uid_t owner,
			    const struct gs_class_answer *a)
{
	bool all = gs_view_process(&rq->view, owner) & GS_SEES_ALL;
	char comm[GPUSCHED_COMM_LEN] = "";
	const char *name = gs_class_name(rq->rs->hub->classes, a->class_id);
	json_t *o;

	gs_process_comm(pid, comm);
	o = json_pack("{s:i, s:s?, s:s?, s:o}", "pid", (int)pid, "class", a->class_id ? name : NULL,
		      "source", gs_source_name(a->source), "why",
		      all ? gs_json_text(a->why) : json_null());
	json_object_set_new(o, "comm", gs_json_text(comm) ?: json_null());
	return o;
}

static int get_one(struct gs_request *rq, pid_t pid, uint32_t unused)
{
	struct each *e = rq->state;
	struct gs_class_answer a;
	uid_t owner;

	/* leaves out a process that has just ended, without an error */
	if (!gs_view_pid(&rq->view, pid, &owner) &&
	    !gs_classify(rq->rs->hub->classes, rq->rs->hub->table, pid, &a, NULL))
		json_array_append_new(e->list, process_json(rq, pid, owner, &a));
	return 0;
}

static int end_get(struct gs_request *rq, struct each *e)
{
	json_object_set_new(rq->answer, "processes", TAKE_PTR(e->list));
	return 0;
}

int gs_verb_class_get(struct gs_request *rq)
{
	return for_each(rq, (struct each){ .fn = get_one, .end = end_get, .list = json_array() });
}

/* Adds weight, limit and request, with the source of the limit and of the request. */
static void add_parts(json_t *o, const struct gs_class_answer *a, const struct gs_class_losers *l)
{
	const struct gs_grant *limit = &a->grants.part[GS_LIMIT];
	const struct gs_grant *request = &a->grants.part[GS_REQUEST];

	gs_json_put_number(o, "weight", true, a->weight);
	gs_json_put_number(o, "limit_pct", limit->pct != 0, limit->pct);
	json_object_set_new(o, "limit_why",
			    *l->part[GS_LIMIT] ? gs_json_text(l->part[GS_LIMIT]) : json_null());
	gs_json_put_number(o, "request_pct", request->pct != 0, request->pct);
	json_object_set_new(o, "request_why",
			    *l->part[GS_REQUEST] ? gs_json_text(l->part[GS_REQUEST]) : json_null());
}

int gs_verb_class_explain(struct gs_request *rq)
{
	struct gs_class_losers losers;
	struct gs_class_answer a;
	struct gs_target t;
	json_t *o, *steps;
	uid_t uid;
	int r;

	r = gs_selection_target(rq, &t);
	if (r)
		return r;
	if (gs_target_kind(&t) != GS_TARGET_PID)
		return gs_fail(rq->err, -EINVAL, "class explain needs one process: pid:N");
	if (gs_view_pid(&rq->view, (pid_t)t.part[0].number, &uid))
		return gs_selection_none(&rq->view, &t, rq->err);
	if (!(gs_view_process(&rq->view, uid) & GS_SEES_ALL))
		return gs_fail(rq->err, -EPERM,
			       "process %llu belongs to another user: only root is told why it is "
			       "of its class",
			       (unsigned long long)t.part[0].number);
	r = gs_classify_all(rq->rs->hub->classes, rq->rs->hub->table, (pid_t)t.part[0].number, &a,
			    &losers, rq->err);
	if (r)
		return r;
	o = process_json(rq, (pid_t)t.part[0].number, uid, &a);
	json_object_update(rq->answer, o);
	json_decref(o);
	json_object_set_new(rq->answer, "uid", json_integer(uid));
	gs_json_put_text(rq->answer, "unreachable",
			 gs_rm_borrow_unreachable((pid_t)t.part[0].number));
	add_parts(rq->answer, &a, &losers);
	steps = json_pack("[o]", gs_json_text(a.why));
	json_object_set_new(rq->answer, "steps", steps);
	for (size_t i = 0; i < losers.n; i++)
		json_array_append_new(steps, gs_json_text(losers.text[i]));
	gs_pods_add_unread(steps, (pid_t)t.part[0].number);
	return 0;
}
