// SPDX-License-Identifier: MIT
/* What the service does about each event of the taps. */
#include <errno.h>
#include <string.h>

#include "basic/clock.h"
#include "basic/log.h"
#include "process/reader.h"
#include "process/cgroup.h"
#include "service/internal.h"
#include "process/process.h"
#include "table/events.h"
#include "table/procs.h"
#include "taps/taps.h"

#define LOSSES_MIN_NS NS_PER_S /* a flood costs us no more than one look at all TSGs in this time */

/* ---- class and GPU of a record --------------------------------------------------------------- */

static void poke(struct gs_service *s, const struct gpusched_tsg *rec, uint32_t what)
{
	struct gpusched_poke p = {
		.key = rec->key,
		.id = rec->task.id,
		.what = what,
		.flags_mask = GPUSCHED_TSG_MPS,
		.rec = *rec,
	};

	gs_table_poke(s->o, &p);
}

static bool take_gpu(struct gs_service *s, struct gpusched_tsg *rec)
{
	const struct gs_gpu *gpu = gs_record_gpu(s, rec);

	if (!gpu || rec->task.gpu == gpu->index)
		return false;
	rec->task.gpu = gpu->index;
	return true;
}

/* The taps know it when we were told of its client in time. */
static bool take_mps(struct gpusched_tsg *rec)
{
	bool is = (rec->flags & GPUSCHED_TSG_MPS) || gs_record_calls_itself_mps(rec);

	if (is)
		is = gs_proc_is_mps((pid_t)rec->task.pid);
	if (is == !!(rec->flags & GPUSCHED_TSG_MPS))
		return false;
	rec->flags ^= GPUSCHED_TSG_MPS;
	return true;
}

static bool take_class(struct gs_service *s, struct gpusched_tsg *rec,
		       const struct gs_class_answer *answer)
{
	const struct gpusched_class *cls = gs_class_of(s->classes, answer->class_id);
	uint32_t weight = answer->weight ? answer->weight : cls ? cls->weight : rec->task.weight;

	if (rec->task.class_id == answer->class_id && rec->task.weight == weight)
		return false;
	rec->task.class_id = answer->class_id;
	rec->task.weight = weight;
	if (cls && cls->deadline_us) {
		rec->task.deadline_us = cls->deadline_us;
		rec->task.known |= GPUSCHED_KNOWN_DEADLINE;
	}
	return true;
}

void gs_record_tell(struct gs_service *s, const struct gpusched_tsg *rec, uint32_t type,
		    uint32_t arg)
{
	struct gpusched_event ev = {
		.ns = gs_now_ns(),
		.type = type,
		.pid = rec->task.pid,
		.key = rec->key,
		.id = rec->task.id,
		.arg = { arg },
	};

	memcpy(ev.comm, rec->task.comm, sizeof(ev.comm));
	gs_ledger_event(s, &ev);
	if (gs_watched(s))
		gs_watch_emit(s, gs_event_json(s, &ev), rec->task.uid);
}

void gs_record_cgroup(struct gs_service *s, struct gpusched_tsg *rec)
{
	uint64_t id = gs_cgroup_of((pid_t)rec->task.pid);

	if (!id || id == rec->task.cgroup_id)
		return;
	rec->task.cgroup_id = id;
	poke(s, rec, GPUSCHED_POKE_WHO);
}

/* @answer: the class of its process; NULL: not known. */
static void settle(struct gs_service *s, struct gpusched_tsg *rec,
		   const struct gs_class_answer *answer)
{
	bool unclassified = rec->task.class_id == GPUSCHED_CLASS_NONE;
	struct gpusched_tsg now;
	uint32_t what = 0;

	gs_record_cgroup(s, rec);
	if (take_gpu(s, rec))
		what |= GPUSCHED_POKE_GPU;
	if (answer && take_class(s, rec, answer))
		what |= GPUSCHED_POKE_CLASS;
	if (take_mps(rec))
		what |= GPUSCHED_POKE_FLAGS;
	if (what)
		poke(s, rec, what);
	/* A policy that could not place the TSG when it was made gets to see it again. */
	if ((what & ~GPUSCHED_POKE_FLAGS) && s->p)
		gs_policy_ask(s->p, GPUSCHED_RUN_TASK_INIT, &rec->key, 0);
	/* it was asked about a TSG of no class, which no limit counts */
	if (unclassified && rec->task.class_id && s->p && !gs_table_get(s->o, &rec->key, &now) &&
	    (now.flags & GPUSCHED_TSG_SCHEDULED))
		gs_policy_ask(s->p, GPUSCHED_RUN_SCHEDULE, &rec->key, 0);
	if (what & GPUSCHED_POKE_CLASS)
		gs_record_tell(s, rec, GPUSCHED_EV_CLASS, rec->task.class_id);
	if (s->e) /* first: the GPU may be waiting for it */
		gs_engine_touch(s->e, &rec->key);
	gs_sight_record(s, rec);
	gs_ledger_record(s, rec);
}

void gs_record_settle(struct gs_service *s, struct gpusched_tsg *rec)
{
	struct gs_class_answer answer;
	int r = gs_classify(s->classes, s->o, (pid_t)rec->task.pid, &answer, NULL);

	settle(s, rec, r ? NULL : &answer);
}

void gs_process_note(struct gs_service *s, pid_t pid)
{
	struct gs_class_answer answer;
	struct gpusched_proc proc = { 0 };
	struct gs_program program;
	bool known = !gs_proc_get(s->o, pid, &proc), mps = gs_proc_is_mps(pid);

	if (gs_classify(s->classes, s->o, pid, &answer, NULL))
		return;
	if (known && proc.class_id == answer.class_id && proc.source == (uint32_t)answer.source &&
	    proc.mps == mps)
		return;
	if (!proc.start_ns) {
		if (gs_reader_program(pid, &program))
			return; /* a late answer brings us here again */
		proc.start_ns = program.start_ns;
	}
	proc.class_id = answer.class_id;
	proc.source = answer.source;
	proc.mps = mps;
	gs_proc_set(s->o, pid, &proc);
}

/* @before: the one that was settled before it; NULL: none. */
static void settle_next(struct gs_service *s, struct gpusched_tsg *rec,
			const struct gpusched_tsg *before)
{
	struct gs_class_answer answer;
	int r = gs_record_classify(s, (pid_t)rec->task.pid, &answer);

	if (!before || rec->task.pid != before->task.pid)
		gs_process_note(s, (pid_t)rec->task.pid);
	settle(s, rec, r ? NULL : &answer);
}

static void all_settled(struct gs_service *s, size_t n)
{
	if (!gs_table_is_empty(s->o))
		gs_loop_sweep_in(s, GS_SWEEP_MIN_NS);
	if (n && s->p)
		gs_policy_nudge(s->p);
}

void gs_records_settle(struct gs_service *s)
{
	struct gpusched_tsg *recs;
	size_t n;

	if (gs_table_all(s->o, &recs, &n))
		return;
	memset(s->asked, 0, sizeof(s->asked));
	for (size_t i = 0; i < n; i++)
		settle_next(s, &recs[i], i ? &recs[i - 1] : NULL);
	all_settled(s, n);
	free(recs);
}

void gs_process_reclassify(struct gs_service *s, pid_t pid)
{
	struct gpusched_key key = { 0 };
	struct gpusched_tsg rec;

	gs_process_note(s, pid);
	while (!gs_table_next(s->o, &key, &rec))
		if (rec.task.pid == (uint32_t)pid)
			gs_record_settle(s, &rec);
}

static void rename_record(struct gs_service *s, struct gpusched_tsg *rec,
			  const char comm[GPUSCHED_COMM_LEN])
{
	if (!strncmp(rec->task.comm, comm, GPUSCHED_COMM_LEN))
		return;
	memcpy(rec->task.comm, comm, GPUSCHED_COMM_LEN);
	poke(s, rec, GPUSCHED_POKE_WHO);
}

/* Its descriptors may outlive an exec, and its TSGs with them. */
static void rename_process(struct gs_service *s, const struct gpusched_event *ev)
{
	struct gpusched_key key = { 0 };
	struct gpusched_tsg rec;

	while (!gs_table_next(s->o, &key, &rec))
		if (rec.task.pid == ev->pid)
			rename_record(s, &rec, ev->comm);
}

/* ---- events that were lost ------------------------------------------------------------------- */

/* Its `is` does not show that the owner had a suspended one run again. */
static void doubt(struct gs_service *s, const struct gpusched_tsg *rec)
{
	if (rec->changed & GPUSCHED_RUNNABLE)
		gs_engine_doubt(s->e, &rec->key);
}

/* @ret->comm: as it is now; empty: the process has ended. */
static void meet(struct gs_service *s, const struct gpusched_tsg *rec, struct gpusched_event *ret)
{
	pid_t pid = (pid_t)rec->task.pid;

	*ret = (struct gpusched_event){ .type = GPUSCHED_EV_CLIENT, .pid = rec->task.pid };
	if (gs_process_comm(pid, ret->comm) ||
	    !gs_start_same(gs_proc_start_ns(pid), rec->owner_start_ns))
		memset(ret->comm, 0, sizeof(ret->comm));
	gs_service_launches_event(s, ret);
}

static void end_looking(struct gs_service *s)
{
	all_settled(s, s->looking.n);
	gs_sight_losses(s);
	free(s->looking.recs);
	s->looking.recs = NULL;
	gs_loop_sweep_in(s, GS_SWEEP_SOON_NS); /* exits may be among what was lost */
	s->losses_next_ns = gs_now_ns() + LOSSES_MIN_NS;
}

/* Its process may have executed something unseen, and what its launches are counted by been loaded. */
static void look_at(struct gs_service *s, struct gpusched_tsg *rec)
{
	struct gpusched_event *met = &s->looking.met;
	uint64_t id = rec->task.id;

	if (gs_table_get(s->o, &rec->key, rec) || rec->task.id != id)
		return;
	doubt(s, rec);
	if (rec->task.pid != met->pid)
		meet(s, rec, met);
	if (met->comm[0])
		rename_record(s, rec, met->comm);
	settle_next(s, rec, s->looking.at ? rec - 1 : NULL);
}

static void look_slice(struct gs_sliced *w, uint64_t until_ns)
{
	struct gs_service *s = GS_SLICED_OF(w, struct gs_service, looking.sliced);
	struct gs_looking *l = &s->looking;

	memset(s->asked, 0, sizeof(s->asked));
	for (; l->at < l->n && gs_now_ns() < until_ns; l->at++)
		look_at(s, &l->recs[l->at]);
	if (l->at < l->n)
		gs_loop_slice(s, w, true);
	else
		end_looking(s);
}

static void look_at_all(struct gs_service *s)
{
	struct gs_looking *l = &s->looking;

	*l = (struct gs_looking){ .sliced = { .work = look_slice, .uid = GS_SLICES_OURS } };
	if (!gs_table_all(s->o, &l->recs, &l->n))
		gs_loop_slice(s, &l->sliced, false);
}

void gs_looking_free(struct gs_service *s)
{
	gs_slices_drop(&s->slices, &s->looking.sliced);
	free(s->looking.recs);
}

/*
 * Whatever it was, the taps have written it into the table: all of that is looked at, as at a
 * start. One program can fill the ring again and again, so this has a pause between two.
 */
void gs_losses_check(struct gs_service *s)
{
	uint64_t lost, now;

	if (s->draining || gs_tap_counter(s->o, GPUSCHED_CNT_EVENTS_LOST, &lost) ||
	    lost == s->events_lost)
		return;
	now = gs_now_ns();
	if (s->looking.recs)
		return; /* its end brings us here again */
	if (now < s->losses_next_ns) {
		gs_loop_sweep_in(s, s->losses_next_ns - now); /* which looks here again */
		return;
	}
	gs_count(s, GS_SVC_LOSSES);
	gs_log(LOG_WARNING, "%llu events of the taps were lost: all TSGs are looked at",
	       (unsigned long long)(lost - s->events_lost));
	s->events_lost = lost;
	look_at_all(s);
}

/* ---- events ---------------------------------------------------------------------------------- */

/* Behind each of these is a callback of the policy, which ends a rest of its tick. */
static bool is_policys(uint32_t type)
{
	return type == GPUSCHED_EV_TSG_NEW || type == GPUSCHED_EV_SCHEDULE ||
	       type == GPUSCHED_EV_TIMESLICE || type == GPUSCHED_EV_TSG_FREE ||
	       type == GPUSCHED_EV_WANT || type == GPUSCHED_EV_HOLD || type == GPUSCHED_EV_DENY;
}

static void react(struct gs_service *s, const struct gpusched_event *ev)
{
	struct gpusched_tsg rec;

	switch (ev->type) {
	case GPUSCHED_EV_CLIENT:
		gs_process_note(s, (pid_t)ev->pid);
		gs_loop_sweep_in(s, GS_SWEEP_MIN_NS);
		break;
	case GPUSCHED_EV_TSG_NEW:
		if (!gs_table_get(s->o, &ev->key, &rec))
			gs_record_settle(s, &rec);
		gs_loop_sweep_in(s, GS_SWEEP_MIN_NS);
		break;
	case GPUSCHED_EV_SCHEDULE: /* enables its channels: a suspended TSG runs again */
		gs_engine_owner_set(s->e, &ev->key, GPUSCHED_RUNNABLE, ev->ns);
		break;
	case GPUSCHED_EV_CHANNEL: /* of a suspended TSG it alone runs */
		gs_engine_doubt(s->e, &ev->key);
		break;
	case GPUSCHED_EV_WANT:
	case GPUSCHED_EV_HOLD:
		gs_engine_touch(s->e, &ev->key);
		break;
	case GPUSCHED_EV_TIMESLICE:
		gs_engine_owner_set(s->e, &ev->key, GPUSCHED_TIMESLICE, ev->ns);
		break;
	case GPUSCHED_EV_INTERLEAVE:
		gs_engine_owner_set(s->e, &ev->key, GPUSCHED_INTERLEAVE, ev->ns);
		break;
	case GPUSCHED_EV_PREEMPT_MODE:
		gs_engine_owner_set(s->e, &ev->key, GPUSCHED_PREEMPT_MODE, ev->ns);
		break;
	case GPUSCHED_EV_TSG_FREE:
		gs_engine_forget(s->e, &ev->key);
		gs_engine_let_go(s->e);
		break;
	case GPUSCHED_EV_EXEC:
		rename_process(s, ev);
		gs_process_reclassify(s, (pid_t)ev->pid);
		break;
	case GPUSCHED_EV_OWNER: /* what could not be called before can be now */
		gs_engine_anew(s->e, &ev->key);
		gs_process_reclassify(s, (pid_t)ev->pid);
		break;
	case GPUSCHED_EV_EXIT:
		gs_loop_sweep_in(s, GS_SWEEP_SOON_NS);
		break;
	case GPUSCHED_EV_ORPHAN:
		gs_orphan_seen(s, ev);
		break;
	case GPUSCHED_EV_LIMIT:
		gs_log(LOG_NOTICE,
		       "process %u (%.*s) has its share of the table: what it makes more is left "
		       "alone",
		       ev->pid, GPUSCHED_COMM_LEN, ev->comm);
		gs_loop_sweep_in(s, GS_SWEEP_SOON_NS); /* what it has closed counts until then */
		break;
	default:
		break;
	}
}

void gs_on_event(const struct gpusched_event *ev, void *user)
{
	struct gs_service *s = user;

	if (s->draining)
		return;
	gs_count(s, GS_SVC_EVENTS);
	if (gs_watched(s) && ev->type != GPUSCHED_EV_WANT) /* the engine tells of all wishes */
		gs_watch_emit(s, gs_event_json(s, ev), gs_event_owner(s, ev));
	gs_service_launches_event(s, ev); /* first: it is a race with the first launch */
	react(s, ev);
	gs_ledger_event(s, ev);
	gs_sight_event(s, ev);
	if (s->p && is_policys(ev->type))
		gs_policy_nudge(s->p);
}

void gs_on_wish(const struct gpusched_tsg *rec, void *user)
{
	gs_record_tell(user, rec, GPUSCHED_EV_WANT, 0);
}

/* Logged once for each policy and reason: a user can have any number of TSGs. */
void gs_on_overruled(const struct gpusched_tsg *rec, uint32_t why, void *user)
{
	struct gs_service *s = user;
	uint32_t news = why & ~s->overruled_logged;

	for (unsigned int i = 0; i < GS_OVERRULE_MAX; i++)
		if (news & 1u << i)
			gs_log(LOG_NOTICE,
			       "tsg %llu of pid %u is overruled: %s; 'gpusched list' shows others",
			       (unsigned long long)rec->task.id, rec->task.pid,
			       gs_overrule_text(i));
	s->overruled_logged |= why;
	gs_record_tell(s, rec, GPUSCHED_EV_OVERRULED, why);
}

void gs_on_call(const struct gs_engine_call *call, void *user)
{
	struct gs_service *s = user;
	struct gs_call_stats *st = &s->calls[call->op < GS_RM_OP_MAX ? call->op : 0];

	if (!call->dry_run) {
		st->count++;
		st->failed += call->res.err != 0;
		st->ns += call->res.ns;
		if (call->res.ns > st->max_ns)
			st->max_ns = call->res.ns;
	}
	gs_sight_call(s, call);
	gs_ledger_call(s, call);
	if (call->res.err && !call->dry_run)
		gs_log(LOG_NOTICE, "TSG %llu of process %u: %s failed: %s",
		       (unsigned long long)call->id, call->pid, gs_rm_op_name(call->op),
		       call->res.err == -EREMOTEIO && gs_rm_status_name(call->res.status)
			       ? gs_rm_status_name(call->res.status)
			       : strerror(-call->res.err));
	if (gs_watched(s))
		gs_watch_emit(s, gs_call_json(s, call),
			      gs_event_owner(s, &(struct gpusched_event){ .key = call->key,
									  .id = call->id,
									  .pid = call->pid }));
}
