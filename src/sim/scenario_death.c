/* SPDX-License-Identifier: MIT */
/* scenario_death.c - ends a process with an error */
#include "sim/scenario_death.h"

const char *const sim_death_words[] = { "", "waited", "removed", "lost", NULL };

void sim_proc_death(struct sim_proc *p, enum sim_death why)
{
	if (p->res->died)
		return;
	p->res->died = why;
	sim_event_post(p->sim, sim_model_now(p->sim->m), SIM_EV_STOP, p, 0);
}
