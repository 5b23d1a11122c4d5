// SPDX-License-Identifier: MIT
/* hooked.c - check decisions before the driver acts, with hooks and the policy all.bpf.c */
#include "program.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rm/abi.h"

#define H 0x5c000040u
#define FIRST 0x5d000000u /* first handle of hoard(); the next ones follow at intervals of 16 */
#define NOBODY 65534

static struct program p;
static int node;

/* Forks a process that puts H + 6 onto its runlist; the policy holds the call. */
static pid_t held(void)
{
	pid_t child = fork();

	if (!child) {
		alarm(60);
		_exit(tsg_schedule(&p, H + 6, true) ? 1 : 0);
	}
	usleep(500000);
	is(waitpid(child, NULL, WNOHANG), 0, "one that is held waits");
	is(gsp(p.client, H + 6, "scheduled"), 0, "the driver has not seen the call");
	return child;
}

/* Calls through another open file, with the handle of this file's client. */
static void others_call(void)
{
	struct program other = program_new();
	pid_t child = fork();
	int status;

	if (!child) {
		alarm(20);
		other.client = p.client;
		_exit((int)tsg_schedule(&other, H + 6, true));
	}
	is(waitpid(child, &status, 0), child, "a process puts another one's TSG onto its runlist");
	is(WIFEXITED(status) ? WEXITSTATUS(status) : -1, 0x23,
	   "RM refuses, and the policy, which would hold it, is not asked");
	program_end(&other);
}

static void hold(void)
{
	pid_t child;
	int status;

	tsg_new(&p, H + 6, 1);
	others_call();
	child = held();
	kill(child, SIGKILL);
	is(waitpid(child, &status, 0), child, "it can be killed");
	child = held();
	tsg_new(&p, H + 7, 1); /* makes the policy release the held call */
	is(waitpid(child, &status, 0) == child && !status, 1, "let go, its call succeeds");
	is(gsp(p.client, H + 6, "scheduled"), 1, "in the driver");
}

static unsigned int known(pid_t pid)
{
	struct gpusched_module_entry e;
	int n = node_list(node, (uint32_t)pid, 0, &e);

	return n < 0 ? 0 : (unsigned int)n;
}

/* Waits until freed TSGs have left the module's table, which happens a moment after the free. */
static void freed(unsigned int before)
{
	for (int i = 0; i < PATIENCE_S * 20 && known(0) > before; i++)
		usleep(50000);
	is(known(0), before, "what is freed has no place any more");
}

static struct nv_schedule late;

static void *set_late(void *nothing)
{
	usleep(500000);
	((volatile struct nv_schedule *)&late)->enable = 1;
	return nothing;
}

/*
 * The policy's answer to an earlier call, which RM then refused, must not apply to the next call.
 */
static void slip(void)
{
	struct nv_schedule s = { .enable = 1 };
	unsigned int before = known(0);
	pthread_t thread;

	tsg_new(&p, H + 0xa, 1);
	is(tsg_schedule_by(&p, H + 0xa, &s, 3), 0x1f, "RM refuses a call of a wrong size");
	tsg_new(&p, H + 0xb, 1); /* from now on the policy denies */
	rm_delays(1500);
	pthread_create(&thread, NULL, set_late, NULL);
	is(tsg_schedule_by(&p, H + 0xa, &late, 2), 0x1b,
	   "a call whose parameters change behind its entry is denied");
	pthread_join(thread, NULL);
	rm_delays(0);
	is(gsp(p.client, H + 0xa, "scheduled"), 0, "before the driver acts");
	tsg_free(&p, H + 0xa);
	tsg_free(&p, H + 0xb);
	freed(before);
}

/* Forks a process that makes @n TSGs as user @uid, and then waits to be killed. */
static pid_t hoard(unsigned int n, uid_t uid)
{
	int ready[2];
	pid_t child;
	char c;

	if (pipe(ready))
		die("pipe");
	child = fork();
	if (!child) {
		struct program mine = program_new();

		if (setuid(uid))
			_exit(1);
		for (uint32_t i = 0; i < n; i++)
			tsg_try(&mine, FIRST + 16 * i);
		if (write(ready[1], "", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	close(ready[1]);
	if (read(ready[0], &c, 1) != 1)
		die("a process with many TSGs");
	close(ready[0]);
	return child;
}

static void let_go(pid_t child)
{
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

static void shares(void)
{
	struct gpusched_module_about before, after;
	unsigned int mine = known(0), n = 0;
	pid_t children[9];

	node_about(node, &before);
	children[0] = hoard(1100, 0);
	is(known(children[0]), 1024, "a process with 1,100 TSGs has 1,024 places in the module");
	node_about(node, &after);
	is((long)(after.lost - before.lost), 76, "the others are counted");
	let_go(children[0]);
	for (int i = 0; i < 9; i++)
		children[i] = hoard(1000, NOBODY);
	for (int i = 0; i < 9; i++)
		n += known(children[i]);
	is(n, GPUSCHED_MAX_TSGS / 2, "nine processes of a user have half of the places");
	tsg_new(&p, H + 0xc, 1);
	is(known(getpid()), mine + 1, "somebody else's next TSG has a place");
	tsg_free(&p, H + 0xc);
	for (int i = 0; i < 9; i++)
		let_go(children[i]);
	freed(mine);
	children[0] = hoard(1000, NOBODY);
	is(known(children[0]), 1000, "for the same user, too");
	let_go(children[0]);
}

static void rewrite(void)
{
	struct gpusched_module_entry e;

	tsg_new(&p, H + 8, 1);
	is(tsg_set_timeslice(&p, H + 8, 2000), 0, "the owner sets 2000 us");
	is(gsp(p.client, H + 8, "us"), 1000, "the policy makes 1000 of them, in the same call");
	is((long)tsg_timeslice(&p, H + 8), 1000, "RM remembers what is in force");
	while (node_list(node, 0, 0, &e) > 1) /* the last one is left */
		for (uint32_t i = 1; i < 8; i++)
			tsg_free(&p, H + i);
	pass(e.tsg == H + 8 && e.own.timeslice_us == 2000 && e.is.timeslice_us == 1000,
	     "the module has what the owner said");
	is(node_set(node, &p, H + 8, GPUSCHED_TIMESLICE, 300, NULL), 0, "the holder wishes 300");
	is(tsg_set_timeslice(&p, H + 8, 5000), 0, "the owner sets 5000");
	is(gsp(p.client, H + 8, "us"), 300, "the wish goes out in the owner's call");
}

/*
 * Settings without a policy callback: the holder's value goes out with the owner's call. A
 * preemption is only reported.
 */
static void others(void)
{
	tsg_new(&p, H + 9, 1);
	is(node_tell(node, &p, H + 9, 1), 0, "a TSG is told");
	is(node_set(node, &p, H + 9, GPUSCHED_INTERLEAVE, 2, NULL), 0, "the holder wishes level 2");
	is(tsg_set_interleave(&p, H + 9, 0), 0, "the owner sets level 0");
	is(gsp(p.client, H + 9, "interleave"), 2, "the wish goes out in the owner's call");
	is(node_unset(node, &p, H + 9, GPUSCHED_INTERLEAVE), 0, "the wish is taken back");
	is(gsp(p.client, H + 9, "interleave"), 0, "the owner has what it said");
	is(tsg_preempt(&p, H + 9), 0, "the owner preempts");
	is(gsp(p.client, H + 9, "preempts"), 1, "in the driver");
	is(node_forget(node, &p, H + 9), 0, "it is forgotten");
	tsg_free(&p, H + 9);
}

void suite_hooks(void)
{
	struct gpusched_module_about about;
	struct gpusched_module_entry e;

	p = program_new();
	node = node_open();
	node_keep(node);
	node_about(node, &about);
	is(about.features & GPUSCHED_MODULE_HOOKS, GPUSCHED_MODULE_HOOKS, "the driver has hooks");
	tsg_new(&p, H + 1, 1);
	is(node_list(node, (uint32_t)getpid(), (uint32_t)getpid(), &e), 1,
	   "a TSG is known when it is made, with process and thread");
	is(tsg_schedule(&p, H + 1, true), 0, "it is put onto its runlist");
	is(gsp(p.client, H + 1, "scheduled_us"), 111,
	   "what was wished at its making was in force before");
	tsg_new(&p, H + 5, 1);
	is(tsg_schedule(&p, H + 5, true), 0x1b, "another is denied");
	is(gsp(p.client, H + 5, "scheduled"), 0, "before the driver acts");
	is(tsg_schedule(&p, H + 5, false), 0, "to take it off is never refused");
	hold();
	slip();
	shares();
	pass(channel_token(&p, channel_of(H + 1, 0)) != 0, "a channel has a token");
	tsg_free(&p, H + 1);
	others();
	rewrite();
	tsg_free(&p, H + 8);
	for (int i = 0; i < PATIENCE_S * 20 && node_list(node, 0, 0, &e); i++)
		usleep(50000);
	is(node_list(node, 0, 0, &e), 0, "what is freed is forgotten");
	close(node);
	tsg_new(&p, H + 5, 1);
	is(tsg_schedule(&p, H + 5, true), 0, "without a holder no policy is asked");
}
