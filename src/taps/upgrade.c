// SPDX-License-Identifier: MIT
/*
 * upgrade.c - replaces an older version's taps by this version's
 *
 * The new taps are complete, in a separate folder, before the two folders change places. So a
 * process that is killed in between leaves either the old taps or the new ones. No call is missed,
 * since both run meanwhile.
 */
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "basic/cleanup.h"
#include "basic/env.h"
#include "basic/log.h"
#include "gate/gate.h"
#include "table/bpffs.h"
#include "table/priv.h"
#include "table/upgrade.h"
#include "taps/on.h"
#include "taps/taps.h"

static void table_close(struct gs_table **t)
{
	gs_table_close(*t);
}

static void old_free(struct gs_old_table **old)
{
	gs_upgrade_free(*old);
}

static int change_places(const char *tmp, struct gs_error *err)
{
	if (!renameat2(AT_FDCWD, tmp, AT_FDCWD, gs_env()->bpffs, RENAME_EXCHANGE))
		return 0;
	return gs_fail(err, -errno, "cannot put %s in place of %s: %s", tmp, gs_env()->bpffs,
		       strerror(errno));
}

int gs_taps_upgrade(struct gs_error *err)
{
	CLEANUP(old_free) struct gs_old_table *old = NULL;
	CLEANUP(table_close) struct gs_table *t = NULL;
	char tmp[PATH_MAX];
	int r = gs_upgrade_open(&old, err);

	if (r < 0)
		return r;
	/*
	 * the old gate goes first: once it is replaced, nobody would continue the processes it
	 * stops
	 */
	gs_gate_off(gs_env()->bpffs);
	gs_upgrade_end_policy(old);
	gs_taps_tmp(tmp, sizeof(tmp));
	r = gs_taps_pin(tmp, old, err);
	if (r < 0)
		return r;
	r = gs_table_open_at(tmp, &t, err);
	if (!r)
		r = gs_upgrade_copy(old, t, err);
	if (!r)
		r = change_places(tmp, err);
	gs_bpffs_remove(tmp); /* now the older taps; after a failure, remains of the new ones */
	if (r < 0)
		return r;
	gs_gate_release(t, true, NULL);
	if (gs_sweep(t, NULL, NULL, NULL) < 0)
		gs_log(LOG_DEBUG, "the first sweep failed");
	return 0;
}
