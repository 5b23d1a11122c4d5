// SPDX-License-Identifier: MIT
/* test_engine_restore.c - check the restore, the guardian and the lock */
#include "engine_fake.h"
#include "engine/guardian.h"
#include "engine/lock.h"
#include "engine/restore.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>

static char dir[] = "/tmp/gpusched-test-XXXXXX";

static int setup(void **state)
{
	fake_reset();
	return 0;
}

static struct gs_table *table(void)
{
	return (struct gs_table *)&fake;
}

/* Makes a TSG whose settings a daemon, now dead, has changed. */
static struct gpusched_tsg *changed_tsg(uint32_t n, uint32_t gpu, bool suspended)
{
	struct gpusched_tsg *t = fake_tsg(n, gpu);

	t->changed = GPUSCHED_TIMESLICE;
	t->task.is.valid = GPUSCHED_TIMESLICE;
	t->task.is.timeslice_us = fake.hw[fake.n - 1].timeslice_us = 20;
	if (!suspended)
		return t;
	t->changed |= GPUSCHED_RUNNABLE | GPUSCHED_PREEMPT_MODE;
	t->task.is.valid |= GPUSCHED_RUNNABLE | GPUSCHED_PREEMPT_MODE;
	t->task.is.runnable = fake.hw[fake.n - 1].runnable = 0;
	t->task.is.preempt_mode = fake.hw[fake.n - 1].preempt_mode = GPUSCHED_PREEMPT_CTA;
	t->suspend_by = GPUSCHED_BY_POLICY;
	t->suspended_ns = gs_now_ns();
	return t;
}

static void assert_restored(void)
{
	for (unsigned int i = 0; i < fake.n; i++) {
		assert_int_equal(fake.hw[i].timeslice_us, 2048);
		assert_int_equal(fake.hw[i].preempt_mode, 2);
		assert_int_equal(fake.hw[i].runnable, 1);
		assert_int_equal(fake.rec[i].changed, 0);
		assert_int_equal(fake.rec[i].task.is.valid, 0);
		assert_int_equal(fake.rec[i].manual.valid, 0);
		assert_int_equal(fake.rec[i].task.want.valid, 0);
		assert_int_equal(fake.rec[i].suspend_by, 0);
	}
}

static void test_everything_put_back_in_order(void **state)
{
	struct gs_restored res;
	struct gpusched_tsg *untouched;
	unsigned int phase = 0;

	for (uint32_t i = 1; i <= 20; i++) {
		struct gpusched_tsg *t = changed_tsg(i, 0, i % 2);

		t->manual.valid = i % 3 ? 0 : GPUSCHED_TIMESLICE;
		fake_want(t, GPUSCHED_TIMESLICE, 20);
	}
	untouched = fake_tsg(99, 0);
	fake_want(untouched, GPUSCHED_TIMESLICE, 20);
	assert_int_equal(gs_restore(table(), 580, &res, NULL), 0);
	assert_restored();
	assert_int_equal(res.changed, 20);
	assert_int_equal(res.restored, 20);
	assert_int_equal(res.failed + res.gone, 0);
	assert_int_equal(fake.nlog, 20 + 10 + 10);
	for (unsigned int i = 0; i < fake.nlog; i++) {
		unsigned int now = fake.log[i].op == GS_RM_SET_TIMESLICE ? 0
				   : fake.log[i].op == GS_RM_RESUME      ? 2
									 : 1;

		assert_true(now >= phase);
		phase = now;
		assert_int_not_equal(fake.log[i].tsg, 99);
	}
	assert_int_equal(fake.selves, 0);
	/* a second restore has nothing to do */
	assert_int_equal(gs_restore(table(), 580, &res, NULL), 0);
	assert_int_equal(res.changed, 0);
	assert_int_equal(fake.nlog, 40);
}

static void test_stopped_go_on_first(void **state)
{
	struct gs_restored res;

	for (uint32_t i = 1; i <= 4; i++) {
		changed_tsg(i, 0, false);
		fake.stopped[i - 1] = i > 2;
		fake.rec[i - 1].flags |= GPUSCHED_TSG_HELD | GPUSCHED_TSG_GATED;
	}
	assert_int_equal(gs_restore(table(), 580, &res, NULL), 0);
	assert_restored();
	assert_int_equal(res.continued, 2);
	for (unsigned int i = 0; i < 4; i++) {
		assert_false(fake.stopped[i]);
		assert_int_equal(fake.rec[i].flags & GPUSCHED_TSG_HELD, 0);
	}
	for (unsigned int i = 0; i < fake.nlog; i++)
		assert_int_equal(fake.log[i].still_stopped, 0);
}

static void test_suspended_wait_half_a_second_at_most(void **state)
{
	struct gs_restored res;
	uint64_t begin = gs_now_ns();
	uint64_t resumed = 0;

	for (uint32_t i = 1; i <= 200; i++)
		changed_tsg(i, 0, i == 1);
	fake.call_ns = 8 * NS_PER_MS; /* slow, so that the calls for slices take 1.6 s */
	assert_int_equal(gs_restore(table(), 580, &res, NULL), 0);
	assert_restored();
	for (unsigned int i = 0; i < fake.nlog; i++)
		if (fake.log[i].op == GS_RM_RESUME)
			resumed = fake.log[i].ns - begin;
	assert_true(resumed >= 500 * NS_PER_MS);
	assert_true(resumed < 1500 * NS_PER_MS);
}

static void test_gpus_side_by_side_and_one_stuck(void **state)
{
	struct gs_restored res;
	struct gs_error err = { 0 };

	gs_engine_ops.stuck_ns = 500 * NS_PER_MS;
	changed_tsg(1, 0, true);
	changed_tsg(2, 1, true);
	changed_tsg(3, GPUSCHED_GPU_UNKNOWN, true);
	fake_slow(1, 1500 * NS_PER_MS);
	assert_int_equal(gs_restore(table(), 580, &res, &err), -EIO);
	assert_int_equal(res.restored, 2);
	assert_int_equal(res.failed, 1);
	assert_int_equal(fake.hw[1].runnable, 1);
	assert_int_equal(fake.hw[2].timeslice_us, 2048);
	/* the worker that is left behind ends by itself, and does not change the table */
	gs_sleep_ns(2 * NS_PER_S);
	assert_int_not_equal(fake.rec[0].changed, 0);
	fake_slow(0, 0);
	assert_int_equal(gs_restore(table(), 580, &res, NULL), 0);
	assert_restored();
}

/*
 * However many TSGs one user has, each other user's first TSG is restored before the second TSG of
 * that user.
 */
static void test_users_take_turns(void **state)
{
	struct gs_restored res;

	for (uint32_t i = 1; i <= 60; i++) {
		changed_tsg(i, 0, false);
		fake.rec[i - 1].task.uid = i <= 58 ? 1000 : 1000 + i;
	}
	assert_int_equal(gs_restore(table(), 580, &res, NULL), 0);
	for (unsigned int i = 0; i < 3; i++)
		assert_true(fake.log[i].tsg == 1 || fake.log[i].tsg >= 59);
	assert_restored();
}

/* However many of one user's processes hold their locks, other users' TSGs are restored first. */
static void test_locked_owners_come_last(void **state)
{
	struct gs_restored res;
	uint64_t begin = gs_now_ns(), last = 0;

	for (uint32_t i = 1; i <= 60; i++) {
		changed_tsg(i, 0, i % 2);
		fake.rec[i - 1].task.uid = i <= 50 ? 1000 : i;
		if (i <= 50)
			fake_lock(i, true);
	}
	assert_int_equal(gs_restore(table(), 580, &res, NULL), -EIO);
	assert_int_equal(res.restored, 10);
	assert_int_equal(res.failed, 50);
	for (unsigned int i = 0; i < fake.nlog; i++)
		last = fake.log[i].ns - begin;
	assert_true(last < 2 * NS_PER_S);
	assert_int_equal(fake.hw[59].timeslice_us, 2048);
	for (uint32_t i = 1; i <= 50; i++)
		fake_lock(i, false);
	gs_sleep_ns(100 * NS_PER_MS);
	assert_int_equal(fake.rec[0].task.asked.timeslice_us, 2048);
	/* the thread that comes back late makes no call */
	assert_int_not_equal(fake.hw[0].timeslice_us, 2048);
	assert_int_equal(gs_restore(table(), 580, &res, NULL), 0);
	assert_restored();
}

static void test_failed_then_tried_again(void **state)
{
	struct gs_restored res;

	changed_tsg(1, 0, true);
	fake.fail_op = GS_RM_RESUME;
	fake.fail_times = 2;
	assert_int_equal(gs_restore(table(), 580, &res, NULL), 0);
	assert_restored();
	assert_int_equal(fake_count(1, GS_RM_RESUME), 3);
	assert_int_equal(fake_count(1, GS_RM_SET_TIMESLICE), 1);
}

/* An enable that an earlier suspension owes comes after what is changed, and is owed until it succeeds. */
static void test_owed_enables_come_last(void **state)
{
	struct gpusched_tsg *owed = fake_tsg(1, 0);
	struct gs_restored res;

	owed->flags |= GPUSCHED_TSG_ENABLE_DUE;
	fake.hw[0].runnable = 0;
	fake_tsg(2, 0);
	changed_tsg(3, 0, true);
	fake.fail_op = GS_RM_RESUME;
	fake.fail_times = 4; /* three tries of the changed one, one of the other */
	assert_int_equal(gs_restore(table(), 580, &res, NULL), -EIO);
	assert_int_equal(res.changed, 2);
	assert_int_equal(res.failed, 2);
	assert_true(owed->flags & GPUSCHED_TSG_ENABLE_DUE);
	assert_int_equal(gpusched_unknown(owed), GPUSCHED_RUNNABLE);
	assert_int_equal(gpusched_unknown(&fake.rec[2]), GPUSCHED_RUNNABLE);
	assert_int_equal(gs_restore(table(), 580, &res, NULL), 0);
	assert_restored();
	assert_false(owed->flags & GPUSCHED_TSG_ENABLE_DUE);
	assert_int_equal(fake_count(2, GS_RM_RESUME), 0);

	owed->flags |= GPUSCHED_TSG_ENABLE_DUE;
	changed_tsg(4, 0, true);
	fake.nlog = 0;
	assert_int_equal(gs_restore(table(), 580, &res, NULL), 0);
	assert_int_equal(fake.log[fake.nlog - 1].tsg, 1);
}

/* Each enable takes the locks of all GPUs, so that eight GPUs' enables rest as one GPU's do. */
static void test_gpus_share_one_rest(void **state)
{
	struct gs_restored res;

	for (uint32_t i = 1; i <= 40; i++)
		fake_tsg(i, i % 8)->flags |= GPUSCHED_TSG_ENABLE_DUE;
	fake.call_ns = 300 * NS_PER_US;
	assert_int_equal(gs_restore(table(), 580, &res, NULL), 0);
	assert_int_equal(res.restored, 40);
	assert_int_equal(fake.nlog, 40);
	assert_true(res.ns > 200 * NS_PER_MS);
}

static void test_dead_owner_is_no_failure(void **state)
{
	struct gs_restored res;

	changed_tsg(1, 0, true);
	changed_tsg(2, 0, false);
	fake.fail_op = GS_RM_SET_TIMESLICE;
	fake.fail_err = -ESRCH;
	fake.fail_times = 1;
	assert_int_equal(gs_restore(table(), 580, &res, NULL), 0);
	assert_int_equal(res.gone, 1);
	assert_int_equal(res.restored, 1);
	assert_int_equal(fake.hw[1].timeslice_us, 2048);
}

static int sweep_to_child(struct gs_table *o, void (*fn)(const struct gpusched_tsg *, void *),
			  void *user, struct gs_error *err)
{
	fake.rec[0].task.pid = 7777;
	return 0;
}

static void test_inherited_file_is_followed(void **state)
{
	struct gs_restored res;

	changed_tsg(1, 0, true);
	gs_engine_ops.sweep = sweep_to_child;
	fake.fail_op = GS_RM_SET_TIMESLICE;
	fake.fail_err = -ESRCH;
	fake.fail_times = 1;
	assert_int_equal(gs_restore(table(), 580, &res, NULL), 0);
	assert_int_equal(res.restored, 1);
	assert_restored();
}

static void test_values_the_owner_forged_are_not_used(void **state)
{
	struct gs_restored res;
	struct gpusched_tsg *t = changed_tsg(1, 0, false);

	t->task.asked.timeslice_us = 0;
	assert_int_equal(gs_restore(table(), 580, &res, NULL), 0);
	assert_int_equal(fake.hw[0].timeslice_us, GPUSCHED_DRIVER_TIMESLICE_US);
}

/* ---- the guardian ---------------------------------------------------------------------------- */

/*
 * Forks a daemon, which starts a guardian and reports its PID. With @orderly, the daemon then tells
 * the guardian to end, and exits; otherwise it waits to be killed.
 */
static pid_t start_daemon(pid_t *ret_guardian, bool orderly)
{
	int fds[2];
	pid_t pid;

	assert_int_equal(pipe(fds), 0);
	pid = fork();
	if (!pid) {
		struct gs_error err = { 0 };
		struct gs_guardian *g;
		int r = gs_guardian_start(table(), 580, &g, &err);
		pid_t guardian = r < 0 ? 0 : gs_guardian_pid(g);

		if (r < 0 || write(fds[1], &guardian, sizeof(guardian)) != sizeof(guardian))
			_exit(1);
		if (orderly) {
			gs_guardian_end(g);
			_exit(kill(guardian, 0) ? 0 : 3);
		}
		pause();
		_exit(0);
	}
	close(fds[1]);
	assert_int_equal(read(fds[0], ret_guardian, sizeof(*ret_guardian)), sizeof(pid_t));
	close(fds[0]);
	return pid;
}

static void wait_gone(pid_t pid)
{
	for (int i = 0; i < 20000; i++) {
		char path[32], text[256] = "", *p;
		FILE *f;

		snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
		f = fopen(path, "re");
		if (!f)
			return;
		p = fgets(text, sizeof(text), f) ? strrchr(text, ')') : NULL;
		fclose(f);
		if (p && p[2] == 'Z') /* dead; in some containers, no process reaps orphans */
			return;
		gs_sleep_ns(NS_PER_MS);
	}
	fail_msg("process %d does not end", (int)pid);
}

static void test_guardian_restores_after_sigkill(void **state)
{
	pid_t guardian, daemon;
	uint64_t killed;

	for (uint32_t i = 1; i <= 200; i++)
		changed_tsg(i, 0, i % 4 == 0);
	fake.call_ns = 300 * NS_PER_US;
	fake.cfg.heartbeat_ns = gs_now_ns();
	daemon = start_daemon(&guardian, false);
	kill(guardian, SIGTERM); /* the guardian ignores it */
	kill(guardian, SIGINT);
	gs_sleep_ns(20 * NS_PER_MS);
	assert_int_equal(fake.nlog, 0);
	assert_int_not_equal(getsid(guardian), getsid(0));
	killed = gs_now_ns();
	kill(daemon, SIGKILL);
	waitpid(daemon, NULL, 0);
	wait_gone(guardian);
	assert_restored();
	assert_int_equal(fake.nlog, 200 + 50 + 50);
	assert_true(fake.log[0].ns - killed < NS_PER_S);
	assert_true(fake.log[fake.nlog - 1].ns - killed < 2 * NS_PER_S);
	assert_int_equal(fake.cfg.heartbeat_ns, 0);
	assert_int_equal(fake.cfg.policy_active, 0);
}

/* The daemon lives but has no heartbeat: the guardian continues processes at the gate. */
static void test_guardian_opens_the_gate_of_a_hung_daemon(void **state)
{
	pid_t guardian, daemon;
	uint64_t until = gs_now_ns() + 10 * NS_PER_S;

	fake_tsg(1, 0)->flags |= GPUSCHED_TSG_HELD | GPUSCHED_TSG_GATED;
	fake.stopped[0] = true;
	fake.cfg.gate = 1;
	fake.cfg.heartbeat_ns = gs_now_ns() + 60 * NS_PER_S;
	daemon = start_daemon(&guardian, false);
	gs_sleep_ns(1200 * NS_PER_MS);
	assert_true(fake.stopped[0]);
	fake.cfg.heartbeat_ns = gs_now_ns() - 10 * NS_PER_S;
	while (*(volatile bool *)&fake.stopped[0] && gs_now_ns() < until)
		gs_sleep_ns(10 * NS_PER_MS);
	assert_false(fake.stopped[0]);
	assert_int_equal(fake.cfg.policy_active, 1); /* nothing else has changed */
	kill(daemon, SIGKILL);
	waitpid(daemon, NULL, 0);
	wait_gone(guardian);
}

/* After five seconds without a heartbeat, the guardian restores all settings, once. */
static void test_guardian_takes_over_from_a_hung_daemon(void **state)
{
	pid_t guardian, daemon;
	uint64_t until = gs_now_ns() + 20 * NS_PER_S;

	changed_tsg(1, 0, true);
	fake.cfg.heartbeat_ns = gs_now_ns() - 3 * NS_PER_S;
	daemon = start_daemon(&guardian, false);
	gs_sleep_ns(1200 * NS_PER_MS);
	assert_int_equal(fake.nlog, 0); /* the heartbeat may still be only late */
	while (*(volatile gs_u32 *)&fake.rec[0].changed && gs_now_ns() < until)
		gs_sleep_ns(10 * NS_PER_MS);
	assert_restored();
	assert_int_equal(fake.cfg.epoch, 1);
	assert_int_equal(fake.cfg.policy_active, 0);
	assert_true(fake.cfg.heartbeat_ns); /* not cleared, since the daemon still lives */
	gs_sleep_ns(2500 * NS_PER_MS);
	assert_int_equal(fake.cfg.epoch, 1);
	kill(daemon, SIGKILL);
	waitpid(daemon, NULL, 0);
	wait_gone(guardian);
}

/* Another process has taken over from the hung daemon, so the guardian does not. */
static void test_guardian_sees_that_it_was_done(void **state)
{
	pid_t guardian, daemon;

	changed_tsg(1, 0, true);
	fake.cfg.heartbeat_ns = gs_now_ns() - 3 * NS_PER_S;
	daemon = start_daemon(&guardian, false);
	gs_sleep_ns(1200 * NS_PER_MS);
	fake.cfg.epoch++;
	gs_sleep_ns(3500 * NS_PER_MS);
	assert_int_equal(fake.nlog, 0);
	fake.cfg.heartbeat_ns = 0; /* so that the guardian restores nothing at its end either */
	fake.rec[0].changed = 0;
	kill(daemon, SIGKILL);
	waitpid(daemon, NULL, 0);
	wait_gone(guardian);
}

static int slow_open(struct gs_table **ret, struct gs_error *err)
{
	pthread_mutex_lock(&fake.lock);
	fake.begun++;
	pthread_mutex_unlock(&fake.lock);
	gs_sleep_ns(200 * NS_PER_MS);
	return fake_open(ret, err);
}

/* The daemon is killed before its guardian can report that it is ready. */
static void test_guardian_restores_after_early_death(void **state)
{
	pid_t daemon;

	changed_tsg(1, 0, true);
	gs_engine_ops.open = slow_open;
	daemon = fork();
	if (!daemon) {
		struct gs_guardian *g;

		gs_guardian_start(table(), 580, &g, NULL);
		pause();
		_exit(0);
	}
	wait_begun(1);
	kill(daemon, SIGKILL);
	waitpid(daemon, NULL, 0);
	for (int i = 0; i < 1000 && fake.rec[0].changed; i++)
		gs_sleep_ns(10 * NS_PER_MS);
	gs_sleep_ns(100 * NS_PER_MS); /* the guardian ends, too */
	assert_restored();
}

static void test_guardian_leaves_when_told(void **state)
{
	pid_t guardian, daemon;
	int status = -1;

	changed_tsg(1, 0, true);
	daemon = start_daemon(&guardian, true);
	waitpid(daemon, &status, 0);
	assert_int_equal(status, 0);
	assert_int_equal(fake.nlog, 0); /* a daemon that ends in order restores by itself */
}

static void test_guardian_yields_to_a_new_daemon(void **state)
{
	pid_t guardian, daemon;
	int lock = -1;

	changed_tsg(1, 0, true);
	daemon = start_daemon(&guardian, false);
	assert_int_equal(gs_lock_take(&lock, NULL), 0);
	fake.cfg.heartbeat_ns = gs_now_ns() + 60 * NS_PER_S;
	kill(daemon, SIGKILL);
	waitpid(daemon, NULL, 0);
	wait_gone(guardian);
	assert_int_equal(fake.nlog, 0);
	close(lock);
}

/*
 * The guardian keeps trying to restore a TSG that cannot be restored, but still lets the next
 * daemon take the lock.
 */
static void test_guardian_shares_the_lock(void **state)
{
	uint64_t until = gs_now_ns() + 10 * NS_PER_S;
	pid_t guardian, daemon;
	int lock = -1, r;

	changed_tsg(1, 0, true);
	fake.fail_op = GS_RM_RESUME;
	fake.fail_times = 1000000;
	daemon = start_daemon(&guardian, false);
	kill(daemon, SIGKILL);
	waitpid(daemon, NULL, 0);
	/* waits until the guardian has begun */
	while (fake_count(1, GS_RM_RESUME) < 3 && gs_now_ns() < until)
		gs_sleep_ns(NS_PER_MS);
	do {
		r = gs_lock_take(&lock, NULL);
		gs_sleep_ns(NS_PER_MS);
	} while (r == -EBUSY && gs_now_ns() < until);
	assert_int_equal(r, 0);
	fake.cfg.heartbeat_ns = gs_now_ns() + 60 * NS_PER_S;
	wait_gone(guardian);
	assert_int_not_equal(fake.cfg.heartbeat_ns, 0); /* the new daemon's heartbeat stays */
	close(lock);
}

/* ---- the lock -------------------------------------------------------------------------------- */

static void test_lock(void **state)
{
	struct gs_error err = { 0 };
	char mine[16];
	int a = -1, b = -1;

	assert_int_equal(gs_lock_take(&a, &err), 0);
	assert_int_equal(gs_lock_take(&b, &err), -EBUSY);
	snprintf(mine, sizeof(mine), "pid %d", (int)getpid());
	assert_non_null(strstr(err.text, mine));
	close(a);
	assert_int_equal(gs_lock_take(&b, NULL), 0);
	close(b);
}

static void test_lock_of_another_pid_namespace(void **state)
{
	struct gs_error err = { 0 };
	struct stat st;
	int fd = -1;

	assert_int_equal(stat("/proc/self/ns/pid", &st), 0);
	fake.cfg.pidns_ino = st.st_ino + 1;
	fake.cfg.pidns_dev = st.st_dev;
	assert_int_equal(gs_lock_take(&fd, &err), -EPERM);
	assert_non_null(strstr(err.text, "pid namespace"));
	fake.cfg.pidns_ino = st.st_ino;
	assert_int_equal(gs_lock_take(&fd, NULL), 0);
	close(fd);
}

int main(void)
{
#define T(fn) cmocka_unit_test_setup(fn, setup)
	const struct CMUnitTest tests[] = {
		T(test_everything_put_back_in_order),
		T(test_stopped_go_on_first),
		T(test_suspended_wait_half_a_second_at_most),
		T(test_gpus_side_by_side_and_one_stuck),
		T(test_users_take_turns),
		T(test_locked_owners_come_last),
		T(test_failed_then_tried_again),
		T(test_owed_enables_come_last),
		T(test_gpus_share_one_rest),
		T(test_dead_owner_is_no_failure),
		T(test_inherited_file_is_followed),
		T(test_values_the_owner_forged_are_not_used),
		T(test_guardian_restores_after_sigkill),
		T(test_guardian_opens_the_gate_of_a_hung_daemon),
		T(test_guardian_takes_over_from_a_hung_daemon),
		T(test_guardian_sees_that_it_was_done),
		T(test_guardian_restores_after_early_death),
		T(test_guardian_leaves_when_told),
		T(test_guardian_yields_to_a_new_daemon),
		T(test_guardian_shares_the_lock),
		T(test_lock),
		T(test_lock_of_another_pid_namespace),
	};
	static const char *const left[] = { "run/lock", "run/lock.over", "run/put_back", "run",
					    "" };
	char path[64];
	int r;

	/* a new run directory, which is all that the fake table needs */
	if (!mkdtemp(dir) || setenv("GPUSCHED_SIM", dir, 1))
		return 1;
	r = cmocka_run_group_tests_name("engine_restore", tests, NULL, NULL);
	for (size_t i = 0; i < sizeof(left) / sizeof(left[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, left[i]);
		remove(path);
	}
	return r;
}
