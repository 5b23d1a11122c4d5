// SPDX-License-Identifier: MIT
/*
 * Takes over a table that this version did not make: an older version's, or one with pins missing.
 */
#include "control/takeover.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "basic/log.h"
#include "control/control.h"
#include "table/cfg.h"
#include "taps/taps.h"
#include "engine/restore.h"

int gs_takeover_restore(bool lives, struct gs_restored *ret, struct gs_error *err)
{
	struct gs_table *t;
	unsigned int branch;
	char version[64];
	int r = gs_table_open_remains(&t, err);

	if (r < 0)
		return r;
	gs_cfg_self_add(t, getpid());
	gs_cfg_policy_active(t, false);
	r = gs_rm_driver(&branch, version, sizeof(version), err);
	if (!r)
		r = gs_restore(t, branch, ret, err);
	if (!r && !lives)
		gs_cfg_heartbeat(t, 0);
	gs_cfg_self_del(t, getpid());
	gs_table_close(t);
	return r;
}

/*
 * Begins with a new table, since nothing of the old one can be kept. Its changes are restored
 * first: without the old table nobody could.
 */
static int start_anew(struct gs_error *err)
{
	struct gs_restored done = { 0 };
	struct gs_error why = { 0 };
	int r = gs_takeover_restore(false, &done, &why);

	if (done.changed)
		gs_log(LOG_WARNING, "%u TSGs put back, %u gone, %u failed", done.restored,
		       done.gone, done.failed);
	if (r == -ENODATA)
		gs_log(LOG_WARNING, "%s", why.text);
	else if (r)
		return gs_fail(err, r, "%s", why.text);
	r = gs_taps_off(err);
	return r ? r : gs_taps_on(err);
}

int gs_takeover_taps_ready(struct gs_error *err)
{
	struct gs_error why = { 0 };
	int r = gs_taps_on(&why);

	if (r == -ESTALE) {
		why.code = 0;
		r = gs_taps_upgrade(&why);
	}
	if (!r)
		return 0;
	if (r != -EUCLEAN)
		return gs_fail(err, r, "%s", why.text);
	gs_log(LOG_WARNING, "%s; the taps start anew", why.text);
	return start_anew(err);
}
