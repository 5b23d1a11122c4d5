// SPDX-License-Identifier: MIT
#include "means/store.h"

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "basic/cleanup.h"

#define NAME "programs.db"
#define VERSION 3
#define BUSY_MS 2000

/*
 * Columns "kind" to "be_beside" are those of struct gs_evidence. "whole", "launch_bound" and
 * "batch": how often each kind was found. "asked" and "tries" are not used any more: always 0.
 */
#define SCHEMA \
	"CREATE TABLE IF NOT EXISTS program(uid INTEGER, exe TEXT, script TEXT, place TEXT, " \
	"used INTEGER, role INTEGER, kind INTEGER, leave_cilp_us INTEGER, leave_cta_us INTEGER, " \
	"switch_us INTEGER, turns_a_request INTEGER, be_beside INTEGER, whole INTEGER, " \
	"launch_bound INTEGER, batch INTEGER, looked INTEGER, asked INTEGER, tries INTEGER, " \
	"lc_turn_us INTEGER, lc_graphs INTEGER, " \
	"PRIMARY KEY(uid, exe, script, place)) WITHOUT ROWID;"
#define INSERT \
	"INSERT INTO program " \
	"VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
#define DONE "PRAGMA user_version = 3; COMMIT"

static int failed(struct gs_error *err, sqlite3 *db, const char *path)
{
	int rc = db ? sqlite3_errcode(db) : SQLITE_NOMEM;

	return gs_fail(err, rc == SQLITE_CORRUPT || rc == SQLITE_NOTADB ? -EUCLEAN : -EIO, "%s: %s",
		       path, db ? sqlite3_errmsg(db) : "out of memory");
}

static void close_db(sqlite3 **db)
{
	sqlite3_close(*db);
}

static void finalize(sqlite3_stmt **st)
{
	sqlite3_finalize(*st);
}

static int version_of(sqlite3 *db, int *ret)
{
	CLEANUP(finalize) sqlite3_stmt *st = NULL;

	if (sqlite3_prepare_v2(db, "PRAGMA user_version", -1, &st, NULL) ||
	    sqlite3_step(st) != SQLITE_ROW)
		return -EIO;
	*ret = sqlite3_column_int(st, 0);
	return 0;
}

/*
 * Opens the file, and makes its table. Creates the file first, since SQLite would give it another
 * mode than 0600.
 */
static int open_db(const char *dir, char *path, size_t size, sqlite3 **ret, struct gs_error *err)
{
	CLEANUP_FD int fd = -1;
	int version = 0;

	snprintf(path, size, "%s/" NAME, dir);
	if (mkdir(dir, 0700) && errno != EEXIST)
		return gs_fail(err, -errno, "%s: %s", dir, strerror(errno));
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return gs_fail(err, -errno, "%s: %s", path, strerror(errno));
	if (sqlite3_open_v2(path, ret, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) ||
	    sqlite3_busy_timeout(*ret, BUSY_MS) || version_of(*ret, &version))
		return failed(err, *ret, path);
	if (version > VERSION)
		return gs_fail(err, -ENOTSUP, "%s is of a newer gpusched", path);
	if (version && version < VERSION)
		return gs_fail(err, -EUCLEAN, "%s is of an older gpusched (version %d)", path,
			       version);
	return sqlite3_exec(*ret, "BEGIN IMMEDIATE;" SCHEMA DONE, NULL, NULL, NULL)
		       ? failed(err, *ret, path)
		       : 0;
}

static bool take_text(sqlite3_stmt *st, int column, char *ret, size_t size)
{
	const char *text = (const char *)sqlite3_column_text(st, column);

	if (!text || strlen(text) >= size)
		return false;
	strcpy(ret, text);
	return true;
}

static const enum gs_program_kind kinds[] = { GS_PROGRAM_WHOLE, GS_PROGRAM_LAUNCH_BOUND,
					      GS_PROGRAM_BATCH };

/* Adds one row; skips it if it has impossible values. */
static void take_row(sqlite3_stmt *st, struct gs_memory_of_programs *m)
{
	unsigned int dropped;
	struct gs_program_id id;
	struct gs_remembered *r;

	memset(&id, 0, sizeof(id));
	id.uid = (uid_t)sqlite3_column_int64(st, 0);
	if (!take_text(st, 1, id.exe, sizeof(id.exe)) ||
	    !take_text(st, 2, id.script, sizeof(id.script)) ||
	    !take_text(st, 3, id.place, sizeof(id.place)) ||
	    (unsigned int)sqlite3_column_int(st, 5) > GS_ROLE_BE ||
	    (unsigned int)sqlite3_column_int(st, 6) >= GS_PROGRAM_KIND_MAX)
		return;
	r = gs_remembered_meet(m, &id, &dropped);
	if (!r)
		return;
	r->used_s = sqlite3_column_int64(st, 4);
	r->role = (enum gs_role)sqlite3_column_int(st, 5);
	r->seen = (struct gs_evidence){
		.kind = (enum gs_program_kind)sqlite3_column_int(st, 6),
		.leave_cilp_us = (uint32_t)sqlite3_column_int64(st, 7),
		.leave_cta_us = (uint32_t)sqlite3_column_int64(st, 8),
		.switch_us = (uint32_t)sqlite3_column_int64(st, 9),
		.turns_a_request = (uint32_t)sqlite3_column_int64(st, 10),
		.be_beside = (uint32_t)sqlite3_column_int64(st, 11),
	};
	for (size_t i = 0; i < GS_COUNT(kinds); i++)
		r->looks[kinds[i]] = (uint32_t)sqlite3_column_int64(st, 12 + (int)i);
	r->looked = sqlite3_column_int(st, 15);
	r->seen.lc_turn_us = (uint32_t)sqlite3_column_int64(st, 18);
	r->seen.lc_graphs = sqlite3_column_int(st, 19) != 0;
}

static int read_rows(sqlite3 *db, const char *path, struct gs_memory_of_programs *m,
		     struct gs_error *err)
{
	CLEANUP(finalize) sqlite3_stmt *st = NULL;
	int rc;

	if (sqlite3_prepare_v2(db, "SELECT * FROM program", -1, &st, NULL))
		return failed(err, db, path);
	while ((rc = sqlite3_step(st)) == SQLITE_ROW)
		take_row(st, m);
	m->dirty = false;
	return rc == SQLITE_DONE ? 0 : failed(err, db, path);
}

int gs_store_read(const char *dir, struct gs_memory_of_programs *inout, struct gs_error *err)
{
	char path[300], aside[320];
	CLEANUP(close_db) sqlite3 *db = NULL;
	int r = open_db(dir, path, sizeof(path), &db, err);

	if (!r)
		r = read_rows(db, path, inout, err);
	if (r != -EUCLEAN)
		return r;
	snprintf(aside, sizeof(aside), "%s.damaged", path);
	return rename(path, aside) ? gs_fail(err, -errno, "%s: %s", path, strerror(errno)) : r;
}

static int write_row(sqlite3_stmt *st, const struct gs_remembered *r)
{
	const int64_t numbers[] = { r->used_s,
				    r->role,
				    r->seen.kind,
				    r->seen.leave_cilp_us,
				    r->seen.leave_cta_us,
				    r->seen.switch_us,
				    r->seen.turns_a_request,
				    r->seen.be_beside,
				    r->looks[kinds[0]],
				    r->looks[kinds[1]],
				    r->looks[kinds[2]],
				    r->looked,
				    0,
				    0,
				    r->seen.lc_turn_us,
				    r->seen.lc_graphs };

	sqlite3_reset(st);
	sqlite3_bind_int64(st, 1, r->id.uid);
	sqlite3_bind_text(st, 2, r->id.exe, -1, SQLITE_STATIC);
	sqlite3_bind_text(st, 3, r->id.script, -1, SQLITE_STATIC);
	sqlite3_bind_text(st, 4, r->id.place, -1, SQLITE_STATIC);
	for (size_t i = 0; i < GS_COUNT(numbers); i++)
		sqlite3_bind_int64(st, 5 + (int)i, numbers[i]);
	return sqlite3_step(st);
}

int gs_store_write(const char *dir, const struct gs_remembered *rows, size_t n,
		   struct gs_error *err)
{
	char path[300];
	CLEANUP(close_db) sqlite3 *db = NULL;
	CLEANUP(finalize) sqlite3_stmt *st = NULL;
	int r = open_db(dir, path, sizeof(path), &db, err);

	if (r)
		return r;
	if (sqlite3_exec(db, "BEGIN IMMEDIATE; DELETE FROM program", NULL, NULL, NULL) ||
	    sqlite3_prepare_v2(db, INSERT, -1, &st, NULL))
		return failed(err, db, path);
	for (size_t i = 0; i < n; i++)
		if (write_row(st, &rows[i]) != SQLITE_DONE)
			return failed(err, db, path); /* closing the database rolls back */
	sqlite3_reset(st);
	return sqlite3_exec(db, "COMMIT", NULL, NULL, NULL) ? failed(err, db, path) : 0;
}
