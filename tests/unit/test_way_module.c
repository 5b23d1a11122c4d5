// SPDX-License-Identifier: MIT
/* test_way_module.c - check the way through gpusched.ko, with a fake node */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "gpusched/module.h"
#include "rm/module.h"
#include "rm/sys.h"

/* The requests that the node got, and its answers. */
static struct {
	int open_errno; /* the result of opening the node; 0: success */
	int opened;     /* open descriptors of the node */
	struct gpusched_module_about about;
	unsigned long hold_flags;
	int holds, beats, tells, sets, preempts, gones, others;
	int hold, beat, set, preempt; /* the node's answers: 0 or -errno */
	uint32_t status;
	struct gpusched_module_tell told;
	uint32_t channels[4];
	struct gpusched_module_set last;
	struct gpusched_module_preempt preempted;
} node;

static int fake_open(const char *path)
{
	assert_string_equal(path, GS_MODULE_PATH);
	if (node.open_errno) {
		errno = node.open_errno;
		return -1;
	}
	node.opened++;
	return memfd_create("node", MFD_CLOEXEC);
}

static int fake_ioctl(int fd, unsigned long request, void *arg)
{
	(void)fd;
	switch (request) {
	case GPUSCHED_MODULE_ABOUT:
		memcpy(arg, &node.about, sizeof(node.about));
		return 0;
	case GPUSCHED_MODULE_HOLD:
		node.holds++;
		node.hold_flags = (uintptr_t)arg;
		return node.hold;
	case GPUSCHED_MODULE_BEAT:
		node.beats++;
		return node.beat;
	case GPUSCHED_MODULE_TELL:
		node.tells++;
		memcpy(&node.told, arg, sizeof(node.told));
		memcpy(node.channels, (void *)(uintptr_t)node.told.channels,
		       node.told.nchannels * sizeof(uint32_t));
		return 0;
	case GPUSCHED_MODULE_SET:
		node.sets++;
		((struct gpusched_module_set *)arg)->status = node.status;
		memcpy(&node.last, arg, sizeof(node.last));
		return node.set;
	case GPUSCHED_MODULE_PREEMPT:
		node.preempts++;
		((struct gpusched_module_preempt *)arg)->status = node.status;
		memcpy(&node.preempted, arg, sizeof(node.preempted));
		return node.preempt;
	case GPUSCHED_MODULE_GONE:
		node.gones++;
		return 0;
	default:
		node.others++;
		return -ENOTTY;
	}
}

static uint64_t owner_start_ns = 7 * NS_PER_S;
static int owner_unknown; /* the result of looking up the owner's start time: 0 or -errno */

static int fake_started(pid_t pid, uint64_t *ret_ns)
{
	assert_int_equal(pid, getpid());
	*ret_ns = owner_start_ns;
	return owner_unknown;
}

static struct gs_rm_tsg tsg(void)
{
	return (struct gs_rm_tsg){
		.pid = getpid(),
		.start_ns = owner_start_ns,
		.started = fake_started,
		.fd = -1,
		.client = 0xc1d00001,
		.tsg = 0x5c000010,
		.subdevice = 0x5c000002,
		.nchannels = 2,
		.class_id = GPUSCHED_CLASS_LC,
		.weight = 300,
		.gpu_instance = 3,
		.compute_instance = GPUSCHED_NO_INSTANCE,
		.channels = { { 0x11, 1 }, { 0x12, 2 } },
		.own = { .valid = GPUSCHED_TIMESLICE | GPUSCHED_RUNNABLE,
			 .timeslice_us = 2048,
			 .runnable = 1 },
	};
}

static int setup(void **state)
{
	(void)state;
	gs_module_end();
	memset(&node, 0, sizeof(node));
	owner_unknown = 0;
	node.about.abi = GPUSCHED_MODULE_ABI;
	gs_rm_sys.open = fake_open;
	gs_rm_sys.ioctl = fake_ioctl;
	return 0;
}

static int take(enum gs_rm_op op, uint32_t arg, struct gs_rm_result *ret)
{
	struct gs_rm_tsg t = tsg();
	struct gs_rm_step step = { .op = op, .arg = arg };
	int r = gs_way_module.take(&t, &step, 1);

	if (ret)
		*ret = step.res;
	return r;
}

static bool reaches(void)
{
	struct gs_rm_tsg t = tsg();

	return gs_way_module.reaches(&t);
}

static void use(void)
{
	assert_int_equal(gs_module_use(NULL), 0);
}

static void test_not_there(void **state)
{
	struct gs_error err = { 0 };
	struct gs_module m;

	(void)state;
	node.open_errno = ENOENT;
	assert_int_equal(gs_module_about(&m, &err), -ENOTSUP);
	assert_non_null(strstr(err.text, "is not loaded"));
	assert_int_equal(gs_module_use(&err), -ENOTSUP);
	node.open_errno = EACCES;
	assert_int_equal(gs_module_about(&m, &err), -EACCES);
	node.open_errno = 0;
	err = (struct gs_error){ 0 };
	node.about.abi++;
	assert_int_equal(gs_module_use(&err), -ENOTSUP);
	assert_non_null(strstr(err.text, "build both from the same sources"));
	assert_int_equal(node.holds, 0);
	assert_false(reaches());
}

static void test_about(void **state)
{
	struct gs_error err = { 0 };
	struct gs_module m;

	(void)state;
	assert_int_equal(gs_module_may_use(true, false, &err), -ENOTSUP);
	assert_non_null(strstr(err.text, "none of gpusched's hooks"));
	assert_int_equal(gs_module_may_use(false, false, &err), 0);
	node.about.features = GPUSCHED_MODULE_HOOKS;
	strcpy(node.about.policy, "somebody");
	node.about.exit_kind = GPUSCHED_MODULE_EXIT_TIMEOUT;
	node.about.exit_code = 1234;
	assert_int_equal(gs_module_about(&m, &err), 0);
	assert_true(m.hooks && m.ended == GPUSCHED_MODULE_EXIT_TIMEOUT && m.ended_code == 1234);
	err = (struct gs_error){ 0 };
	assert_int_equal(gs_module_may_use(true, false, &err), -EBUSY);
	assert_non_null(strstr(err.text, "policy somebody runs"));
	assert_int_equal(gs_module_may_use(true, true, &err), 0);
}

static void test_hold(void **state)
{
	struct gs_error err = { 0 };

	(void)state;
	node.hold = -EBUSY;
	assert_int_equal(gs_module_use(&err), -EBUSY);
	assert_non_null(strstr(err.text, "another program holds it"));
	assert_false(reaches());
	node.hold = 0;
	use();
	use();
	assert_int_equal(node.holds, 2); /* the refused one and one more */
	assert_int_equal(node.hold_flags, GPUSCHED_MODULE_OWN_POLICY);
	assert_true(reaches());
	assert_int_equal(gs_module_beat(), 0);
	assert_int_equal(node.beats, 1);
}

static void test_steps(void **state)
{
	struct gs_rm_result res;

	(void)state;
	use();
	assert_int_equal(take(GS_RM_SET_TIMESLICE, 300, &res), 0);
	assert_true(node.tells == 1 && node.told.client == 0xc1d00001 &&
		    node.told.tsg == 0x5c000010 && node.told.subdevice == 0x5c000002);
	assert_true(node.told.pid == (uint32_t)getpid() && node.told.own.timeslice_us == 2048);
	assert_true(node.told.class_id == GPUSCHED_CLASS_LC && node.told.weight == 300);
	assert_true(node.told.gpu_instance == 3 &&
		    node.told.compute_instance == GPUSCHED_NO_INSTANCE);
	assert_true(node.told.nchannels == 2 && node.channels[0] == 0x11 &&
		    node.channels[1] == 0x12);
	assert_true(node.last.set == GPUSCHED_TIMESLICE &&
		    node.last.want.valid == GPUSCHED_TIMESLICE &&
		    node.last.want.timeslice_us == 300);
	assert_int_equal(take(GS_RM_SUSPEND, 0, &res), 0);
	assert_true(node.last.set == GPUSCHED_RUNNABLE &&
		    node.last.want.valid == GPUSCHED_RUNNABLE && !node.last.want.runnable);
	/* running is the owner's own setting, so the module gets no wish */
	assert_int_equal(take(GS_RM_RESUME, 0, &res), 0);
	assert_true(node.last.set == GPUSCHED_RUNNABLE && !node.last.want.valid);
	assert_int_equal(take(GS_RM_SET_INTERLEAVE, 2, &res), 0);
	assert_true(node.last.want.valid == GPUSCHED_INTERLEAVE && node.last.want.interleave == 2);
	assert_int_equal(take(GS_RM_PREEMPT, 0, &res), 0);
	assert_int_equal(node.preempted.timeout_us, GS_RM_PREEMPT_US);
	assert_int_equal(take(GS_RM_PREEMPT, 50, &res), 0);
	assert_int_equal(node.preempted.timeout_us, 50);
	assert_int_equal(node.others, 0);
}

/*
 * Calls that read or schedule do not go through the module: they borrow a descriptor. They fail
 * here, since this process has none.
 */
static void test_borrowed(void **state)
{
	(void)state;
	use();
	assert_true(take(GS_RM_GET_TIMESLICE, 0, NULL) < 0);
	assert_true(take(GS_RM_SCHEDULE, 1, NULL) < 0);
	assert_true(!node.tells && !node.sets);
}

static void test_stops_at_a_failure(void **state)
{
	struct gs_rm_step steps[] = { { .op = GS_RM_SET_TIMESLICE, .arg = 1 },
				      { .op = GS_RM_SUSPEND } };
	struct gs_rm_tsg t = tsg();

	(void)state;
	use();
	node.set = -EREMOTEIO;
	node.status = 0x1f;
	assert_int_equal(gs_way_module.take(&t, steps, 2), -EREMOTEIO);
	assert_true(node.sets == 1 && steps[0].res.status == 0x1f);
	assert_int_equal(steps[1].res.err, -ECANCELED);
}

static void test_what_refusals_mean(void **state)
{
	static const struct {
		int said;
		uint32_t status;
		int means;
	} all[] = {
		{ -EREMOTEIO, GS_NV_INVALID_CLIENT, -ENOENT },
		{ -EREMOTEIO, GS_NV_OBJECT_NOT_FOUND, -ENOENT },
		{ -EREMOTEIO, 0x31, -ENOENT },
		{ -EREMOTEIO, 0x33, -ENOENT },
		{ -EREMOTEIO, GS_NV_INSUFFICIENT_PERMISSIONS, -EPERM },
		{ -EREMOTEIO, 0x40, -EREMOTEIO },
		{ -EBUSY, 0, -EINPROGRESS },
		{ -ENOENT, 0, -EAGAIN },
		{ -ERANGE, 0, -ERANGE },
		{ -ENODATA, 0, -ENODATA },
	};

	(void)state;
	use();
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		struct gs_rm_result res;

		node.set = all[i].said;
		node.status = all[i].status;
		assert_int_equal(take(GS_RM_SET_TIMESLICE, 300, &res), all[i].means);
		assert_int_equal(res.status, all[i].status);
	}
	gs_module_leave(); /* nothing was changed, so the module is not needed any longer */
	assert_false(reaches());
}

/*
 * Calls for a TSG that was changed through the module go through the module until the TSG has its
 * owner's settings again.
 */
static void test_leave(void **state)
{
	(void)state;
	use();
	assert_int_equal(take(GS_RM_SET_TIMESLICE, 300, NULL), 0);
	assert_int_equal(take(GS_RM_SUSPEND, 0, NULL), 0);
	gs_module_leave();
	assert_true(reaches());
	assert_int_equal(take(GS_RM_SET_TIMESLICE, 2048, NULL), 0);
	assert_int_equal(node.last.want.valid, 0);
	assert_true(reaches());
	assert_int_equal(take(GS_RM_RESUME, 0, NULL), 0);
	assert_false(reaches());
	assert_int_equal(gs_module_beat(), 0); /* this beat closes the node instead of beating */
	assert_int_equal(node.beats, 0);
	use();
	assert_int_equal(node.holds, 2);
}

static void test_gone(void **state)
{
	(void)state;
	gs_module_gone(0xc1d00001, 0x5c000010);
	assert_int_equal(node.gones, 0);
	use();
	assert_int_equal(take(GS_RM_SET_TIMESLICE, 300, NULL), 0);
	gs_module_leave();
	gs_module_gone(0xc1d00001, 0x5c000010);
	assert_int_equal(node.gones, 1);
	assert_false(reaches());
}

static void test_a_dead_owner(void **state)
{
	struct gs_rm_tsg t = tsg();
	struct gs_rm_step step = { .op = GS_RM_SET_TIMESLICE, .arg = 300 };

	(void)state;
	use();
	t.start_ns = 1; /* as if another process had that PID */
	assert_int_equal(gs_way_module.take(&t, &step, 1), -ESRCH);
	owner_unknown = -ESRCH;
	assert_int_equal(take(GS_RM_SET_TIMESLICE, 300, NULL), -ESRCH);
	assert_true(!node.tells && !node.sets);
}

static void test_an_owner_that_cannot_be_looked_at(void **state)
{
	(void)state;
	use();
	owner_unknown = -EPERM;
	assert_int_equal(take(GS_RM_SET_TIMESLICE, 300, NULL), -EAGAIN);
	assert_true(!node.tells && !node.sets);
	owner_unknown = 0;
	assert_int_equal(take(GS_RM_SET_TIMESLICE, 300, NULL), 0);
}

/* Replaces the owner's files in /proc by files that never answer, as under its execve()'s lock. */
static void hide_owner(void)
{
	static const char *const names[] = { "stat", "exe", "maps", "cmdline", "status", "comm" };
	char path[64];

	if (unshare(geteuid() ? CLONE_NEWUSER | CLONE_NEWNS : CLONE_NEWNS) ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("none", "/proc", "tmpfs", 0, NULL))
		_exit(2);
	snprintf(path, sizeof(path), "/proc/%d", (int)getpid());
	mkdir(path, 0755);
	for (size_t i = 0; i < GS_COUNT(names); i++) {
		snprintf(path, sizeof(path), "/proc/%d/%s", (int)getpid(), names[i]);
		mkfifo(path, 0644);
	}
	alarm(10);
}

static void test_an_owner_that_holds_a_lock(void **state)
{
	pid_t child = fork();
	int status;

	(void)state;
	if (!child) {
		hide_owner();
		use();
		_exit(take(GS_RM_SET_TIMESLICE, 300, NULL) || node.sets != 1);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 2)
		skip(); /* there is no mount namespace for the test */
	assert_int_equal(status, 0);
}

static void test_it_has_lost_us(void **state)
{
	static const int said[] = { -ETIMEDOUT, -EPERM };

	(void)state;
	for (int i = 0; i < 2; i++) {
		setup(NULL);
		use();
		assert_int_equal(take(GS_RM_SET_TIMESLICE, 300, NULL), 0);
		node.set = said[i];
		assert_int_equal(take(GS_RM_SET_TIMESLICE, 400, NULL), -EAGAIN);
		assert_int_equal(gs_module_beat(), -ETIMEDOUT);
		assert_int_equal(node.holds, 2);
		node.set = 0;
		gs_module_leave(); /* the module knows of no change */
		assert_false(reaches());
	}
	setup(NULL);
	use();
	node.beat = -ETIMEDOUT;
	assert_int_equal(gs_module_beat(), -ETIMEDOUT);
	assert_int_equal(node.holds, 2);
	node.beat = 0;
	assert_int_equal(gs_module_beat(), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_not_there, setup),
		cmocka_unit_test_setup(test_about, setup),
		cmocka_unit_test_setup(test_hold, setup),
		cmocka_unit_test_setup(test_steps, setup),
		cmocka_unit_test_setup(test_borrowed, setup),
		cmocka_unit_test_setup(test_stops_at_a_failure, setup),
		cmocka_unit_test_setup(test_what_refusals_mean, setup),
		cmocka_unit_test_setup(test_leave, setup),
		cmocka_unit_test_setup(test_gone, setup),
		cmocka_unit_test_setup(test_a_dead_owner, setup),
		cmocka_unit_test_setup(test_an_owner_that_cannot_be_looked_at, setup),
		cmocka_unit_test_setup(test_an_owner_that_holds_a_lock, setup),
		cmocka_unit_test_setup(test_it_has_lost_us, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
