// SPDX-License-Identifier: MIT
#include "account/facts.h"

#include <errno.h>

#include "basic/clock.h"

static uint64_t at(gs_facts_clock clock, const void *user, uint64_t gpu_ns)
{
	return clock && gpu_ns ? clock(user, gpu_ns) : gpu_ns;
}

static uint32_t state_of(const struct gs_turn_sums *s)
{
	return (s->loaded ? GPUSCHED_STATE_LOADED : 0) |
	       (s->contended ? GPUSCHED_STATE_CONTENDED : 0) |
	       (s->waiting ? GPUSCHED_STATE_WAITING : 0);
}

int gs_facts_of(const struct gs_turns *t, uint64_t id, gs_facts_clock clock, const void *user,
		struct gpusched_facts *ret)
{
	struct gs_turn_sums s = { 0 };
	struct gs_runlist_sums r;

	*ret = (struct gpusched_facts){ 0 };
	gs_turns_runlist(t, &r);
	if (!r.since_ns)
		return -ENOENT;
	if (gs_turns_of(t, id, &s)) /* the TSG has not run: its sums are 0 */
		s.since_ns = r.as_of_ns;
	*ret = (struct gpusched_facts){
		.id = id,
		.known = GPUSCHED_FACT_HELD | GPUSCHED_FACT_LAST_RUN |
			 (r.blind ? 0 : GPUSCHED_FACT_STATE) | (s.waits ? GPUSCHED_FACT_WAIT : 0) |
			 (s.drains && !s.drain_nominal ? GPUSCHED_FACT_DRAIN : 0),
		.state = r.blind ? 0 : state_of(&s),
		.as_of_ns = at(clock, user, r.as_of_ns),
		.since_ns = at(clock, user, s.since_ns),
		.held_ns = s.held_ns,
		.contended_ns = s.contended_ns,
		.turns = s.turns,
		.slice_ended = s.ended[GS_TURN_SLICE],
		.drained = s.ended[GS_TURN_DRAINED],
		.unsure = s.ended[GS_TURN_UNSURE],
		.returns = s.returns,
		.last_turn_ns = s.last_ns,
		.last_run_ns = at(clock, user, s.loaded ? r.as_of_ns : s.last_end_ns),
		.last_work_ns = at(clock, user, s.last_work_ns),
		.loaded_since_ns = s.loaded ? at(clock, user, s.start_ns) : 0,
		.waiting_since_ns = at(clock, user, s.waiting_since_ns),
		.wait_ns = s.wait_ns,
		.waits = s.waits,
		.drain_ns = s.drain_ns,
		.drains = s.drains,
	};
	return 0;
}

int gs_facts_of_runlist(const struct gs_turns *t, gs_facts_clock clock, const void *user,
			struct gpusched_runlist_facts *ret)
{
	struct gs_runlist_sums r;

	gs_turns_runlist(t, &r);
	*ret = (struct gpusched_runlist_facts){
		.as_of_ns = at(clock, user, r.as_of_ns),
		.since_ns = at(clock, user, r.since_ns),
		.held_ns = r.held_ns,
		.unattributed_ns = r.unattributed_ns,
		.lost_ns = r.lost_ns,
		.open_ns = r.open_ns,
		.unknown_ns = r.unknown_ns,
		.switches = r.switches,
		.waiting = r.waiting,
	};
	return r.since_ns ? 0 : -ENOENT;
}

static gs_u32 us_of(uint64_t ns, gs_u32 bit, gs_u32 *inout_known)
{
	*inout_known |= ns ? bit : 0;
	return (gs_u32)((ns + NS_PER_US / 2) / NS_PER_US);
}

int gs_facts_of_gpu(const struct gs_turns *t, const struct gs_usage_told *usage,
		    struct gpusched_gpu *ret)
{
	struct gs_costs c = gs_turns_costs(t);

	*ret = (struct gpusched_gpu){ 0 };
	ret->switch_us = us_of(c.switch_ns, GPUSCHED_GPU_SWITCH, &ret->known);
	ret->save_us = us_of(c.save_ns, GPUSCHED_GPU_SAVE, &ret->known);
	ret->restore_us = us_of(c.restore_ns, GPUSCHED_GPU_RESTORE, &ret->known);
	ret->idle_turn_us = us_of(c.idle_turn_ns, GPUSCHED_GPU_IDLE_TURN, &ret->known);
	if (usage->known) {
		ret->known |= GPUSCHED_GPU_BUSY;
		ret->busy_x100 = usage->busy_x100;
		ret->idle_ms = usage->idle_ms;
	}
	return ret->known ? 0 : -ENOENT;
}
