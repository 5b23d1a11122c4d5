// SPDX-License-Identifier: MIT
#include "figures/ledger.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "basic/env.h"
#include "basic/log.h"
#include "process/cgroup.h"
#include "hub/json.h"
#include "hub/loop.h"
#include "figures/ledger_judged.h"
#include "figures/ledger_priv.h"
#include "figures/request_cost.h"
#include "figures/request_costs.h"
#include "hub/records.h"
#include "figures/gpu_time.h"
#include "table/events.h"
#include "hub/peer.h"

#define MINUTE_NS (60 * NS_PER_S)
#define EVENTS_A_MINUTE 2000 /* of all TSGs together, in shares by user */
#define EVENTS_A_TSG 16      /* of one TSG, per minute */

void gs_ledger_classes(const struct gs_figures *fig, unsigned int ret[GPUSCHED_MAX_CLASSES])
{
	if (fig->ledger)
		memcpy(ret, fig->ledger->classes, sizeof(fig->ledger->classes));
}

struct gs_history *gs_ledger_history(const struct gs_figures *fig)
{
	return fig->ledger ? fig->ledger->history : NULL;
}

static struct kept *find(const struct gs_ledger *l, uint64_t id)
{
	struct kept *k = NULL;

	if (l)
		HASH_FIND(hh, l->all, &id, sizeof(id), k);
	return k;
}

/* ---- the timer ------------------------------------------------------------------------------- */

/* Keeps to one sample a second on average, though each may be a little early or late. */
static void plan_sample(struct gs_ledger *l, uint64_t now)
{
	l->due_ns += SAMPLE_NS;
	if (l->due_ns < now + SAMPLE_NS / 2 || l->due_ns > now + 2 * SAMPLE_NS)
		l->due_ns = now + SAMPLE_NS;
	gs_loop_plan_about(l->due, l->due_ns);
}

static int on_due(sd_event_source *src, uint64_t us, void *user)
{
	struct gs_figures *fig = user;
	struct gs_ledger *l = fig->ledger;
	uint64_t now = gs_now_ns();

	ledger_check_clock(fig);
	ledger_sample(fig);
	gs_window_mark(fig);
	if (now - l->minute_ns >= MINUTE_NS) {
		l->minute_ns = now;
		gs_shares_done(&l->events);
		ledger_give_begin(fig, false);
	}
	if (!l->all) { /* the next TSG starts the timer again */
		ledger_pause(l);
		return 0;
	}
	plan_sample(l, now);
	return 0;
}

static void wake(struct gs_figures *fig)
{
	struct gs_ledger *l = fig->ledger;
	int enabled = SD_EVENT_OFF;

	sd_event_source_get_enabled(l->due, &enabled);
	if (enabled)
		return;
	ledger_sample(fig);
	gs_window_mark(fig);
	plan_sample(l, gs_now_ns());
}

/* ---- TSGs ------------------------------------------------------------------------------------ */

/* Counts the TSG in (@by 1), or out (-1), by what it now says of its class and partition. */
static void count(struct gs_figures *fig, const struct kept *k, int by)
{
	struct gs_ledger *l = fig->ledger;

	l->classes[k->class_id % GPUSCHED_MAX_CLASSES] += (unsigned int)by;
	for (size_t i = 0; i < fig->hub->ngpus; i++)
		if (fig->hub->gpus[i].index == k->who.gpu) {
			l->gpus[i].ntsgs += (unsigned int)by;
			l->gpus[i].nmig += (unsigned int)(k->mig ? by : 0);
		}
}

static void put_class(struct gs_figures *fig, struct kept *k, const struct gpusched_tsg *rec)
{
	const char *name =
		rec->task.class_id ? gs_class_name(fig->hub->classes, rec->task.class_id) : "";

	k->class_id = rec->task.class_id;
	snprintf(k->who.class, sizeof(k->who.class), "%s", name ? name : "");
}

/*
 * Notes the process's present cgroup, since it may have moved. If the process has ended or is
 * hidden, its cgroup is unknown.
 */
static void put_cgroup(struct kept *k, const struct gpusched_tsg *rec)
{
	k->cgroup_id = rec->task.cgroup_id;
	k->who.pod = (struct gs_pod_names){ 0 };
	if (gs_cgroup_path((pid_t)rec->task.pid, k->who.cgroup))
		k->who.cgroup[0] = '\0';
	else
		gs_pod_names(k->who.cgroup, &k->who.pod);
}

const struct gs_history_who *gs_ledger_who(const struct gs_figures *fig, uint64_t id)
{
	struct kept *k = find(fig->ledger, id);

	if (!k)
		return NULL;
	ledger_learn(fig->ledger, k);
	return &k->who;
}

/* If its process is not known, the TSG has one for itself. */
static struct proc *join_proc(struct gs_figures *fig, const struct kept *k)
{
	struct gs_process **at = gs_observers_process_of(&fig->hub->observers, k->id);
	struct gs_process *process = at && *at && !(*at)->ended ? *at : NULL;
	struct proc *p = process ? process->of[GS_PROCESS_LEDGER] : NULL;

	if (!p) {
		p = calloc(1, sizeof(*p));
		if (!p)
			return NULL;
		p->pid = k->who.pid;
		p->process = process;
		if (process)
			process->of[GS_PROCESS_LEDGER] = p;
	}
	p->start_ns = k->who.start_ns;
	p->ntsgs++;
	return p;
}

static void leave_proc(struct gs_history *history, struct proc *p)
{
	if (--p->ntsgs)
		return;
	if (history)
		gs_history_ended(history, p->pid, p->start_ns);
	if (p->process)
		p->process->of[GS_PROCESS_LEDGER] = NULL;
	free(p->requests);
	free(p);
}

/* Its TSGs have not ended yet. */
void gs_ledger_process_ended(void *self, struct gs_process *process)
{
	struct proc *p = process->of[GS_PROCESS_LEDGER];

	if (p)
		p->process = NULL;
	process->of[GS_PROCESS_LEDGER] = NULL;
}

static void put_owner(struct kept *k, const struct gpusched_tsg *rec)
{
	k->holder = 0;
	k->who.pid = (int32_t)rec->task.pid;
	k->who.start_ns = rec->owner_start_ns;
	k->who.uid = rec->task.uid;
	snprintf(k->who.comm, sizeof(k->who.comm), "%.*s", GPUSCHED_COMM_LEN, rec->task.comm);
}

static bool is_owned(const struct kept *k, const struct gpusched_tsg *rec)
{
	return k->who.pid == (int32_t)rec->task.pid &&
	       (k->who.start_ns == rec->owner_start_ns || !k->who.start_ns || !rec->owner_start_ns);
}

/*
 * Another process holds the TSG's file now, since its maker has ended, or gave it away. Work up to
 * now stays the old owner's; later time and memory are the new one's.
 */
static void change_owner(struct gs_figures *fig, struct kept *k, const struct gpusched_tsg *rec)
{
	const struct gs_history_who was = k->who;
	struct proc *p;

	ledger_give(fig, k, true);
	put_owner(k, rec);
	p = join_proc(fig, k);
	if (!p) {
		k->who = was;
		return;
	}
	leave_proc(fig->ledger->history, k->proc);
	k->proc = p;
	k->job_known = false;
	put_cgroup(k, rec);
	ledger_learn(fig->ledger, k);
	if (fig->ledger->history)
		gs_history_add(fig->ledger->history, &k->who, 0, &k->pending);
}

static struct kept *new_kept(struct gs_figures *fig, const struct gpusched_tsg *rec)
{
	const struct gs_gpu *gpu = gs_record_gpu(fig->hub, rec);
	struct kept *k = calloc(1, sizeof(*k));

	if (!k)
		return NULL;
	k->id = rec->task.id;
	k->key = rec->key;
	k->given_ns = gs_now_ns();
	k->gaps = ledger_gaps(fig, rec->task.gpu);
	k->first_sample = fig->ledger->nsamples;
	k->suspended_ns = rec->suspended_ns ? gs_now_ns() : 0;
	fig->ledger->anew = true;
	put_owner(k, rec);
	k->who.gpu = gpu ? gpu->index : rec->task.gpu;
	k->who.pool = rec->flags & GPUSCHED_TSG_MPS;
	snprintf(k->who.gpu_uuid, sizeof(k->who.gpu_uuid), "%s", gpu ? gpu->uuid : "");
	k->proc = join_proc(fig, k);
	if (!k->proc) {
		free(k);
		return NULL;
	}
	HASH_ADD(hh, fig->ledger->all, id, sizeof(k->id), k);
	return k;
}

void gs_ledger_record(void *self, const struct gpusched_tsg *rec)
{
	struct gs_figures *fig = self;
	struct kept *k = find(fig->ledger, rec->task.id);
	bool is_new = !k;

	if (!fig->ledger || rec->task.kind != GPUSCHED_KIND_COMPUTE ||
	    rec->task.gpu == GPUSCHED_GPU_UNKNOWN)
		return;
	if (!k)
		k = new_kept(fig, rec);
	if (!k)
		return;
	if (!is_new && (k->class_id != rec->task.class_id || k->cgroup_id != rec->task.cgroup_id ||
			k->who.pool != !!(rec->flags & GPUSCHED_TSG_MPS)))
		ledger_give(fig, k, false);
	if (!is_new)
		count(fig, k, -1);
	if (!is_owned(k, rec))
		change_owner(fig, k, rec);
	k->who.pool = rec->flags & GPUSCHED_TSG_MPS;
	k->mig = rec->flags & GPUSCHED_TSG_MIG;
	k->runlist = gpusched_runlist(&rec->task);
	k->who.engine = rec->task.engine;
	put_class(fig, k, rec);
	count(fig, k, 1);
	if (!strcmp(k->who.class, "lc"))
		ledger_judge(fig->ledger, k);
	if (is_new || k->cgroup_id != rec->task.cgroup_id)
		put_cgroup(k, rec);
	ledger_learn(fig->ledger, k);
	ledger_join(fig, k);
	if (is_new && fig->ledger->history) /* announces the process to the history */
		gs_history_add(fig->ledger->history, &k->who, 0, &k->pending);
	wake(fig);
}

void gs_ledger_ended(void *self, const struct gs_end *end)
{
	struct gs_figures *fig = self;
	struct gs_ledger *l = fig->ledger;
	struct kept *k = find(l, end->id);

	if (!k)
		return;
	gs_gpu_time_flush(fig);
	ledger_give(fig, k, true);
	/* the GPU's log may be closed after its last TSG */
	for (size_t i = 0; i < fig->hub->ngpus; i++)
		if (fig->hub->gpus[i].index == k->who.gpu)
			ledger_take_gpu(fig, i);
	leave_proc(l->history, k->proc);
	ledger_leave(k);
	count(fig, k, -1);
	ledger_forgive(l, k);
	HASH_DEL(l->all, k);
	free(k->slo);
	free(k->samples);
	free(k);
}

/* ---- what happened ---------------------------------------------------------------------------- */

/* True if an event may be written. Excess events say nothing new, so they are only counted. */
static bool has_room(struct gs_figures *fig, struct kept *k)
{
	if (!fig->ledger->history)
		return false;
	if (k->events < EVENTS_A_TSG &&
	    gs_shares_take(&fig->ledger->events, k->who.uid, EVENTS_A_MINUTE)) {
		k->events++;
		return true;
	}
	gs_count(fig->hub, GS_SVC_HISTORY_LEFT);
	return false;
}

/* Writes an event to the history. Takes @o: the event without time and subject. */
static void tell(struct gs_figures *fig, const struct kept *k, const char *what, uint64_t ns,
		 json_t *o)
{
	struct gs_history_event ev = {
		.pid = k->who.pid,
		.start_ns = k->who.start_ns,
		.tsg = k->id,
		.ago_ns = gs_now_ns() - ns,
		.what = what,
	};
	CLEANUP_FREE char *text = json_object_size(o) ? json_dumps(o, JSON_COMPACT) : NULL;

	ev.detail = text;
	gs_history_event(fig->ledger->history, &ev);
	json_decref(o);
}

void gs_ledger_event(void *self, const struct gpusched_event *ev, const struct gpusched_tsg *rec)
{
	struct gs_figures *fig = self;
	struct kept *k = ev->id ? find(fig->ledger, ev->id) : NULL;

	json_t *o;

	if (!k || ev->type == GPUSCHED_EV_WANT || ev->type == GPUSCHED_EV_CHANNEL ||
	    !has_room(fig, k))
		return;
	o = json_object();
	if (ev->tid) {
		gs_json_put_number(o, "tid", true, ev->tid);
		gs_json_put_number(o, "cpu", true, ev->cpu);
	}
	gs_json_put_number(o, "gpu", true, k->who.gpu);
	gs_event_put_arguments(fig->hub, ev, o);
	tell(fig, k, gs_event_name(ev->type), ev->ns, o);
}

/* Returns true if the call begins or ends a suspension for another TSG's request. */
static bool note_suspension(struct kept *k, const struct gs_engine_call *call)
{
	bool begins = call->op == GS_RM_SUSPEND,
	     for_request = begins ? call->request : k->request_ns;

	if ((!begins && call->op != GS_RM_RESUME) || call->dry_run || call->res.err)
		return false;
	ledger_suspended(k, begins, for_request);
	return for_request;
}

/* Everything was restored by others than the engine: all suspensions have ended. */
void gs_ledger_restored(void *self)
{
	struct gs_figures *fig = self;
	struct kept *k, *tmp;

	if (!fig->ledger)
		return;
	HASH_ITER(hh, fig->ledger->all, k, tmp)
		ledger_suspended(k, false, false);
}

/* Settings other than the slice: those may keep a program from its next step. */
static void note_act(struct kept *k, const struct gs_engine_call *call, uint64_t now)
{
	if (call->dry_run || (call->op != GS_RM_SUSPEND && call->op != GS_RM_RESUME &&
			      call->op != GS_RM_SET_PREEMPT_MODE))
		return;
	if (!k->acts_end_ns || now - k->acts_end_ns > 2 * NS_PER_S)
		k->acts_begin_ns = now;
	k->acts_end_ns = now;
}

void gs_ledger_call(void *self, const struct gs_engine_call *call)
{
	struct gs_figures *fig = self;
	struct kept *k = find(fig->ledger, call->id);
	json_t *o;

	if (!k)
		return;
	ledger_add(k, &(struct gs_history_sums){ .v = { [GS_SUM_CALLS] = !call->dry_run } });
	note_act(k, call, gs_now_ns());
	/* only the sum is kept, since such suspensions come many times a second */
	if (note_suspension(k, call))
		return;
	if (!has_room(fig, k))
		return;
	o = json_object();
	gs_json_put_number(o, "gpu", true, k->who.gpu);
	gs_event_put_call_arguments(call, o);
	tell(fig, k, gs_event_name(GPUSCHED_EV_CALL), gs_now_ns(), o);
}

/* An Xid or a quarantine. The detail is the whole event: it has what gpusched had set. */
static void keep_harm(const struct gs_figures *fig, const char *name, json_t *event)
{
	uint64_t id = (uint64_t)json_integer_value(json_object_get(event, "id"));
	struct kept *k = id ? find(fig->ledger, id) : NULL;
	CLEANUP_FREE char *detail = json_dumps(event, JSON_COMPACT);
	const struct gs_history_event ev = {
		.pid = k ? k->who.pid : 0,
		.start_ns = k ? k->who.start_ns : 0,
		.tsg = k ? id : 0,
		.what = name,
		.detail = detail,
		.by = true,
		.by_pid = getpid(),
	};

	gs_history_event(fig->ledger->history, &ev);
}

void gs_ledger_said(void *self, json_t *event, uid_t owner)
{
	const char *name = json_string_value(json_object_get(event, "event"));
	const char *what = json_string_value(json_object_get(event, "what"));
	const struct gs_figures *fig = self;
	struct gs_history_event ev = {
		.what = "policy_failed",
		.target = json_string_value(json_object_get(event, "policy")),
		.result = json_string_value(json_object_get(event, "message")),
		.by = true,
		.by_pid = getpid(),
	};

	if (!gs_ledger_history(fig))
		return;
	if (name && (!strcmp(name, gs_event_name(GPUSCHED_EV_XID)) ||
		     !strcmp(name, gs_event_name(GPUSCHED_EV_QUARANTINE))))
		keep_harm(fig, name, event);
	if (ev.target && what && !strcmp(what, "failed"))
		gs_history_event(fig->ledger->history, &ev);
}

void gs_ledger_change(struct gs_figures *fig, const struct gs_peer *peer, const char *verb,
		      const char *target, const char *args, const char *result)
{
	struct gs_history_event ev = {
		.what = verb,
		.target = *target ? target : NULL,
		.detail = *args ? args : NULL,
		.result = result,
		.by = true,
		.by_uid = peer->uid,
		.by_pid = peer->pid,
	};
	const struct gs_process *p = NULL;

	if (!fig || !gs_ledger_history(fig))
		return;
	if (!strncmp(target, "pid:", 4))
		p = gs_processes_find(fig->hub, atoi(target + 4));
	if (!strncmp(target, "tsg:", 4))
		ev.tsg = strtoull(target + 4, NULL, 10);
	if (p) {
		ev.pid = p->pid;
		ev.start_ns = p->start_ns;
	}
	gs_history_event(fig->ledger->history, &ev);
}

/* ---- deadlines ------------------------------------------------------------------------------- */

/* Writes an event if no earlier request of the process was as late. So there are few events. */
static void tell_worst(struct gs_figures *fig, struct kept *k, const struct gs_request_done *done)
{
	json_t *o;

	if (!has_room(fig, k))
		return;
	o = json_object();
	gs_json_put_number(o, "gpu", true, k->who.gpu);
	gs_json_put_number(o, "deadline_us", true, done->deadline_ns / NS_PER_US);
	gs_json_put_number(o, "late_us", true, (done->took_ns - done->deadline_ns) / NS_PER_US);
	tell(fig, k, "deadline_missed", gs_now_ns(), o);
}

static bool add_request(struct gs_deadlines *d, const struct gs_request_done *done)
{
	uint64_t late_ns =
		done->took_ns > done->deadline_ns ? done->took_ns - done->deadline_ns : 0;
	bool worst = late_ns > d->worst_ns;

	d->requests++;
	d->missed += late_ns != 0;
	if (worst)
		d->worst_ns = late_ns;
	return worst;
}

void gs_ledger_request(void *self, const struct gs_request_done *done)
{
	bool missed = done->took_ns > done->deadline_ns;
	struct gs_history_sums sums = {
		.v = { [GS_SUM_REQUESTS] = 1, [GS_SUM_MISSED] = missed },
		.worst_late_ns = missed ? done->took_ns - done->deadline_ns : 0,
	};
	struct gs_figures *fig = self;
	struct kept *k = find(fig->ledger, done->id);

	if (!k || !done->deadline_ns)
		return;
	ledger_add(k, &sums);
	add_request(&fig->ledger->deadlines, done);
	if (add_request(&k->proc->deadlines, done))
		tell_worst(fig, k, done);
}

bool gs_ledger_deadlines(const struct gs_figures *fig, const struct gpusched_tsg *rec,
			 struct gs_deadlines *ret)
{
	const struct kept *k = find(fig->ledger, rec->task.id);

	if (!k || !k->proc->deadlines.requests)
		return false;
	*ret = k->proc->deadlines;
	return true;
}

bool gs_ledger_all_deadlines(const struct gs_figures *fig, struct gs_deadlines *ret)
{
	if (!fig->ledger || !fig->ledger->deadlines.requests)
		return false;
	*ret = fig->ledger->deadlines;
	return true;
}

/* ---- what requests cost ------------------------------------------------------------------------ */

/* @slo_ns 0: the class has none. */
static void add_cost(struct gs_request_cost **cost, const struct gs_request_parts *parts,
		     uint64_t slo_ns)
{
	if (!*cost)
		*cost = calloc(1, sizeof(**cost));
	if (!*cost)
		return;
	gs_request_cost_add(*cost, parts);
	if (!slo_ns)
		return;
	gs_slo_count(&(*cost)->slo, parts, slo_ns);
	gs_slo_count_anew(&(*cost)->slo_now, parts, slo_ns);
}

static void add_to_history(struct kept *k, const struct gs_request_parts *p, uint64_t slo_ns)
{
	struct gs_slo_counts slo = { 0 };
	struct gs_history_sums sums = { .v = {
						[GS_SUM_TOLD] = 1,
						[GS_SUM_TOLD_TOOK] = p->took_ns,
						[GS_SUM_TOLD_ITSELF] = p->itself_ns,
						[GS_SUM_TOLD_OTHERS] = p->others_ns,
						[GS_SUM_TOLD_NEITHER] = p->neither_ns,
						[GS_SUM_TOLD_UNKNOWN] = p->unknown_ns,
					} };

	if (slo_ns)
		gs_slo_count(&slo, p, slo_ns);
	sums.v[GS_SUM_SLO] = slo.requests;
	sums.v[GS_SUM_SLO_MISSED] = slo.missed;
	sums.v[GS_SUM_SLO_ITSELF] = slo.itself;
	sums.v[GS_SUM_SLO_OTHERS] = slo.others;
	ledger_add(k, &sums);
}

static void add_recent(struct gs_figures *fig, struct kept *k, const struct gs_request_parts *parts,
		       uint64_t slo_ns)
{
	if (!k->slo)
		k->slo = calloc(1, sizeof(*k->slo));
	if (!k->slo)
		return;
	gs_slo_recent_count(k->slo, parts, slo_ns, gs_now_ns());
	ledger_judge(fig->ledger, k);
}

void gs_ledger_add_request(struct gs_figures *fig, uint64_t id,
			   const struct gs_request_parts *parts)
{
	struct kept *k = fig->ledger ? find(fig->ledger, id) : NULL;
	uint64_t slo_ns = k ? gs_class_extras(fig->hub->classes, k->class_id).slo_ns : 0;

	if (!k)
		return;
	add_cost(&k->proc->requests, parts, slo_ns);
	if (k->group)
		add_cost(&k->group->requests, parts, slo_ns);
	add_to_history(k, parts, slo_ns);
	if (slo_ns)
		add_recent(fig, k, parts, slo_ns);
}

uint64_t gs_ledger_recent_requests(const struct gs_figures *fig, uint64_t id,
				   struct gs_slo_counts *ret)
{
	const struct kept *k = fig->ledger ? find(fig->ledger, id) : NULL;
	uint64_t slo_ns = k && k->slo ? gs_class_extras(fig->hub->classes, k->class_id).slo_ns : 0;

	*ret = (struct gs_slo_counts){ 0 };
	if (slo_ns && slo_ns == k->slo->slo_ns)
		*ret = gs_slo_recent_sum(k->slo, gs_now_ns());
	return slo_ns;
}

const struct gs_request_cost *gs_ledger_requests(const struct gs_figures *fig,
						 const struct gpusched_tsg *rec)
{
	const struct kept *k = fig && fig->ledger ? find(fig->ledger, rec->task.id) : NULL;

	return k ? k->proc->requests : NULL;
}

/* ---- life ------------------------------------------------------------------------------------ */

static int start_history(struct gs_figures *fig, struct gs_error *err)
{
	const struct gs_history_opts opts = {
		.size = sizeof(opts),
		.dir = gs_env()->state_dir,
		.days = fig->hub->config->history_days,
		.bytes = (uint64_t)fig->hub->config->history_mib << 20,
	};
	int r;

	if (!fig->hub->config->history)
		return 0;
	r = gs_history_new(&opts, &fig->ledger->history);
	return r ? gs_fail(err, r, "the history cannot begin: %s", strerror(-r)) : 0;
}

int gs_ledger_start(struct gs_figures *fig, struct gs_error *err)
{
	struct gs_ledger *l;
	int r;

	if (!fig->hub->opts.daemon)
		return 0;
	l = calloc(1, sizeof(*l));
	if (!l)
		return gs_fail(err, -ENOMEM, "out of memory");
	fig->ledger = l;
	l->minute_ns = gs_now_ns();
	ledger_check_clock(fig);
	l->gpus = calloc(fig->hub->ngpus ? fig->hub->ngpus : 1, sizeof(*l->gpus));
	if (!l->gpus)
		return gs_fail(err, -ENOMEM, "out of memory");
	for (size_t i = 0; i < fig->hub->ngpus; i++)
		l->gpus[i].given_ns = l->minute_ns;
	r = gs_loop_timer(fig->hub, on_due, fig, &l->due);
	return r < 0 ? gs_fail(err, r, "the event loop: %s", strerror(-r))
		     : start_history(fig, err);
}

void gs_ledger_end(struct gs_figures *fig)
{
	struct gs_ledger *l = fig->ledger;
	struct kept *k, *next;

	if (!l)
		return;
	if (l->gpus && l->due)
		ledger_give_all(fig);
	/* the memory of programs that do nothing is written down only now and then: now is the last */
	for (k = l->gpus && l->due ? l->all : NULL; k; k = k->hh.next)
		if (k->pending.v[GS_SUM_MEMORY])
			ledger_give(fig, k, true);
	fig->ledger = NULL;
	gs_request_costs_end(fig);
	HASH_ITER(hh, l->all, k, next) {
		HASH_DEL(l->all, k);
		leave_proc(NULL, k->proc); /* it goes on */
		free(k->slo);
		free(k->samples);
		free(k);
	}
	sd_event_source_disable_unref(l->due);
	gs_history_free(l->history);
	free(l->bringing.ids);
	ledger_free_groups(l);
	gs_shares_done(&l->events);
	free(l->gpus);
	free(l);
}
