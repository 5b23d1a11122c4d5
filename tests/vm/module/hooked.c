// SPDX-License-Identifier: MIT
/* hooked.c - decisions before the driver acts: a driver with hooks, and the policy all.bpf.c */
#include "program.h"

#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#define H 0x5c000040u

static struct program p;
static int node;

/* A process that puts H + 6 onto its runlist; the policy holds it. */
static pid_t held(void)
{
	pid_t child = fork();

	if (!child) {
		alarm(60);
		_exit(tsg_schedule(&p, H + 6, true) ? 1 : 0);
	}
	usleep(500000);
	is(waitpid(child, NULL, WNOHANG), 0, "one that is held waits");
	is(gsp(p.client, H + 6, "scheduled"), 0, "and the driver has not seen the call");
	return child;
}

static void hold(void)
{
	pid_t child;
	int status;

	tsg_new(&p, H + 6, 1);
	child = held();
	kill(child, SIGKILL);
	is(waitpid(child, &status, 0), child, "it can be killed");
	child = held();
	tsg_new(&p, H + 7, 1); /* the policy lets it go */
	is(waitpid(child, &status, 0) == child && !status, 1, "let go, its call succeeds");
	is(gsp(p.client, H + 6, "scheduled"), 1, "in the driver");
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
	     "and the module what the owner said");
	is(node_set(node, &p, H + 8, GPUSCHED_TIMESLICE, 300, NULL), 0, "the holder wishes 300");
	is(tsg_set_timeslice(&p, H + 8, 5000), 0, "the owner sets 5000");
	is(gsp(p.client, H + 8, "us"), 300, "the wish goes out in the owner's call");
}

/* Policies have no callback for these: a holder's wish goes out, and a preemption is told. */
static void others(void)
{
	tsg_new(&p, H + 9, 1);
	is(node_tell(node, &p, H + 9, 1), 0, "a TSG is told");
	is(node_set(node, &p, H + 9, GPUSCHED_INTERLEAVE, 2, NULL), 0, "the holder wishes level 2");
	is(tsg_set_interleave(&p, H + 9, 0), 0, "the owner sets level 0");
	is(gsp(p.client, H + 9, "interleave"), 2, "the wish goes out in the owner's call");
	is(node_unset(node, &p, H + 9, GPUSCHED_INTERLEAVE), 0, "the wish is taken back");
	is(gsp(p.client, H + 9, "interleave"), 0, "and the owner has what it said");
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
