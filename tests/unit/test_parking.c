// SPDX-License-Identifier: MIT
/* test_parking.c - check the daemon's side of parking: records, or the daemon, end meanwhile */
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utlist.h>

#include <cmocka.h>

#include "basic/clock.h"
#include "basic/env.h"
#include "basic/user_limits.h"
#include "classify/classify.h"
#include "config/config.h"
#include "hub/limited.h"
#include "park/on_use.h"
#include "park/parking.h"
#include "process/process.h"

static struct {
	char *names[1], be[3];
	struct gs_config config;
	_Alignas(8) unsigned char table
		[4096]; /* serves as a struct gs_table without maps: each descriptor is -1 */
	struct gs_hub hub;
	struct gs_parking pk;
	uint32_t class_id;
} world;

static int never(sd_event_source *src, uint64_t us, void *user)
{
	return 0;
}

/*
 * Makes a parking whose helper seems to have just reported that there is no libcuda, so that no
 * helper process is started.
 */
static int setup(void **state)
{
	memset(&world, 0, sizeof(world));
	memset(world.table, 0xff, sizeof(world.table));
	snprintf(world.be, sizeof(world.be), "be");
	world.names[0] = world.be;
	world.config.unpark_on_use = (struct gs_texts){ world.names, NULL, 1 };
	world.hub.config = &world.config;
	world.hub.table = (struct gs_table *)(void *)world.table;
	world.pk.hub = &world.hub;
	world.pk.greeted = true;
	world.pk.usable = -ENOSYS;
	world.pk.hello_ns = gs_now_ns();
	world.pk.helper.fd = world.pk.helper.pidfd = -1;
	assert_int_equal(gs_classes_new(&world.hub.classes), 0);
	assert_int_equal(gs_class_id(world.hub.classes, "be", &world.class_id), 0);
	assert_true(sd_event_new(&world.hub.event) >= 0);
	assert_true(sd_event_add_time(world.hub.event, &world.pk.due, CLOCK_MONOTONIC, UINT64_MAX,
				      1, never, NULL) >= 0);
	return 0;
}

static int teardown(void **state)
{
	struct gs_parked *p, *next;

	DL_FOREACH_SAFE(world.pk.all, p, next) {
		DL_DELETE(world.pk.all, p);
		gs_parked_unref(p);
	}
	sd_event_source_disable_unref(world.pk.due);
	sd_event_unref(world.hub.event);
	gs_classes_free(world.hub.classes);
	return 0;
}

static struct gs_parked *add(int32_t pid, enum gs_parked_over over, enum gs_park_state is)
{
	struct gs_parked *p = gs_parked_new(pid, 5 * NS_PER_S);

	p->class_id = world.class_id;
	p->by_itself = true;
	p->over = over;
	p->core = (struct gs_park){ GS_PARK_WISH_SETTLE, .known = true, .is = is, .touched = true };
	DL_APPEND(world.pk.all, p);
	return p;
}

static struct gs_parked *wants_to_work(int32_t pid)
{
	struct gs_parked *p = add(pid, GS_PARKED_IS_OUT, GS_PARK_IS_OUT);

	p->counted = p->used = true;
	return p;
}

/*
 * ---- a record that ends while others come back -------------------------------------------------
 */

/*
 * Bringing a program back looks at all records. The records after it turn out to be of running
 * programs, so they end and are freed: the walk over the records must not go on from one of them.
 */
static void a_record_ends_while_another_is_brought_back(void **state)
{
	struct gs_parked *first = wants_to_work(11), *last;

	mallopt(M_PERTURB, 0xa5); /* freed records are overwritten */
	add(12, GS_PARKED_UNDER_WAY, GS_PARK_RUNNING);
	add(13, GS_PARKED_UNDER_WAY, GS_PARK_RUNNING);
	last = wants_to_work(14);
	gs_park_on_use_beat(&world.pk);
	mallopt(M_PERTURB, 0);
	assert_null(gs_parking_find(&world.pk, 12));
	assert_null(gs_parking_find(&world.pk, 13));
	assert_int_equal(first->core.wish, GS_PARK_WISH_IN);
	assert_int_equal(last->core.wish, GS_PARK_WISH_IN);
	assert_int_equal(world.hub.counters[GS_SVC_UNPARKED_ON_USE], 2);
}

/* A waiter with a reference may still ask for an ended record; that has no effect. */
static void an_unpark_of_an_ended_record_does_nothing(void **state)
{
	struct gs_parked *p = add(11, GS_PARKED_UNDER_WAY, GS_PARK_RUNNING);

	gs_parked_ref(p);
	gs_parking_go_on(&world.pk);
	assert_int_equal(p->over, GS_PARKED_RUNS);
	assert_int_equal(p->refs, 1);
	p->used = p->counted = true;
	gs_parking_in(&world.pk, p);
	gs_parking_stay(&world.pk, p);
	gs_park_use_counts(&world.pk, 11, 5 * NS_PER_S, 7);
	gs_park_on_use_beat(&world.pk);
	assert_int_equal(p->over, GS_PARKED_RUNS);
	assert_int_equal(p->core.wish, GS_PARK_WISH_SETTLE);
	assert_null(world.pk.all);
	gs_parked_unref(p);
}

/*
 * ---- the daemon's end --------------------------------------------------------------------------
 */

static void make_gate(void)
{
	char path[300];
	int fd;

	snprintf(path, sizeof(path), "%s/bpf", gs_env()->sim_dir);
	mkdir(path, 0700);
	mkdir(gs_env()->bpffs, 0700);
	snprintf(path, sizeof(path), "%s/gate", gs_env()->bpffs);
	fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	close(fd);
}

/* No window may open after the parking's end, since nothing would close it. */
static void no_window_opens_after_the_end(void **state)
{
	struct gs_parked *p = wants_to_work(11);

	make_gate();
	world.hub.opts.daemon = true;
	world.config.gate = true;
	assert_true(gs_park_newcomers_gate(&world.pk));
	gs_parking_in(&world.pk, p);
	assert_int_equal(p->over, GS_PARKED_UNDER_WAY);
	assert_true(world.pk.window.open_ns);
	gs_parking_end(&world.pk);
	assert_false(world.pk.window.open_ns);
	gs_park_newcomers_tend(&world.pk);
	assert_false(world.pk.window.open_ns);
	gs_parking_in(&world.pk, p); /* the loop still handles requests */
	gs_parking_beat(&world.pk);
	assert_false(world.pk.window.open_ns);
	assert_int_equal(p->over, GS_PARKED_UNDER_WAY);
}

/*
 * ---- signs -------------------------------------------------------------------------------------
 */

static void a_count_from_before_the_lock_outlives_the_daemon(void **state)
{
	struct gs_parked *p = gs_parked_new(11, 5 * NS_PER_S), *back = NULL;
	struct gs_error err = { 0 };
	char *text;

	p->class_id = world.class_id;
	p->by_itself = true;
	DL_APPEND(world.pk.all, p);
	gs_park_use_counts(&world.pk, 11, 5 * NS_PER_S, 40);
	assert_true(world.pk.dirty);
	p->core.touched = true;
	text = gs_parked_text(world.pk.all, "boot");
	assert_int_equal(gs_parked_parse(&back, text, "boot", &err), 0);
	free(text);
	DL_DELETE(world.pk.all, p);
	gs_parked_unref(p);
	DL_APPEND(world.pk.all, back); /* the next daemon's, which has yet to ask for its state */
	gs_park_use_counts(&world.pk, 11, 5 * NS_PER_S, 41);
	assert_true(back->used);
	gs_park_on_use_beat(&world.pk);
	assert_int_equal(back->core.wish, GS_PARK_WISH_SETTLE); /* first asks for its state */
	back->core.known = true;
	back->core.is = GS_PARK_IS_OUT;
	gs_parking_go_on(&world.pk);
	gs_park_on_use_beat(&world.pk);
	assert_int_equal(back->core.wish, GS_PARK_WISH_IN);
	gs_park_use_counts(&world.pk, 11, 5 * NS_PER_S, 41);
	assert_false(back->used);          /* the same call does not count twice */
	assert_int_equal(back->calls, 40); /* the number that a further daemon compares with */
}

/* The lock waits for the probes, so that no call is missed, but only until a time limit. */
static void a_lock_waits_for_probes(void **state)
{
	struct gs_parked *p = add(11, GS_PARKED_UNDER_WAY, GS_PARK_RUNNING);

	p->core.wish = GS_PARK_WISH_OUT;
	p->probe = GS_PARK_PROBE_AWAITED;
	p->probe_ns = gs_now_ns() + 600 * NS_PER_S;
	gs_parking_go_on(&world.pk);
	assert_false(p->core.failed); /* the helper was not asked */
	p->probe_ns = gs_now_ns() - 1;
	gs_parking_go_on(&world.pk);
	assert_true(p->core.failed);
}

/*
 * ---- the helper's calls ------------------------------------------------------------------------
 */

/* A helper that takes requests and never answers. */
static void have_helper(int ends[2])
{
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
	world.pk.usable = 0;
	world.pk.helper = (struct gs_park_helper){ .pid = INT32_MAX, .fd = ends[0], .pidfd = -1 };
}

static void drop_helper(int ends[2])
{
	world.pk.helper = (struct gs_park_helper){ .fd = -1, .pidfd = -1 };
	close(ends[0]);
	close(ends[1]);
}

static struct gs_parked *comes_back(int32_t pid, uint32_t uid)
{
	struct gs_parked *p = add(pid, GS_PARKED_UNDER_WAY, GS_PARK_IS_OUT);

	p->core.wish = GS_PARK_WISH_IN;
	p->by = p->uid = uid;
	p->by_itself = false;
	return p;
}

/* The process that the next call is for; NULL: none is made. */
static struct gs_parked *next_asked(void)
{
	struct gs_parked *p;

	gs_parking_go_on(&world.pk);
	p = world.pk.busy ? world.pk.asked_of : NULL;
	world.pk.busy = false;
	world.pk.asked_of = NULL;
	return p;
}

static void take_place(size_t i, uint32_t uid)
{
	world.pk.aside[i].helper.pid = INT32_MAX;
	world.pk.aside[i].uid = uid;
}

/* Copies of three users hang: what a fourth user's would do to root's is not tried. */
static void no_copy_begins_without_a_place(void **state)
{
	struct gs_parked *p, *locked, *roots;
	int ends[2];

	have_helper(ends);
	for (size_t i = 0; i < GS_PARK_ASIDE - 2; i++)
		take_place(i, 4000 + (uint32_t)i / GS_USER_MAY_COPIES);
	p = comes_back(11, 4100);
	assert_null(next_asked());
	p->urgent = true;
	assert_ptr_equal(next_asked(), p);
	take_place(GS_PARK_ASIDE - 2, 4100);
	assert_null(next_asked());
	roots = comes_back(12, 0);
	assert_ptr_equal(next_asked(), roots);
	roots->core.wish = GS_PARK_WISH_SETTLE;
	locked = comes_back(13, 4101);
	locked->core.wish = GS_PARK_WISH_OUT;
	locked->core.is = GS_PARK_LOCKED;
	assert_ptr_equal(next_asked(), locked);
	assert_int_equal(world.pk.asked.op, GS_PARK_UNLOCK); /* it must not stay locked */
	assert_true(locked->core.failed);
	assert_non_null(strstr(locked->why.text, "all helpers"));
	world.pk.aside[0].helper.pid = 0;
	locked->core.wish = GS_PARK_WISH_SETTLE;
	locked->core.is = GS_PARK_IS_OUT;
	p->urgent = false;
	assert_ptr_equal(next_asked(), p);
	drop_helper(ends);
}

/* Nobody asked for idle programs, and the policy is not root: both take their users' turns. */
static void idle_programs_take_their_users_turns(void **state)
{
	struct gs_parked *idle, *roots, *parked_by_root;
	int ends[2];

	have_helper(ends);
	idle = comes_back(11, 4100);
	idle->by = 0;
	idle->by_itself = true;
	roots = comes_back(12, 0);
	gs_park_turns_took(&world.pk.turns, 0, gs_now_ns(), NS_PER_S);
	assert_ptr_equal(next_asked(), roots);
	roots->core.wish = GS_PARK_WISH_SETTLE;
	parked_by_root = comes_back(13, 4200);
	parked_by_root->by = 0;
	gs_park_turns_took(&world.pk.turns, 4200, gs_now_ns(), NS_PER_S);
	assert_ptr_equal(next_asked(), parked_by_root);
	drop_helper(ends);
}

/* A user's calls hung: that holds back what the user wants, and not what root wants. */
static void root_does_not_wait_out_a_users_hangs(void **state)
{
	struct gs_parked *p;
	int ends[2];

	have_helper(ends);
	for (int i = 0; i < 3; i++)
		gs_park_turns_hung(&world.pk.turns, 4100, gs_now_ns(), 1);
	p = comes_back(11, 4100);
	assert_null(next_asked());
	p->by = 0;
	p->by_itself = true;
	assert_null(next_asked());
	p->by_itself = false;
	assert_ptr_equal(next_asked(), p);
	drop_helper(ends);
}

/* A user's copy that may take minutes keeps root's wish waiting for 10 s, and no other's. */
static void root_does_not_wait_until_a_copy_is_overdue(void **state)
{
	struct gs_parked *p, *q;
	int ends[2];

	have_helper(ends);
	p = comes_back(11, 4100);
	p->bytes[0] = 80ull << 30;
	gs_parking_go_on(&world.pk);
	assert_ptr_equal(world.pk.asked_of, p);
	q = comes_back(12, 0);
	world.pk.began_ns -= 20 * NS_PER_S;
	gs_parking_go_on(&world.pk);
	assert_false(p->hangs); /* root's program was not asked for by root's `unpark` */
	q->urgent = true;
	world.pk.began_ns += 20 * NS_PER_S;
	gs_parking_go_on(&world.pk);
	assert_false(p->hangs);
	world.pk.began_ns -= 20 * NS_PER_S;
	p->urgent = true; /* root asked for both: they are equal */
	gs_parking_go_on(&world.pk);
	assert_false(p->hangs);
	p->urgent = false;
	gs_parking_go_on(&world.pk);
	assert_true(p->hangs);
	assert_int_equal(world.hub.counters[GS_SVC_PARK_ASIDE], 1);
	assert_ptr_equal(world.pk.aside[0].asked_of, p);
	assert_false(world.pk.busy && world.pk.asked_of == p);
	sd_event_source_disable_unref(world.pk.aside[0].answers);
	gs_parking_leave_helper(&world.pk, true); /* the next one, if it could be started */
	gs_limited_free(&world.hub);
	drop_helper(ends);
}

/*
 * ---- what was promised -------------------------------------------------------------------------
 */

static void restores_under_way_are_promised_their_bytes(void **state)
{
	struct gs_park_aside *l = &world.pk.aside[3];

	world.pk.busy = true;
	world.pk.asked = (struct gs_park_request){ .op = GS_PARK_IN, .bytes = { 3 } };
	l->helper.pid = INT32_MAX;
	l->asked = (struct gs_park_request){ .op = GS_PARK_IN, .bytes = { 4 } };
	assert_int_equal(gs_park_claims_of_restores(&world.pk, 0), 7);
	assert_int_equal(gs_park_claims_of_restores(&world.pk, 1), 0);
	assert_int_equal(gs_park_claims_of_restores(&world.pk, GS_PARK_GPUS), 0);
	world.pk.busy = false;
	assert_int_equal(gs_park_claims_of_restores(&world.pk, 0), 4);
	l->asked.op = GS_PARK_OUT;
	assert_int_equal(gs_park_claims_of_restores(&world.pk, 0), 0);
}

static struct gs_park_claim claim_of(int32_t pid, uint32_t uid)
{
	return (struct gs_park_claim){
		.pid = pid, .uid = uid, .bytes = 8ull << 30, .start_ns = gs_proc_start_ns(pid)
	};
}

/* A restore leaves what a program that starts was promised, unless root wants it. */
static void restores_leave_what_was_promised(void **state)
{
	const struct gs_park_claim claim = claim_of(getpid(), 4000);
	struct gs_parked *p = comes_back(11, 4100);
	int ends[2];

	have_helper(ends);
	p->bytes[0] = 1;
	gs_park_claims_add(&world.pk, &claim);
	gs_park_claims_add(&world.pk, &claim); /* it asks again */
	assert_int_equal(gs_park_claims_open(&world.pk, 0, 0), 8ull << 30);
	assert_int_equal(gs_park_claims_open(&world.pk, 1, 0), 0);
	assert_int_equal(gs_park_claims_open(&world.pk, 0, getpid()), 0);
	assert_ptr_equal(next_asked(), p);
	assert_int_equal(world.pk.asked.margin[0], 9ull << 30);
	p->urgent = true;
	assert_ptr_equal(next_asked(), p);
	assert_int_equal(world.pk.asked.margin[0], 1ull << 30);
	drop_helper(ends);
}

static void a_claim_ends(void **state)
{
	struct gs_park_claim claim = claim_of(getpid(), 4000);
	uint64_t began = gs_now_ns();

	gs_park_claims_add(&world.pk, &claim);
	world.pk.claims.all[0].since_ns = began - 121 * NS_PER_S;
	assert_int_equal(gs_park_claims_open(&world.pk, 0, 0), 0);
	assert_int_equal(world.pk.claims.n, 0);
	claim.pid = INT32_MAX; /* it has ended */
	gs_park_claims_add(&world.pk, &claim);
	assert_int_equal(gs_park_claims_open(&world.pk, 0, 0), 0);
}

static void claims_are_shared_out(void **state)
{
	struct gs_park_claim claim = claim_of(getpid(), 4000);

	for (claim.gpu = 0; claim.gpu < 2 * GS_PARK_CLAIMS; claim.gpu++)
		gs_park_claims_add(&world.pk, &claim);
	assert_true(world.pk.claims.n <= GS_PARK_CLAIMS / 2);
	claim.uid = 4001;
	gs_park_claims_add(&world.pk, &claim);
	assert_int_equal(gs_park_claims_open(&world.pk, claim.gpu, 0), 8ull << 30);
}

/* Setting probes blocks every fork() on the host, so there are few settings a minute. */
static void settings_of_probes_are_shared_out(void **state)
{
	unsigned int first = 0, second = 0;

	while (first < 100 && gs_park_sign_has_budget(&world.pk, 4000))
		first++;
	while (second < 100 && gs_park_sign_has_budget(&world.pk, 4001))
		second++;
	assert_in_range(first, 10, 15);
	assert_in_range(second, 5, first);
	assert_true(gs_park_sign_has_budget(&world.pk, 0));
	world.pk.settings_ns = gs_now_ns() - 60 * NS_PER_S;
	assert_true(gs_park_sign_has_budget(&world.pk, 4000));
	gs_shares_done(&world.pk.settings);
}

#define T(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_record_ends_while_another_is_brought_back),
		T(an_unpark_of_an_ended_record_does_nothing),
		T(no_window_opens_after_the_end),
		T(a_count_from_before_the_lock_outlives_the_daemon),
		T(a_lock_waits_for_probes),
		T(no_copy_begins_without_a_place),
		T(idle_programs_take_their_users_turns),
		T(root_does_not_wait_out_a_users_hangs),
		T(root_does_not_wait_until_a_copy_is_overdue),
		T(restores_under_way_are_promised_their_bytes),
		T(restores_leave_what_was_promised),
		T(a_claim_ends),
		T(claims_are_shared_out),
		T(settings_of_probes_are_shared_out),
	};
	char dir[] = "/tmp/gst-parking.XXXXXX", rm[64];
	int r;

	if (!mkdtemp(dir) || setenv("GPUSCHED_SIM", dir, 1))
		return 1;
	r = cmocka_run_group_tests(tests, NULL, NULL);
	snprintf(rm, sizeof(rm), "rm -r %s", dir);
	return system(rm) ? 1 : r;
}
