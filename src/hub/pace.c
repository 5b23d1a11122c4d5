// SPDX-License-Identifier: MIT
#include "hub/pace.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "basic/clock.h"
#include "basic/procfs.h"

void gs_pace_init(struct gs_pace *t)
{
	char path[64];

	snprintf(path, sizeof(path), "%s/thread-self/schedstat", gs_procfs());
	*t = (struct gs_pace){ .schedstat = open(path, O_RDONLY | O_CLOEXEC) };
}

void gs_pace_done(struct gs_pace *t)
{
	if (t->schedstat >= 0)
		close(t->schedstat);
	t->schedstat = -1;
}

/* *ret_ns: how long the thread could have run, but waited for a processor. False: unknown. */
static bool queued(const struct gs_pace *t, uint64_t *ret_ns)
{
	char text[80], *at;
	ssize_t n = t->schedstat < 0 ? -1 : pread(t->schedstat, text, sizeof(text) - 1, 0);

	if (n <= 0)
		return false;
	text[n] = '\0';
	/* "RAN WAITED TIMES"; all 0: the kernel has schedstats turned off */
	if (!strtoull(text, &at, 10) || *at != ' ')
		return false;
	*ret_ns = strtoull(at, NULL, 10);
	return true;
}

/* The time in the run queue since a reading that is so young is too short to matter. */
#define YOUNG_NS (100 * NS_PER_US)
/*
 * A reading costs as much as half an iteration of a loop that has nothing to do. After a sleep of
 * RESTED_NS, one of the last second will do. The waits since that reading are then subtracted from
 * the iteration's own time, which may thus be too short by some wake-ups.
 */
#define RESTED_NS (100 * NS_PER_MS)
#define OLD_NS NS_PER_S

static bool needs_reading(const struct gs_pace *t)
{
	uint64_t age = t->began_ns - t->read_ns;

	if (!t->own_known)
		return true;
	return age >= (t->began_ns - t->ended_ns >= RESTED_NS ? OLD_NS : YOUNG_NS);
}

void gs_pace_begin(struct gs_pace *t)
{
	t->began_ns = gs_now_ns();
	t->cpu_ns = gs_thread_cpu_ns();
	if (!needs_reading(t))
		return;
	t->own_known = queued(t, &t->queued_ns);
	t->read_ns = t->began_ns;
}

static void keep_most(uint64_t *most, uint64_t ns)
{
	if (ns > *most)
		*most = ns;
}

void gs_pace_end(struct gs_pace *t)
{
	uint64_t took, cpu, now, waited;

	t->ended_ns = gs_now_ns();
	took = t->ended_ns - t->began_ns;
	cpu = gs_thread_cpu_ns() - t->cpu_ns;
	keep_most(&t->longest_ns, took);
	keep_most(&t->longest_cpu_ns, cpu);
	/* the own time is a part of the whole, and reading it costs as much as a short iteration */
	if (!t->own_known || took <= t->longest_own_ns || !queued(t, &now))
		return;
	waited = now - t->queued_ns;
	/* the larger of two estimates, since the kernel's two clocks differ a little */
	keep_most(&t->longest_own_ns, waited + cpu < took ? took - waited : cpu);
}
