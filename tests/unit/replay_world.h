/* SPDX-License-Identifier: MIT */
/*
 * replay_world.h - generate the same random life of TSGs for any host of policies
 *
 * All events come from a seed and do not depend on a policy's decisions, so two worlds under two
 * hosts see the same events at the same times. The one exception is the end of a wait by the host's
 * limit, which needs a TSG that waits: it comes in both worlds unless the decisions differ.
 */
#ifndef GPUSCHED_TESTS_REPLAY_WORLD_H
#define GPUSCHED_TESTS_REPLAY_WORLD_H

#include "basic/clock.h"
#include "policy/host.h"

#define WORLD_TASKS 40
#define WORLD_GPUS 2

struct world_task {
	struct gpusched_task t;
	uint32_t known; /* GPUSCHED_KNOWN_ bits that are set after the TSG's first calls */
	bool held;      /* schedule() has held the TSG, and nothing has admitted it since */
};

struct world {
	struct gs_policy *p;
	struct world_task tasks[WORLD_TASKS];
	struct gpusched_task *live[WORLD_TASKS];
	size_t nlive;
	uint64_t now, rng, last_id;
	const char *what; /* name of the step */
};

static inline uint64_t world_now(void *user)
{
	return ((struct world *)user)->now;
}

static inline struct gpusched_task *const *world_live(void *user, size_t *ret_n)
{
	struct world *w = user;

	*ret_n = w->nlive;
	return w->live;
}

/* Returns a TSG's job. A quarter of the TSGs get 0: their job is unknown. */
static inline uint64_t world_job(void *user, uint64_t id)
{
	return id % 4;
}

static inline uint32_t world_draw(struct world *w, uint32_t below)
{
	w->rng = w->rng * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(w->rng >> 33) % below;
}

static inline int world_open(struct world *w, const struct gs_host *host, const char *policy,
			     const char *const *options, struct gs_error *err)
{
	const struct gs_world where = {
		.now_ns = world_now, .tasks = world_live, .job = world_job, .seed = 42, .user = w
	};
	struct gs_policy_exit x = { 0 };
	size_t n = 0;
	int r;

	memset(w, 0, sizeof(*w));
	w->rng = 7;
	while (options[n])
		n++;
	r = gs_policy_open(host, &where, policy, options, n, &w->p, &x, err);
	free(x.dump);
	return r;
}

static inline void world_close(struct world *w)
{
	gs_policy_stop(w->p, GS_POLICY_EXIT_STOPPED);
}

static inline bool is_suspended(const struct gpusched_settings *want)
{
	return (want->valid & GPUSCHED_RUNNABLE) && !want->runnable;
}

static inline void world_schedule(struct world *w, struct world_task *x)
{
	x->held = gs_virtual_ask(w->p, GPUSCHED_RUN_SCHEDULE, &x->t, 0) == GPUSCHED_HOLD;
}

/*
 * Makes a TSG as CUDA does: makes it, puts it on the runlist, sets its slice. Some are adopted
 * instead.
 */
static inline void world_make(struct world *w, struct world_task *x)
{
	struct gpusched_task *t = &x->t;
	bool adopted;

	memset(x, 0, sizeof(*x));
	t->id = ++w->last_id;
	t->gpu = world_draw(w, WORLD_GPUS);
	t->kind = world_draw(w, 6) ? GPUSCHED_KIND_COMPUTE : GPUSCHED_KIND_COPY;
	t->engine = t->kind == GPUSCHED_KIND_COMPUTE ? 1 : 9;
	t->class_id = world_draw(w, 4);
	t->weight = 1 + world_draw(w, 400);
	t->cgroup_id = 1 + world_draw(w, 3);
	t->deadline_us = world_draw(w, 3) ? 10000 + world_draw(w, 90000) : 0;
	t->known = t->deadline_us ? GPUSCHED_KNOWN_DEADLINE : 0;
	x->known = (world_draw(w, 8) ? GPUSCHED_KNOWN_LAUNCHES | GPUSCHED_KNOWN_RATE : 0) |
		   (world_draw(w, 2) ? GPUSCHED_KNOWN_GPU_TIME | GPUSCHED_KNOWN_BLOCK_TIME : 0);
	t->created_ns = w->now;
	t->launches_since_ns = w->now;
	adopted = !world_draw(w, 5);
	t->assumed = adopted ? GPUSCHED_INTERLEAVE | GPUSCHED_PREEMPT_MODE : 0;
	w->live[w->nlive++] = t;
	w->what = adopted ? "was adopted" : "was made";
	gs_virtual_ask(w->p, GPUSCHED_RUN_TASK_INIT, t, 0);
	if (!adopted) {
		world_schedule(w, x);
		gs_virtual_ask(w->p, GPUSCHED_RUN_TIMESLICE_SET, t, GPUSCHED_CUDA_TIMESLICE_US);
	}
	t->known |= x->known;
}

static inline void world_unmake(struct world *w, struct world_task *x)
{
	w->what = "ended";
	for (size_t at = 0; at < w->nlive; at++)
		if (w->live[at] == &x->t) {
			w->live[at] = w->live[--w->nlive];
			break;
		}
	gs_virtual_ask(w->p, GPUSCHED_RUN_TASK_DESTROY, &x->t, 0);
	x->t.id = 0;
	x->held = false;
}

/* Adds to the TSGs' facts the work since the last round. */
static inline void world_work(struct world *w)
{
	for (size_t i = 0; i < w->nlive; i++) {
		struct gpusched_task *t = w->live[i];
		uint64_t n = world_draw(w, 3) ? 0 : world_draw(w, 200);

		t->launches += n;
		if (n)
			t->last_launch_ns = w->now - world_draw(w, 1000);
		t->launch_rate_mhz = 1000ull * world_draw(w, 2000);
		t->gpu_time_ns += world_draw(w, 2) ? 1000ull * world_draw(w, 9000) : 0;
		t->wait_time_ns += world_draw(w, 4) ? 0 : 1000ull * world_draw(w, 2000);
		t->block_time_ns = 1000ull * world_draw(w, 6000);
	}
}

static inline void world_launch(struct world *w, struct gpusched_task *t)
{
	uint32_t count = 1 + world_draw(w, 5);

	w->what = "launched";
	t->launches += count;
	t->last_launch_ns = w->now;
	if (w->p->info.flags & GPUSCHED_F_WORK)
		gs_virtual_ask(w->p, GPUSCHED_RUN_WORK_SUBMIT, t,
			       GS_WORK_ARG(count, GPUSCHED_WORK_KERNEL));
}

static inline void world_round(struct world *w)
{
	world_work(w);
	w->what = "met the tick";
	if (w->p->info.tick_us)
		gs_virtual_round(w->p);
	/* Ends some holds, as the engine does when a wait reaches its limit. */
	for (size_t i = 0; i < WORLD_TASKS; i++)
		if (w->tasks[i].held && world_draw(w, 60) == 0)
			w->tasks[i].t.want.valid &= ~GPUSCHED_RUNNABLE;
}

static inline void world_step(struct world *w)
{
	uint32_t what = world_draw(w, 16);
	struct world_task *x = &w->tasks[world_draw(w, WORLD_TASKS)];
	struct gpusched_task *t = &x->t;

	w->now += 1000ull * (1 + world_draw(w, 40000));
	if (!t->id) {
		world_make(w, x);
	} else if (what == 0) {
		world_unmake(w, x);
	} else if (what == 1) {
		w->what = "got another class";
		t->class_id = world_draw(w, 4);
		gs_virtual_ask(w->p, GPUSCHED_RUN_TASK_INIT, t, 0);
	} else if (what == 2) {
		w->what = "had its slice set";
		gs_virtual_ask(w->p, GPUSCHED_RUN_TIMESLICE_SET, t, 2048);
	} else if (what == 3) {
		w->what = "was put on the runlist once more";
		world_schedule(w, x);
	} else if (what < 7) {
		world_launch(w, t);
	} else {
		world_round(w);
	}
	for (size_t i = 0; i < WORLD_TASKS; i++)
		w->tasks[i].held = w->tasks[i].held && is_suspended(&w->tasks[i].t.want);
}

#endif /* GPUSCHED_TESTS_REPLAY_WORLD_H */
