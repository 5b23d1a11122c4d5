// SPDX-License-Identifier: MIT
/*
 * Brings the work of TSGs up to date, and tells the budgets of users and cgroups
 * (control/budgets.c) which TSGs have worked.
 */
#include "basic/clock.h"
#include "figures/ledger_priv.h"

/* True if the TSG is known at both samples and did not rest in between. */
static bool has_worked(struct gs_figures *fig, struct kept *k, uint64_t now)
{
	struct gs_turn_sums t = { 0 };
	bool was = k->rest.known;
	bool known = fig->hub->account && !gs_account_of(fig->hub->account, k->id, &t);

	gs_idle_look(&k->rest, known ? &t : NULL, now);
	return was && known && (t.waiting || !k->rest.since_ns);
}

void gs_ledger_spenders(struct gs_figures *fig, void (*fn)(const struct gs_spender *s, void *user),
			void *user)
{
	uint64_t now = gs_now_ns();

	for (struct kept *k = fig->ledger ? fig->ledger->all : NULL; k; k = k->hh.next) {
		bool works = has_worked(fig, k, now);

		if (works)
			ledger_take_tsg(fig, k);
		fn(
			&(struct gs_spender){
				.id = k->id,
				.key = &k->key,
				.pid = (uint32_t)k->who.pid,
				.runlist = k->runlist,
				.uid = k->who.uid,
				.cgroup = k->who.cgroup,
				.works = works,
			},
			user);
	}
}
