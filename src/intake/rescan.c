// SPDX-License-Identifier: MIT
/*
 * rescan.c - settles records again, in slices: those of some processes, or all
 *
 * A class, a name or an owner may have changed, or events of the taps were lost. One round reads
 * the table once for all processes that were asked for. Processes asked for meanwhile have the next
 * round.
 */
#include "intake/rescan.h"

#include <errno.h>
#include <string.h>

#include "basic/clock.h"
#include "basic/log.h"
#include "process/process.h"
#include "intake/ends.h"
#include "intake/settle.h"
#include "intake/intake.h"
#include "hub/loop.h"
#include "hub/records.h"
#include "intake/reap.h"
#include "table/procs.h"

/* Users who flood the ring cause at most one rescan of all TSGs in this time. */
#define LOSSES_MIN_NS NS_PER_S
#define MAX_PIDS 4096 /* for more processes, all records are settled */
#define SETTLE_SLICE_NS (100 * NS_PER_MS)

static int by_pid(const void *x, const void *y)
{
	const struct gs_rescan_pid *a = x, *b = y;

	return a->pid < b->pid ? -1 : a->pid > b->pid;
}

static int by_process(const void *x, const void *y)
{
	const struct gpusched_tsg *a = x, *b = y;

	return a->task.pid < b->task.pid ? -1 : a->task.pid > b->task.pid;
}

static const struct gs_rescan_pid *find(const struct gs_rescan *l, const struct gpusched_tsg *rec)
{
	const struct gs_rescan_pid key = { .pid = (pid_t)rec->task.pid };

	return l->round.n ? bsearch(&key, l->round.pids, l->round.n, sizeof(key), by_pid) : NULL;
}

/* ---- one record ------------------------------------------------------------------------------ */

/*
 * The record's `is` does not show that the owner resumed a suspended TSG: have the engine verify
 * it.
 */
static void doubt(struct gs_intake *in, const struct gpusched_tsg *rec)
{
	if (rec->changed & GPUSCHED_RUNNABLE)
		gs_engine_doubt(in->hub->engine, &rec->key);
}

/* Looks up the record's process. @ret->comm: its present name; empty: the process has ended. */
static void meet(struct gs_intake *in, const struct gpusched_tsg *rec, struct gpusched_event *ret)
{
	pid_t pid = (pid_t)rec->task.pid;
	struct gpusched_proc proc;

	*ret = (struct gpusched_event){ .type = GPUSCHED_EV_CLIENT, .pid = rec->task.pid };
	/* not from /proc/PID/stat: reading that waits for the process */
	if (gs_process_comm(pid, ret->comm) || gs_proc_get(in->hub->table, pid, &proc) ||
	    !gs_process_same(proc.start_ns, rec->owner_start_ns))
		memset(ret->comm, 0, sizeof(ret->comm));
	if (in->looking.round.all)
		gs_settle_process(in, pid, NULL);
	if (in->looking.round.lost)
		gs_observers_events_lost(&in->hub->observers, pid);
}

/* Takes the process's new name: descriptors may outlive an exec, and TSGs with them. */
static void rename_record(struct gs_intake *in, struct gpusched_tsg *rec,
			  const char comm[GPUSCHED_COMM_LEN])
{
	if (!strncmp(rec->task.comm, comm, GPUSCHED_COMM_LEN))
		return;
	memcpy(rec->task.comm, comm, GPUSCHED_COMM_LEN);
	gs_settle_poke(in, rec, GPUSCHED_POKE_WHO);
}

/*
 * Uses the class from gs_rescan_process() where there is one: to ask again could give a late
 * answer and so another round, without end.
 */
static void settle(struct gs_intake *in, struct gpusched_tsg *rec)
{
	const struct gs_rescan_pid *told = in->looking.round.all ? NULL : find(&in->looking, rec);
	struct gs_class_answer answer = { 0 };
	bool known = told && told->known;

	if (known) {
		answer.class_id = told->class_id;
		answer.weight = told->weight;
		answer.slice_us = told->slice_us;
		answer.grants = told->grants;
	} else if (!told) {
		known = !gs_record_classify(in->hub, (pid_t)rec->task.pid, &answer);
	}
	gs_record_settle_as(in, rec, known ? &answer : NULL);
}

/* The process may have executed another program, or loaded libraries, without an event. */
static void look_at(struct gs_intake *in, struct gpusched_tsg *rec)
{
	struct gpusched_event *met = &in->looking.met;
	uint64_t id = rec->task.id;

	if (gs_table_get(in->hub->table, &rec->key, rec) || rec->task.id != id)
		return;
	if (in->looking.round.lost)
		doubt(in, rec);
	if (in->looking.round.anew && in->hub->policy)
		gs_stock_ask(in->hub->policy, GPUSCHED_RUN_TASK_INIT, &rec->key, 0);
	if (rec->task.pid != met->pid)
		meet(in, rec, met);
	if (met->comm[0])
		rename_record(in, rec, met->comm);
	settle(in, rec);
}

/* ---- a round --------------------------------------------------------------------------------- */

static void end_round(struct gs_intake *in)
{
	struct gs_rescan *l = &in->looking;

	if (l->round.lost) {
		gs_ends_check(in);
		gs_reap_in(in, GS_SWEEP_SOON_NS); /* the lost events may have been exits */
		in->losses_next_ns = gs_now_ns() + LOSSES_MIN_NS;
	} else if (l->round.all && !gs_table_is_empty(in->hub->table)) {
		gs_reap_in(in, GS_SWEEP_MIN_NS);
	}
	if (l->n && in->hub->policy)
		gs_stock_nudge(in->hub->policy);
	free(l->recs);
	free(l->round.pids);
	l->recs = NULL;
	l->round = (struct gs_rescan_for){ 0 };
	gs_completions_happened(&in->hub->waits, GS_ON_LOOKED);
}

static void begin_round(struct gs_intake *in)
{
	struct gs_rescan *l = &in->looking;
	size_t kept = 0;

	l->round = l->next;
	l->next = (struct gs_rescan_for){ 0 };
	if (l->round.n)
		qsort(l->round.pids, l->round.n, sizeof(*l->round.pids), by_pid);
	l->n = l->at = 0;
	l->met = (struct gpusched_event){ 0 };
	if (gs_table_all(in->hub->table, &l->recs, &l->n))
		l->recs = NULL;
	for (size_t i = 0; l->recs && i < l->n; i++)
		if (l->round.all || find(l, &l->recs[i]))
			l->recs[kept++] = l->recs[i];
	l->n = kept;
	if (kept)
		qsort(l->recs, kept, sizeof(*l->recs), by_process);
}

static bool is_idle(const struct gs_rescan *l)
{
	return !l->round.n && !l->round.all;
}

static void look_slice(struct gs_sliced *w, uint64_t until_ns)
{
	struct gs_intake *in = GS_SLICED_OF(w, struct gs_intake, looking.sliced);
	struct gs_rescan *l = &in->looking;

	if (is_idle(l))
		begin_round(in);
	memset(in->hub->asked, 0, sizeof(in->hub->asked));
	for (; l->at < l->n && gs_now_ns() < until_ns; l->at++)
		look_at(in, &l->recs[l->at]);
	if (l->at == l->n)
		end_round(in);
	if (!is_idle(l) || l->next.n || l->next.all)
		gs_loop_slice(in->hub, w, true);
}

static void plan(struct gs_intake *in)
{
	struct gs_rescan *l = &in->looking;

	l->sliced.work = look_slice;
	l->sliced.uid = GS_SLICES_OURS;
	gs_loop_slice(in->hub, &l->sliced, false);
}

/* ---- entry points ---------------------------------------------------------------------------- */

void gs_rescan_overtaken(void *self)
{
	struct gs_intake *in = self;
	in->looking.next.anew = in->hub->policy != NULL;
	gs_rescan_all(in);
	gs_ends_check(in); /* the process that restored everything has also swept */
}

void gs_rescan_lost(struct gs_intake *in)
{
	in->looking.next.lost = true;
	gs_rescan_all(in);
}

bool gs_rescan_is_over(const struct gs_intake *in)
{
	return is_idle(&in->looking) && !in->looking.next.n && !in->looking.next.all;
}

void gs_rescan_free(struct gs_intake *in)
{
	gs_slices_drop(&in->hub->slices, &in->looking.sliced);
	free(in->looking.recs);
	free(in->looking.round.pids);
	free(in->looking.next.pids);
}

void gs_rescan_all(struct gs_intake *in)
{
	in->looking.next.all = true;
	plan(in);
}

void gs_rescan_process(struct gs_intake *in, pid_t pid)
{
	struct gs_rescan_for *f = &in->looking.next;
	struct gs_rescan_pid new = { .pid = pid };
	struct gs_class_answer answer;
	size_t i = 0;

	new.known = !gs_settle_process(in, pid, &answer);
	if (new.known) {
		new.class_id = answer.class_id;
		new.weight = answer.weight;
		new.slice_us = answer.slice_us;
		new.grants = answer.grants;
	}
	gs_settle_job_anew(in, pid);
	plan(in);
	while (i < f->n && f->pids[i].pid != pid)
		i++;
	if (!f->pids)
		f->pids = calloc(MAX_PIDS, sizeof(*f->pids));
	if (!f->pids || i == MAX_PIDS) {
		f->all = true;
		return;
	}
	f->pids[i] = new;
	f->n += i == f->n;
}

void gs_rescan_new(struct gs_intake *in, const struct gpusched_tsg *rec)
{
	struct gpusched_proc proc;

	if (!gs_proc_get(in->hub->table, (pid_t)rec->task.pid, &proc) &&
	    proc.class_id != rec->task.class_id)
		gs_rescan_process(in, (pid_t)rec->task.pid);
}

void gs_rescan_at_once(struct gs_intake *in)
{
	gs_rescan_all(in);
	while (!gs_rescan_is_over(in)) {
		gs_slices_drop(&in->hub->slices, &in->looking.sliced);
		look_slice(&in->looking.sliced, gs_now_ns() + SETTLE_SLICE_NS);
		gs_loop_beat(in->hub);
	}
}
