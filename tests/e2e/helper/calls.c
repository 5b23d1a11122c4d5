// SPDX-License-Identifier: MIT
/*
 * calls.c - runs src/rm and src/engine on another process's TSGs, without a daemon
 *
 *   helper calls gpus         prints the driver and its GPUs, a line each
 *   helper calls on           only turns the taps on
 *   helper calls ops PID      makes every operation on PID's compute TSG by a borrowed descriptor
 *   helper calls time PID N   makes N set-timeslice calls; prints median and 99th percentile
 *   helper calls realtime PID 0|1   calls MAKE_REALTIME, which gpusched never does
 *   helper calls restart PID N      calls RESTART_RUNLIST on its first channel, N times, 2 ms apart
 *   helper calls change PID   lets the engine change all settings and suspend, and leaves it so
 *   helper calls die PID      the same with a guardian, then kills itself with SIGKILL
 *   helper calls restore      restores all TSGs from the table
 *   helper calls forget PID   removes PID's TSGs from the table
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "engine/engine.h"
#include "engine/guardian.h"
#include "engine/restore.h"
#include "helper.h"
#include "table/cfg.h"
#include "taps/taps.h"

static unsigned int branch;
static struct gs_table *table;

static void worked(int r, const struct gs_error *err, const char *what)
{
	if (r >= 0)
		return;
	fprintf(stderr, "helper: %s: %s\n", what, err->code ? err->text : strerror(-r));
	exit(1);
}

static void open_all(void)
{
	struct gs_error err = { 0 };

	worked(gs_rm_driver(&branch, NULL, 0, &err), &err, "driver");
	worked(gs_taps_on(&err), &err, "taps");
	worked(gs_table_open(&table, &err), &err, "table");
	worked(gs_cfg_self_add(table, getpid()), &err, "self");
}

static int gpus(void)
{
	struct gs_error err = { 0 };
	CLEANUP_FREE struct gs_gpu *all = NULL;
	char version[64];
	size_t n = 0;

	worked(gs_rm_driver(&branch, version, sizeof(version), &err), &err, "driver");
	printf("driver %s branch %u\n", version, branch);
	worked(gs_gpus_read(&all, &n, &err), &err, "GPUs");
	for (size_t i = 0; i < n; i++)
		printf("gpu %u minor %u instance %u pci %s uuid %s name %s\n", all[i].index,
		       all[i].minor, all[i].dev_instance, all[i].pci, all[i].uuid, all[i].name);
	return 0;
}

static int find(pid_t pid, struct gpusched_tsg *ret)
{
	CLEANUP_FREE struct gpusched_tsg *all = NULL;
	struct gs_error err = { 0 };
	size_t n = 0;

	worked(gs_table_all(table, &all, &n), &err, "table");
	for (size_t i = 0; i < n; i++) {
		if ((pid_t)all[i].task.pid != pid || all[i].task.kind != GPUSCHED_KIND_COMPUTE)
			continue;
		*ret = all[i];
		return 0;
	}
	fprintf(stderr, "helper: no compute TSG of %d in the table\n", (int)pid);
	return -ENOENT;
}

static int fill(pid_t pid, struct gs_rm_tsg *t)
{
	struct gpusched_tsg rec;
	struct gpusched_channels ch = { 0 };
	int r = find(pid, &rec);

	if (r < 0)
		return r;
	gs_table_channels(table, &rec.key, &ch);
	*t = (struct gs_rm_tsg){
		.pid = pid,
		.start_ns = rec.owner_start_ns,
		.fd = (int)rec.owner_fd,
		.client = rec.key.client,
		.tsg = rec.key.handle,
		.subdevice = rec.h_subdevice,
		.branch = branch,
		.nchannels = ch.n,
	};
	memcpy(t->channels, ch.ch, ch.n * sizeof(ch.ch[0]));
	return 0;
}

static int ops(pid_t pid)
{
	static const struct {
		enum gs_rm_op op;
		uint32_t arg;
	} all[] = {
		{ GS_RM_GET_TIMESLICE, 0 },
		{ GS_RM_SET_TIMESLICE, 333 },
		{ GS_RM_GET_TIMESLICE, 0 },
		{ GS_RM_SET_INTERLEAVE, GPUSCHED_INTERLEAVE_HIGH },
		{ GS_RM_SET_PREEMPT_MODE, GPUSCHED_PREEMPT_CTA },
		{ GS_RM_PREEMPT, 0 },
		{ GS_RM_SUSPEND, 0 },
		{ GS_RM_RESUME, 0 },
		{ GS_RM_SCHEDULE, 1 },
	};
	struct gs_rm_tsg t;
	int bad = 0;

	if (fill(pid, &t))
		return 1;
	for (size_t i = 0; i < GS_COUNT(all); i++) {
		struct gs_rm_step step = { .op = all[i].op, .arg = all[i].arg };
		struct gs_rm_result res;

		bad |= gs_way_of(&t)->take(&t, &step, 1);
		res = step.res;
		printf("%s arg %u err %d status %s value %u calls %u us %llu\n",
		       gs_rm_op_name(all[i].op), all[i].arg, res.err, gs_rm_status_name(res.status),
		       res.value, res.calls, (unsigned long long)(res.ns / NS_PER_US));
	}
	return bad != 0;
}

static int compare(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static int time_calls(pid_t pid, unsigned int n)
{
	CLEANUP_FREE uint64_t *ns = calloc(n, sizeof(*ns));
	struct gs_rm_tsg t;

	if (!ns || !n || fill(pid, &t))
		return 1;
	for (unsigned int i = 0; i < n; i++) {
		struct gs_rm_step step = { .op = GS_RM_SET_TIMESLICE, .arg = 1000 + i };

		if (gs_way_of(&t)->take(&t, &step, 1))
			return 1;
		ns[i] = step.res.ns;
	}
	qsort(ns, n, sizeof(*ns), compare);
	printf("set-timeslice median_us %llu p99_us %llu\n",
	       (unsigned long long)(ns[n / 2] / NS_PER_US),
	       (unsigned long long)(ns[n * 99 / 100] / NS_PER_US));
	return 0;
}

/* Makes @n raw control calls that gpusched itself never makes, for bench/hw/settings.sh. */
static int control(pid_t pid, bool channel, uint32_t cmd, void *params, uint32_t size,
		   unsigned int n)
{
	uint32_t status = 0, failed = 0;
	struct gs_error err = { 0 };
	uint64_t begun = gs_now_ns();
	struct gs_rm_tsg t;

	if (fill(pid, &t) || !t.nchannels)
		return 1;
	for (unsigned int i = 0; i < n; i++) {
		CLEANUP_FD int fd = -1;

		if (i)
			gs_sleep_ns(2 * NS_PER_MS);
		worked(gs_rm_borrow(pid, 0, t.start_ns, t.fd, &fd, &err), &err, "borrow");
		worked(gs_rm_call_control(fd, t.client, channel ? t.channels[0].handle : t.tsg, cmd,
					  params, size, &status),
		       &err, "control");
		failed += status != 0;
	}
	printf("status 0x%x failed %u of %u us %llu\n", status, failed, n,
	       (unsigned long long)((gs_now_ns() - begun) / NS_PER_US / n));
	return failed != 0;
}

static int realtime(pid_t pid, unsigned int on)
{
	uint8_t params = on != 0;

	return control(pid, false, 0xa06c0110, &params, sizeof(params), 1);
}

static int restart_runlist(pid_t pid, unsigned int n)
{
	uint8_t params[2] = { 1, 0 }; /* force; do not skip the wait */

	return control(pid, true, 0xa06f0111, params, sizeof(params), n ? n : 1);
}

static void told(const struct gs_engine_call *call, void *user)
{
	printf("%s arg %u err %d us %llu\n", gs_rm_op_name(call->op), call->arg, call->res.err,
	       (unsigned long long)(call->res.ns / NS_PER_US));
}

static void settle(struct gs_engine *e)
{
	const struct gs_error none = { 0 };
	uint64_t end = gs_now_ns() + 30 * NS_PER_S;

	while (!gs_engine_idle(e) && gs_now_ns() < end) {
		gs_engine_dispatch(e);
		gs_sleep_ns(NS_PER_MS);
	}
	worked(gs_engine_idle(e) ? 0 : -ETIMEDOUT, &none, "settle");
}

static void set_all(struct gs_engine *e, pid_t pid)
{
	const struct gpusched_settings set = {
		.valid = GPUSCHED_ALL_SETTINGS,
		.timeslice_us = 444,
		.interleave = GPUSCHED_INTERLEAVE_LOW,
		.preempt_mode = GPUSCHED_PREEMPT_WFI,
		.runnable = 0,
	};
	CLEANUP_FREE struct gpusched_tsg *all = NULL;
	struct gs_error err = { 0 };
	size_t n = 0;

	worked(gs_table_all(table, &all, &n), &err, "table");
	for (size_t i = 0; i < n; i++)
		if ((pid_t)all[i].task.pid == pid && all[i].task.kind == GPUSCHED_KIND_COMPUTE)
			worked(gs_engine_set_manual(e, &all[i].key, &set, 0, 0, &err), &err, "set");
	settle(e);
}

static int change(pid_t pid, bool killed)
{
	struct gs_engine_opts opts = { .size = sizeof(opts), .branch = branch, .on_call = told };
	struct gs_engine *e = NULL;
	struct gs_error err = { 0 };
	struct gpusched_tsg rec;
	struct gs_guardian *g;

	if (find(pid, &rec))
		return 1;
	if (killed)
		worked(gs_guardian_start(table, branch, &g, &err), &err, "guardian");
	worked(gs_engine_new(table, &opts, &e, &err), &err, "engine");
	set_all(e, pid);
	fflush(stdout);
	if (killed)
		raise(SIGKILL);
	gs_engine_free(e);
	return 0;
}

static int restore_all(void)
{
	struct gs_restored res = { 0 };
	struct gs_error err = { 0 };

	worked(gs_restore(table, branch, &res, &err), &err, "restore");
	printf("changed %u restored %u gone %u failed %u us %llu\n", res.changed, res.restored,
	       res.gone, res.failed, (unsigned long long)(res.ns / NS_PER_US));
	return 0;
}

static int forget(pid_t pid)
{
	CLEANUP_FREE struct gpusched_tsg *all = NULL;
	struct gs_error err = { 0 };
	size_t n = 0;

	worked(gs_table_all(table, &all, &n), &err, "table");
	for (size_t i = 0; i < n; i++)
		if ((pid_t)all[i].task.pid == pid)
			worked(gs_table_remove(table, &all[i].key), &err, "remove");
	return 0;
}

int verb_calls(int nwords, char **words)
{
	const char *word = words[0];
	pid_t pid = (pid_t)number(nwords, words, 1);

	if (!strcmp(word, "gpus"))
		return gpus();
	open_all();
	if (!strcmp(word, "on"))
		return 0;
	if (!strcmp(word, "ops"))
		return ops(pid);
	if (!strcmp(word, "time") && nwords > 2)
		return time_calls(pid, number(nwords, words, 2));
	if (!strcmp(word, "realtime") && nwords > 2)
		return realtime(pid, number(nwords, words, 2));
	if (!strcmp(word, "restart") && nwords > 2)
		return restart_runlist(pid, number(nwords, words, 2));
	if (!strcmp(word, "change"))
		return change(pid, false);
	if (!strcmp(word, "die"))
		return change(pid, true);
	if (!strcmp(word, "forget"))
		return forget(pid);
	if (!strcmp(word, "restore"))
		return restore_all();
	return 2;
}
