/* SPDX-License-Identifier: MIT */
/*
 * model_work.c - computes the progress of one TSG's work, in waves of thread blocks
 *
 * Channels run side by side, and each runs its work in order. Blocks of a wave start and end
 * together. The heads of the TSG's channels share the GPU's block places. The channel that has had
 * none for the longest time comes first, and leaves the places that it does not need to the next
 * one. Among an MPS server's clients, priority decides, then the order in which their work came.
 * The model assumes that their waves end block by block: other clients get a wave's places some
 * time before its end.
 */
#include <errno.h>
#include <stdlib.h>

#include "sim/model_priv.h"

/* size of one step of a copy: once begun, a step runs to its end */
#define COPY_CHUNK 65536u

static bool progressing(const struct sim_tsg *t)
{
	const struct sim_engine_state *e = t->eng;

	return e->cur == t && (e->phase == SIM_PHASE_RUN || e->phase == SIM_PHASE_DRAIN);
}

/* True if this channel's head can make progress in the engine's phase. */
static bool active(const struct sim_channel *ch)
{
	const struct sim_tsg *t = ch->tsg;
	const struct sim_item *it = sim_head(ch);

	if (!it)
		return false;
	if (t->eng->phase != SIM_PHASE_DRAIN)
		return ch->enabled && (it->started || !t->eng->closed);
	if (t->left_in == SIM_CTA)
		return it->cur > 0;
	return it->started;
}

static void begin(struct sim_item *it, const struct sim_params *p)
{
	const struct sim_work *w = &it->w;

	it->started = true;
	switch (w->kind) {
	case SIM_WORK_KERNEL:
		it->setup = p->kernel_gap_ns;
		it->left = w->block_ns ? w->blocks : 0;
		it->block_ns = w->block_ns;
		break;
	case SIM_WORK_COPY:
		it->left = (w->bytes + COPY_CHUNK - 1) / COPY_CHUNK;
		it->block_ns = COPY_CHUNK * 1000ull / p->copy_bytes_per_us;
		if (!it->block_ns)
			it->block_ns = 1;
		break;
	case SIM_WORK_HOLD:
		it->setup = p->kernel_gap_ns;
		it->left = w->limit_ns ? 1 : 0;
		it->block_ns = w->limit_ns;
		break;
	case SIM_WORK_SPIN:
		it->setup = p->kernel_gap_ns;
		it->left = 1;
		it->block_ns = SIM_NEVER;
		break;
	case SIM_WORK_STAY:
		it->setup = p->kernel_gap_ns;
		it->left = 1;
		it->block_ns = w->limit_ns ? w->limit_ns : SIM_NEVER;
		break;
	case SIM_WORK_MARK:
		break;
	}
}

/* True if the work is one thread, for which there is always room. */
static bool is_one_thread(const struct sim_item *it)
{
	return it->w.kind == SIM_WORK_HOLD || it->w.kind == SIM_WORK_SPIN ||
	       it->w.kind == SIM_WORK_STAY;
}

/*
 * True if the channel takes free places at once, even while a part of its kernel runs: it has a
 * higher priority than a client with work.
 */
static bool comes_first(const struct sim_channel *ch)
{
	if (!ch->client || ch->priority)
		return false;
	for (const struct sim_channel *o = ch->tsg->channels; o; o = o->next)
		if (o->priority && o->n)
			return true;
	return false;
}

static bool wants_places(const struct sim_channel *ch)
{
	const struct sim_item *it = sim_head(ch);

	return active(ch) && it->started && !it->setup && it->left &&
	       (!it->cur || (it->w.kind == SIM_WORK_KERNEL && comes_first(ch)));
}

/* True if another client's kernel has blocks to start. */
static bool wanted_by_others(const struct sim_channel *ch)
{
	for (const struct sim_channel *o = ch->tsg->channels; o; o = o->next)
		if (o->client != ch->client && wants_places(o))
			return true;
	return false;
}

/* How long before its end a wave hands its places to other clients. */
static uint64_t slack_of(const struct sim_channel *ch)
{
	const struct sim_item *it = sim_head(ch);

	if (!ch->client || it->w.kind != SIM_WORK_KERNEL)
		return 0;
	return it->block_ns * ch->tsg->eng->m->p.mps_overlap_pct / 100;
}

static bool comes_before(const struct sim_channel *a, const struct sim_channel *b)
{
	if (!a->client || !b->client)
		return a->served < b->served;
	return a->priority != b->priority ? a->priority < b->priority
					  : sim_head(a)->came < sim_head(b)->came;
}

/*
 * The channel to serve next, among those that have blocks to start and were not served in this
 * round.
 */
static struct sim_channel *next_to_serve(const struct sim_tsg *t)
{
	struct sim_channel *next = NULL;

	for (struct sim_channel *ch = t->channels; ch; ch = ch->next)
		if (ch->round != t->round && wants_places(ch) && (!next || comes_before(ch, next)))
			next = ch;
	return next;
}

/* Places that other channels cannot have. A wave keeps its places until it is near its end. */
static uint64_t taken_by(const struct sim_channel *ch)
{
	const struct sim_item *it = sim_head(ch);

	if (!active(ch) || !it->cur || it->w.kind != SIM_WORK_KERNEL)
		return 0;
	return it->rem <= slack_of(ch) && wanted_by_others(ch) ? 0 : it->cur;
}

static void give(struct sim_channel *ch, uint64_t *places, bool *copying)
{
	struct sim_item *it = sim_head(ch);
	uint64_t most = ch->most ? ch->most - it->cur : *places, n;

	most = most < *places ? most : *places;
	if (it->w.kind == SIM_WORK_COPY) {
		it->cur = *copying ? 0 : 1;
		*copying = true;
	} else if (is_one_thread(it)) {
		it->cur = it->left;
	} else {
		/* blocks that run already are counted as part of the new wave */
		n = it->left < most ? it->left : most;
		it->left -= n;
		it->cur += n;
		it->rem = n ? it->block_ns : it->rem;
		*places -= n;
		return;
	}
	it->left -= it->cur;
	it->rem = it->cur ? it->block_ns : 0;
}

/* Gives free block places to channels that have blocks to start. */
static void assign(struct sim_tsg *t)
{
	const struct sim_params *p = &t->eng->m->p;
	uint64_t places = p->blocks_at_once;
	bool copying = false;
	struct sim_channel *next;
	uint64_t had;

	for (struct sim_channel *ch = t->channels; ch; ch = ch->next) {
		struct sim_item *it = sim_head(ch);

		if (!active(ch) || !it->cur)
			continue;
		copying |= it->w.kind == SIM_WORK_COPY;
	}
	for (struct sim_channel *ch = t->channels; ch; ch = ch->next) {
		if (!active(ch) || sim_head(ch)->started)
			continue;
		begin(sim_head(ch), p);
		sim_head(ch)->came = ++t->came;
	}
	for (struct sim_channel *ch = t->channels; ch; ch = ch->next) {
		uint64_t taken = taken_by(ch);

		places -= taken < places ? taken : places;
	}
	t->round++;
	while ((next = next_to_serve(t))) {
		had = sim_head(next)->left;
		next->round = t->round;
		give(next, &places, &copying);
		if (sim_head(next)->left < had)
			next->served = ++t->served;
	}
}

/* The only active channel; NULL: no channel is active, or several are. */
static struct sim_channel *single(const struct sim_tsg *t)
{
	struct sim_channel *one = NULL;

	for (struct sim_channel *ch = t->channels; ch; ch = ch->next) {
		if (!active(ch))
			continue;
		if (one)
			return NULL;
		one = ch;
	}
	return one;
}

static uint64_t width_of(const struct sim_channel *ch)
{
	if (sim_head(ch)->w.kind == SIM_WORK_COPY)
		return 1;
	return ch->most ? ch->most : ch->tsg->eng->m->p.blocks_at_once;
}

/* Number of waves that the work has yet to start, if it is alone on the GPU. */
static uint64_t waves(const struct sim_channel *ch)
{
	const struct sim_item *it = sim_head(ch);
	const struct sim_tsg *t = ch->tsg;
	uint64_t width = width_of(ch);

	if (t->eng->phase == SIM_PHASE_DRAIN && t->left_in == SIM_CTA)
		return 0;
	return (it->left + width - 1) / width;
}

/* Time until the next wave or setup ends; SIM_NEVER: nothing makes progress. */
static uint64_t boundary(const struct sim_tsg *t)
{
	uint64_t min = SIM_NEVER;

	for (const struct sim_channel *ch = t->channels; ch; ch = ch->next) {
		const struct sim_item *it = sim_head(ch);
		uint64_t d, slack;

		if (!active(ch))
			continue;
		if (it->setup)
			d = it->setup;
		else if (it->cur)
			d = it->rem;
		else
			continue;
		slack = it->setup ? 0 : slack_of(ch);
		if (slack && d > slack && wanted_by_others(ch))
			d -= slack;
		if (d < min)
			min = d;
	}
	return min;
}

static void elapse(struct sim_tsg *t, uint64_t ns)
{
	for (struct sim_channel *ch = t->channels; ch; ch = ch->next) {
		struct sim_item *it = sim_head(ch);

		if (!active(ch))
			continue;
		if (it->setup) {
			it->setup -= ns;
		} else if (it->cur) {
			it->rem -= it->rem == SIM_NEVER ? 0 : ns;
			if (!it->rem && it->w.kind == SIM_WORK_STAY) {
				it->rem = it->block_ns;
				it->laps++;
			} else if (!it->rem) {
				it->cur = 0;
			}
		}
	}
}

/*
 * Skips whole waves of work that is alone on the GPU, so that short blocks do not slow the model
 * down.
 */
static uint64_t skip_waves(struct sim_tsg *t, uint64_t ns)
{
	struct sim_channel *ch = single(t);
	struct sim_item *it = ch ? sim_head(ch) : NULL;
	uint64_t width, n;

	if (!it || it->setup || !it->cur || is_one_thread(it) || ns < it->rem)
		return 0;
	width = width_of(ch);
	n = (ns - it->rem) / it->block_ns;
	if (n > it->left / width)
		n = it->left / width;
	if (it->cur != width || !waves(ch))
		return 0;
	it->left -= n * width;
	return n * it->block_ns;
}

void sim_work_sync(struct sim_tsg *t)
{
	uint64_t now = t->eng->m->now, dt = now - t->synced;

	t->synced = now;
	if (!progressing(t))
		return;
	assign(t);
	while (dt) {
		uint64_t d = boundary(t);

		if (d == SIM_NEVER)
			return;
		d = d < dt ? d : dt;
		dt -= skip_waves(t, dt);
		d = d < dt ? d : dt;
		elapse(t, d);
		dt -= d;
		assign(t);
	}
}

/* Adds with saturation: an end after SIM_NEVER never comes. */
static uint64_t after(uint64_t a, uint64_t b)
{
	return a < SIM_NEVER - b ? a + b : SIM_NEVER;
}

uint64_t sim_work_next(const struct sim_tsg *t)
{
	const struct sim_model *m = t->eng->m;
	struct sim_channel *ch;
	uint64_t d;

	ch = single(t);
	if (ch && !is_one_thread(sim_head(ch))) {
		const struct sim_item *it = sim_head(ch);

		if (__builtin_mul_overflow(waves(ch), it->block_ns, &d))
			return SIM_NEVER;
		return after(after(d, it->setup + (it->cur ? it->rem : 0)), m->now);
	}
	d = boundary(t);
	for (ch = t->channels; ch; ch = ch->next)
		if (active(ch) && sim_head(ch)->w.kind == SIM_WORK_HOLD && d > m->p.hold_poll_ns)
			d = m->p.hold_poll_ns;
	return after(d, m->now);
}

static void pop(struct sim_channel *ch)
{
	struct sim_model *m = ch->tsg->eng->m;
	uint64_t cookie = sim_head(ch)->w.cookie;

	ch->head = (ch->head + 1) % ch->cap;
	ch->n--;
	ch->tsg->work_done++;
	sim_work_update_ready(ch->tsg);
	if (m->ops.on_done)
		m->ops.on_done(m->ops.user, ch, cookie, m->now);
}

static void channel_marks(struct sim_channel *ch)
{
	while (ch->enabled && ch->tsg->scheduled && ch->n && sim_head(ch)->w.kind == SIM_WORK_MARK)
		pop(ch);
}

/*
 * Completes marks at the heads of channels. The host's front end handles them without the engine,
 * so they need no time and no turn.
 */
void sim_work_marks(struct sim_tsg *t)
{
	for (struct sim_channel *ch = t->channels; ch; ch = ch->next)
		channel_marks(ch);
}

/* Ends @it if it waits for something that has happened. */
static void release(struct sim_channel *ch, struct sim_item *it)
{
	if ((it->w.kind == SIM_WORK_HOLD || it->w.kind == SIM_WORK_SPIN) && (it->cur || it->left) &&
	    it->w.released && (ch->enabled || ch->tsg->eng->phase == SIM_PHASE_DRAIN) &&
	    it->w.released(it->w.arg))
		it->setup = it->cur = it->left = it->rem = 0;
}

static void tell_laps(struct sim_channel *ch, struct sim_item *it)
{
	struct sim_model *m = ch->tsg->eng->m;

	for (; it->laps; it->laps--)
		if (m->ops.on_done)
			m->ops.on_done(m->ops.user, ch, it->w.cookie, m->now);
}

/* Completes work that is done. Call sim_work_sync() first. */
void sim_work_complete(struct sim_tsg *t)
{
	for (struct sim_channel *ch = t->channels; ch; ch = ch->next) {
		struct sim_item *it = sim_head(ch);

		if (!it || !it->started)
			continue;
		release(ch, it);
		tell_laps(ch, it);
		if (it->setup || it->cur || it->left)
			continue;
		pop(ch);
		channel_marks(ch);
	}
}

/* Drops all work. */
static void drop(struct sim_tsg *t)
{
	for (struct sim_channel *ch = t->channels; ch; ch = ch->next)
		ch->n = 0;
}

bool sim_work_running(const struct sim_tsg *t)
{
	for (const struct sim_channel *ch = t->channels; ch; ch = ch->next)
		if (ch->n && sim_head(ch)->started)
			return true;
	return false;
}

bool sim_work_settled(const struct sim_tsg *t)
{
	for (const struct sim_channel *ch = t->channels; ch; ch = ch->next)
		if (active(ch))
			return false;
	return true;
}

/*
 * True if some work has not begun. Marks do not count: on the GPU, an event after the last kernel
 * does not keep the turn open.
 */
bool sim_work_backlog(const struct sim_tsg *t)
{
	for (const struct sim_channel *ch = t->channels; ch; ch = ch->next)
		for (unsigned int i = 0; ch->enabled && i < ch->n; i++) {
			const struct sim_item *it = &ch->ring[(ch->head + i) % ch->cap];

			if (!it->started && it->w.kind != SIM_WORK_MARK)
				return true;
		}
	return false;
}

/* @t has work: channels of other TSGs that were told to leave do so. */
static void make_leave(const struct sim_tsg *t)
{
	for (struct sim_tsg *x = t->eng->first; x; x = x->next)
		for (struct sim_channel *ch = x->channels; ch && x != t; ch = ch->next)
			if (ch->leaves)
				sim_work_enable_channel(ch, false);
}

void sim_work_update_ready(struct sim_tsg *t)
{
	bool ready = false;

	for (const struct sim_channel *ch = t->channels; ch && !ready && t->scheduled;
	     ch = ch->next)
		ready = ch->enabled && ch->n && sim_head(ch)->w.kind != SIM_WORK_MARK;
	if (ready == t->ready)
		return;
	sim_engine_contended(t->eng);
	t->ready = ready;
	if (ready)
		t->eng->nready++;
	else
		t->eng->nready--;
	if (ready)
		make_leave(t);
	if (t->eng->cur == t)
		return;
	sim_engine_uncut(t);
	if (ready)
		t->waiting_since = t->eng->m->now;
	else
		t->wait_time += t->eng->m->now - t->waiting_since;
}

void sim_work_touch(struct sim_tsg *t)
{
	sim_work_update_ready(t);
	t->eng->check_marks = true;
	t->eng->next = t->eng->m->now;
}

void sim_work_enable_channel(struct sim_channel *ch, bool on)
{
	sim_work_sync(ch->tsg);
	ch->enabled = on;
	ch->leaves = false;
	sim_work_touch(ch->tsg);
}

void sim_work_remove_tsg(struct sim_tsg *t)
{
	const struct sim_model *m = t->eng->m;

	if (t->removed)
		return;
	t->removed = true;
	t->has_state = false;
	drop(t);
	sim_work_touch(t);
	if (m->ops.on_removed)
		m->ops.on_removed(m->ops.user, t);
}

int sim_work_submit(struct sim_channel *ch, const struct sim_work *w)
{
	struct sim_engine_state *e = ch->tsg->eng;

	if (ch->tsg->removed)
		return -ENODEV;
	if (ch->n >= e->m->p.queue_depth)
		return -ENOSPC;
	if (ch->n == ch->cap) {
		unsigned int cap = ch->cap ? 2 * ch->cap : 8;
		struct sim_item *ring = calloc(cap, sizeof(*ring));

		if (!ring)
			return -ENOSPC;
		for (unsigned int i = 0; i < ch->n; i++)
			ring[i] = ch->ring[(ch->head + i) % ch->cap];
		free(ch->ring);
		ch->ring = ring;
		ch->cap = cap;
		ch->head = 0;
	}
	sim_work_sync(ch->tsg);
	ch->ring[(ch->head + ch->n) % ch->cap] = (struct sim_item){ .w = *w };
	ch->n++;
	sim_work_update_ready(ch->tsg);
	if (w->kind == SIM_WORK_MARK)
		e->check_marks = true;
	e->next = e->m->now;
	return 0;
}
