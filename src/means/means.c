// SPDX-License-Identifier: MIT
#include "means/priv.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <time.h>

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "basic/env.h"
#include "basic/log.h"
#include "basic/json_sheet.h"
#include "basic/user_limits.h"
#include "figures/ledger.h"
#include "figures/rates.h"
#include "hub/records.h"
#include "hub/task.h"
#include "means/beside.h"
#include "means/leaving.h"
#include "means/store.h"
#include "policy/polmaps.h"
#include "table/procs.h"

#define LOOK_NS GS_BEATS_SECOND_NS
#define LOOKS 64u         /* most TSGs that are looked at per second */
#define LEAST_NS NS_PER_S /* shortest window that is judged when its TSG ends */
#define SAVE_NS (60 * NS_PER_S)
#define SAVE_MS 3000 /* longest wait for the disk when the instance ends */
#define WATCHED_MAX 4096u

/* ---- one TSG --------------------------------------------------------------------------------- */

/*
 * Asks the reader which program the process runs; called again when a late answer comes. An MPS
 * server does not count as a program, since its turns are those of its clients.
 */
static void identify(struct gs_means_known *k, struct watched *w)
{
	const struct gs_history_who *who = w->asked ? NULL : gs_ledger_who(k->fig, w->id);
	struct gs_program program;
	int r;

	if (!who)
		return;
	r = gs_reader_program((pid_t)w->pid, &program);
	if (r == -EAGAIN || r == -EBUSY)
		return;
	w->asked = true;
	w->mps = !r && program.mps;
	w->known = !r && !program.mps && gs_process_same(program.start_ns, who->start_ns) &&
		   !gs_program_id(w->uid, program.exe, program.args, program.nargs, who->cgroup,
				  *who->pod.uid ? &who->pod : NULL, &w->program);
}

/* Returns the costs of switches on the GPU, as far as known. */
static struct gs_costs costs_of(const struct gs_means_known *k, uint32_t gpu)
{
	struct gs_account_gpu g = { .open = false };

	if (k->hub->account)
		gs_account_gpu(k->hub->account, gpu, &g);
	return g.costs;
}

static void set_class(struct watched *w, uint32_t class_id)
{
	if (w->class_id != class_id)
		w->work = (struct gs_service_work){ 0 };
	w->class_id = class_id;
}

static void take_record(const struct gs_means_known *k, struct watched *w,
			const struct gpusched_tsg *rec)
{
	bool counts = rec->task.known & GPUSCHED_KNOWN_LAUNCHES;
	struct gs_told told;

	w->counted = w->counted && counts && rec->task.launches_since_ns <= w->began_ns;
	w->launches = rec->task.launches;
	set_class(w, rec->task.class_id);
	w->timeslice_us = gs_record_is(rec).timeslice_us;
	/* the last counts stay when the agent has ended, before its process */
	if (k->told(k->told_user, rec, &told) && told.ns <= gs_now_ns()) {
		w->told_before = w->agent ? w->told_before : told;
		w->told = told;
		w->agent = true;
	}
}

static void take_neighbours(const struct gs_means_known *k, const struct watched *w,
			    struct gs_program_seen *seen, uint32_t *ret_be)
{
	*ret_be = 0;
	for (const struct watched *o = k->all; o; o = o->hh.next) {
		if (o == w || o->gpu != w->gpu)
			continue;
		*ret_be += gs_means_choice_role(o->class_id) == GS_ROLE_BE;
		if (o->timeslice_us > seen->beside_us)
			seen->beside_us = o->timeslice_us;
	}
}

static struct gs_program_seen seen_of(const struct watched *w, const struct gs_tsg_sums *now,
				      uint64_t ns)
{
	return (struct gs_program_seen){
		.known = true,
		.span_s = (double)(ns - w->began_ns) / 1e9,
		.held_s = (double)(now->held_ns - w->before.held_ns) / 1e9,
		.turns = (double)(now->turns - w->before.turns),
		.slice_ended = (double)(now->cut - w->before.cut),
		.drained = (double)(now->drained - w->before.drained),
		.returns = (double)(now->returns - w->before.returns),
		.launches = w->counted ? (double)(w->launches - w->launches_before) : NAN,
	};
}

/*
 * True if the figures are worth remembering. While holds keep others off the GPU, the log shows
 * nothing about a service; then only the policy's report counts.
 */
static bool tells(const struct gs_evidence *e)
{
	return e->turns_a_request || e->kind == GS_PROGRAM_UNCLEAR || e->kind == GS_PROGRAM_WHOLE ||
	       e->kind == GS_PROGRAM_LAUNCH_BOUND || e->kind == GS_PROGRAM_BATCH;
}

/* Called when a window is over: adds its figures to the program's record. */
static void judge(struct gs_means_known *k, struct watched *w, const struct gs_tsg_sums *now,
		  uint64_t ns)
{
	struct gs_program_seen seen = seen_of(w, now, ns);
	struct gs_costs costs = costs_of(k, w->gpu);
	struct gs_evidence e = { 0 };
	struct gs_remembered *r;
	unsigned int dropped = 0;

	seen.turn_cost_s = gs_program_kind_turn_cost(&costs);
	take_neighbours(k, w, &seen, &e.be_beside);
	e.kind = gs_program_kind(&seen);
	gs_leaving_tell(&w->leaving, &e);
	if (costs.switch_ns)
		e.switch_us = (uint32_t)((costs.switch_ns + costs.restore_ns) / 1000);
	if (gs_means_choice_role(w->class_id) == GS_ROLE_LC)
		means_judge_service(k, w, now, ns, &e);
	if (!tells(&e))
		return;
	r = gs_remembered_meet(&k->memory, &w->program, &dropped);
	k->hub->counters[GS_SVC_PROGRAMS_LEFT] += dropped;
	/*
	 * A service's slice never ends its turns, so its own time to leave is unknown. Use the
	 * GPU's usual time to save a TSG instead.
	 */
	if (r && !e.leave_cilp_us &&
	    (gs_means_choice_role(w->class_id) == GS_ROLE_LC || !r->seen.leave_cilp_us))
		e.leave_cilp_us = (uint32_t)(costs.save_ns / 1000);
	if (!r)
		return;
	gs_remembered_look(&k->memory, r, &e, gs_means_choice_role(w->class_id), time(NULL));
	if (gs_means_choice_role(w->class_id) == GS_ROLE_LC) {
		gs_remembered_service(&k->memory, r, &w->work);
	} else if (gs_means_choice_role(w->class_id) == GS_ROLE_BE && !r->seen.lc_turn_us) {
		/* the record is new: the services may have had their window before */
		struct gs_service_work all = means_services_on(k, w->gpu);

		gs_remembered_service(&k->memory, r, &all);
	}
}

static void begin_window(struct watched *w, const struct gs_tsg_sums *now, uint64_t ns)
{
	w->began_ns = ns;
	w->before = *now;
	w->counted = true;
	w->launches_before = w->launches;
	w->told_before = w->told;
}

/* ---- looks ----------------------------------------------------------------------------------- */

/* @ends: this is the last look at the TSG. */
static void look(struct gs_means_known *k, struct watched *w, bool ends, uint64_t ns)
{
	struct gs_turn_sums t;
	struct gs_tsg_sums now;
	struct gpusched_tsg rec;

	if (!ends)
		identify(k, w);
	if (!k->hub->account || gs_account_of(k->hub->account, w->id, &t))
		return;
	now = gs_tsg_rates_sums(&t);
	if (!gs_table_get(k->hub->table, &w->key, &rec) && rec.task.id == w->id) {
		take_record(k, w, &rec);
		gs_leaving_look(&w->leaving, &t, gs_record_is(&rec).preempt_mode, w->timeslice_us);
	}
	if (!w->began_ns || now.turns < w->before.turns || now.held_ns < w->before.held_ns) {
		begin_window(w, &now, ns); /* first look, or the log was opened again */
		return;
	}
	if (ns - w->began_ns < (ends ? LEAST_NS : MEANS_WINDOW_NS))
		return;
	if (w->known) {
		judge(k, w, &now, ns);
	} else if (w->asked && !w->mps && gs_means_choice_role(w->class_id) == GS_ROLE_LC) {
		struct gs_evidence e = { 0 }; /* for no record, since its program is not known */

		means_judge_service(k, w, &now, ns, &e);
	}
	begin_window(w, &now, ns);
}

/* ---- all of them ----------------------------------------------------------------------------- */

static struct watched *watch(struct gs_means_known *k, uint32_t uid)
{
	struct watched *w;

	if (gs_shares_of(&k->shares, uid) >= GS_USER_MAY_MEASURED ||
	    !gs_shares_take(&k->shares, uid, WATCHED_MAX))
		return NULL;
	w = calloc(1, sizeof(*w));
	if (!w)
		gs_shares_give(&k->shares, uid);
	return w;
}

void gs_means_seen(void *self, const struct gpusched_tsg *rec)
{
	struct gs_means_known *k = self;
	const struct gs_gpu *gpu = gs_record_gpu(k->hub, rec);
	struct watched *w;

	if (!k->started || rec->task.kind != GPUSCHED_KIND_COMPUTE || !gpu)
		return;
	HASH_FIND(hh, k->all, &rec->task.id, sizeof(rec->task.id), w);
	if (w) {
		set_class(w, rec->task.class_id);
		return;
	}
	w = watch(k, rec->task.uid);
	if (!w) {
		gs_count(k->hub, GS_SVC_PROGRAMS_LEFT);
		return;
	}
	w->id = rec->task.id;
	w->key = rec->key;
	w->pid = rec->task.pid;
	w->uid = rec->task.uid;
	w->gpu = gpu->index;
	set_class(w, rec->task.class_id);
	HASH_ADD(hh, k->all, id, sizeof(w->id), w);
}

static void drop(struct gs_means_known *k, struct watched *w)
{
	if (k->next == w)
		k->next = w->hh.next;
	gs_shares_give(&k->shares, w->uid);
	HASH_DEL(k->all, w);
	free(w);
}

void gs_means_process_ended(void *self, struct gs_process *p)
{
	struct gs_means_known *k = self;

	gs_starts_drop_of(&k->starts, p);
}

void gs_means_ended(void *self, const struct gs_end *end)
{
	struct gs_means_known *k = self;
	struct watched *w;

	HASH_FIND(hh, k->all, &end->id, sizeof(end->id), w);
	if (!w)
		return;
	look(k, w, true, gs_now_ns());
	drop(k, w);
}

void gs_means_answered(void *self, enum gs_reader_what what, pid_t pid)
{
	struct gs_means_known *k = self;

	if (what != GS_READER_PROGRAM)
		return;
	for (struct watched *w = k->all; w; w = w->hh.next)
		if (w->pid == (uint32_t)pid)
			identify(k, w);
}

void gs_means_policy_changed(void *self)
{
	struct gs_means_known *k = self;

	if (k->says.fd >= 0)
		gs_polmap_close(&k->says);
	k->says.fd = -1;
	k->asked_policy = false;
}

/* ---- the file -------------------------------------------------------------------------------- */

struct saving {
	struct gs_task task;
	struct gs_remembered *rows;
	size_t n;
	char dir[256];
	int code;
	struct gs_error err;
};

static void save_work(struct gs_task *e)
{
	struct saving *s = (struct saving *)e;

	s->code = gs_store_write(s->dir, s->rows, s->n, &s->err);
}

static void save_failed(struct gs_means_known *k, const struct gs_error *err)
{
	gs_count(k->hub, GS_SVC_PROGRAMS_UNSAVED);
	gs_log(LOG_WARNING, "what is known of programs: %s", err->text);
}

static void save_end(struct gs_task *e)
{
	struct saving *s = (struct saving *)e;
	struct gs_means_known *k = e->owner;

	k->saving = NULL;
	if (!s->code)
		return;
	k->memory.dirty = true;
	save_failed(k, &s->err);
}

static void save_free(struct gs_task *e)
{
	struct saving *s = (struct saving *)e;

	free(s->rows);
	free(s);
}

static void save(struct gs_means_known *k)
{
	struct saving *s;

	if (!k->keeps || !k->memory.dirty || k->saving)
		return;
	s = calloc(1, sizeof(*s));
	if (!s)
		return;
	s->task = (struct gs_task){ save_work, save_end, save_free };
	s->rows = calloc(HASH_COUNT(k->memory.all) + 1, sizeof(*s->rows));
	for (const struct gs_remembered *r = s->rows ? k->memory.all : NULL; r; r = r->hh.next)
		s->rows[s->n++] = *r;
	snprintf(s->dir, sizeof(s->dir), "%s", gs_env()->state_dir);
	if (s->rows && !gs_task_begin(&s->task, k->hub, k)) {
		k->memory.dirty = false;
		k->saving = &s->task;
		gs_task_unref(&s->task); /* the thread has its own reference */
		return;
	}
	save_free(&s->task);
}

/* ---- life ------------------------------------------------------------------------------------ */

void gs_means_beat(void *self)
{
	struct gs_means_known *k = self;
	uint64_t ns = gs_now_ns();

	if (!k->started)
		return;
	if (ns < k->look_ns)
		return;
	k->look_ns = ns + LOOK_NS;
	gs_starts_drop_old(&k->starts, ns);
	k->next = k->next ? k->next : k->all;
	for (unsigned int i = 0; i < LOOKS && k->next; i++) {
		struct watched *w = k->next;

		k->next = w->hh.next;
		look(k, w, false, ns);
	}
	if (ns < k->save_ns)
		return;
	k->save_ns = ns + SAVE_NS;
	save(k);
}

int gs_means_new(struct gs_hub *hub, struct gs_figures *fig, struct gs_means_known **ret)
{
	struct gs_means_known *k = calloc(1, sizeof(*k));

	if (!k)
		return -ENOMEM;
	k->hub = hub;
	k->fig = fig;
	k->says.fd = -1;
	*ret = k;
	return 0;
}

void gs_means_start(struct gs_means_known *k, gs_means_told_fn told, void *user)
{
	struct gs_error err = { 0 };
	int r;

	if (!k->hub->opts.daemon)
		return;
	k->told = told;
	k->told_user = user;
	r = gs_store_read(gs_env()->state_dir, &k->memory, &err);
	if (r)
		save_failed(k, &err);
	/*
	 * A file that could not be read must not be overwritten. A damaged file has been renamed,
	 * so a new one may be written.
	 */
	k->keeps = !r || r == -EUCLEAN;
	k->started = true;
	k->save_ns = gs_now_ns() + SAVE_NS;
}

void gs_means_end(struct gs_means_known *k)
{
	uint64_t ns = gs_now_ns();

	if (!k || !k->started)
		return;
	for (struct watched *w = k->all; w; w = w->hh.next)
		look(k, w, true, ns);
	k->started = false;
	/* A write under way may lack the last figures: wait for its end, then write again. */
	for (int i = 0; i < 2; i++) {
		if (k->saving)
			gs_task_leave(k->saving, SAVE_MS);
		if (k->saving) /* the disk does not answer: give up */
			return;
		save(k);
	}
	if (k->saving)
		gs_task_leave(k->saving, SAVE_MS);
}

void gs_means_free(struct gs_means_known *k)
{
	struct watched *w, *next;

	if (!k)
		return;
	HASH_ITER(hh, k->all, w, next)
		drop(k, w);
	gs_means_policy_changed(k);
	gs_starts_done(&k->starts);
	gs_remembered_done(&k->memory);
	free(k);
}

/* ---- questions ------------------------------------------------------------------------------- */

const struct gs_remembered *gs_means_use(struct gs_means_known *k, const struct gs_program_id *id)
{
	struct gs_remembered *r = gs_remembered_find(&k->memory, id);

	if (r)
		gs_remembered_used(&k->memory, r, time(NULL));
	return r && r->looked ? r : NULL;
}

bool gs_means_lc_runs(const struct gs_means_known *k)
{
	struct gpusched_proc proc;

	for (const struct watched *w = k->all; w; w = w->hh.next)
		if (gs_means_choice_role(w->class_id) == GS_ROLE_LC &&
		    (gs_proc_get(k->hub->table, (pid_t)w->pid, &proc) || !proc.mps))
			return true;
	return false;
}

void gs_means_graphs_come(struct gs_means_known *k, uid_t uid)
{
	const struct gs_service_work graphs = { .graphs = true, .told = true };

	for (struct gs_remembered *r = k->memory.all; r; r = r->hh.next)
		if (r->id.uid == uid && r->role == GS_ROLE_BE && r->looked)
			gs_remembered_service(&k->memory, r, &graphs);
}

struct gs_starts *gs_means_starts(struct gs_means_known *k)
{
	return &k->starts;
}

struct gs_remembered *gs_means_all(const struct gs_means_known *k)
{
	return k->memory.all;
}

void gs_means_running(const struct gs_means_known *k,
		      void (*fn)(const struct gs_remembered *r, uint32_t pid, void *user),
		      void *user)
{
	for (const struct watched *w = k->all; w; w = w->hh.next) {
		const struct gs_remembered *r =
			w->known ? gs_remembered_find(&k->memory, &w->program) : NULL;

		if (r && r->looked)
			fn(r, w->pid, user);
	}
}
