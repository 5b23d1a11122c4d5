// SPDX-License-Identifier: MIT
/*
 * newest.c - finds when the newest program began, by which a clock can be judged
 *
 * Records go on with the clock, also with a wrong one. A program begins once.
 */
#include <inttypes.h>
#include <stdio.h>

#include "history/history.h"
#include "history/priv.h"

int gs_history_newest(const char *dir, int64_t from_s, int64_t to_s, int64_t *ret_s,
		      struct gs_error *err)
{
	char text[160];
	struct db db;
	int r = db_open_read(&db, dir, err);

	*ret_s = 0;
	if (r)
		return r;
	snprintf(text, sizeof(text),
		 "SELECT coalesce(max(began), 0) FROM process WHERE began < %" PRId64
		 " OR began > %" PRId64,
		 from_s, to_s);
	r = db_errno(db_number(&db, text, ret_s));
	if (r)
		gs_fail(err, r, "%s: %s", db.path, sqlite3_errmsg(db.sql));
	db_close(&db);
	return r;
}
