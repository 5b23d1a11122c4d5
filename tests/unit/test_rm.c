// SPDX-License-Identifier: MIT
/* test_rm.c - check calls on a TSG, with a fake driver in place of ioctl() */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rm/abi.h"
#include "rm/rm.h"
#include "rm/sys.h"
#include "rm/way.h"
#include "process/process.h"

#define CLIENT 0xc1d00001u
#define TSG 0x5c000010u
#define SUBDEVICE 0x5c000003u

/* ---- the fake driver: one client behind one file --------------------------------------------- */

struct seen {
	uint32_t object, cmd, size;
	uint8_t params[600] __attribute__((aligned(8)));
};

static struct {
	struct seen calls[64];
	unsigned int n;
	uint64_t ino[2];         /* accepted files; the first one has the client */
	uint32_t fail_cmd;       /* a command that fails ... */
	unsigned int fail_after; /* ... after so many successes */
	uint32_t fail_status;
	bool fail_applied; /* ... and takes effect all the same */
	uint32_t missing_channel;
	uint8_t disabled[GPUSCHED_MAX_CHANNELS];
} drv;

static uint64_t inode_of(int fd)
{
	struct stat st;

	assert_int_equal(fstat(fd, &st), 0);
	return st.st_ino;
}

static bool accept_file(const struct statx *st)
{
	return st->stx_ino == drv.ino[0] || st->stx_ino == drv.ino[1];
}

static uint32_t fake_disable(const struct nv_disable_channels *d)
{
	for (unsigned int i = 0; i < d->n; i++) {
		if (d->clients[i] != CLIENT)
			return GS_NV_INVALID_ARGUMENT;
		if (drv.missing_channel && d->channels[i] == drv.missing_channel)
			return GS_NV_OBJECT_NOT_FOUND;
	}
	for (unsigned int i = 0; i < d->n; i++)
		drv.disabled[d->channels[i] - 0x100] = d->disable;
	return GS_NV_OK;
}

static int fake_ioctl(int fd, unsigned long request, void *arg)
{
	struct nv_control *c = arg;
	struct seen *s = &drv.calls[drv.n];

	assert_int_equal(_IOC_NR(request), NV_ESC_CONTROL);
	assert_int_equal(_IOC_SIZE(request), 32);
	assert_true(drv.n < 64);
	if (inode_of(fd) != drv.ino[0] || c->client != CLIENT) {
		c->status = GS_NV_INVALID_CLIENT;
		return 0;
	}
	drv.n++;
	s->object = c->object;
	s->cmd = c->cmd;
	s->size = c->params_size;
	assert_true(c->params_size <= sizeof(s->params));
	memcpy(s->params, (void *)(uintptr_t)c->params, c->params_size);
	if (c->object != TSG && c->object != SUBDEVICE) {
		c->status = GS_NV_OBJECT_NOT_FOUND;
		return 0;
	}
	if (drv.fail_cmd == c->cmd && drv.fail_status) {
		if (!drv.fail_after) {
			if (drv.fail_applied && c->cmd == NV_CMD_DISABLE_CHANNELS)
				fake_disable((void *)(uintptr_t)c->params);
			c->status = drv.fail_status;
			drv.fail_status = 0;
			return 0;
		}
		drv.fail_after--;
	}
	if (c->cmd == NV_CMD_GET_TIMESLICE)
		*(uint64_t *)(uintptr_t)c->params = 2048;
	if (c->cmd == NV_CMD_DISABLE_CHANNELS)
		c->status = fake_disable((void *)(uintptr_t)c->params);
	return 0;
}

static int right_file, wrong_file;

static int setup(void **state)
{
	memset(&drv, 0, sizeof(drv));
	right_file = memfd_create("right", MFD_CLOEXEC);
	wrong_file = memfd_create("wrong", MFD_CLOEXEC);
	drv.ino[0] = inode_of(right_file);
	drv.ino[1] = inode_of(wrong_file);
	gs_rm_sys.ioctl = fake_ioctl;
	gs_rm_sys.accept = accept_file;
	return 0;
}

static int teardown(void **state)
{
	close(right_file);
	close(wrong_file);
	return 0;
}

static struct gs_rm_tsg own_tsg(unsigned int channels)
{
	struct gs_rm_tsg t = {
		.pid = getpid(),
		.start_ns = gs_proc_start_ns(getpid()),
		.fd = right_file,
		.client = CLIENT,
		.tsg = TSG,
		.subdevice = SUBDEVICE,
		.branch = 580,
		.nchannels = channels,
	};

	for (unsigned int i = 0; i < channels; i++)
		t.channels[i].handle = 0x100 + i;
	return t;
}

static int do_op(const struct gs_rm_tsg *t, enum gs_rm_op op, uint32_t arg,
		 struct gs_rm_result *res)
{
	struct gs_rm_step step = { .op = op, .arg = arg };
	int r = gs_way_of(t)->take(t, &step, 1);

	*res = step.res;
	return r;
}

static unsigned int open_fds(void)
{
	unsigned int n = 0;

	for (int fd = 0; fd < 256; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

/* ---- tests ----------------------------------------------------------------------------------- */

static void test_layouts(void **state)
{
	struct gs_rm_tsg t = own_tsg(3);
	struct gs_rm_result res;
	struct nv_disable_channels d;
	struct nv_preempt_mode m;

	assert_int_equal(do_op(&t, GS_RM_SET_TIMESLICE, 20, &res), 0);
	assert_int_equal(drv.calls[0].cmd, 0xa06c0103);
	assert_int_equal(drv.calls[0].size, 8);
	assert_int_equal(*(uint64_t *)drv.calls[0].params, 20);
	assert_int_equal(res.calls, 1);
	assert_int_equal(res.fd, right_file);

	assert_int_equal(do_op(&t, GS_RM_SET_INTERLEAVE, 2, &res), 0);
	assert_int_equal(drv.calls[1].cmd, 0xa06c0107);
	assert_int_equal(drv.calls[1].size, 4);

	assert_int_equal(do_op(&t, GS_RM_PREEMPT, 5000, &res), 0);
	assert_int_equal(drv.calls[2].size, 8);
	assert_int_equal(drv.calls[2].params[0], 1);
	assert_int_equal(*(uint32_t *)(drv.calls[2].params + 4), 5000);

	/* first a call that proves that the file has the TSG, then the call that names channels */
	assert_int_equal(do_op(&t, GS_RM_SUSPEND, 0, &res), 0);
	assert_int_equal(drv.calls[3].cmd, NV_CMD_GET_TIMESLICE);
	assert_int_equal(drv.calls[4].cmd, 0x2080110b);
	assert_int_equal(drv.calls[4].size, 536);
	assert_int_equal(drv.calls[4].object, SUBDEVICE);
	memcpy(&d, drv.calls[4].params, sizeof(d));
	assert_int_equal(d.disable, 1);
	assert_int_equal(d.n, 3);
	assert_int_equal(d.channels[2], 0x102);
	assert_int_equal(res.calls, 2);

	assert_int_equal(do_op(&t, GS_RM_SET_PREEMPT_MODE, GPUSCHED_PREEMPT_CTA, &res), 0);
	assert_int_equal(drv.calls[5].cmd, NV_CMD_GET_TIMESLICE);
	assert_int_equal(drv.calls[6].size, 32);
	memcpy(&m, drv.calls[6].params, sizeof(m));
	assert_int_equal(m.flags, 1);
	assert_int_equal(m.channel, 0x100);
	assert_int_equal(m.compute, 1);

	assert_int_equal(do_op(&t, GS_RM_GET_TIMESLICE, 0, &res), 0);
	assert_int_equal(res.value, 2048);
}

static void test_rows_of_branches(void **state)
{
	const struct nv_branch *row, *before = NULL;
	char text[64];

	for (unsigned int i = 0; (row = nv_branch_at(i)); before = row, i++) {
		assert_true(!before || before->branch < row->branch);
		assert_int_equal(strtoul(row->first, NULL, 10), row->branch);
		assert_int_equal(strtoul(row->last, NULL, 10), row->branch);
		assert_ptr_equal(nv_branch(row->branch), row);
		assert_true(row->memory <= sizeof(struct nv_memory_params) &&
			    row->fb <= NV_FB_MAX && row->name <= sizeof(struct nv_gpu_name) &&
			    row->schedule <= sizeof(struct nv_schedule));
	}
	assert_int_equal(nv_branch_at(0)->branch, NV_BRANCH_FIRST);
	assert_int_equal(before->branch, NV_BRANCH_LAST);
	assert_int_equal(nv_branch(0)->branch, NV_BRANCH_LAST);
	assert_int_equal(nv_branch(NV_BRANCH_LAST + 5)->branch, NV_BRANCH_LAST);
	assert_int_equal(nv_branch(540)->branch, 535);
	assert_int_equal(nv_branch(1)->branch, NV_BRANCH_FIRST);
	assert_true(gs_rm_driver_branch_leaves(580));
	assert_false(gs_rm_driver_branch_leaves(581) || gs_rm_driver_branch_leaves(595));
	gs_rm_driver_branches_text(text, sizeof(text), ", ", " or ");
	assert_string_equal(text, "535, 550, 570, 580 or 595");
	gs_rm_driver_branches_text(text, sizeof(text), NULL, " to ");
	assert_string_equal(text, "535 to 595");
	gs_rm_driver_branches_text(text, 6, " ", " ");
	assert_string_equal(text, "535 5");
}

static void test_schedule_size_by_branch(void **state)
{
	static const struct {
		unsigned int branch;
		uint32_t size;
	} cases[] = { { 515, 2 }, { 535, 2 }, { 550, 2 }, { 570, 2 },
		      { 575, 3 }, { 580, 3 }, { 595, 3 } };
	struct gs_rm_result res;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct gs_rm_tsg t = own_tsg(1);

		t.branch = cases[i].branch;
		assert_int_equal(do_op(&t, GS_RM_SCHEDULE, 1, &res), 0);
		assert_int_equal(drv.calls[i].size, cases[i].size);
		assert_int_equal(drv.calls[i].params[0], 1);
	}
}

static void test_ranges_make_no_call(void **state)
{
	struct gs_rm_tsg t = own_tsg(1);
	struct gs_rm_result res;

	assert_int_equal(do_op(&t, GS_RM_SET_TIMESLICE, 0, &res), -ERANGE);
	assert_int_equal(do_op(&t, GS_RM_SET_INTERLEAVE, 3, &res), -ERANGE);
	assert_int_equal(do_op(&t, GS_RM_SET_PREEMPT_MODE, 3, &res), -ERANGE);
	assert_int_equal(do_op(&t, GS_RM_PREEMPT, 2000000, &res), -ERANGE);
	assert_int_equal(drv.n, 0);
}

static void test_many_channels(void **state)
{
	struct gs_rm_tsg t = own_tsg(100);
	struct gs_rm_result res;

	assert_int_equal(do_op(&t, GS_RM_SUSPEND, 0, &res), 0);
	assert_int_equal(drv.n, 3); /* proof, 64 channels, 36 channels */
	for (int i = 0; i < 100; i++)
		assert_int_equal(drv.disabled[i], 1);
	assert_int_equal(do_op(&t, GS_RM_RESUME, 0, &res), 0);
	for (int i = 0; i < 100; i++)
		assert_int_equal(drv.disabled[i], 0);
}

static void test_partial_suspend_is_undone(void **state)
{
	struct gs_rm_tsg t = own_tsg(100);
	struct gs_rm_result res;

	drv.fail_cmd = NV_CMD_DISABLE_CHANNELS;
	drv.fail_after = 1;
	drv.fail_status = 0x65;
	drv.fail_applied = true;
	assert_int_equal(do_op(&t, GS_RM_SUSPEND, 0, &res), -EREMOTEIO);
	assert_int_equal(res.status, 0x65);
	for (int i = 0; i < 100; i++)
		assert_int_equal(drv.disabled[i], 0);
	assert_int_equal(res.calls, 5); /* proof, first part, failed part, undo of both */
}

/* Alone, a TSG that may not be scheduled any more runs on until it is preempted. */
static void test_suspend_without_a_wait(void **state)
{
	const struct nv_disable_channels *d = (const void *)drv.calls[1].params;
	const struct nv_preempt *p = (const void *)drv.calls[2].params;
	struct gs_rm_tsg t = own_tsg(4);
	struct gs_rm_result res;

	assert_int_equal(do_op(&t, GS_RM_SUSPEND, 1, &res), 0);
	assert_int_equal(drv.n, 3); /* proof, channels, preemption */
	assert_int_equal(d->only_scheduling, 1);
	assert_int_equal(drv.calls[2].cmd, NV_CMD_PREEMPT);
	assert_int_equal(p->wait, 0);
	assert_true(res.preempt_ns > 0 && res.preempt_ns < res.ns);
	assert_int_equal(do_op(&t, GS_RM_RESUME, 0, &res), 0);
	/* if RM has no such preemption, the suspension waits */
	drv.n = 0;
	drv.fail_cmd = NV_CMD_PREEMPT;
	drv.fail_status = 0x56;
	assert_int_equal(do_op(&t, GS_RM_SUSPEND, 1, &res), 0);
	assert_false(res.partly);
	assert_int_equal(drv.n, 5); /* proof, channels, preemption, channels back, and without */
	d = (const void *)drv.calls[4].params;
	assert_int_equal(d->disable, 1);
	assert_int_equal(d->only_scheduling, 0);
	for (int i = 0; i < 4; i++)
		assert_int_equal(drv.disabled[i], 1);
	assert_int_equal(do_op(&t, GS_RM_RESUME, 0, &res), 0);
	/* if the TSG may run on, it is not suspended */
	drv.fail_cmd = NV_CMD_PREEMPT;
	drv.fail_status = 0x65;
	assert_int_equal(do_op(&t, GS_RM_SUSPEND, 1, &res), -EREMOTEIO);
	assert_true(res.partly);
	for (int i = 0; i < 4; i++)
		assert_int_equal(drv.disabled[i], 0);
}

/* Which failures surely changed nothing. */
static void test_refusals(void **state)
{
	static const struct {
		enum gs_rm_op op;
		unsigned int after;
		uint32_t status;
		bool refused;
	} cases[] = {
		{ GS_RM_SUSPEND, 0, 0x3, false },       { GS_RM_SUSPEND, 0, 0x21, false },
		{ GS_RM_SUSPEND, 0, 0x1b, true },       { GS_RM_SUSPEND, 0, 0x56, true },
		{ GS_RM_SUSPEND, 1, 0x1b, false },      { GS_RM_RESUME, 1, 0x1b, false },
		{ GS_RM_RESUME, 0, 0x24, true },        { GS_RM_SET_TIMESLICE, 0, 0x65, false },
		{ GS_RM_SET_TIMESLICE, 0, 0x56, true },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct gs_rm_tsg t = own_tsg(cases[i].after ? 100 : 4);
		struct gs_rm_step step = { .op = cases[i].op, .arg = 500 };

		drv.fail_cmd = cases[i].op == GS_RM_SET_TIMESLICE ? NV_CMD_SET_TIMESLICE
								  : NV_CMD_DISABLE_CHANNELS;
		drv.n = 0;
		drv.fail_after = cases[i].after;
		drv.fail_status = cases[i].status;
		gs_way_borrow.take(&t, &step, 1);
		if (cases[i].status == 0x21) /* each channel alone succeeds */
			assert_int_equal(step.res.err, 0);
		else
			assert_int_equal(gs_rm_ops_refused(&step), cases[i].refused);
	}
}

static void test_freed_channel_does_not_keep_the_rest(void **state)
{
	struct gs_rm_tsg t = own_tsg(4);
	struct gs_rm_result res;

	assert_int_equal(do_op(&t, GS_RM_SUSPEND, 0, &res), 0);
	drv.missing_channel = 0x101;
	assert_int_equal(do_op(&t, GS_RM_RESUME, 0, &res), 0);
	assert_int_equal(drv.disabled[0] + drv.disabled[2] + drv.disabled[3], 0);
}

static void test_unproven_never_named(void **state)
{
	struct gs_rm_tsg t = own_tsg(2);
	struct gs_rm_result res;

	t.tsg = TSG + 1;
	assert_int_equal(do_op(&t, GS_RM_SUSPEND, 0, &res), -ENOENT);
	assert_int_equal(do_op(&t, GS_RM_SET_PREEMPT_MODE, 1, &res), -ENOENT);
	for (unsigned int i = 0; i < drv.n; i++)
		assert_int_equal(drv.calls[i].cmd, NV_CMD_GET_TIMESLICE);
}

static unsigned int finds;

static int find_right(void *finder, pid_t pid, uint64_t file)
{
	finds++;
	return file == 42 && finder == &finds ? right_file : -EBADF;
}

static void test_moved_descriptor_is_found(void **state)
{
	struct gs_rm_tsg t = own_tsg(1);
	struct gs_rm_result res;
	unsigned int before = open_fds();
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

	t.fd = null; /* the descriptor now refers to another file */
	assert_int_equal(do_op(&t, GS_RM_SET_TIMESLICE, 20, &res), -EBADF);
	t.find = find_right;
	t.finder = &finds;
	assert_int_equal(do_op(&t, GS_RM_SET_TIMESLICE, 20, &res), -EBADF);
	t.file = 42;
	assert_int_equal(do_op(&t, GS_RM_SET_TIMESLICE, 20, &res), 0);
	assert_int_equal(res.fd, right_file);
	t.fd = wrong_file; /* status 0x23 */
	assert_int_equal(do_op(&t, GS_RM_SET_TIMESLICE, 30, &res), 0);
	assert_int_equal(res.fd, right_file);
	assert_int_equal(drv.n, 2);
	t.client++;
	finds = drv.n = 0;
	assert_int_equal(do_op(&t, GS_RM_SET_TIMESLICE, 30, &res), -EBADF);
	assert_true(finds <= 3);
	close(null);
	usleep(10000);
	assert_int_equal(open_fds(), before);
}

/* Only an answer through the right file proves that RM has no such TSG. */
static void test_denied(void **state)
{
	struct gs_rm_tsg t = own_tsg(1);
	struct gs_rm_result res;

	t.tsg++;
	assert_int_equal(do_op(&t, GS_RM_SET_TIMESLICE, 20, &res), -ENOENT);
	assert_true(res.denied);
	t.tsg--;
	drv.fail_cmd = NV_CMD_SET_TIMESLICE;
	drv.fail_status = 0x65; /* TIMEOUT */
	assert_int_equal(do_op(&t, GS_RM_SET_TIMESLICE, 20, &res), -EREMOTEIO);
	assert_false(res.denied);
	t.fd = wrong_file;
	assert_int_equal(do_op(&t, GS_RM_SET_TIMESLICE, 20, &res), -EBADF);
	assert_false(res.denied);
}

static void test_owner_gone(void **state)
{
	struct gs_rm_tsg t = own_tsg(1);
	struct gs_rm_result res;
	struct gs_error err = { 0 };
	int fd;

	t.start_ns += 1000000000ull; /* as if another process had the PID now */
	assert_int_equal(do_op(&t, GS_RM_SET_TIMESLICE, 20, &res), -ESRCH);
	t.pid = fork();
	if (!t.pid)
		_exit(0);
	waitpid(t.pid, NULL, 0);
	t.start_ns = 0;
	assert_int_equal(do_op(&t, GS_RM_SET_TIMESLICE, 20, &res), -ESRCH);
	assert_int_equal(drv.n, 0);
	assert_int_equal(gs_rm_borrow(t.pid, 0, 0, 3, &fd, &err), -ESRCH);
	assert_non_null(strstr(err.text, "gone"));
}

/* Acts as a process that takes long to end, as a process with GPU contexts does. */
static void __attribute__((noreturn)) end_late(int ready)
{
	int memory = memfd_create("late", MFD_CLOEXEC);

	if (memory < 0 || fallocate(memory, 0, 0, 1l << 30) || write(ready, "", 1) != 1)
		_exit(1);
	pause();
	_exit(1);
}

static void test_owner_is_ending(void **state)
{
	struct gs_rm_tsg t = own_tsg(1);
	struct gs_rm_result res;
	char path[32], c;
	int ready[2], r;

	assert_int_equal(pipe(ready), 0);
	t.start_ns = 0;
	t.pid = fork();
	if (!t.pid)
		end_late(ready[1]);
	assert_int_equal(read(ready[0], &c, 1), 1);
	assert_int_equal(do_op(&t, GS_RM_SET_TIMESLICE, 20, &res), 0);
	assert_true(gs_proc_has_life(t.pid) && gs_process_has_memory(t.pid));
	kill(t.pid, SIGKILL);
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)t.pid, t.fd);
	while (!faccessat(AT_FDCWD, path, F_OK, AT_SYMLINK_NOFOLLOW))
		usleep(100);
	/* under QEMU another thread may keep the files open for a moment */
	for (int i = 0; (r = do_op(&t, GS_RM_SET_TIMESLICE, 30, &res)) != -ESRCH && i < 1000; i++)
		usleep(1000);
	assert_int_equal(r, -ESRCH);
	assert_false(gs_proc_has_life(t.pid) || gs_process_has_memory(t.pid));
	assert_int_equal(waitpid(t.pid, NULL, WNOHANG), 0); /* it has not ended */
	waitpid(t.pid, NULL, 0);
	close(ready[0]);
	close(ready[1]);
}

static void test_steps_stop_at_failure(void **state)
{
	struct gs_rm_tsg t = own_tsg(1);
	struct gs_rm_step steps[3] = { { .op = GS_RM_SET_TIMESLICE, .arg = 50 },
				       { .op = GS_RM_SET_INTERLEAVE, .arg = 2 },
				       { .op = GS_RM_SUSPEND } };

	drv.fail_cmd = NV_CMD_SET_INTERLEAVE;
	drv.fail_status = GS_NV_INSUFFICIENT_PERMISSIONS;
	assert_int_equal(gs_way_borrow.take(&t, steps, 3), -EPERM);
	assert_int_equal(steps[0].res.err, 0);
	assert_int_equal(steps[1].res.err, -EPERM);
	assert_int_equal(steps[1].res.status, 0x1b);
	assert_int_equal(steps[2].res.err, -ECANCELED);
	assert_int_equal(drv.n, 2);
}

static void *stay(void *arg)
{
	pause();
	return arg;
}

/* The main thread has ended, and another thread goes on with the same descriptors. */
static void test_main_thread_gone(void **state)
{
	struct gs_rm_tsg t = own_tsg(1);
	struct gs_rm_result res;
	pid_t child = fork();
	int fd = (int)syscall(SYS_pidfd_open, getpid(), O_EXCL);

	if (!child) {
		pthread_t thread;

		pthread_create(&thread, NULL, stay, NULL);
		pthread_exit(NULL);
	}
	usleep(100000);
	t.pid = child;
	t.start_ns = gs_proc_start_ns(child);
	assert_true(t.start_ns > 0);
	if (fd >= 0) {
		assert_int_equal(do_op(&t, GS_RM_SET_TIMESLICE, 20, &res), 0);
		close(fd);
	} else { /* an older kernel: the call is refused, and the process is not taken for dead */
		assert_int_equal(do_op(&t, GS_RM_SET_TIMESLICE, 20, &res), -EINVAL);
	}
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

/* Branches 515 and 525 put an allocation's status where later branches have the size. */
static unsigned int alloc_branch;

static int alloc_ioctl(int fd, unsigned long request, void *arg)
{
	struct nv_alloc *a = arg;

	if (alloc_branch < 535)
		a->params_size = 0x22;
	else
		a->status = 0x22;
	return 0;
}

static void test_alloc_status_by_branch(void **state)
{
	static const unsigned int branches[] = { 515, 525, 535, 580 };

	gs_rm_sys.ioctl = alloc_ioctl;
	for (size_t i = 0; i < 4; i++) {
		uint32_t handle = 0, status = 0;

		alloc_branch = branches[i];
		assert_int_equal(gs_rm_call_alloc(1, 0, 0, &handle, 0x41, NULL, 0, &status), 0);
		assert_int_equal(status, 0x22);
	}
}

static void test_names(void **state)
{
	assert_string_equal(gs_rm_status_name(0x23), "NV_ERR_INVALID_CLIENT");
	assert_string_equal(gs_rm_status_name(0), "NV_OK");
	assert_null(gs_rm_status_name(0x12345));
	assert_string_equal(gs_rm_op_name(GS_RM_SUSPEND), "suspend");
	assert_null(gs_rm_op_name(GS_RM_OP_MAX));
}

static void test_gpu_find(void **state)
{
	const struct gs_gpu g[2] = {
		{ .index = 0, .pci = "00000000:3B:00.0", .uuid = "GPU-11aa-22" },
		{ .index = 1, .pci = "00000000:5E:00.0", .uuid = "GPU-11bb-33" },
	};

	assert_ptr_equal(gs_gpu_find(g, 2, "1"), &g[1]);
	assert_null(gs_gpu_find(g, 2, "2"));
	assert_ptr_equal(gs_gpu_find(g, 2, "3b:00.0"), &g[0]);
	assert_ptr_equal(gs_gpu_find(g, 2, "0000:5e:00.0"), &g[1]);
	assert_ptr_equal(gs_gpu_find(g, 2, "GPU-11b"), &g[1]);
	assert_null(gs_gpu_find(g, 2, "GPU-11"));
	assert_null(gs_gpu_find(g, 2, "3b:00.0x"));
	assert_null(gs_gpu_find(g, 2, ""));
}

/* With the real check of files, an ordinary process's files do not count as NVIDIA's. */
static void test_strangers_are_refused(void **state)
{
	struct gs_error err = { 0 };
	int fd = -1;

	gs_rm_sys.accept = gs_rm_sys_accept;
	assert_int_equal(gs_rm_borrow(getpid(), 0, 0, 0, &fd, &err), -EBADF);
	assert_int_equal(fd, -1);
	assert_non_null(strstr(err.text, "no NVIDIA control file"));
}

/* In a simulated instance, only the registered control file counts, whatever its path is. */
static void test_registered_files(void **state)
{
	char dir[] = "/tmp/gpusched-test-XXXXXX", path[64];
	struct gs_rm_result res;
	struct gs_rm_tsg t;
	struct stat st;
	FILE *f;
	pid_t child;
	int status;

	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/simfiles", dir);
	assert_int_equal(fstat(right_file, &st), 0);
	f = fopen(path, "w");
	assert_non_null(f);
	fprintf(f, "%llu %llu /dev/nvidiactl\n", (unsigned long long)st.st_dev,
		(unsigned long long)st.st_ino);
	assert_int_equal(fstat(wrong_file, &st), 0);
	fprintf(f, "%llu %llu /dev/nvidia0\n", (unsigned long long)st.st_dev,
		(unsigned long long)st.st_ino);
	fclose(f);
	child = fork(); /* in a child, since a process looks for its instance only once */
	if (!child) {
		int fd;

		setenv("GPUSCHED_SIM", dir, 1);
		gs_rm_sys.accept = gs_rm_sys_accept;
		t = own_tsg(1);
		if (do_op(&t, GS_RM_SET_TIMESLICE, 20, &res))
			_exit(1);
		close(right_file); /* only the GPU's file is left */
		_exit(gs_rm_borrow(getpid(), 0, 0, wrong_file, &fd, NULL) == -EBADF ? 0 : 2);
	}
	waitpid(child, &status, 0);
	assert_int_equal(status, 0);
	unlink(path);
	rmdir(dir);
}

int main(void)
{
#define T(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_layouts),
		T(test_rows_of_branches),
		T(test_schedule_size_by_branch),
		T(test_ranges_make_no_call),
		T(test_many_channels),
		T(test_partial_suspend_is_undone),
		T(test_suspend_without_a_wait),
		T(test_refusals),
		T(test_freed_channel_does_not_keep_the_rest),
		T(test_unproven_never_named),
		T(test_moved_descriptor_is_found),
		T(test_denied),
		T(test_owner_gone),
		T(test_owner_is_ending),
		T(test_main_thread_gone),
		T(test_steps_stop_at_failure),
		T(test_alloc_status_by_branch),
		T(test_names),
		T(test_gpu_find),
		T(test_registered_files),
		T(test_strangers_are_refused),
	};

	return cmocka_run_group_tests_name("rm", tests, NULL, NULL);
}
