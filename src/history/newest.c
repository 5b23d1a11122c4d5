// SPDX-License-Identifier: MIT
/*
 * newest.c - finds when the newest program began, and before which time records are lost
 *
 * A clock can be judged by the former. Records go on with the clock, also with a wrong one. A program
 * begins once.
 */
#include <inttypes.h>
#include <stdio.h>

#include "history/history.h"
#include "history/priv.h"

static int ask(const char *dir, const char *text, int64_t *ret, struct gs_error *err)
{
	struct db db;
	int r = db_open_read(&db, dir, err);

	*ret = 0;
	if (r)
		return r;
	r = db_errno(db_number(&db, text, ret));
	if (r)
		gs_fail(err, r, "%s: %s", db.path, sqlite3_errmsg(db.sql));
	db_close(&db);
	return r;
}

int gs_history_newest(const char *dir, int64_t from_s, int64_t to_s, int64_t *ret_s,
		      struct gs_error *err)
{
	char text[160];

	snprintf(text, sizeof(text),
		 "SELECT coalesce(max(began), 0) FROM process WHERE began < %" PRId64
		 " OR began > %" PRId64,
		 from_s, to_s);
	return ask(dir, text, ret_s, err);
}

int gs_history_newest_loss(const char *dir, int64_t *ret_s, struct gs_error *err)
{
	int64_t any = 0;
	int r = ask(dir, "SELECT count(*) FROM sqlite_master WHERE name = 'lost'", &any, err);

	*ret_s = 0; /* a file of an older gpusched has no such table until the daemon opens it */
	return r || !any ? r : ask(dir, "SELECT coalesce(max(before), 0) FROM lost", ret_s, err);
}
