/* SPDX-License-Identifier: MIT */
/*
 * upgrade.h - copies the pinned table of an older version into a new one
 */
#ifndef GPUSCHED_TABLE_UPGRADE_H
#define GPUSCHED_TABLE_UPGRADE_H

#include "table/table.h"

/* A table of an older version, under gs_env()->bpffs. */
struct gs_old_table;

/* -EUCLEAN: a map is missing, or differs from the maps of that version. */
int gs_upgrade_open(struct gs_old_table **ret, struct gs_error *err);
void gs_upgrade_free(struct gs_old_table *old);
/* Detaches the policy from the old taps, since nobody would apply its settings any more. */
void gs_upgrade_end_policy(struct gs_old_table *old);
/* Fills in settings that the new taps need before they see their first call. */
void gs_upgrade_fill_cfg(const struct gs_old_table *old, struct gpusched_cfg *inout);
/*
 * Copies the old table. The taps of both tables run meanwhile. So it copies again until nothing has
 * changed, and no call is missed. Settings that the old policy wanted are not copied. -EUCLEAN.
 */
int gs_upgrade_copy(struct gs_old_table *old, struct gs_table *t, struct gs_error *err);

#endif /* GPUSCHED_TABLE_UPGRADE_H */
