// SPDX-License-Identifier: MIT
/* suites.c - check the node, its heartbeat, and policies, with a driver without hooks */
#include "program.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define T 0x5c000010u
#define OTHER 0x5c000020u
#define REFUSED 0x5c000061u

static struct program p;
static int node;

void owner(void)
{
	unsigned long us;
	char line[64];

	p = program_new();
	tsg_new(&p, T, 2);
	printf("%x %x\n", p.client, T);
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		if (sscanf(line, "timeslice %lu", &us) == 1)
			tsg_set_timeslice(&p, T, us);
		else if (!strcmp(line, "schedule\n"))
			printf("schedule: 0x%x\n", tsg_schedule(&p, T, true));
		else if (!strcmp(line, "free\n"))
			tsg_free(&p, T);
		else if (!strcmp(line, "new\n"))
			tsg_new(&p, T, 2);
		fflush(stdout);
	}
	exit(0);
}

static void told_badly(void)
{
	uint32_t channels[GPUSCHED_MAX_CHANNELS];
	struct gpusched_module_tell good = telling(&p, T, channels, 2), t;
	const unsigned long cmd = GPUSCHED_MODULE_TELL;

	t = good;
	t.client = 0;
	is(ioctl(node, cmd, &t) ? errno : 0, EINVAL, "no client: EINVAL");
	t = good;
	t.nchannels = GPUSCHED_MAX_CHANNELS + 1;
	is(ioctl(node, cmd, &t) ? errno : 0, EINVAL, "too many channels: EINVAL");
	t = good;
	t.channels = 8;
	is(ioctl(node, cmd, &t) ? errno : 0, EFAULT, "channels nowhere: EFAULT");
	t = good;
	t.own.pad[4] = 1;
	is(ioctl(node, cmd, &t) ? errno : 0, EINVAL, "padding that is not 0: EINVAL");
	t = good;
	t.own.valid |= GPUSCHED_TIMESLICE;
	is(ioctl(node, cmd, &t) ? errno : 0, ERANGE, "an own timeslice of 0: ERANGE");
	t = good;
	t.gpu_instance = GPUSCHED_MAX_GPU_INSTANCES;
	is(ioctl(node, cmd, &t) ? errno : 0, EINVAL, "an instance that no driver has: EINVAL");
	is(ioctl(node, cmd, 8) ? errno : 0, EFAULT, "an argument nowhere: EFAULT");
	is(ioctl(node, _IO('G', 0x7f)) ? errno : 0, ENOTTY, "an unknown command: ENOTTY");
}

static void who_may(void)
{
	struct gpusched_module_entry e;
	int other = node_open();

	is(node_tell(node, &p, T, 2), -EPERM, "who does not hold it tells nothing");
	is(node_beat(node), -EPERM, "nor beats");
	is(node_hold(node), 0, "the first holds it");
	is(node_hold(node), 0, "twice is once");
	node_keep(node);
	is(node_hold(other), -EBUSY, "a second one cannot");
	is(node_tell(other, &p, T, 2), -EPERM, "nor tell");
	is(node_list(other, 0, 0, &e), 0, "but may look");
	close(other);
}

static void listed(void)
{
	uint32_t pid = (uint32_t)getpid(), tid = (uint32_t)syscall(SYS_gettid);
	struct gpusched_module_entry e;

	is(node_tell(node, &p, T, 2), 0, "a TSG is told");
	is(node_list(node, pid, 0, &e), 1, "it is listed by process");
	pass(e.client == p.client && e.tsg == T && e.nchannels == 2 && !e.is.valid,
	     "the TSG has what was told, and nothing changed");
	is(node_list(node, 0, tid, &e), 1, "the TSG is listed by thread");
	is(node_list(node, 0, tid + 1, &e), 0, "not by another");
	is(node_list(node, pid + 1, 0, &e), 0, "nor by another process");
}

static void settings(void)
{
	struct gpusched_module_entry e;

	is(node_set(node, &p, T + 1, GPUSCHED_TIMESLICE, 500, NULL), -ENOENT,
	   "a TSG nobody told of: ENOENT");
	is(node_set(node, &p, T, GPUSCHED_TIMESLICE, 500, NULL), 0, "a timeslice is set");
	is(gsp(p.client, T, "us"), 500, "in the driver");
	is((long)tsg_timeslice(&p, T), 500, "the driver says so to the TSG's owner");
	node_list(node, 0, 0, &e);
	pass(e.own.timeslice_us == 1024 && e.is.timeslice_us == 500 && e.want.timeslice_us == 500,
	     "the owner's own was asked from the driver first");
	is(node_set(node, &p, T, GPUSCHED_TIMESLICE, 0, NULL), -ERANGE, "0 us: ERANGE");
	is(node_set(node, &p, T, GPUSCHED_TIMESLICE, GPUSCHED_TIMESLICE_MAX_US + 1, NULL), -ERANGE,
	   "more than 100 s: ERANGE");
	is(node_set(node, &p, T, 1u << 4, 1, NULL), -EINVAL, "an unknown setting: EINVAL");
	is(node_set(node, &p, T, GPUSCHED_INTERLEAVE, 2, NULL), 0, "an interleave level is set");
	is(gsp(p.client, T, "interleave"), 2, "in the driver");
	is(node_set(node, &p, T, GPUSCHED_INTERLEAVE, 3, NULL), -ERANGE, "3: ERANGE");
	is(node_set(node, &p, T, GPUSCHED_PREEMPT_MODE, 1, NULL), 0, "a preemption mode is set");
	is(gsp(p.client, channel_of(T, 0), "mode"), 1, "in the driver");
	is(node_preempt(node, &p, T, 1000), 0, "it is preempted");
	is(gsp(p.client, T, "preempts"), 1, "the driver preempts it");
	is(node_preempt(node, &p, T, 0), -ERANGE, "a timeout of 0: ERANGE");
	is(node_preempt(node, &p, T, 1000001), -ERANGE, "of more than 1 s: ERANGE");
}

static void suspension(void)
{
	tsg_new(&p, OTHER, 1);
	is(node_tell(node, &p, OTHER, 1), 0, "another TSG is told");
	is(node_set(node, &p, T, GPUSCHED_RUNNABLE, 0, NULL), 0, "the first is suspended");
	pass(gsp(p.client, channel_of(T, 0), "disabled") == 1 &&
		     gsp(p.client, channel_of(T, 1), "disabled") == 1,
	     "both of its channels");
	pass(gsp(p.client, channel_of(OTHER, 0), "disabled") != 1,
	     "no other TSG's channel is disabled");
	is(node_tell(node, &p, T, 3), 0, "a third channel is told");
	pass(gsp_becomes(p.client, channel_of(T, 2), "disabled", 1), "it stops too");
	is(node_unset(node, &p, T, GPUSCHED_RUNNABLE), 0, "it is resumed");
	pass(!gsp(p.client, channel_of(T, 0), "disabled") &&
		     !gsp(p.client, channel_of(T, 2), "disabled"),
	     "all channels are disabled");
}

static void refusals(void)
{
	struct gpusched_module_tell t = telling(&p, OTHER, (uint32_t[1]){ 0 }, 0);
	uint32_t status = 0;

	gsp_refuses(true);
	is(node_set(node, &p, T, GPUSCHED_TIMESLICE, 600, &status), -EREMOTEIO, "GSP refuses");
	is(status, 0x40, "the answer has RM's status");
	gsp_refuses(false);
	is(node_tell(node, &p, T, 3), 0, "the module looks again");
	pass(gsp_becomes(p.client, T, "us", 1024),
	     "GSP may have set it: the owner's value is put back");
	is(node_forget(node, &p, OTHER), 0, "the other is forgotten");
	t.own.valid = 0;
	is(ioctl(node, GPUSCHED_MODULE_TELL, &t), 0, "a TSG is told without channels and settings");
	is(node_set(node, &p, OTHER, GPUSCHED_RUNNABLE, 0, NULL), -ENXIO, "no channel: ENXIO");
	is(node_set(node, &p, OTHER, GPUSCHED_INTERLEAVE, 0, NULL), -ENODATA,
	   "its own level is not known, so it cannot be put back: ENODATA");
	is(gsp(p.client, OTHER, "interleave"), 1, "the TSG is not changed");
}

static void owners_own(void)
{
	uint32_t channels[3];
	struct gpusched_module_tell t = telling(&p, T, channels, 3);

	is(node_set(node, &p, T, GPUSCHED_TIMESLICE, 300, NULL), 0, "300 us are wished");
	tsg_set_timeslice(&p, T, 2048);
	t.own.valid |= GPUSCHED_TIMESLICE;
	t.own.timeslice_us = 2048;
	is(ioctl(node, GPUSCHED_MODULE_TELL, &t), 0, "the owner has set 2048 us");
	pass(gsp_becomes(p.client, T, "us", 300), "the wish is set again");
	is(node_forget(node, &p, T), 0, "it is forgotten");
	is(gsp(p.client, T, "us"), 2048, "the TSG has what the owner set last");
	pass(gsp(p.client, T, "interleave") == 1 && gsp(p.client, channel_of(T, 0), "mode") == 2,
	     "all else is as before");
	is(node_forget(node, &p, T), -ENOENT, "once");
	is(node_tell(node, &p, T, 3), 0, "it is told again");
	is(node_set(node, &p, T, GPUSCHED_TIMESLICE, 300, NULL), 0, "a slice is set");
	tsg_free(&p, T);
	is(node_forget(node, &p, T), 0, "one that is gone is forgotten without a fuss");
}

void suite_node(void)
{
	struct gpusched_module_about about;

	p = program_new();
	node = node_open();
	tsg_new(&p, T, 3);
	is(node_about(node, &about), 0, "the node answers");
	is(about.abi, GPUSCHED_MODULE_ABI, "in this version");
	is(strcmp(about.driver, "580.00.standin"), 0, "the module has shaken the driver's hand");
	who_may();
	told_badly();
	listed();
	settings();
	suspension();
	refusals();
	owners_own();
	node_about(node, &about);
	is((long)about.left, 0, "nothing was left changed");
}

/* The holder sends no heartbeat for 5 s, and later closes the node. */
void suite_beat(void)
{
	struct gpusched_module_about about;

	p = program_new();
	node = node_open();
	tsg_new(&p, T, 2);
	if (node_hold(node) || node_tell(node, &p, T, 2))
		die("held and told");
	is(node_set(node, &p, T, GPUSCHED_TIMESLICE, 300, NULL), 0, "300 us are set");
	is(node_set(node, &p, T, GPUSCHED_RUNNABLE, 0, NULL), 0, "the TSG is suspended");
	for (int i = 0; i < 3; i++) {
		sleep(2);
		node_beat(node);
	}
	is(gsp(p.client, T, "us"), 300, "while the heart beats, it stays so");
	pass(gsp_becomes(p.client, T, "us", 1024), "then it is put back");
	pass(gsp_becomes(p.client, channel_of(T, 1), "disabled", 0), "the TSG runs");
	is(node_set(node, &p, T, GPUSCHED_TIMESLICE, 200, NULL), -ETIMEDOUT,
	   "nothing is set without a heart");
	is(node_beat(node), 0, "it beats again");
	is(node_set(node, &p, T, GPUSCHED_TIMESLICE, 200, NULL), 0, "the holder sets again");
	close(node);
	pass(gsp_becomes(p.client, T, "us", 1024), "closed: it is put back");
	node = node_open();
	for (int i = 0; i < PATIENCE_S * 20 && !node_about(node, &about) && about.tsgs; i++)
		usleep(50000);
	is(about.tsgs, 0, "all TSGs are forgotten");
	is(about.features & GPUSCHED_MODULE_HELD, 0, "nobody holds it");
}

/* RM refuses a policy's setting; the policy finds RM's status in the TSG when the TSG ends. */
static void wish_refused(void)
{
	struct gpusched_module_about about;
	uint64_t failed;

	tsg_new(&p, REFUSED, 1);
	node_about(node, &about);
	failed = about.failed;
	gsp_refuses(true);
	is(node_tell(node, &p, REFUSED, 1), 0, "another TSG is told, and GSP refuses all");
	for (int i = 0; i < PATIENCE_S * 20 && about.failed == failed; i++) {
		usleep(50000);
		node_about(node, &about);
	}
	gsp_refuses(false);
	is(gsp(p.client, REFUSED, "us"), 1024, "it has its owner's slice");
	is(node_forget(node, &p, REFUSED), 0, "it is forgotten");
}

/*
 * Checks the policy all.bpf.c. The process @loader has loaded it; the test kills that process at
 * the end.
 */
void suite_policy(int loader)
{
	struct gpusched_module_about about;

	p = program_new();
	node = node_open();
	node_keep(node);
	node_about(node, &about);
	is(strcmp(about.policy, "all"), 0, "the policy is named");
	for (uint32_t i = 1; i <= 4; i++) {
		tsg_new(&p, 0x5c000030 + i, 1);
		is(node_tell(node, &p, 0x5c000030 + i, 1), 0, "a TSG is told");
	}
	pass(gsp_becomes(p.client, 0x5c000031, "us", 111), "set_timeslice");
	pass(gsp_becomes(p.client, 0x5c000032, "interleave", 2), "set_interleave");
	is(gsp(p.client, channel_of(0x5c000032, 0), "mode") == 1, 0,
	   "a policy sets no mode but CILP or the owner's own");
	pass(gsp_becomes(p.client, channel_of(0x5c000033, 0), "disabled", 1), "suspend");
	pass(gsp_becomes(p.client, 0x5c000034, "preempts", 1), "preempt");
	tsg_new(&p, 0x5c000037, 1);
	node_tell(node, &p, 0x5c000037, 1);
	pass(gsp_becomes(p.client, channel_of(0x5c000033, 0), "disabled", 0),
	     "get_task and resume");
	is(node_set(node, &p, 0x5c000031, GPUSCHED_TIMESLICE, 222, NULL), 0,
	   "the holder's wish goes before the policy's");
	is(gsp(p.client, 0x5c000031, "us"), 222, "in the driver");
	is(node_unset(node, &p, 0x5c000031, GPUSCHED_TIMESLICE), 0, "until it is taken back");
	is(gsp(p.client, 0x5c000031, "us"), 111, "in the driver");
	wish_refused();
	node_rest(true);
	pass(gsp_becomes(p.client, 0x5c000031, "us", 1024),
	     "without a heartbeat the policy has no say: all is put back");
	node_rest(false);
	pass(gsp_becomes(p.client, 0x5c000031, "us", 111),
	     "the TSG has a slice that the policy wishes anew");
	kill(loader, SIGKILL);
	pass(gsp_becomes(p.client, 0x5c000031, "us", 1024),
	     "the loader is killed: all is put back");
	pass(gsp_becomes(p.client, 0x5c000032, "interleave", 1), "the level");
	node_about(node, &about);
	pass(!about.policy[0] && about.exit_kind == GPUSCHED_MODULE_EXIT_UNLOADED,
	     "the exit is recorded");
	is(node_forget(node, &p, 0x5c000031), 0, "one is forgotten");
}

/* Checks the policy slow.bpf.c, whose task_init takes too long. */
void suite_slow(void)
{
	struct gpusched_module_about about = { 0 };

	p = program_new();
	node = node_open();
	node_keep(node);
	tsg_new(&p, T, 1);
	is(node_tell(node, &p, T, 1), 0, "a TSG is told, and the policy takes its time");
	for (int i = 0; i < PATIENCE_S * 20 && !about.exit_kind; i++) {
		usleep(50000);
		node_about(node, &about);
	}
	is(about.exit_kind, GPUSCHED_MODULE_EXIT_TIMEOUT, "it is stopped, and why is recorded");
	pass(about.exit_code > 1, "the exit has the time that the callback took");
	is(about.policy[0], 0, "it runs no more");
	pass(gsp_becomes(p.client, T, "us", 1024), "what it wished is put back");
}
