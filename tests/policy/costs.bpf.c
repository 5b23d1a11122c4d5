/* SPDX-License-Identifier: MIT */
/* Gets what is known of its TSG's GPU, keeps it in priv and logs it. */
#include <gpusched/policy.bpf.h>

GPUSCHED_POLICY(costs, 10000, 100, GPUSCHED_F_FACTS);
GPUSCHED_OPTION(gs_u64, at_ms, 0, "when it logs what it sees; 0: never");

GPUSCHED_TICK(t, round)
{
	struct gpusched_gpu g;
	int r = gpusched_gpu(t, &g);

	t->priv[0] = (gs_u64)(gs_u32)-r << 32 | g.known;
	t->priv[1] = (gs_u64)g.switch_us << 32 | g.save_us;
	t->priv[2] = (gs_u64)g.busy_x100 << 32 | g.idle_ms;
	if (at_ms && round->now_ns / 1000000 == at_ms) {
		gpusched_log("known", g.known);
		gpusched_log("switch", g.switch_us);
		gpusched_log("save", g.save_us);
		gpusched_log("busy", g.busy_x100);
		gpusched_log("idle", g.idle_ms);
	}
	return 0;
}
