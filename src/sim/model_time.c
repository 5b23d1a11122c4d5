/* SPDX-License-Identifier: MIT */
/* model_time.c - draws the durations of RM calls, launches and notices */
#include "basic/rng.h"
#include "sim/model_priv.h"
#include "sim/model_time.h"

uint64_t sim_call_time(struct sim_model *m, enum sim_call call)
{
	const struct sim_call_range *r = &m->p.call[call];

	return gs_rng_range(&m->rng, r->min_ns, r->max_ns);
}

uint64_t sim_launch_time(struct sim_model *m)
{
	return m->p.launch_ns;
}

uint64_t sim_notice_time(struct sim_model *m)
{
	return m->p.notice_ns + (uint64_t)gs_rng_exp(&m->rng, (double)m->p.notice_tail_ns);
}
