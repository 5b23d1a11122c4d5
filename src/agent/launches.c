// SPDX-License-Identifier: MIT
/*
 * launches.c - counts launches and captures, and chooses which calls C code sees
 */
#include "agent/agent.h"
#include "agent/launches.h"
#include "agent/hooks.h"

#define COUNTERS 64

uint32_t gs_hook_watch = HOOK_ALWAYS;
static _Atomic bool all; /* all launches are watched, since launches_watch() */
static _Atomic int captures;

struct counter {
	_Atomic uint64_t launches, graphs, others;
} __attribute__((aligned(64)));
_Static_assert(offsetof(struct counter, graphs) == COUNT_GRAPHS &&
		       offsetof(struct counter, others) == COUNT_OTHERS,
	       "counter");

static struct counter counters[COUNTERS];
static _Atomic unsigned int next_counter;

/*
 * The counter of this thread; NULL before its first call. Hidden, so that the assembler may name
 * it.
 */
__attribute__((visibility("hidden"),
	       tls_model("initial-exec"))) __thread struct counter *gs_hook_counter;

void launches_counts(uint64_t *ret_launches, uint64_t *ret_graphs)
{
	*ret_launches = *ret_graphs = 0;
	for (unsigned int i = 0; i < COUNTERS; i++) {
		*ret_graphs += counters[i].graphs;
		*ret_launches += counters[i].launches + counters[i].graphs;
	}
}

uint64_t launches_calls(void)
{
	uint64_t calls = 0;

	for (unsigned int i = 0; i < COUNTERS; i++)
		calls += counters[i].launches + counters[i].graphs + counters[i].others;
	return calls;
}

void launches_count(uint32_t at)
{
	if (!gs_hook_counter)
		gs_hook_counter = &counters[next_counter++ % COUNTERS];
	(*(_Atomic uint64_t *)((char *)gs_hook_counter + at))++;
}

bool launches_capturing(void)
{
	return captures > 0;
}

void launches_capture(bool begins)
{
	if (begins)
		captures++;
	else
		captures -= captures > 0;
}

void launches_watch(void)
{
	all = true;
	__atomic_store_n(&gs_hook_watch, ~0u, __ATOMIC_RELAXED);
}

void launches_watch_waits(void)
{
	__atomic_fetch_or(&gs_hook_watch, HOOK_SYNC | HOOK_QUERY, __ATOMIC_RELAXED);
}

void launches_watch_next(bool on)
{
	if (on)
		__atomic_fetch_or(&gs_hook_watch, HOOK_LAUNCHES, __ATOMIC_RELAXED);
	else if (!all)
		__atomic_fetch_and(&gs_hook_watch, ~(uint32_t)HOOK_LAUNCHES, __ATOMIC_RELAXED);
}
