// SPDX-License-Identifier: MIT
#include "figures/ledger_judged.h"

#include <utlist.h>

#include "figures/ledger_priv.h"

void ledger_judge(struct gs_ledger *l, struct kept *k)
{
	if (!k->judged_prev)
		DL_APPEND2(l->judged, k, judged_prev, judged_next);
}

void ledger_forgive(struct gs_ledger *l, struct kept *k)
{
	if (!k->judged_prev)
		return;
	DL_DELETE2(l->judged, k, judged_prev, judged_next);
	k->judged_prev = NULL;
}
