/* SPDX-License-Identifier: MIT */
/*
 * replay_world.h - a world of TSGs that lives the same life under any host of policies
 *
 * All that happens in it is drawn from a seed and does not depend on what a policy decides, so two
 * worlds under two hosts see the same events at the same times. The exception is the end of a wait
 * by the host's limit: it needs somebody who waits, and comes to both or the decisions differ.
 */
#ifndef GPUSCHED_TESTS_REPLAY_WORLD_H
#define GPUSCHED_TESTS_REPLAY_WORLD_H

#include "basic/clock.h"
#include "sim/policy_host.h"

#define WORLD_TASKS 40
#define WORLD_GPUS 2

struct world_task {
	struct gpusched_task t;
	uint32_t known; /* what becomes known of it after its first calls */
	bool held;      /* schedule() said so, and nothing has let it go since */
};

struct world {
	const struct sim_policy_host *host;
	void *state;
	struct world_task tasks[WORLD_TASKS];
	struct gpusched_task *live[WORLD_TASKS];
	size_t nlive;
	uint64_t now, rng, last_id;
	const char *what; /* the step's */
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

static inline uint32_t world_draw(struct world *w, uint32_t below)
{
	w->rng = w->rng * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(w->rng >> 33) % below;
}

static inline int world_open(struct world *w, const struct sim_policy_host *host,
			     const char *policy, const char *const *options, struct gs_error *err)
{
	struct sim_policy_view view = { world_now, world_live, 42, w };

	size_t n = 0;

	memset(w, 0, sizeof(*w));
	w->host = host;
	w->rng = 7;
	while (options[n])
		n++;
	return host->init(&view, policy, options, n, &w->state, err);
}

static inline void world_close(struct world *w)
{
	w->host->exit(w->state, GPUSCHED_EXIT_STOPPED);
}

static inline bool is_suspended(const struct gpusched_settings *want)
{
	return (want->valid & GPUSCHED_RUNNABLE) && !want->runnable;
}

static inline void world_schedule(struct world *w, struct world_task *x)
{
	x->held = w->host->schedule(w->state, &x->t) == GPUSCHED_HOLD;
}

/* As CUDA does it: made, put on the runlist, slice set. Some were there before: adopted. */
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
	w->host->task_init(w->state, t);
	if (!adopted) {
		world_schedule(w, x);
		w->host->timeslice_set(w->state, t, GPUSCHED_CUDA_TIMESLICE_US);
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
	w->host->task_destroy(w->state, &x->t);
	x->t.id = 0;
	x->held = false;
}

/* The GPU's and the programs' doings since the last round. */
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
	struct gpusched_work work = { .now_ns = w->now,
				      .count = 1 + world_draw(w, 5),
				      .kind = GPUSCHED_WORK_KERNEL };

	w->what = "launched";
	t->launches += work.count;
	t->last_launch_ns = w->now;
	if (w->host->flags(w->state) & GPUSCHED_F_WORK)
		w->host->work_submit(w->state, t, &work);
}

static inline void world_round(struct world *w)
{
	world_work(w);
	w->what = "met the tick";
	if (w->host->tick_us(w->state))
		w->host->tick(w->state, w->live, w->nlive);
	/* as the engine does it when a wait has come to its limit */
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
		w->host->task_init(w->state, t);
	} else if (what == 2) {
		w->what = "had its slice set";
		w->host->timeslice_set(w->state, t, 2048);
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
