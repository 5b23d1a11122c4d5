/* SPDX-License-Identifier: MIT */
/*
 * ledger_judged.h - keeps the TSGs that a finding may be about
 *
 * These are the TSGs that work, are of class lc, or have a finding. Most TSGs of a large table do
 * nothing, so a look at the list costs nothing for them.
 */
#ifndef GPUSCHED_FIGURES_LEDGER_JUDGED_H
#define GPUSCHED_FIGURES_LEDGER_JUDGED_H

struct gs_ledger;
struct kept;

/* Adds the TSG to the list. No effect if it is there. */
void ledger_judge(struct gs_ledger *l, struct kept *k);
/* Takes it out. No effect if it is not there. */
void ledger_forgive(struct gs_ledger *l, struct kept *k);

#endif /* GPUSCHED_FIGURES_LEDGER_JUDGED_H */
