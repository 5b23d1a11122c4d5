/* SPDX-License-Identifier: MIT */
#include "sim/ring.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "basic/clock.h"
#include "sim/memfd.h"
#include "sim/rm.h"

#define MAX_OUTSTANDING 65536u
#define MAX_LATE_NS (1 * NS_PER_MS) /* a client may date its call back by at most this */
#define MAX_BLOCK_NS (3600ull * NS_PER_S)
#define MAX_BLOCKS (1ull << 40)
#define NO_FLAG UINT32_MAX
/* one file can have many rings: all clients of an MPS server use the server's file */
#define MAX_RINGS_OF_FILE 512

struct item {
	struct ring *ring;
	struct sim_channel *channel;
	uint32_t slot, stamp, flag_at;
	uint64_t set_at; /* HOLD: when its flag was seen set; 0: not yet */
	bool done;
	uint64_t done_ns, visible_ns;
	struct item *next, *prev;
};

struct ring {
	struct sim_rings *rs;
	struct sim_file *file;
	struct sim_ring *shared;
	bool mapped;
	uint32_t tail;      /* our copy of the shared tail, which the client may corrupt */
	struct item *items; /* oldest first */
	struct item *last;
	unsigned int n;
	bool wake;
	struct ring *next;
};

struct sim_rings {
	struct sim_rm *rm;
	struct sim_model *model;
	struct sim_clock clock;
	struct ring *rings;
	/* freed items that the model may still use during this call */
	struct item *graves;
	uint64_t now; /* clock time of this step; the model's time may be behind it */
	uint64_t next, bad;
};

/* Converts and limits: such distant times are beyond any timer, so exact values do not matter. */
static uint64_t to_ns(double ns)
{
	return ns < 0x1p62 ? (uint64_t)ns : 1ull << 62;
}

static uint64_t to_sim(const struct sim_clock *c, uint64_t real)
{
	return real <= c->start_ns ? 0 : to_ns((double)(real - c->start_ns) / c->dilate);
}

uint64_t sim_ring_clock_to_real(const struct sim_clock *c, uint64_t sim)
{
	return c->start_ns + to_ns((double)sim * c->dilate);
}

uint64_t sim_ring_clock_now(const struct sim_clock *c)
{
	return to_sim(c, gs_now_ns());
}

int sim_rings_new(struct sim_rm *rm, const struct sim_clock *clock, struct sim_rings **ret)
{
	struct sim_rings *rs = calloc(1, sizeof(*rs));

	if (!rs)
		return -ENOMEM;
	rs->rm = rm;
	rs->clock = *clock;
	rs->next = UINT64_MAX;
	*ret = rs;
	return 0;
}

void sim_rings_bind(struct sim_rings *rs, struct sim_model *m, struct sim_rm *rm)
{
	rs->model = m;
	rs->rm = rm;
}

uint64_t sim_rings_next(const struct sim_rings *rs)
{
	return rs->next;
}

uint64_t sim_rings_bad(const struct sim_rings *rs)
{
	return rs->bad;
}

/* ---- items ---------------------------------------------------------------------------------- */

static void item_link(struct ring *r, struct item *it)
{
	it->prev = r->last;
	if (r->last)
		r->last->next = it;
	else
		r->items = it;
	r->last = it;
	r->n++;
}

static void item_unlink(struct item *it)
{
	struct ring *r = it->ring;

	if (it->prev)
		it->prev->next = it->next;
	else
		r->items = it->next;
	if (it->next)
		it->next->prev = it->prev;
	else
		r->last = it->prev;
	r->n--;
}

static void bury(struct sim_rings *rs, struct item *it)
{
	item_unlink(it);
	it->ring = NULL;
	it->next = rs->graves;
	rs->graves = it;
}

static void empty_graves(struct sim_rings *rs)
{
	while (rs->graves) {
		struct item *it = rs->graves;

		rs->graves = it->next;
		free(it);
	}
}

/*
 * True if a HOLD is released. The flag is read now, but the model's time may be behind the clock.
 * So the release counts only once the model reaches the time at which the flag was seen. By then,
 * all work that was launched earlier is due.
 */
static bool released(void *arg)
{
	struct item *it = arg;
	const uint32_t *word;

	if (!it->ring || it->flag_at == NO_FLAG)
		return it->ring == NULL;
	word = (const uint32_t *)(it->ring->shared->host + it->flag_at);
	if (!__atomic_load_n(word, __ATOMIC_ACQUIRE))
		return false;
	if (!it->set_at)
		it->set_at = sim_ring_clock_now(&it->ring->rs->clock);
	return sim_model_now(it->ring->rs->model) >= it->set_at;
}

/* ---- rings ---------------------------------------------------------------------------------- */

int sim_rings_attach_memory(struct sim_rings *rs, struct sim_file *f, struct sim_ring *memory)
{
	unsigned int n = 0;
	struct ring *r;

	for (r = rs->rings; r; r = r->next)
		n += r->file == f;
	if (n >= MAX_RINGS_OF_FILE)
		return -EBUSY;
	r = calloc(1, sizeof(*r));
	if (!r)
		return -ENOMEM;
	r->rs = rs;
	r->file = f;
	r->shared = memory;
	r->tail = __atomic_load_n(&memory->tail, __ATOMIC_RELAXED);
	r->next = rs->rings;
	rs->rings = r;
	return 0;
}

int sim_rings_attach(struct sim_rings *rs, struct sim_file *f, int memfd)
{
	void *p;
	int r = sim_memfd_map(memfd, sizeof(struct sim_ring), &p);

	if (r < 0)
		return r == -ENOTSUP ? -EINVAL : r;
	r = sim_rings_attach_memory(rs, f, p);
	if (r < 0)
		munmap(p, sizeof(struct sim_ring));
	else
		rs->rings->mapped = true;
	return r;
}

static void ring_free(struct sim_rings *rs, struct ring *r)
{
	while (r->items)
		bury(rs, r->items);
	if (r->mapped)
		munmap(r->shared, sizeof(struct sim_ring));
	free(r);
}

void sim_rings_detach(struct sim_rings *rs, struct sim_file *f)
{
	struct ring **at = &rs->rings;

	while (*at) {
		struct ring *r = *at;

		if (r->file != f) {
			at = &r->next;
			continue;
		}
		*at = r->next;
		ring_free(rs, r);
	}
}

void sim_rings_free(struct sim_rings *rs)
{
	if (!rs)
		return;
	while (rs->rings) {
		struct ring *r = rs->rings;

		rs->rings = r->next;
		ring_free(rs, r);
	}
	empty_graves(rs);
	free(rs);
}

void sim_rings_channel_gone(void *user, struct sim_channel *ch)
{
	struct sim_rings *rs = user;

	for (struct ring *r = rs->rings; r; r = r->next)
		for (struct item *it = r->items, *next; it; it = next) {
			next = it->next;
			if (it->channel != ch)
				continue;
			it->channel = NULL;
			if (!it->done)
				bury(rs, it);
		}
}

/* ---- in ------------------------------------------------------------------------------------- */

static bool decode(struct ring *r, const struct sim_ring_entry *e, struct sim_work *w,
		   struct item *it)
{
	it->flag_at = NO_FLAG;
	if (e->slot >= SIM_RING_SLOTS)
		return false;
	it->slot = e->slot;
	it->stamp = e->stamp;
	it->channel = sim_rm_channel(r->rs->rm, r->file, e->client, e->channel);
	if (!it->channel || e->blocks > MAX_BLOCKS || e->block_ns > MAX_BLOCK_NS ||
	    e->limit_ns > MAX_BLOCK_NS || e->bytes > MAX_BLOCKS)
		return false;
	w->blocks = e->blocks;
	w->block_ns = e->block_ns;
	w->bytes = e->bytes;
	switch (e->kind) {
	case SIM_RING_KERNEL:
		w->kind = SIM_WORK_KERNEL;
		return true;
	case SIM_RING_COPY:
		w->kind = SIM_WORK_COPY;
		return true;
	case SIM_RING_MARK:
		w->kind = SIM_WORK_MARK;
		return true;
	case SIM_RING_HOLD:
		if (e->flag_at > SIM_RING_HOST_SIZE - 4 || e->flag_at % 4)
			return false;
		it->flag_at = e->flag_at;
		w->kind = SIM_WORK_HOLD;
		w->limit_ns = e->limit_ns;
		w->released = released;
		w->arg = it;
		return true;
	}
	return false;
}

/*
 * When the GPU sees the entry: the client's own time of the call, within limits, plus the launch
 * time. After a while without work the model's time is behind; an entry is still not due before the
 * call.
 */
static uint64_t entry_due(struct ring *r, const struct sim_ring_entry *e)
{
	const struct sim_rings *rs = r->rs;
	uint64_t now = sim_model_now(rs->model);
	uint64_t at = to_sim(&rs->clock, e->submitted_ns);

	if (at > now && at > sim_ring_clock_now(&rs->clock))
		at = 0; /* invalid, since a call cannot be later than now */
	if (now > at + MAX_LATE_NS)
		at = now - MAX_LATE_NS;
	return at + sim_launch_time(rs->model);
}

/* Submits an entry to the model. 0; -ENOSPC: try later; -EINVAL: drop the entry. */
static int submit(struct ring *r, const struct sim_ring_entry *e)
{
	struct sim_work w = { 0 };
	struct item *it = calloc(1, sizeof(*it));
	int err;

	if (!it)
		return -ENOSPC;
	it->ring = r;
	if (!decode(r, e, &w, it)) {
		free(it);
		return -EINVAL;
	}
	w.cookie = (uintptr_t)it;
	item_link(r, it);
	err = sim_work_submit(it->channel, &w);
	if (err < 0) {
		item_unlink(it);
		free(it);
	}
	return err == -ENOSPC ? -ENOSPC : err < 0 ? -EINVAL : 0;
}

/*
 * Takes entries that are due from the ring. Returns when the next entry is due. UINT64_MAX: the
 * ring is empty, or the next entry must wait for a completion.
 */
static uint64_t take_entries(struct ring *r, uint64_t now)
{
	uint32_t head = __atomic_load_n(&r->shared->head, __ATOMIC_ACQUIRE);
	uint64_t due = UINT64_MAX;

	if (head - r->tail > SIM_RING_ENTRIES) { /* invalid: start over at the client's value */
		r->rs->bad++;
		r->tail = head;
	}
	while (r->tail != head) {
		struct sim_ring_entry e = r->shared->entry[r->tail % SIM_RING_ENTRIES];
		int err;

		due = entry_due(r, &e);
		if (due > now)
			break;
		due = UINT64_MAX;
		err = r->n < MAX_OUTSTANDING ? submit(r, &e) : -ENOSPC;
		if (err == -ENOSPC)
			break;
		r->rs->bad += err < 0;
		r->tail++;
	}
	__atomic_store_n(&r->shared->tail, r->tail, __ATOMIC_RELEASE);
	return due;
}

/* ---- out ------------------------------------------------------------------------------------ */

void sim_rings_done(void *user, struct sim_channel *ch, uint64_t cookie, uint64_t ns)
{
	struct sim_rings *rs = user;
	struct item *it = (struct item *)(uintptr_t)cookie;

	if (!it->ring)
		return;
	it->done = true;
	it->done_ns = ns;
	it->visible_ns = ns + sim_notice_time(rs->model);
	if (it->visible_ns < rs->next)
		rs->next = it->visible_ns;
}

static void publish(struct ring *r, struct item *it)
{
	struct sim_ring *s = r->shared;

	if (it->stamp < SIM_RING_STAMPS)
		__atomic_store_n(&s->stamp_ns[it->stamp], it->done_ns, __ATOMIC_RELAXED);
	__atomic_store_n(&s->done[it->slot],
			 __atomic_load_n(&s->done[it->slot], __ATOMIC_RELAXED) + 1,
			 __ATOMIC_RELEASE);
	r->wake = true;
}

/* Publishes completions in the order of submission, since a slot's counter counts in that order. */
static uint64_t publish_due(struct ring *r, uint64_t now)
{
	bool waits[SIM_RING_SLOTS] = { false };
	uint64_t due = UINT64_MAX;

	for (struct item *it = r->items, *next; it; it = next) {
		next = it->next;
		if (waits[it->slot])
			continue;
		if (it->done && it->visible_ns <= now) {
			publish(r, it);
			bury(r->rs, it);
			continue;
		}
		waits[it->slot] = true;
		if (it->done && it->visible_ns < due)
			due = it->visible_ns;
	}
	return due;
}

static void wake(struct ring *r)
{
	struct sim_ring *s = r->shared;

	if (!r->wake)
		return;
	r->wake = false;
	__atomic_add_fetch(&s->seq, 1, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&s->waiters, __ATOMIC_SEQ_CST))
		syscall(SYS_futex, &s->seq, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

void sim_rings_run(struct sim_rings *rs, uint64_t now)
{
	rs->next = UINT64_MAX;
	for (struct ring *r = rs->rings; r; r = r->next) {
		uint64_t due;

		due = take_entries(r, now);
		if (due < rs->next)
			rs->next = due;
		due = publish_due(r, now);
		if (due < rs->next)
			rs->next = due;
		wake(r);
	}
	empty_graves(rs);
}
