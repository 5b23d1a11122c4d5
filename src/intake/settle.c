// SPDX-License-Identifier: MIT
/* Writes the class, GPU, cgroup and job of a record into the table. */
#include "intake/settle.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "basic/clock.h"
#include "basic/log.h"
#include "classify/job.h"
#include "engine/settled.h"
#include "process/cgroup.h"
#include "process/process.h"
#include "process/reader.h"
#include "intake/intake.h"
#include "hub/records.h"
#include "table/events.h"
#include "table/facts.h"
#include "table/procs.h"
#include "taps/taps.h"

#define JOB_ASKED_NS NS_PER_S
#define DEADLINE_MOST_US 1000000000ull /* the longest deadline that a class may have */

void gs_settle_poke(struct gs_intake *in, const struct gpusched_tsg *rec, uint32_t what)
{
	struct gpusched_poke p = {
		.key = rec->key,
		.id = rec->task.id,
		.what = what,
		.flags_mask = GPUSCHED_TSG_MPS | GPUSCHED_TSG_SPREAD | GPUSCHED_TSG_ALIAS,
		.rec = *rec,
	};

	gs_table_poke(in->hub->table, &p);
}

static bool take_gpu(struct gs_intake *in, struct gpusched_tsg *rec)
{
	const struct gs_gpu *gpu = gs_record_gpu(in->hub, rec);

	if (!gpu || rec->task.gpu == gpu->index)
		return false;
	rec->task.gpu = gpu->index;
	return true;
}

/* Keep the old answer until the reader replies: its late answer calls this again. */
static bool is_mps(pid_t pid, bool was)
{
	int r = gs_reader_mps(pid);

	return r < 0 ? was : r;
}

/*
 * True if the process was an MPS server by the last answer that gs_settle_process() has seen. A
 * record may ask too early each time.
 */
static bool was_mps(struct gs_intake *in, const struct gpusched_tsg *rec)
{
	struct gpusched_proc proc;

	if (gs_proc_get(in->hub->table, (pid_t)rec->task.pid, &proc))
		return rec->flags & GPUSCHED_TSG_MPS;
	return proc.mps;
}

/*
 * Updates the record's flag MPS. The taps have set it already if the service knew the process in
 * time.
 */
static bool take_mps(struct gs_intake *in, struct gpusched_tsg *rec)
{
	bool is = (rec->flags & GPUSCHED_TSG_MPS) || gs_record_calls_itself_mps(rec);
	uint32_t flags = rec->flags;

	if (is)
		is = is_mps((pid_t)rec->task.pid, was_mps(in, rec));
	if (is)
		flags |= GPUSCHED_TSG_MPS;
	else
		flags &= ~(GPUSCHED_TSG_MPS | GPUSCHED_TSG_SPREAD);
	if (flags == rec->flags)
		return false;
	rec->flags = flags;
	return true;
}

/*
 * A class's own deadline was set by a person. The program's deadline (@told_us) counts only if the
 * class has none, and only in class lc: otherwise programs of other classes could put themselves
 * before lc.
 */
static uint64_t deadline_in(struct gs_intake *in, uint32_t class_id, uint64_t told_us)
{
	const struct gpusched_class *cls = gs_class_of(in->hub->classes, class_id);

	if (cls && cls->deadline_us)
		return cls->deadline_us;
	return class_id == GPUSCHED_CLASS_LC && told_us <= DEADLINE_MOST_US ? told_us : 0;
}

static uint64_t deadline_of(struct gs_intake *in, const struct gpusched_tsg *rec, uint32_t class_id)
{
	struct gpusched_proc proc;

	if (gs_proc_get(in->hub->table, (pid_t)rec->task.pid, &proc))
		proc.deadline_us = 0;
	return deadline_in(in, class_id, proc.deadline_us);
}

static bool take_class(struct gs_intake *in, struct gpusched_tsg *rec,
		       const struct gs_class_answer *answer)
{
	const struct gpusched_class *cls = gs_class_of(in->hub->classes, answer->class_id);
	uint32_t weight = answer->weight ? answer->weight : cls ? cls->weight : rec->task.weight;
	uint64_t deadline = deadline_of(in, rec, answer->class_id);

	if (rec->task.class_id == answer->class_id && rec->task.weight == weight &&
	    rec->task.deadline_us == deadline)
		return false;
	rec->task.class_id = answer->class_id;
	rec->task.weight = weight;
	rec->task.deadline_us = deadline;
	if (deadline)
		rec->task.known |= GPUSCHED_KNOWN_DEADLINE;
	else
		rec->task.known &= ~GPUSCHED_KNOWN_DEADLINE;
	return true;
}

/* The job of a process, remembered for a while. */
struct asked_job {
	uint64_t ns, job;
};

/* Looks up the process's job at most once a second, since that goes through all ancestors. */
static uint64_t job_of(struct gs_intake *in, const struct gpusched_tsg *rec)
{
	struct gs_process *p = gs_processes_find(in->hub, (pid_t)rec->task.pid);
	struct asked_job *a = p ? p->of[GS_PROCESS_JOB] : NULL, anew = { 0 };
	uint64_t now = gs_now_ns();

	if (p && gs_process_still(0, p->start_ns, rec->owner_start_ns) == GS_STILL_NO)
		a = &anew; /* the record tells of the pid's next process */
	if (p && !a)
		p->of[GS_PROCESS_JOB] = a = calloc(1, sizeof(*a));
	a = a ? a : &anew;
	if (!a->ns || now - a->ns >= JOB_ASKED_NS)
		*a = (struct asked_job){ now, gs_job_of(in->hub->table, (pid_t)rec->task.pid) };
	return a->job;
}

void gs_settle_job_anew(struct gs_intake *in, pid_t pid)
{
	const struct gs_process *p = gs_processes_find(in->hub, pid);
	struct asked_job *a = p ? p->of[GS_PROCESS_JOB] : NULL;

	if (a)
		a->ns = 0;
}

void gs_settle_job_ended(void *self, struct gs_process *p)
{
	free(p->of[GS_PROCESS_JOB]);
	p->of[GS_PROCESS_JOB] = NULL;
}

/*
 * Policies ask for the job of compute work only. The job may change as the class, cgroup or
 * ancestors do.
 */
static void take_job(struct gs_intake *in, const struct gpusched_tsg *rec)
{
	uint64_t job;

	if (rec->task.kind != GPUSCHED_KIND_COMPUTE || !gs_facts_has_jobs(in->hub->table))
		return;
	job = job_of(in, rec);
	if (job && job != gs_facts_get_job(in->hub->table, rec->task.id) &&
	    gs_facts_put_job(in->hub->table, rec->task.id, job))
		gs_log(LOG_WARNING, "TSG %llu: no room for its job",
		       (unsigned long long)rec->task.id);
}

static void take_request(struct gs_intake *in, const struct gpusched_tsg *rec,
			 const struct gs_grant *request)
{
	if (rec->task.kind != GPUSCHED_KIND_COMPUTE || rec->task.gpu == GPUSCHED_GPU_UNKNOWN ||
	    !gs_facts_has_jobs(in->hub->table))
		return;
	gs_promise_take(in, rec, request->group, request->pct);
}

/* @answer NULL: the TSG keeps its limit, which is written again if its key has changed. */
static void take_limit(struct gs_intake *in, const struct gpusched_tsg *rec,
		       const struct gs_class_answer *answer)
{
	const struct gs_grant *g = answer ? &answer->grants.part[GS_LIMIT] : NULL;
	struct gpusched_limit limit;

	if (rec->task.kind != GPUSCHED_KIND_COMPUTE || !gs_facts_has_jobs(in->hub->table))
		return;
	limit = g ? (struct gpusched_limit){ .group = g->group, .pct = g->pct }
		  : gs_facts_get_limit(in->hub->table, rec->task.id);
	if (gs_facts_same_limit(in->hub->table, rec, &limit))
		return;
	if (gs_facts_put_limit(in->hub->table, rec, &limit))
		gs_log(LOG_WARNING, "TSG %llu: no room for its limit",
		       (unsigned long long)rec->task.id);
}

void gs_settle_cgroup(struct gs_intake *in, struct gpusched_tsg *rec)
{
	uint64_t id = gs_cgroup_of((pid_t)rec->task.pid);

	if (!id || id == rec->task.cgroup_id)
		return;
	rec->task.cgroup_id = id;
	gs_settle_poke(in, rec, GPUSCHED_POKE_WHO);
	gs_settle_job_anew(in, (pid_t)rec->task.pid);
	take_job(in, rec);
}

/* The record may have ended while its class was looked up, and its handle may be in use again. */
static bool is_there(struct gs_intake *in, const struct gpusched_tsg *rec)
{
	struct gpusched_tsg now;

	return !gs_table_get(in->hub->table, &rec->key, &now) && now.task.id == rec->task.id &&
	       !(now.flags & GPUSCHED_TSG_GONE);
}

static void compare(struct gs_intake *in, const struct gpusched_tsg *rec,
		    const struct gs_class_answer *answer)
{
	const struct gs_settled settled = {
		.sliced = answer,
		.slice_us = answer ? answer->slice_us : 0,
		.job = gs_facts_get_job(in->hub->table, rec->task.id),
	};

	if (rec->task.kind == GPUSCHED_KIND_COMPUTE)
		gs_engine_settled(in->hub->engine, &rec->key, &settled);
	else
		gs_engine_touch(in->hub->engine, &rec->key);
}

void gs_record_settle_as(struct gs_intake *in, struct gpusched_tsg *rec,
			 const struct gs_class_answer *answer)
{
	bool unclassified = rec->task.class_id == GPUSCHED_CLASS_NONE;
	struct gs_process *p;
	struct gpusched_tsg now;
	uint32_t what = 0;

	if (!is_there(in, rec))
		return;
	gs_observers_know(&in->hub->observers, rec);
	p = answer ? gs_processes_find(in->hub, (pid_t)rec->task.pid) : NULL;
	if (p)
		p->root_passed = answer->root_passed;
	gs_settle_cgroup(in, rec);
	take_job(in, rec);
	if (take_gpu(in, rec))
		what |= GPUSCHED_POKE_GPU;
	if (answer && take_class(in, rec, answer))
		what |= GPUSCHED_POKE_CLASS;
	take_limit(in, rec, answer);
	if (answer)
		take_request(in, rec, &answer->grants.part[GS_REQUEST]);
	if (take_mps(in, rec))
		what |= GPUSCHED_POKE_FLAGS;
	if (what)
		gs_settle_poke(in, rec, what);
	/* If the policy could not place the TSG when it was made, it sees the TSG again. */
	if ((what & ~GPUSCHED_POKE_FLAGS) && in->hub->policy)
		gs_stock_ask(in->hub->policy, GPUSCHED_RUN_TASK_INIT, &rec->key, 0);
	/* the policy saw the TSG unclassified, outside its limits: ask again */
	if (unclassified && rec->task.class_id && in->hub->policy &&
	    !gs_table_get(in->hub->table, &rec->key, &now) && (now.flags & GPUSCHED_TSG_SCHEDULED))
		gs_stock_ask(in->hub->policy, GPUSCHED_RUN_SCHEDULE, &rec->key, 0);
	if (what & GPUSCHED_POKE_CLASS)
		gs_observers_tell(&in->hub->observers, rec, GPUSCHED_EV_CLASS, rec->task.class_id);
	if (in->hub->engine) /* before the observers, since the TSG may be waiting at the gate */
		compare(in, rec, answer);
	gs_observers_seen(&in->hub->observers, rec);
}

void gs_record_settle(struct gs_intake *in, struct gpusched_tsg *rec)
{
	struct gs_class_answer answer;
	int r = gs_classify(in->hub->classes, in->hub->table, (pid_t)rec->task.pid, &answer, NULL);

	gs_record_settle_as(in, rec, r ? NULL : &answer);
}

void gs_settle_deadline(void *self, const struct gpusched_tsg *rec, uint64_t us)
{
	struct gs_intake *in = self;
	uint64_t deadline = deadline_in(in, rec->task.class_id, us);
	uint64_t told = deadline_in(in, rec->task.class_id, 0) ? 0 : deadline;
	struct gpusched_tsg now = *rec;
	struct gpusched_proc proc;

	if (gs_proc_get(in->hub->table, (pid_t)rec->task.pid, &proc))
		return;
	if (proc.deadline_us != told) { /* the taps give the deadline to the process's next TSGs */
		proc.deadline_us = told;
		gs_proc_set(in->hub->table, (pid_t)rec->task.pid, &proc);
	}
	if (rec->task.deadline_us != deadline)
		gs_record_settle(in, &now);
}

int gs_settle_process(struct gs_intake *in, pid_t pid, struct gs_class_answer *ret)
{
	struct gs_class_answer answer;
	struct gpusched_proc proc = { 0 };
	struct gs_program program;
	bool known = !gs_proc_get(in->hub->table, pid, &proc);
	uint32_t mps = is_mps(pid, proc.mps);
	int r = gs_classify(in->hub->classes, in->hub->table, pid, &answer, NULL);

	if (r)
		return r;
	if (ret)
		*ret = answer;
	if (known && proc.class_id == answer.class_id && proc.source == (uint32_t)answer.source &&
	    proc.mps == mps)
		return 0;
	if (!proc.start_ns) {
		if (gs_reader_program(pid, &program))
			return 0; /* a late answer calls this again */
		proc.start_ns = program.start_ns;
	}
	proc.class_id = answer.class_id;
	proc.source = answer.source;
	proc.mps = mps;
	gs_proc_set(in->hub->table, pid, &proc);
	return 0;
}
