// SPDX-License-Identifier: MIT
/*
 * looking.c - records looked at anew, in slices: of some processes, or all of them
 *
 * A class may have changed, a name, an owner; or events of the taps were lost. The table is read once
 * for all that was asked for, and what is asked for meanwhile has the next round.
 */
#include "service/looking.h"

#include <errno.h>
#include <string.h>

#include "basic/clock.h"
#include "basic/log.h"
#include "process/process.h"
#include "service/ends.h"
#include "service/settle.h"
#include "service/instance.h"
#include "service/loop.h"
#include "service/records.h"
#include "service/sweeping.h"
#include "table/procs.h"

#define LOSSES_MIN_NS NS_PER_S /* a flood costs us no more than one look at all TSGs in this time */
#define MAX_PIDS 4096          /* more: all are looked at */

static int by_pid(const void *x, const void *y)
{
	const struct gs_looked_pid *a = x, *b = y;

	return a->pid < b->pid ? -1 : a->pid > b->pid;
}

static int by_process(const void *x, const void *y)
{
	const struct gpusched_tsg *a = x, *b = y;

	return a->task.pid < b->task.pid ? -1 : a->task.pid > b->task.pid;
}

static const struct gs_looked_pid *find(const struct gs_looking *l, const struct gpusched_tsg *rec)
{
	const struct gs_looked_pid key = { .pid = (pid_t)rec->task.pid };

	return l->round.n ? bsearch(&key, l->round.pids, l->round.n, sizeof(key), by_pid) : NULL;
}

/* ---- one record ------------------------------------------------------------------------------ */

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
	struct gpusched_proc proc;

	*ret = (struct gpusched_event){ .type = GPUSCHED_EV_CLIENT, .pid = rec->task.pid };
	/* not from /proc/PID/stat, which waits for the process */
	if (gs_process_comm(pid, ret->comm) || gs_proc_get(s->o, pid, &proc) ||
	    !gs_start_same(proc.start_ns, rec->owner_start_ns))
		memset(ret->comm, 0, sizeof(ret->comm));
	if (s->looking.round.all)
		gs_process_note(s, pid, NULL);
	if (s->looking.round.lost)
		gs_observers_process_met(&s->observers, pid);
}

/* Its descriptors may outlive an exec, and its TSGs with them. */
static void rename_record(struct gs_service *s, struct gpusched_tsg *rec,
			  const char comm[GPUSCHED_COMM_LEN])
{
	if (!strncmp(rec->task.comm, comm, GPUSCHED_COMM_LEN))
		return;
	memcpy(rec->task.comm, comm, GPUSCHED_COMM_LEN);
	gs_record_poke(s, rec, GPUSCHED_POKE_WHO);
}

/* A class that was told is not asked for again: a late answer would bring us here for ever. */
static void settle(struct gs_service *s, struct gpusched_tsg *rec)
{
	const struct gs_looked_pid *told = s->looking.round.all ? NULL : find(&s->looking, rec);
	struct gs_class_answer answer = { 0 };
	bool known = told && told->known;

	if (known) {
		answer.class_id = told->class_id;
		answer.weight = told->weight;
	} else if (!told) {
		known = !gs_record_classify(s, (pid_t)rec->task.pid, &answer);
	}
	gs_record_settle_as(s, rec, known ? &answer : NULL);
}

/* Its process may have executed something unseen, and what its launches are counted by been loaded. */
static void look_at(struct gs_service *s, struct gpusched_tsg *rec)
{
	struct gpusched_event *met = &s->looking.met;
	uint64_t id = rec->task.id;

	if (gs_table_get(s->o, &rec->key, rec) || rec->task.id != id)
		return;
	if (s->looking.round.lost)
		doubt(s, rec);
	if (s->looking.round.anew && s->p)
		gs_policy_ask(s->p, GPUSCHED_RUN_TASK_INIT, &rec->key, 0);
	if (rec->task.pid != met->pid)
		meet(s, rec, met);
	if (met->comm[0])
		rename_record(s, rec, met->comm);
	settle(s, rec);
}

/* ---- a round --------------------------------------------------------------------------------- */

static void end_round(struct gs_service *s)
{
	struct gs_looking *l = &s->looking;

	if (l->round.lost) {
		gs_ends_check(s);
		gs_sweep_in(s, GS_SWEEP_SOON_NS); /* exits may be among what was lost */
		s->losses_next_ns = gs_now_ns() + LOSSES_MIN_NS;
	} else if (l->round.all && !gs_table_is_empty(s->o)) {
		gs_sweep_in(s, GS_SWEEP_MIN_NS);
	}
	if (l->n && s->p)
		gs_policy_nudge(s->p);
	free(l->recs);
	free(l->round.pids);
	l->recs = NULL;
	l->round = (struct gs_looked_for){ 0 };
	gs_waits_happened(&s->waits, GS_ON_LOOKED);
}

static void begin_round(struct gs_service *s)
{
	struct gs_looking *l = &s->looking;
	size_t kept = 0;

	l->round = l->next;
	l->next = (struct gs_looked_for){ 0 };
	if (l->round.n)
		qsort(l->round.pids, l->round.n, sizeof(*l->round.pids), by_pid);
	l->n = l->at = 0;
	l->met = (struct gpusched_event){ 0 };
	if (gs_table_all(s->o, &l->recs, &l->n))
		l->recs = NULL;
	for (size_t i = 0; l->recs && i < l->n; i++)
		if (l->round.all || find(l, &l->recs[i]))
			l->recs[kept++] = l->recs[i];
	l->n = kept;
	if (kept)
		qsort(l->recs, kept, sizeof(*l->recs), by_process);
}

static bool is_idle(const struct gs_looking *l)
{
	return !l->round.n && !l->round.all;
}

static void look_slice(struct gs_sliced *w, uint64_t until_ns)
{
	struct gs_service *s = GS_SLICED_OF(w, struct gs_service, looking.sliced);
	struct gs_looking *l = &s->looking;

	if (is_idle(l))
		begin_round(s);
	memset(s->asked, 0, sizeof(s->asked));
	for (; l->at < l->n && gs_now_ns() < until_ns; l->at++)
		look_at(s, &l->recs[l->at]);
	if (l->at == l->n)
		end_round(s);
	if (!is_idle(l) || l->next.n || l->next.all)
		gs_loop_slice(s, w, true);
}

static void plan(struct gs_service *s)
{
	struct gs_looking *l = &s->looking;

	l->sliced.work = look_slice;
	l->sliced.uid = GS_SLICES_OURS;
	gs_loop_slice(s, &l->sliced, false);
}

/* ---- from outside ---------------------------------------------------------------------------- */

void gs_looking_overtaken(struct gs_service *s)
{
	s->looking.next.anew = s->p != NULL;
	gs_records_look(s);
	gs_ends_check(s); /* whoever put everything back has swept */
}

void gs_records_look_lost(struct gs_service *s)
{
	s->looking.next.lost = true;
	gs_records_look(s);
}

bool gs_looking_is_over(const struct gs_service *s)
{
	return is_idle(&s->looking) && !s->looking.next.n && !s->looking.next.all;
}

void gs_looking_free(struct gs_service *s)
{
	gs_slices_drop(&s->slices, &s->looking.sliced);
	free(s->looking.recs);
	free(s->looking.round.pids);
	free(s->looking.next.pids);
}

void gs_records_look(struct gs_service *s)
{
	s->looking.next.all = true;
	plan(s);
}

void gs_process_reclassify(struct gs_service *s, pid_t pid)
{
	struct gs_looked_for *f = &s->looking.next;
	struct gs_looked_pid new = { .pid = pid };
	struct gs_class_answer answer;
	size_t i = 0;

	new.known = !gs_process_note(s, pid, &answer);
	if (new.known) {
		new.class_id = answer.class_id;
		new.weight = answer.weight;
	}
	gs_process_job_anew(s, pid);
	plan(s);
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

void gs_records_settle(struct gs_service *s)
{
	gs_records_look(s);
	while (!gs_looking_is_over(s)) {
		gs_slices_drop(&s->slices, &s->looking.sliced);
		look_slice(&s->looking.sliced, UINT64_MAX);
	}
}
