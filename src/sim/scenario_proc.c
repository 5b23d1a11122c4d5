/* SPDX-License-Identifier: MIT */
/*
 * scenario_proc.c - does a process's work: requests with gaps (lc), or kernels back to back (be)
 */
#include <errno.h>
#include <stdlib.h>

#include "basic/clock.h"
#include "basic/rng.h"
#include "sim/model_time.h"
#include "sim/scenario_death.h"
#include "sim/scenario_priv.h"
#include "sim/scenario_request.h"
#include "sim/scenario_sight.h"
#include "sim/scenario_sync.h"

enum cookie { COOKIE_KERNEL, COOKIE_HOLD, COOKIE_RAN };

static uint64_t now_of(const struct sim_proc *p)
{
	return sim_model_now(p->sim->m);
}

static bool measured(const struct sim_proc *p)
{
	return now_of(p) >= p->sim->warm_ns;
}

static void submit(struct sim_proc *p, struct sim_channel *ch, const struct sim_work *w)
{
	int r = sim_work_submit(ch, w);

	if (r < 0 && r != -ENODEV) /* removed: the process ends soon */
		gs_fail(&p->sim->err, -ENOSPC,
			"%s[%u]: a channel's queue is full (queue_depth of the model)", p->g->name,
			p->index);
}

static void submit_kernel(struct sim_proc *p)
{
	bool spins = p->g->sync == SIM_SYNC_SPIN;
	struct sim_work w = {
		.kind = SIM_WORK_KERNEL,
		.blocks = p->wave_places,
		.block_ns = p->block_ns,
		.cookie = spins ? COOKIE_RAN : COOKIE_KERNEL,
	};

	if (p->g->kind == SIM_KIND_PERSISTENT) {
		w.kind = SIM_WORK_STAY;
		w.limit_ns = sim_us(p->g->kernel_us);
	}
	sim_request_launch(p);
	submit(p, p->work, &w);
	if (spins) {
		w = sim_sync_spin(p);
		submit(p, p->work, &w);
	}
	p->host->rec.task.launches += spins ? 2 : 1;
	p->host->rec.task.last_launch_ns = now_of(p);
	sim_control_launch(p->host, spins ? 2 : 1);
}

static bool flag_is_set(void *arg)
{
	return *(bool *)arg;
}

/*
 * Submits the kernel that waits for the request (the hold). Except with hint-one, also submits an
 * empty kernel behind it, which keeps the turn open.
 */
static void submit_hold(struct sim_proc *p)
{
	struct sim_work w = {
		.kind = SIM_WORK_HOLD,
		.limit_ns = sim_us(p->g->hold_limit_us),
		.released = flag_is_set,
		.arg = &p->released[p->request % SIM_HOLD_FLAGS],
		.cookie = COOKIE_HOLD,
	};
	struct sim_work behind = { .kind = SIM_WORK_KERNEL, .cookie = COOKIE_HOLD };

	p->released[p->request % SIM_HOLD_FLAGS] = false;
	submit(p, p->hold, &w);
	if (p->g->hold != SIM_HOLD_HINT_ONE)
		submit(p, p->hold, &behind);
}

/* Launches the next piece of the request. The process waits for the GPU after each piece. */
static void launch_piece(struct sim_proc *p)
{
	unsigned int n =
		p->g->wait_every && p->g->wait_every < p->to_begin ? p->g->wait_every : p->to_begin;

	p->to_begin -= n;
	p->to_launch = p->to_finish = n;
	p->piece_from = now_of(p);
	sim_event_post(p->sim, now_of(p) + sim_launch_time(p->sim->m), SIM_EV_LAUNCH, p, 0);
}

static void launch_request(struct sim_proc *p)
{
	p->to_begin = p->g->kernels * p->size;
	launch_piece(p);
}

static void begin_request(struct sim_proc *p, uint64_t arrival)
{
	p->busy = true;
	p->waits_since = now_of(p);
	p->request++;
	p->counted_from = arrival;
	sim_request_coming(p);
	if (p->g->hold != SIM_HOLD_NONE)
		submit_hold(p);
	if (p->g->hold == SIM_HOLD_HINT || p->g->hold == SIM_HOLD_HINT_ONE)
		sim_event_post(p->sim, now_of(p) + sim_us(p->g->prep_us), SIM_EV_PREPARED, p, 0);
	else
		launch_request(p);
}

/* Takes the trace's next arrival. False: there is none. The trace starts again after the warm-up. */
static bool next_of_trace(struct sim_proc *p)
{
	const struct gs_arrivals *t = &p->g->trace;
	uint64_t warm = p->sim->warm_ns;

	if (p->trace_from < warm &&
	    (p->trace_next == t->n || p->trace_from + t->at[p->trace_next].ns >= warm)) {
		p->trace_from = warm;
		p->trace_next = 0;
	}
	if (p->trace_next == t->n)
		return false;
	p->next_arrival = p->trace_from + t->at[p->trace_next].ns;
	p->size = t->at[p->trace_next++].size;
	return true;
}

static void next_request(struct sim_proc *p)
{
	const struct sim_group *g = p->g;
	double gap = g->gap_us * 1000;
	uint64_t ns;

	if (p->of_burst) {
		p->of_burst--;
		sim_event_post(p->sim, now_of(p), SIM_EV_ARRIVE, p, 0);
		return;
	}
	p->of_burst = g->burst - 1;
	if (g->arrivals == SIM_ARRIVE_TRACE) {
		if (!next_of_trace(p))
			return;
	} else if (g->arrivals == SIM_ARRIVE_CLOSED) {
		ns = (uint64_t)gs_rng_gap(&p->rng, gap, g->cv);
		if (ns > (uint64_t)(5 * gap))
			ns = (uint64_t)(5 * gap);
		p->next_arrival = now_of(p) + ns + p->sim->s->params.sleep_late_ns;
	} else if (g->arrivals == SIM_ARRIVE_PERIODIC) {
		p->next_arrival += (uint64_t)gap;
	} else {
		p->next_arrival += (uint64_t)gs_rng_gap(&p->rng, gap, g->cv);
	}
	ns = p->next_arrival > now_of(p) ? p->next_arrival : now_of(p);
	sim_event_post(p->sim, ns, SIM_EV_ARRIVE, p, 0);
}

static void keep_time(struct sim_proc *p, uint64_t **list, size_t *inout_n, uint64_t ns)
{
	if ((*inout_n & (*inout_n - 1)) == 0) {
		size_t room = *inout_n ? 2 * *inout_n : 1;
		uint64_t *grown = reallocarray(*list, room, sizeof(*grown));

		if (!grown) {
			gs_fail(&p->sim->err, -ENOMEM, "out of memory");
			return;
		}
		*list = grown;
	}
	(*list)[(*inout_n)++] = ns;
}

/* Notes that a request or kernel is done, and how long there was none. */
static void note_end(struct sim_proc *p)
{
	struct sim_process_result *r = p->res;
	uint64_t from = p->ended_ns > p->sim->warm_ns ? p->ended_ns : p->sim->warm_ns;

	if (measured(p) && now_of(p) - from > r->longest_ns)
		r->longest_ns = now_of(p) - from;
	p->ended_ns = p->waits_since = now_of(p);
}

static void piece_done(struct sim_proc *p)
{
	if (measured(p) && p->g->wait_every)
		keep_time(p, &p->res->piece_ns, &p->res->npieces, now_of(p) - p->piece_from);
}

static void request_done(struct sim_proc *p)
{
	struct sim_process_result *r = p->res;
	uint64_t latency = now_of(p) - p->counted_from;

	p->busy = false;
	sim_request_done(p);
	note_end(p);
	if (measured(p)) {
		keep_time(p, &r->latency_ns, &r->nlatency, latency);
		r->missed += p->g->deadline_us && latency > p->g->deadline_us * NS_PER_US;
	}
	next_request(p);
}

/* A launch reaches the GPU: submits one kernel, or more if launches have no gap. */
static void launch(struct sim_proc *p)
{
	if (p->g->kind != SIM_KIND_LC) {
		submit_kernel(p);
		return;
	}
	do {
		submit_kernel(p);
		p->to_launch--;
	} while (p->to_launch && !p->g->launch_gap_us);
	if (p->to_launch)
		sim_event_post(p->sim, now_of(p) + sim_us(p->g->launch_gap_us), SIM_EV_LAUNCH, p,
			       0);
}

void sim_proc_done(struct sim_proc *p, struct sim_channel *ch, uint64_t cookie)
{
	uint64_t notice;

	if (ch != p->work)
		return;
	if (cookie == COOKIE_RAN) {
		sim_sync_ran(p);
		return;
	}
	if (p->g->kind != SIM_KIND_LC)
		note_end(p);
	if (measured(p))
		p->res->kernels++;
	notice = now_of(p) + sim_notice_time(p->sim->m);
	if (p->g->kind == SIM_KIND_BE)
		sim_sync_done(p, notice);
	else if (p->g->kind == SIM_KIND_LC && --p->to_finish == 0)
		sim_event_post(p->sim, notice, SIM_EV_NOTICE, p, 0);
}

/* Ends the process if it has made no step for too long; else looks again later. */
static void be_patient(struct sim_proc *p)
{
	uint64_t most = sim_us(p->g->dies_after_s * 1e6);
	bool waits = p->g->kind != SIM_KIND_LC || p->busy;
	uint64_t from = waits ? p->waits_since : now_of(p);

	if (!most)
		return;
	if (waits && now_of(p) >= from + most)
		sim_proc_death(p, SIM_DIED_WAITING);
	else
		sim_event_post(p->sim, from + most, SIM_EV_PATIENCE, p, 0);
}

void sim_proc_event(struct sim_proc *p, enum sim_event_type type)
{
	if (!p->alive)
		return;
	switch (type) {
	case SIM_EV_ARRIVE:
		begin_request(p, p->next_arrival);
		break;
	case SIM_EV_PREPARED:
		p->counted_from = now_of(p);
		launch_request(p);
		sim_event_post(p->sim, now_of(p) + sim_launch_time(p->sim->m), SIM_EV_RELEASE, p,
			       0);
		break;
	case SIM_EV_LAUNCH:
		launch(p);
		break;
	case SIM_EV_QUIET:
		sim_request_quiet(p);
		break;
	case SIM_EV_PATIENCE:
		be_patient(p);
		break;
	case SIM_EV_RELEASE:
		p->released[p->request % SIM_HOLD_FLAGS] = true;
		break;
	case SIM_EV_NOTICE:
		piece_done(p);
		sim_request_rests(p);
		if (p->to_begin) {
			launch_piece(p);
			break;
		}
		p->released[p->request % SIM_HOLD_FLAGS] = true;
		request_done(p);
		break;
	default:
		break;
	}
}

/* Divides a kernel into waves of blocks that fill the group's part of the GPU. */
static void shape_kernel(struct sim_proc *p)
{
	double places = p->sim->s->params.blocks_at_once * p->g->fill_pct / 100;
	double waves = p->g->block_us ? p->g->kernel_us / p->g->block_us : 1;
	uint64_t whole = (uint64_t)(waves + 0.5);

	if (places < 1)
		places = 1;
	/*
	 * with fewer SMs, fewer blocks run at a time and each is longer: the total work stays the
	 * same
	 */
	p->wave_places = whole * (uint64_t)(places * p->g->sm_pct / 100);
	p->block_ns = sim_us(p->g->kernel_us / (double)whole * 100 / p->g->sm_pct);
}

/*
 * Makes a TSG for the process. A further client of an MPS server gets channels in the TSG of the
 * server's first client.
 */
static int make_channels(struct sim_proc *p)
{
	struct sim_sim *x = p->sim;
	uint32_t n = (uint32_t)(p - x->procs) + 1;
	int r = 0;

	if (p->host == p)
		r = sim_model_tsg_new(x->m, p->gpu, SIM_ENGINE_GR + p->g->part, p, &p->tsg);
	else
		p->tsg = p->host->tsg;
	if (r >= 0)
		r = sim_model_channel_new(p->tsg, n, &p->work);
	if (r >= 0)
		r = sim_model_channel_new(p->tsg, n, &p->hold);
	if (r >= 0 && p->g->server[0])
		r = sim_model_channel_share(p->work, n, p->g->priority, p->g->sm_pct);
	if (r >= 0 && p->host != p && !p->host->is.runnable) {
		sim_work_enable_channel(p->work, false);
		sim_work_enable_channel(p->hold, false);
	}
	return r;
}

int sim_proc_start(struct sim_proc *p)
{
	uint64_t begin;
	int r;

	r = make_channels(p);
	if (r < 0)
		return r;
	p->alive = true;
	shape_kernel(p);
	if (p->host == p)
		sim_control_new(p);
	if (p->host->denied)
		return 0;
	if (p->host == p)
		sim_model_tsg_schedule(p->tsg, true);
	begin = now_of(p) + sim_us(p->g->begin_s * 1e6);
	p->next_arrival = p->ended_ns = p->waits_since = p->trace_from = begin;
	p->size = 1;
	be_patient(p);
	if (p->g->kind == SIM_KIND_LC) {
		next_request(p);
		return 0;
	}
	sim_sync_start(p, begin);
	return 0;
}

void sim_proc_count_from_here(struct sim_proc *p)
{
	struct sim_tsg_state s;

	if (!p->alive || p->host != p)
		return;
	sim_model_tsg_state(p->tsg, &s);
	p->base_gpu_time = s.gpu_time_ns;
	p->base_switches = s.context_switches;
	p->base_launches = p->rec.task.launches;
	p->res->suspended_ns = 0;
	p->suspended_since = now_of(p);
}

void sim_proc_finish(struct sim_proc *p)
{
	struct sim_process_result *r = p->res;
	uint64_t from = p->start_ns > p->sim->warm_ns ? p->start_ns : p->sim->warm_ns;
	struct sim_tsg_state s;

	if (!p->alive)
		return;
	if (now_of(p) > p->ended_ns)
		note_end(p);
	r->ran_s = now_of(p) > from ? (double)(now_of(p) - from) / 1e9 : 0;
	r->is = p->host->is;
	if (p->host != p) /* the model counts an MPS server's work for its first client only */
		return;
	sim_model_tsg_state(p->tsg, &s);
	r->gpu_time_ns = s.gpu_time_ns - p->base_gpu_time;
	r->switches = s.context_switches - p->base_switches;
	r->all = s;
	sim_sight_sums(p, &r->account, &r->account_of_log);
	r->launches = p->rec.task.launches - p->base_launches;
	if (!p->is.runnable)
		r->suspended_ns += now_of(p) - p->suspended_since;
}

void sim_proc_stop(struct sim_proc *p)
{
	if (!p->alive)
		return;
	sim_proc_finish(p);
	sim_control_gone(p);
	sim_model_tsg_free(p->tsg);
	p->tsg = NULL;
	p->work = p->hold = NULL;
	sim_sync_gone(p);
}
