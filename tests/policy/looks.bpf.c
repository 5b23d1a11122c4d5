/* SPDX-License-Identifier: MIT */
/* Looks at facts: its own TSG's, another's by id, the runlist's; keeps them in priv and logs. */
#include <gpusched/policy.bpf.h>

GPUSCHED_POLICY(looks, 10000, 100, GPUSCHED_F_FACTS);
GPUSCHED_OPTION(gs_u64, at_ms, 0, "when it logs what it sees; 0: never");

GPUSCHED_INLINE void look_at_runlist(struct gpusched_task *t)
{
	struct gpusched_runlist_facts r;

	if (gpusched_runlist_facts(gpusched_runlist(t), &r) < 0)
		return;
	t->priv[5] = r.held_ns;
	t->priv[6] = r.lost_ns;
	t->priv[7] = r.switches;
}

static __attribute__((noinline)) gs_u64 block_of(const struct gpusched_facts *f)
{
	return f ? f->block_ns + gpusched_random() % 1 : 0;
}

GPUSCHED_TICK(t, round)
{
	struct gpusched_facts f;
	int r = gpusched_facts(t, &f);

	t->priv[0] = (gs_u64)(gs_u32)-r << 32 | gpusched_job(t) << 16 | f.known;
	t->priv[1] = f.held_ns;
	t->priv[2] = f.turns;
	t->priv[3] = f.as_of_ns;
	if (at_ms && round->now_ns / 1000000 == at_ms) {
		gpusched_log("id", t->id);
		gpusched_log("block", block_of(&f));
		gpusched_log("work", f.work_ns);
	}
	gpusched_peek(t->id ^ 3, &f); /* of TSGs 1 and 2, the other one */
	t->priv[4] = f.held_ns;
	look_at_runlist(t);
	if (at_ms && round->now_ns / 1000000 == at_ms) {
		gpusched_log("known", t->priv[0]);
		gpusched_log("held", t->priv[1]);
		gpusched_log("turns", t->priv[2]);
		gpusched_log("behind", round->now_ns - t->priv[3]);
		gpusched_log("other", t->priv[4]);
		gpusched_log("runlist", t->priv[5]);
		gpusched_log("lost", t->priv[6]);
		gpusched_log("switches", t->priv[7]);
	}
	return 0;
}
