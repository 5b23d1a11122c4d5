// SPDX-License-Identifier: GPL-2.0-only
/* test_hold.c - check in which order the module's holder takes effect, without a kernel */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdbool.h>

#include "gpusched/module.h"

/* Stand for the headers that hold.c includes. */
#define GPUSCHED_ACT_H
#define GPUSCHED_POLICY_H
#define GPUSCHED_SAY_H

struct file {
	int unused;
};
struct work_struct {
	int unused;
};
struct tsg {
	bool told;
};
enum wisher { WISH_POLICY, WISH_HOLDER };

#define DEFINE_MUTEX(name) int name
#define DECLARE_DELAYED_WORK(name, fn) void (*name)(struct work_struct *) = (fn)
#define READ_ONCE(x) (x)
#define WRITE_ONCE(x, value) ((x) = (value))
#define mutex_lock(m) ((void)(m))
#define mutex_unlock(m) ((void)(m))
#define spin_lock(m) ((void)0)
#define spin_unlock(m) ((void)0)
#define mod_delayed_work(queue, work, when) ((void)(work))
#define cancel_delayed_work_sync(work) ((void)(work))
#define msecs_to_jiffies(ms) (ms)
#define schedule_timeout_uninterruptible(t) ((void)(t))
#define pr_warn(...) ((void)0)
#define HZ 100

static bool alive, owns;
/* How often wishes began to count, and whether the policy was the holder's at the last time. */
static int begins;
static bool owned_at_begin;
static int greeted;

static bool say_alive(void)
{
	return alive;
}

static void say_set_alive(bool is)
{
	if (is && !alive) {
		begins++;
		owned_at_begin = owns;
	}
	alive = is;
}

static void say_set_owns_policy(bool is)
{
	owns = is;
}

static void policy_greet(void)
{
	greeted++;
}

static void act_unwish_all(enum wisher by)
{
}

static void act_look(struct tsg *t)
{
}

static int tsg_each(void (*fn)(struct tsg *t, void *data), void *data)
{
	return 0;
}

#include "../../driver/module/hold.c"

static struct file daemon_file, other;

static int setup(void **state)
{
	begins = greeted = 0;
	return 0;
}

static int teardown(void **state)
{
	hold_drop(&daemon_file);
	hold_stop();
	return 0;
}

static void test_owns_its_policy_from_the_first_wish(void **state)
{
	assert_int_equal(hold_take(&daemon_file, GPUSCHED_MODULE_OWN_POLICY), 0);
	assert_int_equal(begins, 1);
	assert_true(owned_at_begin);
	assert_int_equal(greeted, 1);
	hold_drop(&daemon_file);
	assert_false(owns);
	assert_int_equal(hold_take(&daemon_file, 0), 0);
	assert_int_equal(begins, 2);
	assert_false(owned_at_begin);
}

static void test_heartbeats_keep_the_owner(void **state)
{
	assert_int_equal(hold_take(&daemon_file, GPUSCHED_MODULE_OWN_POLICY), 0);
	hold_lost(NULL);
	assert_int_equal(hold_check(&daemon_file), -ETIMEDOUT);
	assert_int_equal(hold_beat(&daemon_file), 0);
	assert_int_equal(begins, 2);
	assert_true(owned_at_begin);
	assert_int_equal(greeted, 2);
}

static void test_a_refused_file_changes_nothing(void **state)
{
	assert_int_equal(hold_take(&daemon_file, 0), 0);
	assert_int_equal(hold_take(&other, GPUSCHED_MODULE_OWN_POLICY), -EBUSY);
	assert_int_equal(hold_take(&daemon_file, ~0ul), -EINVAL);
	assert_int_equal(hold_beat(&other), -EPERM);
	assert_int_equal(hold_check(&other), -EPERM);
	assert_false(owns);
	assert_int_equal(greeted, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_owns_its_policy_from_the_first_wish, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_heartbeats_keep_the_owner, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_refused_file_changes_nothing, setup,
						teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
