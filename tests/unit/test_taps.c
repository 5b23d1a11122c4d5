// SPDX-License-Identifier: MIT
/* test_taps.c - check the taps, and the table that they keep */
#include <bpf/bpf.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include "basic/clock.h"
#include "table/priv.h"
#include "process/process.h"
#include "process/reader.h"
#include "taps/taps.h"
#include "taps_fixture.h"
#include "table/cfg.h"
#include "table/classes.h"
#include "table/events.h"
#include "table/procs.h"
#include "table/started.h"

/* ---- what CUDA does -------------------------------------------------------------------------- */

static void test_cuda_start(void **state)
{
	struct gpusched_channels ch;
	struct gpusched_tsg rec;
	CLEANUP_FD int fd = -1;
	uint32_t mode[8] = { 1, RC_TSG, 0, 2 };

	NEEDS();
	fd = open_ctl();
	rc_client(fd, RC_CLIENT, 3);
	rc_tsg(fd, RC_CLIENT, RC_TSG, 1);
	rec = only();
	assert_int_equal(rec.key.client, RC_CLIENT);
	assert_int_equal(rec.key.handle, RC_TSG);
	assert_int_equal(rec.task.id, 1);
	assert_int_equal(rec.task.pid, getpid());
	assert_int_equal(rec.owner_fd, fd);
	assert_true(gs_process_same(rec.owner_start_ns, gs_proc_start_ns(getpid())));
	assert_int_equal(rec.task.kind, GPUSCHED_KIND_COMPUTE);
	assert_int_equal(rec.dev_instance, 3);
	assert_int_equal(rec.task.gpu, GPUSCHED_GPU_UNKNOWN);
	assert_int_equal(rec.h_device, RC_DEVICE);
	assert_int_equal(rec.h_subdevice, RC_SUBDEVICE);
	assert_int_equal(rec.task.asked.timeslice_us, GPUSCHED_DRIVER_TIMESLICE_US);
	assert_int_equal(rec.flags, GPUSCHED_TSG_EMPTY);

	rc_channel(fd, RC_CLIENT, RC_TSG, 0x5c000020, 41);
	rc_channel(fd, RC_CLIENT, RC_TSG, 0x5c000021, 42);
	rc_schedule(fd, RC_CLIENT, RC_TSG, 1);
	rc_control(fd, RC_CLIENT, RC_SUBDEVICE, 0x20801210, mode, sizeof(mode));
	rc_timeslice(fd, RC_CLIENT, RC_TSG, 2048);
	rec = only();
	assert_int_equal(rec.flags, GPUSCHED_TSG_SCHEDULED);
	assert_int_equal(rec.nchannels, 2);
	assert_int_equal(rec.task.asked.timeslice_us, 2048);
	assert_int_equal(rec.task.is.timeslice_us, 2048);
	assert_int_equal(rec.task.asked.preempt_mode, GPUSCHED_PREEMPT_CILP);
	assert_true(rec.task.asked.valid & GPUSCHED_PREEMPT_MODE);
	assert_int_equal(gs_table_channels(table, &rec.key, &ch), 0);
	assert_int_equal(ch.n, 2);
	assert_int_equal(ch.ch[1].handle, 0x5c000021);
	assert_int_equal(ch.ch[1].cid, 42);

	rc_free(fd, RC_CLIENT, RC_TSG, 0x5c000020);
	assert_int_equal(gs_table_channels(table, &rec.key, &ch), 0);
	assert_int_equal(ch.n, 1);
	assert_int_equal(ch.ch[0].cid, 42);
	rc_schedule(fd, RC_CLIENT, RC_TSG, 0);
	assert_int_equal(only().flags, 0);
	rc_free(fd, RC_CLIENT, RC_DEVICE, RC_TSG);
	assert_int_equal(records(), 0);
	assert_int_equal(count_events(GPUSCHED_EV_CLIENT), 1);
	assert_int_equal(count_events(GPUSCHED_EV_TSG_NEW), 1);
	assert_int_equal(count_events(GPUSCHED_EV_CHANNEL), 2);
	assert_int_equal(count_events(GPUSCHED_EV_SCHEDULE), 1);
	assert_int_equal(count_events(GPUSCHED_EV_UNSCHEDULE), 1);
	assert_int_equal(count_events(GPUSCHED_EV_PREEMPT_MODE), 1);
	assert_int_equal(count_events(GPUSCHED_EV_TIMESLICE), 1);
	assert_int_equal(count_events(GPUSCHED_EV_TSG_FREE), 1);
	assert_int_equal(last_event(GPUSCHED_EV_TIMESLICE)->arg[0], 2048);
}

static enum gpusched_program program_here(void)
{
	struct gpusched_proc proc = {};

	assert_int_equal(gs_proc_get(table, getpid(), &proc), 0);
	return gs_proc_program(&proc);
}

/* The first object that draws shows a program as graphics, as long as its process lives. */
static void test_graphics(void **state)
{
	CLEANUP_FD int fd = -1;

	NEEDS();
	fd = open_ctl();
	rc_client(fd, RC_CLIENT, 0);
	assert_int_equal(program_here(), GPUSCHED_IS_UNKNOWN);
	rc_tsg(fd, RC_CLIENT, RC_TSG, 1);
	assert_int_equal(program_here(), GPUSCHED_IS_COMPUTE);
	rc_channel(fd, RC_CLIENT, RC_TSG, 0x5c000020, 41);
	assert_false(only().flags & GPUSCHED_TSG_DRAWS);
	rc_alloc(fd, RC_CLIENT, 0x5c000020, 0x5c000030, 0xcb97, NULL);
	rc_alloc(fd, RC_CLIENT, 0x5c000020, 0x5c000031, 0xcb97, NULL);
	assert_true(only().flags & GPUSCHED_TSG_DRAWS);
	assert_int_equal(program_here(), GPUSCHED_IS_GRAPHICS);
	assert_int_equal(count_events(GPUSCHED_EV_GRAPHICS), 1);
	rc_tsg(fd, RC_CLIENT, RC_TSG + 1, 1);
	assert_int_equal(program_here(), GPUSCHED_IS_GRAPHICS);
}

static void test_interleave_by_channel(void **state)
{
	CLEANUP_FD int fd = -1;
	uint32_t level = GPUSCHED_INTERLEAVE_HIGH;

	NEEDS();
	fd = open_ctl();
	rc_client(fd, RC_CLIENT, 0);
	rc_tsg(fd, RC_CLIENT, RC_TSG, 9);
	rc_channel(fd, RC_CLIENT, RC_TSG, 0x5c000020, 41);
	rc_control(fd, RC_CLIENT, 0x5c000020, 0xa06f0109, &level, 4);
	assert_int_equal(only().task.asked.interleave, GPUSCHED_INTERLEAVE_HIGH);
	assert_int_equal(only().task.kind, GPUSCHED_KIND_COPY);
}

static void test_own_calls_are_not_asked(void **state)
{
	CLEANUP_FD int fd = -1;

	NEEDS();
	fd = open_ctl();
	rc_client(fd, RC_CLIENT, 0);
	rc_tsg(fd, RC_CLIENT, RC_TSG, 1);
	rc_timeslice(fd, RC_CLIENT, RC_TSG, 2048);
	assert_int_equal(gs_cfg_self_add(table, getpid()), 0);
	rc_timeslice(fd, RC_CLIENT, RC_TSG, 20);
	assert_int_equal(gs_cfg_self_del(table, getpid()), 0);
	assert_int_equal(only().task.asked.timeslice_us, 2048);
	assert_int_equal(count_events(GPUSCHED_EV_TIMESLICE), 1);
}

static void test_gpu_index(void **state)
{
	const struct gs_gpu gpus[] = { { .index = 1, .dev_instance = 0 },
				       { .index = 0, .dev_instance = 5 } };
	CLEANUP_FD int fd = -1;

	NEEDS();
	assert_int_equal(gs_cfg_gpus(table, gpus, 2), 0);
	fd = open_ctl();
	rc_client(fd, RC_CLIENT, 5);
	rc_tsg(fd, RC_CLIENT, RC_TSG, 1);
	assert_int_equal(only().task.gpu, 0);
}

/* gs_started() agrees with /proc, in full ns, until the process has been waited for. */
static void test_started(void **state)
{
	uint64_t ns = 0;
	pid_t child = fork();

	if (!child)
		_exit(0);
	assert_int_equal(gs_started(getpid(), &ns), 0);
	assert_true(gs_process_same(ns, gs_proc_start_ns(getpid())));
	assert_int_equal(waitid(P_PID, (id_t)child, NULL, WEXITED | WNOWAIT), 0);
	assert_int_equal(gs_started(child, &ns), 0);
	assert_int_equal(waitpid(child, NULL, 0), child);
	assert_int_equal(gs_started(child, &ns), -ESRCH);
	assert_int_equal(gs_started(0, &ns), -ESRCH);
}

/* An event that is older than the process with its PID belongs to an earlier process. */
static void test_event_of_a_reused_pid(void **state)
{
	struct gpusched_event ev = { .pid = (uint32_t)getpid(), .ns = gs_now_ns() };
	uid_t uid = 1;

	NEEDS();
	assert_int_equal(gs_event_uid(&ev, &uid), 0);
	assert_int_equal(uid, getuid());
	ev.ns = 1;
	assert_int_equal(gs_event_uid(&ev, &uid), -ESRCH);
	ev = (struct gpusched_event){ .pid = 1u << 30, .ns = gs_now_ns() };
	assert_int_equal(gs_event_uid(&ev, &uid), -ESRCH);
}

/* Only the entry in the table makes a process an MPS server, not a name that it chooses. */
static void test_mps_server(void **state)
{
	struct gpusched_proc proc;
	CLEANUP_FD int fd = -1;

	NEEDS();
	fd = open_ctl();
	prctl(PR_SET_NAME, "nvidia-cuda-mps-server");
	rc_client(fd, RC_CLIENT, 0);
	rc_tsg(fd, RC_CLIENT, RC_TSG, 1);
	prctl(PR_SET_NAME, "test");
	assert_int_equal(only().flags, GPUSCHED_TSG_EMPTY);
	rc_free(fd, RC_CLIENT, RC_DEVICE, RC_TSG);
	assert_int_equal(gs_proc_get(table, getpid(), &proc), 0);
	proc.mps = 1;
	assert_int_equal(gs_proc_set(table, getpid(), &proc), 0);
	rc_tsg(fd, RC_CLIENT, RC_TSG, 1);
	assert_int_equal(only().flags, GPUSCHED_TSG_EMPTY | GPUSCHED_TSG_MPS);
	proc.mps = 0;
	assert_int_equal(gs_proc_set(table, getpid(), &proc), 0);
}

static bool runs_mps(const char *path)
{
	char hello;
	int in[2], out[2], status;
	bool is;
	pid_t pid;

	assert_int_equal(pipe(in) | pipe(out), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		dup2(in[0], 0);
		dup2(out[1], 1);
		close(in[1]);
		execl(path, path, NULL); /* cat */
		_exit(1);
	}
	assert_int_equal(write(in[1], "x", 1), 1);
	assert_int_equal(read(out[0], &hello, 1), 1); /* the child is past its exec */
	is = gs_reader_is_mps(pid);
	close(in[0]);
	close(in[1]);
	close(out[0]);
	close(out[1]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return is;
}

static void copy_cat(const char *to)
{
	char command[256];

	snprintf(command, sizeof(command), "cp /bin/cat %s", to);
	assert_int_equal(system(command), 0);
}

static void test_mps_executable(void **state)
{
	static const char *server = "/mnt/roots/nvidia-cuda-mps-server";

	NEEDS();
	assert_int_equal(mount("none", "/mnt", "tmpfs", 0, "mode=755"), 0);
	assert_int_equal(mkdir("/mnt/roots", 0755), 0);
	copy_cat(server);
	copy_cat("/mnt/roots/nvidia-cuda-mps");
	assert_true(runs_mps(server));
	assert_false(runs_mps("/mnt/roots/nvidia-cuda-mps"));
	assert_int_equal(chmod(server, 0775), 0);
	assert_false(runs_mps(server)); /* its group may write the file */
	assert_int_equal(chmod(server, 0755), 0);
	assert_int_equal(chown(server, 1000, 0), 0);
	assert_false(runs_mps(server)); /* a user owns the file */
	assert_int_equal(chown(server, 0, 0), 0);
	assert_int_equal(chmod("/mnt/roots", 01777), 0);
	assert_false(runs_mps(server)); /* a user could put a link to a file of root there */
	assert_int_equal(chmod("/mnt/roots", 0755), 0);
	assert_int_equal(chmod("/mnt", 0777), 0);
	assert_false(runs_mps(server)); /* a user could rename the folder */
	assert_int_equal(chmod("/mnt", 0755), 0);
	assert_true(runs_mps(server));
	assert_int_equal(umount2("/mnt", MNT_DETACH), 0);
}

/* ---- ends ------------------------------------------------------------------------------------ */

static void three_tsgs(int fd)
{
	rc_client(fd, RC_CLIENT, 0);
	for (uint32_t i = 0; i < 3; i++) {
		rc_tsg(fd, RC_CLIENT, RC_TSG + i, 1 + i * 8);
		rc_channel(fd, RC_CLIENT, RC_TSG + i, 0x5c000100 + i, 7);
	}
	assert_int_equal(records(), 3);
}

static void test_client_free(void **state)
{
	CLEANUP_FD int fd = -1, other = -1;

	NEEDS();
	fd = open_ctl();
	other = open_ctl();
	three_tsgs(fd);
	rc_client(other, RC_CLIENT, 0); /* the same numbers on another open file */
	rc_tsg(other, RC_CLIENT, RC_TSG, 1);
	rc_free(fd, RC_CLIENT, RC_CLIENT, RC_CLIENT);
	assert_int_equal(only().owner_fd, other);
	assert_int_equal(count_events(GPUSCHED_EV_TSG_FREE), 3);
}

static void test_client_free_with_policy(void **state)
{
	CLEANUP_FREE struct gpusched_tsg *all = NULL;
	CLEANUP_FD int fd = -1;
	size_t n = 0;

	NEEDS();
	fd = open_ctl();
	three_tsgs(fd);
	assert_int_equal(gs_cfg_policy_active(table, true), 0);
	rc_free(fd, RC_CLIENT, RC_CLIENT, RC_CLIENT);
	assert_int_equal(gs_table_all(table, &all, &n), 0);
	assert_int_equal(n, 2); /* the policy got one end; two wait for the sweep */
	for (size_t i = 0; i < n; i++)
		assert_true(all[i].flags & GPUSCHED_TSG_GONE);
	assert_int_equal(gs_sweep(table, NULL, NULL, NULL), 2);
	assert_int_equal(records(), 0);
	assert_int_equal(count_events(GPUSCHED_EV_TSG_FREE), 3);
}

static void test_device_and_subdevice_free(void **state)
{
	CLEANUP_FD int fd = -1;

	NEEDS();
	fd = open_ctl();
	rc_client(fd, RC_CLIENT, 0);
	rc_tsg(fd, RC_CLIENT, RC_TSG, 1);
	rc_free(fd, RC_CLIENT, RC_DEVICE, RC_SUBDEVICE);
	assert_int_equal(only().h_subdevice, 0);
	rc_free(fd, RC_CLIENT, RC_CLIENT, RC_DEVICE);
	assert_int_equal(records(), 0);
}

static void on_end(const struct gpusched_tsg *rec, void *user)
{
	*(uint64_t *)user += rec->task.id;
}

static void test_sweep_after_close(void **state)
{
	uint64_t ended = 0;
	int fd;

	NEEDS();
	fd = open_ctl();
	rc_client(fd, RC_CLIENT, 0);
	rc_tsg(fd, RC_CLIENT, RC_TSG, 1);
	assert_int_equal(gs_sweep(table, on_end, &ended, NULL), 0);
	assert_int_equal(records(), 1);
	close(fd);
	assert_int_equal(gs_sweep(table, on_end, &ended, NULL), 1);
	assert_int_equal(ended, 1);
	assert_int_equal(records(), 0);
}

/* A sweep was killed after it had claimed a TSG: until another sweep ends it, frees are ignored. */
static void test_claim_outlives_its_sweep(void **state)
{
	struct gs_table_arg arg = { .head = { .op = GS_TABLE_CLAIM } };
	CLEANUP_FD int fd = -1;
	uint64_t ended = 0;

	NEEDS();
	fd = open_ctl();
	rc_client(fd, RC_CLIENT, 0);
	rc_tsg(fd, RC_CLIENT, RC_TSG, 1);
	arg.head.key = only().key;
	arg.head.id = only().task.id + 1;
	assert_int_equal(gs_table_change(table, &arg), -ESTALE);
	arg.head.id = only().task.id;
	assert_int_equal(gs_table_change(table, &arg), 0);
	assert_int_equal(arg.head.id, GPUSCHED_TSG_EMPTY); /* the flags before the claim */
	rc_free(fd, RC_CLIENT, RC_DEVICE, RC_TSG);
	assert_int_equal(records(), 1);
	assert_int_equal(count_events(GPUSCHED_EV_TSG_FREE), 0);
	/* while its end is in progress, a new TSG with the same handle gets no record */
	rc_tsg(fd, RC_CLIENT, RC_TSG, 1);
	assert_int_equal(only().task.id, 1);
	assert_int_equal(counter(GPUSCHED_CNT_REUSED), 1);
	close(fd);
	fd = -1;
	assert_int_equal(gs_sweep(table, on_end, &ended, NULL), 1);
	assert_int_equal(ended, 1);
	assert_int_equal(records(), 0);
}

/* The taps missed a TSG's free, and its handle is used again: the new TSG gets a new record. */
static void test_handle_used_again(void **state)
{
	CLEANUP_FD int fd = -1;

	NEEDS();
	fd = open_ctl();
	rc_client(fd, RC_CLIENT, 0);
	rc_tsg(fd, RC_CLIENT, RC_TSG, 1);
	rc_tsg(fd, RC_CLIENT, RC_TSG, 9);
	assert_int_equal(only().task.id, 2);
	assert_int_equal(counter(GPUSCHED_CNT_REUSED), 1);
	assert_int_equal(count_events(GPUSCHED_EV_TSG_FREE), 1);
	assert_int_equal(last_event(GPUSCHED_EV_TSG_FREE)->id, 1);
}

static void test_sweep_moves_to_child(void **state)
{
	struct gpusched_proc proc;
	struct gpusched_tsg rec;
	pid_t owner, heir;
	int p[2], fd, status;
	char c;

	NEEDS();
	assert_int_equal(pipe(p), 0);
	owner = fork();
	if (!owner) {
		fd = open(echo.path, O_RDWR);
		rc_client(fd, RC_CLIENT, 0);
		rc_tsg(fd, RC_CLIENT, RC_TSG, 1);
		heir = fork();
		if (!heir) {
			prctl(PR_SET_PDEATHSIG, 0);
			(void)!write(p[1], &(pid_t){ getpid() }, sizeof(pid_t));
			pause();
		}
		_exit(0);
	}
	assert_int_equal(waitpid(owner, &status, 0), owner);
	assert_int_equal(read(p[0], &heir, sizeof(heir)), sizeof(heir));
	assert_int_equal(only().task.pid, owner);
	assert_int_equal(gs_sweep(table, NULL, NULL, NULL), 0);
	rec = only();
	assert_int_equal(rec.task.pid, heir);
	assert_int_equal(count_events(GPUSCHED_EV_OWNER), 1);
	assert_int_equal(last_event(GPUSCHED_EV_OWNER)->pid, heir);
	assert_int_equal(gs_proc_get(table, heir, &proc), 0);
	assert_int_equal(proc.tsgs, 1);
	assert_true(gs_process_same(rec.owner_start_ns, gs_proc_start_ns(heir)));
	kill(heir, SIGKILL);
	for (int i = 0; i < 500 && records(); i++) {
		gs_sweep(table, NULL, NULL, NULL);
		usleep(10000);
	}
	assert_int_equal(records(), 0);
	(void)c;
	close(p[0]);
	close(p[1]);
}

/* A new open file may have the kernel address of one that was just closed. */
static void test_address_reuse(void **state)
{
	int fd;

	NEEDS();
	for (int i = 0; i < 200; i++) {
		fd = open_ctl();
		rc_client(fd, RC_CLIENT, 0);
		rc_tsg(fd, RC_CLIENT, RC_TSG + i, 1);
		close(fd);
	}
	fd = open_ctl();
	gs_sweep(table, NULL, NULL, NULL);
	assert_int_equal(records(), 0);
	close(fd);
}

/* ---- processes ------------------------------------------------------------------------------- */

static void test_fork_inherits(void **state)
{
	struct gpusched_proc proc = { .class_id = GPUSCHED_CLASS_LC,
				      .source = GPUSCHED_SRC_COMMAND,
				      .weight = 300 };
	struct gpusched_proc child = {};
	int p[2], status;
	pid_t pid;
	char c = 0;

	NEEDS();
	assert_int_equal(pipe(p), 0);
	assert_int_equal(gs_proc_set(table, getpid(), &proc), 0);
	pid = fork();
	if (!pid) {
		(void)!read(p[0], &c, 1);
		_exit(0);
	}
	assert_int_equal(gs_proc_get(table, pid, &child), 0);
	assert_int_equal(child.class_id, GPUSCHED_CLASS_LC);
	assert_int_equal(child.weight, 300);
	assert_int_equal(write(p[1], &c, 1), 1);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(gs_proc_get(table, pid, &child), -ENOENT);
	assert_int_equal(count_events(GPUSCHED_EV_EXIT), 1);
	assert_int_equal(last_event(GPUSCHED_EV_EXIT)->pid, pid);
	assert_int_equal(gs_proc_del(table, getpid()), 0);
	pid = fork();
	if (!pid)
		_exit(0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(count_events(GPUSCHED_EV_EXIT), 1);
	close(p[0]);
	close(p[1]);
}

static void test_class_of_record(void **state)
{
	struct gpusched_proc proc = { .class_id = GPUSCHED_CLASS_BE, .source = GPUSCHED_SRC_RULE };
	struct gpusched_class cls;
	CLEANUP_FD int fd = -1;

	NEEDS();
	assert_int_equal(gs_procs_class_get(table, GPUSCHED_CLASS_BE, &cls), 0);
	assert_string_equal(cls.name, "be");
	cls.weight = 50;
	assert_int_equal(gs_procs_class_set(table, GPUSCHED_CLASS_BE, &cls), 0);
	/* The entry of a process that the taps do not know would never be removed. */
	assert_int_equal(gs_proc_set(table, getpid(), &proc), -ENOENT);
	fd = open_ctl();
	rc_client(fd, RC_CLIENT, 0);
	assert_int_equal(gs_proc_set(table, getpid(), &proc), 0);
	rc_tsg(fd, RC_CLIENT, RC_TSG, 1);
	assert_int_equal(only().task.class_id, GPUSCHED_CLASS_BE);
	assert_int_equal(only().task.weight, 50);
	assert_int_equal(gs_proc_set(table, getpid(), &proc), 0);
	assert_int_equal(gs_proc_get(table, getpid(), &proc), 0);
	assert_int_equal(proc.tsgs, 1); /* setting a class does not lose the count */
}

static void test_default_class(void **state)
{
	CLEANUP_FD int fd = -1;

	NEEDS();
	assert_int_equal(gs_cfg_default_class(table, GPUSCHED_CLASS_NORMAL), 0);
	fd = open_ctl();
	rc_client(fd, RC_CLIENT, 0);
	rc_tsg(fd, RC_CLIENT, RC_TSG, 1);
	assert_int_equal(only().task.class_id, GPUSCHED_CLASS_NORMAL);
}

static void test_exec_event(void **state)
{
	struct gpusched_proc proc = { .class_id = GPUSCHED_CLASS_LC,
				      .source = GPUSCHED_SRC_COMMAND };
	int status;
	pid_t pid;

	NEEDS();
	assert_int_equal(gs_proc_set(table, getpid(), &proc), 0);
	pid = fork();
	if (!pid) {
		execl("/bin/true", "true", NULL);
		_exit(1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(gs_proc_del(table, getpid()), 0);
	assert_int_equal(count_events(GPUSCHED_EV_EXEC), 1);
	assert_string_equal(last_event(GPUSCHED_EV_EXEC)->comm, "true");
}

/* ---- poke, insert ---------------------------------------------------------------------------- */

static void test_poke(void **state)
{
	struct gpusched_poke poke = { .what = GPUSCHED_POKE_IS | GPUSCHED_POKE_CHANGED };
	struct gpusched_tsg rec;
	CLEANUP_FD int fd = -1;

	NEEDS();
	fd = open_ctl();
	rc_client(fd, RC_CLIENT, 0);
	rc_tsg(fd, RC_CLIENT, RC_TSG, 1);
	rec = only();
	poke.key = rec.key;
	poke.id = rec.task.id + 1;
	poke.rec.task.is.timeslice_us = 20;
	poke.rec.task.is.valid = GPUSCHED_TIMESLICE;
	poke.rec.changed = GPUSCHED_TIMESLICE;
	poke.rec.flags = 0xff;
	assert_int_equal(gs_table_poke(table, &poke), -ESTALE);
	assert_int_equal(only().task.is.timeslice_us, GPUSCHED_DRIVER_TIMESLICE_US);
	poke.id = rec.task.id;
	assert_int_equal(gs_table_poke(table, &poke), 0);
	rec = only();
	assert_int_equal(rec.task.is.timeslice_us, 20);
	assert_int_equal(rec.changed, GPUSCHED_TIMESLICE);
	assert_int_equal(rec.flags, GPUSCHED_TSG_EMPTY);
	assert_int_equal(rec.task.asked.timeslice_us, GPUSCHED_DRIVER_TIMESLICE_US);
	poke.what = GPUSCHED_POKE_FLAGS | GPUSCHED_POKE_SUSPEND | GPUSCHED_POKE_MANUAL;
	poke.flags_mask = GPUSCHED_TSG_HELD;
	poke.rec.suspend_by = GPUSCHED_BY_PERSON;
	poke.rec.suspended_ns = 77;
	poke.rec.manual.valid = GPUSCHED_RUNNABLE;
	assert_int_equal(gs_table_poke(table, &poke), 0);
	rec = only();
	assert_int_equal(rec.flags, GPUSCHED_TSG_EMPTY | GPUSCHED_TSG_HELD);
	assert_int_equal(rec.suspend_by, GPUSCHED_BY_PERSON);
	assert_int_equal(rec.suspended_ns, 77);
	assert_int_equal(rec.manual.valid, GPUSCHED_RUNNABLE);
	poke.key.handle++;
	assert_int_equal(gs_table_poke(table, &poke), -ENOENT);
}

static void test_insert_remove(void **state)
{
	struct gpusched_channels ch = { .n = 2, .ch = { { 5, 6 }, { 7, 8 } } }, back;
	struct gpusched_tsg rec = { .key = { 0x1234, 5, 6 }, .flags = GPUSCHED_TSG_ADOPTED };

	NEEDS();
	rec.task.pid = 1;
	rec.task.asked.timeslice_us = 2048;
	assert_int_equal(gs_table_insert(table, &rec, &ch), 0);
	assert_int_equal(rec.task.id, 1);
	assert_int_equal(only().task.asked.timeslice_us, 2048);
	assert_int_equal(only().flags, GPUSCHED_TSG_ADOPTED);
	assert_int_equal(only().nchannels, 2);
	assert_int_equal(gs_table_channels(table, &rec.key, &back), 0);
	assert_int_equal(back.ch[1].cid, 8);
	assert_int_equal(gs_table_insert(table, &rec, &ch), -EEXIST);
	assert_int_equal(gs_table_remove(table, &rec.key), 0);
	assert_int_equal(gs_table_remove(table, &rec.key), -ENOENT);
	assert_int_equal(records(), 0);
}

static void test_walk(void **state)
{
	CLEANUP_FREE struct gpusched_tsg *all = NULL;
	CLEANUP_FD int fd = -1;
	uint64_t ids = 0;
	size_t n;

	NEEDS();
	fd = open_ctl();
	rc_client(fd, RC_CLIENT, 0);
	for (uint32_t i = 0; i < 500; i++)
		rc_tsg(fd, RC_CLIENT, RC_TSG + i, 1);
	assert_int_equal(gs_table_all(table, &all, &n), 0);
	assert_int_equal(n, 500);
	for (size_t i = 0; i < n; i++)
		ids += all[i].task.id;
	assert_int_equal(ids, 500 * 501 / 2);
}

static void test_holders(void **state)
{
	CLEANUP_FREE struct gs_holder *all = NULL;
	CLEANUP_FD int fd = -1, copy = -1;
	size_t n = 0;

	NEEDS();
	fd = open_ctl();
	copy = dup(fd);
	assert_int_equal(gs_holders_read(table, &all, &n, NULL), 0);
	assert_int_equal(n, 1); /* one entry per open file, not per descriptor */
	assert_int_equal(all[0].pid, getpid());
	assert_true(all[0].control);
	assert_int_equal(all[0].fd, fd < copy ? fd : copy);
	rc_client(fd, RC_CLIENT, 0);
	rc_tsg(copy, RC_CLIENT, RC_TSG, 1);
	assert_true(only().key.file == all[0].file);
}

static void test_on_again_keeps(void **state)
{
	CLEANUP_FD int fd = -1;

	NEEDS();
	fd = open_ctl();
	rc_client(fd, RC_CLIENT, 0);
	rc_tsg(fd, RC_CLIENT, RC_TSG, 1);
	assert_int_equal(gs_taps_on(NULL), 0);
	assert_int_equal(records(), 1);
	gs_table_close(table); /* as when the daemon dies; the taps stay attached */
	table = NULL;
	rc_tsg(fd, RC_CLIENT, RC_TSG + 1, 1);
	assert_int_equal(gs_table_open(&table, NULL), 0);
	assert_int_equal(gs_events_open(table, on_event, NULL, NULL), 0);
	assert_int_equal(records(), 2);
	assert_int_equal(count_events(GPUSCHED_EV_TSG_NEW), 2);
}

static void test_other_version(void **state)
{
	struct gs_table *o = NULL;
	struct gpusched_cfg cfg;
	struct gs_error err = {};
	uint32_t zero = 0;

	NEEDS();
	assert_int_equal(gs_table_cfg(table, &cfg), 0);
	cfg.version++;
	assert_int_equal(
		bpf_map_update_elem(gs_table_map_fd(table, "gs_cfg"), &zero, &cfg, BPF_ANY), 0);
	assert_int_equal(gs_table_open(&o, &err), -EPROTO);
	assert_non_null(strstr(err.text, "newer gpusched"));
	assert_null(o);
	cfg.version--;
	cfg.pidns_ino++;
	err.code = 0;
	assert_int_equal(
		bpf_map_update_elem(gs_table_map_fd(table, "gs_cfg"), &zero, &cfg, BPF_ANY), 0);
	assert_int_equal(gs_table_open(&o, &err), -EPERM);
	assert_non_null(strstr(err.text, "pid namespace"));
	assert_int_equal(gs_table_map_fd(table, "gs_nothing"), -ENOENT);
}

static void test_off(void **state)
{
	struct gs_table *o = NULL;
	struct gs_error err = {};
	struct gs_taps_status st;

	NEEDS();
	assert_int_equal(gs_taps_off(NULL), 0);
	assert_int_equal(gs_taps_off(NULL), 0);
	assert_int_equal(gs_taps_status(&st, NULL), 0);
	assert_false(st.on);
	assert_int_equal(gs_table_open(&o, &err), -ENOENT);
	assert_non_null(strstr(err.text, "gpusched observe on"));
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_cuda_start),
		T(test_graphics),
		T(test_interleave_by_channel),
		T(test_own_calls_are_not_asked),
		T(test_gpu_index),
		T(test_started),
		T(test_event_of_a_reused_pid),
		T(test_mps_server),
		T(test_mps_executable),
		T(test_client_free),
		T(test_client_free_with_policy),
		T(test_device_and_subdevice_free),
		T(test_sweep_after_close),
		T(test_claim_outlives_its_sweep),
		T(test_handle_used_again),
		T(test_sweep_moves_to_child),
		T(test_address_reuse),
		T(test_fork_inherits),
		T(test_class_of_record),
		T(test_default_class),
		T(test_exec_event),
		T(test_poke),
		T(test_insert_remove),
		T(test_walk),
		T(test_holders),
		T(test_on_again_keeps),
		T(test_other_version),
		T(test_off),
	};

	return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
