/* SPDX-License-Identifier: MIT */
/*
 * restore.h - restores what the owners asked for, from the pinned table alone
 */
#ifndef GPUSCHED_ENGINE_RESTORE_H
#define GPUSCHED_ENGINE_RESTORE_H

#include <stdint.h>

#include "basic/error.h"

struct gs_table;

struct gs_restored {
	/* TSGs that were changed, perhaps changed, or owed the enable after a suspension */
	unsigned int changed;
	unsigned int restored, gone, failed;
	unsigned int continued; /* processes that the gate had stopped */
	uint64_t ns;
};
/*
 * Restores what each changed TSG's owner asked for: timeslices first, then interleave and mode.
 * Then suspended TSGs are resumed, at the latest 500 ms after the start of that GPU's restore.
 * Clears manual settings and wishes. At last, TSGs marked GPUSCHED_TSG_ENABLE_DUE are enabled, even
 * if nothing of them is changed. Untouched TSGs get no call. One thread per GPU. Before all
 * that, processes that the gate stopped are continued.
 */
int gs_restore(struct gs_table *o, unsigned int branch, struct gs_restored *ret,
	       struct gs_error *err); /* -EIO: some are left: @ret->failed */

/*
 * A report of what was restored after a daemon's death at @died_ns. The next daemon reads and
 * removes it. -ENOENT: there is none.
 */
int gs_report_write(const struct gs_restored *done, uint64_t died_ns, struct gs_error *err);
int gs_report_take(struct gs_restored *ret, uint64_t *ret_died_ns);

#endif /* GPUSCHED_ENGINE_RESTORE_H */
