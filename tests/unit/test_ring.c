/* SPDX-License-Identifier: MIT */
/* test_ring.c - check launches through the simulator's ring, and rings with hostile content */
#include "simrm_world.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "basic/clock.h"

static struct sim_ring ring;

static void begin(struct simrm_world *w, struct world_tsg *t)
{
	uint8_t on[3] = { 1 };

	memset(&ring, 0, sizeof(ring));
	world_new(w, 580);
	world_tsg(w, t, 0, 1);
	assert_int_equal(world_control(w, t->file, t->client, t->tsg, 0xa06c0101, on, 3), 0);
	assert_int_equal(sim_rings_attach_memory(w->rings, t->file, &ring), 0);
}

static void end(struct simrm_world *w, struct world_tsg *t)
{
	sim_rm_release(w->rm, t->file);
	sim_rings_detach(w->rings, t->file);
	world_free(w);
}

static struct sim_ring_entry *put(const struct world_tsg *t)
{
	struct sim_ring_entry *e = &ring.entry[ring.head++ % SIM_RING_ENTRIES];

	*e = (struct sim_ring_entry){
		.client = t->client,
		.channel = t->channel[0],
		.slot = 3,
		.stamp = SIM_RING_NO_STAMP,
		.blocks = 1,
		.block_ns = 10000,
	};
	return e;
}

/* Advances model time to @ns, and runs all that becomes due. */
static void run_until(struct simrm_world *w, uint64_t ns)
{
	for (;;) {
		uint64_t next = sim_model_next(w->model), due;

		sim_rings_run(w->rings, sim_model_now(w->model));
		due = sim_rings_next(w->rings);
		next = sim_model_next(w->model);
		if (due < next)
			next = due;
		if (next > ns)
			break;
		sim_model_advance(w->model, next);
	}
	sim_model_advance(w->model, ns);
	sim_rings_run(w->rings, ns);
}

static void kernels_complete(void **s)
{
	struct simrm_world w;
	struct world_tsg t;

	begin(&w, &t);
	put(&t)->stamp = 5;
	put(&t);
	run_until(&w, 1000000);
	assert_int_equal(ring.done[3], 2);
	assert_int_equal(ring.tail, 2);
	assert_int_not_equal(ring.seq, 0);
	assert_in_range(ring.stamp_ns[5], 10000, 1000000);
	assert_int_equal(sim_rings_bad(w.rings), 0);
	end(&w, &t);
}

static void hold_waits_for_its_flag(void **s)
{
	struct simrm_world w;
	struct world_tsg t;
	struct sim_ring_entry *e;

	uint64_t now;

	world_clock_start = gs_now_ns() - 100000000; /* model time is 100 ms behind the launches */
	begin(&w, &t);
	e = put(&t);
	e->kind = SIM_RING_HOLD;
	e->limit_ns = 10000000000;
	e->flag_at = 128;
	put(&t); /* queued behind the hold, so that the turn goes on */
	run_until(&w, 5000000);
	assert_int_equal(ring.done[3], 0);
	*(uint32_t *)(ring.host + 128) = 1;
	run_until(&w, 99000000); /* just before the launches are due */
	assert_int_equal(ring.done[3], 0);
	now = gs_now_ns() - world_clock_start;
	run_until(&w, now + 1000000);
	assert_int_equal(ring.done[3], 2);
	end(&w, &t);
	world_clock_start = 0;
}

static void hold_ends_at_its_limit(void **s)
{
	struct simrm_world w;
	struct world_tsg t;
	struct sim_ring_entry *e;

	begin(&w, &t);
	e = put(&t);
	e->kind = SIM_RING_HOLD;
	e->limit_ns = 2000000;
	run_until(&w, 1900000);
	assert_int_equal(ring.done[3], 0);
	run_until(&w, 3000000);
	assert_int_equal(ring.done[3], 1);
	end(&w, &t);
}

static void nonsense_is_dropped(void **s)
{
	struct simrm_world w;
	struct world_tsg t;
	unsigned int bad = 0;

	begin(&w, &t);
	put(&t)->slot = SIM_RING_SLOTS;
	put(&t)->kind = 77;
	put(&t)->channel = 0x1234;
	put(&t)->client = 0x1234;
	put(&t)->channel = t.tsg;
	put(&t)->blocks = UINT64_MAX;
	put(&t)->block_ns = UINT64_MAX;
	put(&t)->bytes = UINT64_MAX;
	bad = 8;
	put(&t)->kind = SIM_RING_HOLD;
	ring.entry[8].flag_at = SIM_RING_HOST_SIZE - 2;
	put(&t)->kind = SIM_RING_HOLD;
	ring.entry[9].flag_at = 6;
	bad += 2;
	put(&t)->stamp = 0x7fffffff; /* the launch counts, but has no stamp */
	put(&t)->submitted_ns = UINT64_MAX;
	run_until(&w, 10000000);
	assert_int_equal(sim_rings_bad(w.rings), bad);
	assert_int_equal(ring.done[3], 2);
	end(&w, &t);
}

/* After hours without work, the next launch is a single event, not one per launch time passed. */
static void idle_time_is_one_step(void **s)
{
	/*
	 * The world's clock starts at 0. A double must hold this number, however long the uptime.
	 */
	const uint64_t called = gs_now_ns() & ~1023ull;
	struct simrm_world w;
	struct world_tsg t;

	begin(&w, &t);
	put(&t)->submitted_ns = called;
	sim_rings_run(w.rings, sim_model_now(w.model));
	assert_int_equal(sim_rings_next(w.rings), called + w.params.launch_ns);
	run_until(&w, called + 1000000);
	assert_int_equal(ring.done[3], 1);
	end(&w, &t);
}

/*
 * Launches with a time in the future count as made now. They do not make the server look again and
 * again.
 */
static void future_calls_count_as_made(void **s)
{
	struct simrm_world w;
	struct world_tsg t;

	begin(&w, &t);
	run_until(&w, 5000000);
	put(&t)->submitted_ns = gs_now_ns() + 60000000000;
	put(&t)->submitted_ns = UINT64_MAX;
	sim_rings_run(w.rings, sim_model_now(w.model));
	assert_int_equal(ring.tail, 2);
	assert_int_equal(sim_rings_next(w.rings), UINT64_MAX);
	end(&w, &t);
}

static void foreign_channels_are_refused(void **s)
{
	struct simrm_world w;
	struct world_tsg t, other;
	struct sim_ring_entry *e;

	begin(&w, &t);
	world_tsg(&w, &other, 0, 1);
	e = put(&t);
	e->client = other.client;
	e->channel = other.channel[0];
	run_until(&w, 1000000);
	assert_int_equal(sim_rings_bad(w.rings), 1);
	end(&w, &t);
}

static void spoilt_indices(void **s)
{
	struct simrm_world w;
	struct world_tsg t;

	begin(&w, &t);
	ring.head = 0x80000000u;
	run_until(&w, 1000000);
	assert_int_equal(sim_rings_bad(w.rings), 1);
	ring.tail = 12345; /* ignored, since the server has its own copy of the tail */
	put(&t);
	run_until(&w, 2000000);
	assert_int_equal(ring.done[3], 1);
	end(&w, &t);
}

/* Objects are freed while their work is queued, or runs, or is done but not yet reported. */
static void channels_go(void **s)
{
	for (uint64_t at = 1000; at < 200000; at += 3000) {
		struct simrm_world w;
		struct world_tsg t;

		begin(&w, &t);
		for (int i = 0; i < 8; i++)
			put(&t)->kind = i % 3 == 2 ? SIM_RING_HOLD : SIM_RING_KERNEL;
		run_until(&w, at);
		assert_int_equal(
			world_free_object(&w, t.file, t.client, at % 2 ? t.tsg : t.channel[0]), 0);
		run_until(&w, 5000000);
		end(&w, &t);
	}
}

static void full_channel_waits(void **s)
{
	struct simrm_world w;
	struct world_tsg t;
	unsigned int n;

	begin(&w, &t);
	n = w.params.queue_depth + 100;
	assert_true(n < SIM_RING_ENTRIES);
	for (unsigned int i = 0; i < n; i++)
		put(&t)->block_ns = 1000;
	run_until(&w, 100000);
	assert_true(ring.tail < n);
	run_until(&w, 1000000000);
	assert_int_equal(ring.done[3], n);
	assert_int_equal(sim_rings_bad(w.rings), 0);
	end(&w, &t);
}

static void garbage(void **s)
{
	struct simrm_world w;
	struct world_tsg t;
	uint32_t x = 7;
	uint8_t *p = (uint8_t *)&ring;

	begin(&w, &t);
	for (uint64_t round = 1; round < 50; round++) {
		for (size_t i = 0; i < offsetof(struct sim_ring, host); i++) {
			x = x * 1664525 + 1013904223;
			p[i] = (uint8_t)(x >> 24);
		}
		for (int i = 0; i < 64; i++) {
			struct sim_ring_entry *e = put(&t);

			x = x * 1664525 + 1013904223;
			((uint8_t *)e)[x % sizeof(*e)] = (uint8_t)(x >> 16);
		}
		run_until(&w, round * 1000000);
	}
	end(&w, &t);
}

static void memory_must_be_sealed(void **s)
{
	struct simrm_world w;
	struct sim_file *f;
	int fd = memfd_create("ring", MFD_ALLOW_SEALING);

	world_new(&w, 580);
	f = world_open(&w);
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, sizeof(struct sim_ring)), 0);
	assert_int_equal(sim_rings_attach(w.rings, f, fd), -EINVAL);
	assert_int_equal(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK), 0);
	assert_int_equal(sim_rings_attach(w.rings, f, fd), 0);
	for (int i = 1; i < 512; i++) /* as many clients as an MPS server may have */
		assert_int_equal(sim_rings_attach(w.rings, f, fd), 0);
	assert_int_equal(sim_rings_attach(w.rings, f, fd), -EBUSY);
	sim_rings_detach(w.rings, f);
	close(fd);
	fd = memfd_create("short", MFD_ALLOW_SEALING);
	assert_int_equal(ftruncate(fd, 4096), 0);
	assert_int_equal(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK), 0);
	assert_int_equal(sim_rings_attach(w.rings, f, fd), -EINVAL);
	close(fd);
	world_free(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kernels_complete),
		cmocka_unit_test(hold_waits_for_its_flag),
		cmocka_unit_test(hold_ends_at_its_limit),
		cmocka_unit_test(nonsense_is_dropped),
		cmocka_unit_test(idle_time_is_one_step),
		cmocka_unit_test(future_calls_count_as_made),
		cmocka_unit_test(foreign_channels_are_refused),
		cmocka_unit_test(spoilt_indices),
		cmocka_unit_test(channels_go),
		cmocka_unit_test(full_channel_waits),
		cmocka_unit_test(garbage),
		cmocka_unit_test(memory_must_be_sealed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
