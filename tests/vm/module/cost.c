// SPDX-License-Identifier: MIT
/*
 * cost.c - measure what calls to the driver cost, in ns of the clock
 *
 * In a QEMU whose clock counts instructions (-icount shift=0), a ns is one instruction. The figure
 * includes the way from the program into the driver and back.
 */
#include "program.h"

#include <fcntl.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "rm/abi.h"

#define C 0x5c000070u
#define CALLS 200
#define TIMES 8

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void set_timeslice(struct program *p)
{
	tsg_set_timeslice(p, C, 2048);
}

static void schedule(struct program *p)
{
	tsg_schedule(p, C, true);
}

static void set_interleave(struct program *p)
{
	tsg_set_interleave(p, C, 1);
}

static void preempt(struct program *p)
{
	tsg_preempt(p, C);
}

static void work_token(struct program *p)
{
	channel_token(p, channel_of(C, 0));
}

static void open_and_close(struct program *p)
{
	(void)p;
	close(open(NV_CTL_PATH, O_RDWR | O_CLOEXEC));
}

static void get_timeslice(struct program *p) /* RM has no hook on this path */
{
	tsg_timeslice(p, C);
}

static void make_and_free(struct program *p)
{
	tsg_try(p, C + 1);
	tsg_free(p, C + 1);
}

/* Prints the least of several times, which no timer interrupt has lengthened. */
static void measure(const char *name, struct program *p, void (*call)(struct program *p))
{
	uint64_t best = UINT64_MAX;

	call(p);
	for (int i = 0; i < TIMES; i++) {
		uint64_t from = now();

		for (int j = 0; j < CALLS; j++)
			call(p);
		from = now() - from;
		best = from < best ? from : best;
	}
	printf("%s %llu\n", name, (unsigned long long)(best / CALLS));
}

void cost(void)
{
	struct program p = program_new();

	if (!access("/dev/gpusched", F_OK))
		node_keep(node_open());
	tsg_new(&p, C, 1);
	sleep(1); /* lets the module's worker finish */
	measure("get_timeslice", &p, get_timeslice);
	measure("set_timeslice", &p, set_timeslice);
	measure("schedule", &p, schedule);
	measure("set_interleave", &p, set_interleave);
	measure("preempt", &p, preempt);
	measure("work_token", &p, work_token);
	measure("make_and_free", &p, make_and_free);
	measure("open_and_close", &p, open_and_close);
}
