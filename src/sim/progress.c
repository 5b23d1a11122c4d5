/* SPDX-License-Identifier: MIT */
#include "sim/progress.h"

#include <stdio.h>
#include <unistd.h>

#include "basic/clock.h"

#define QUIET_NS (2 * NS_PER_S)
#define TERMINAL_NS (200 * NS_PER_MS)
#define LINE_NS (10 * NS_PER_S)

void sim_progress_begin(struct sim_progress *p, const char *name)
{
	uint64_t now = gs_now_ns();
	bool terminal = isatty(STDERR_FILENO);

	*p = (struct sim_progress){ .name = name,
				    .began_ns = now,
				    .next_ns = now + (terminal ? QUIET_NS : LINE_NS),
				    .terminal = terminal };
}

void sim_progress_tell(void *progress, uint64_t done_ns, uint64_t all_ns)
{
	struct sim_progress *p = progress;
	uint64_t now = gs_now_ns();

	if (now < p->next_ns)
		return;
	p->next_ns = now + (p->terminal ? TERMINAL_NS : LINE_NS);
	p->shown = true;
	fprintf(stderr, "%sgpusched: sim: %s: %.0f of %.0f s simulated, %.0f %%, after %.0f s%s",
		p->terminal ? "\r" : "", p->name, (double)done_ns / NS_PER_S,
		(double)all_ns / NS_PER_S, 100.0 * (double)done_ns / (double)all_ns,
		(double)(now - p->began_ns) / NS_PER_S, p->terminal ? "\033[K" : "\n");
	fflush(stderr);
}

void sim_progress_end(struct sim_progress *p)
{
	if (p->terminal && p->shown)
		fputs("\r\033[K", stderr);
}
