// SPDX-License-Identifier: MIT
/* Opens the file, and declares its layout. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "history/priv.h"

#define NAME "history.db"
#define BUSY_MS 2000 /* longest wait for a lock that a reader or a checkpoint holds */

#define DECLARE(sym, column) ", " #column " INTEGER NOT NULL DEFAULT 0"
#define SUM_DECLARED GS_HISTORY_SUMS(DECLARE) ", hist BLOB"
#define VALUE(sym, column) ", ?"
#define SUM_VALUES GS_HISTORY_SUMS(VALUE) ", ?"
#define ADD(sym, column) ", " #column " = " #column " + excluded." #column
#define SUM_ADDED GS_HISTORY_SUMS(ADD) ", hist = hist_sum(hist, excluded.hist)"

/*
 * process 0 of a series: the GPU itself. A point's minute is that of its last record. Times are
 * seconds since 1970; times of events are in milliseconds.
 */
static const char schema[] =
	"CREATE TABLE process(id INTEGER PRIMARY KEY, boot TEXT, pid INTEGER, start INTEGER, "
	"uid INTEGER, comm TEXT, began INTEGER, last INTEGER, ended INTEGER, "
	"UNIQUE(boot, pid, start));"
	"CREATE INDEX process_ended ON process(ended);"
	"CREATE TABLE series(id INTEGER PRIMARY KEY, process INTEGER NOT NULL, uuid TEXT NOT NULL, "
	"gpu INTEGER, class TEXT NOT NULL, cgroup TEXT NOT NULL, policy TEXT NOT NULL, "
	"pool INTEGER NOT NULL, namespace TEXT NOT NULL DEFAULT '', pod TEXT NOT NULL DEFAULT '', "
	"container TEXT NOT NULL DEFAULT '', pod_uid TEXT NOT NULL DEFAULT '', "
	"job TEXT NOT NULL DEFAULT '', gpu_instance INTEGER, compute_instance INTEGER, "
	"began INTEGER, last INTEGER" SUM_DECLARED
	", UNIQUE(process, uuid, class, cgroup, policy, pool));"
	"CREATE INDEX series_last ON series(last);"
	"CREATE TABLE point(series INTEGER, minute INTEGER" SUM_DECLARED
	", PRIMARY KEY(series, minute)) WITHOUT ROWID;"
	"CREATE TABLE event(id INTEGER PRIMARY KEY, at INTEGER, process INTEGER, boot TEXT, "
	"tsg INTEGER, what TEXT, target TEXT, detail TEXT, result TEXT, by_uid INTEGER, "
	"by_pid INTEGER);"
	"CREATE INDEX event_at ON event(at);"
	"CREATE INDEX event_tsg ON event(tsg);"
	"CREATE INDEX event_process ON event(process);";

/*
 * For each minute with late requests, the worst lateness. It is no sum, so no point has it. Files
 * of an older gpusched get this table too; that gpusched ignores it.
 */
static const char late[] = "CREATE TABLE IF NOT EXISTS late(series INTEGER, minute INTEGER, "
			   "worst_ns INTEGER, PRIMARY KEY(series, minute)) WITHOUT ROWID";

/* From when on no record is lost; no row: as far as is known, from the first on. */
static const char lost[] =
	"CREATE TABLE IF NOT EXISTS lost(id INTEGER PRIMARY KEY, before INTEGER)";

/* Updates a name: it may come after the first figures, and is never removed. */
#define LEARNED(name) \
	name " = CASE excluded." name " WHEN '' THEN " name " ELSE excluded." name " END, "
/* Updates a number in the same way; the new number may be unknown. */
#define LEARNED_NUMBER(name) name " = coalesce(excluded." name ", " name "), "

static const char *const texts[ST_MAX] = {
	[ST_BEGIN] = "BEGIN IMMEDIATE",
	[ST_COMMIT] = "COMMIT",
	[ST_ROLLBACK] = "ROLLBACK",
	[ST_PROCESS] = "INSERT INTO process(boot, pid, start, uid, comm, began, last) "
		       "VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT DO UPDATE SET uid = ?4, "
		       "comm = ?5, last = max(last, ?7), ended = NULL RETURNING id",
	[ST_SERIES] =
		"INSERT INTO series(process, uuid, gpu, class, cgroup, policy, pool, namespace, "
		"pod, container, pod_uid, job, gpu_instance, compute_instance, began, "
		"last" SUM_COLUMNS
		") VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?" SUM_VALUES
		") ON CONFLICT DO UPDATE SET " LEARNED("namespace") LEARNED("pod")
			LEARNED("container") LEARNED("pod_uid") LEARNED("job")
				LEARNED_NUMBER("gpu_instance") LEARNED_NUMBER(
					"compute_instance") "gpu = excluded.gpu, last = max(last, "
							    "excluded.last)" SUM_ADDED
							    " RETURNING id",
	[ST_POINT] = "INSERT OR REPLACE INTO point(series, minute" SUM_COLUMNS
		     ") SELECT id, ?2" SUM_COLUMNS " FROM series WHERE id = ?1",
	[ST_LATE] = "INSERT INTO late(series, minute, worst_ns) VALUES(?1, ?2, ?3) ON CONFLICT DO "
		    "UPDATE SET worst_ns = max(worst_ns, excluded.worst_ns)",
	[ST_ENDED] = "UPDATE process SET ended = max(last, ?4), last = max(last, ?4) "
		     "WHERE boot = ?1 AND pid = ?2 AND start = ?3",
	[ST_EVENT] = "INSERT INTO event(at, process, boot, tsg, what, target, detail, result, "
		     "by_uid, by_pid) VALUES(?1, (SELECT id FROM process WHERE boot = ?2 AND "
		     "pid = ?3 AND start = ?4), ?2, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
};

int db_errno(int rc)
{
	switch (rc & 0xff) {
	case SQLITE_OK:
	case SQLITE_ROW:
	case SQLITE_DONE:
		return 0;
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB:
		return -EUCLEAN;
	case SQLITE_FULL:
		return -ENOSPC;
	case SQLITE_NOMEM:
		return -ENOMEM;
	case SQLITE_BUSY:
		return -EBUSY;
	case SQLITE_PERM:
	case SQLITE_READONLY:
		return -EROFS;
	default:
		return -EIO;
	}
}

sqlite3_stmt *db_statement(struct db *db, enum statement which)
{
	sqlite3_stmt **st = &db->st[which];

	if (!*st)
		sqlite3_prepare_v3(db->sql, texts[which], -1, SQLITE_PREPARE_PERSISTENT, st, NULL);
	if (*st) {
		sqlite3_reset(*st);
		sqlite3_clear_bindings(*st);
	}
	return *st;
}

int db_exec(struct db *db, const char *text)
{
	return sqlite3_exec(db->sql, text, NULL, NULL, NULL);
}

int db_run(struct db *db, const char *text, const int64_t *numbers, int n)
{
	sqlite3_stmt *st = NULL;
	int rc = sqlite3_prepare_v2(db->sql, text, -1, &st, NULL);

	for (int i = 0; i < n && rc == SQLITE_OK; i++)
		rc = sqlite3_bind_int64(st, i + 1, numbers[i]);
	if (rc == SQLITE_OK)
		rc = sqlite3_step(st);
	sqlite3_finalize(st);
	return rc;
}

int db_number(struct db *db, const char *text, int64_t *ret)
{
	sqlite3_stmt *st = NULL;
	int rc = sqlite3_prepare_v2(db->sql, text, -1, &st, NULL);

	if (rc == SQLITE_OK)
		rc = sqlite3_step(st);
	if (rc == SQLITE_ROW)
		*ret = sqlite3_column_int64(st, 0);
	sqlite3_finalize(st);
	return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

/* False if tables were removed: then the file is of no use. */
static bool has_tables(struct db *db)
{
	int64_t n = 0;
	int rc = db_number(db,
			   "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND "
			   "name IN ('process', 'series', 'point', 'event')",
			   &n);

	/* if that is unknown, the file is not given up */
	return rc != SQLITE_OK && rc != SQLITE_ROW ? true : n == 4;
}

int db_failure(struct db *db)
{
	int rc = sqlite3_errcode(db->sql);

	return (rc & 0xff) == SQLITE_ERROR && !has_tables(db) ? -EUCLEAN : db_errno(rc);
}

static int check_tables(struct db *db, struct gs_error *err)
{
	return has_tables(db) ? 0 : gs_fail(err, -EUCLEAN, "%s: its tables are missing", db->path);
}

/* Checks that the file is ours and of a known version. *ret_version: 0 for an empty file. */
static int check_version(struct db *db, int64_t *ret_version, struct gs_error *err)
{
	int rc = db_number(db, "PRAGMA user_version", ret_version);
	int r = db_errno(rc);

	if (r)
		return gs_fail(err, r, "%s: %s", db->path, sqlite3_errmsg(db->sql));
	if (*ret_version > SCHEMA_VERSION)
		return gs_fail(err, -ENOTSUP,
			       "%s is of a newer gpusched (version %lld): it is left alone",
			       db->path, (long long)*ret_version);
	return 0;
}

/* Makes all tables in an empty file. */
static int make_tables(struct db *db, struct gs_error *err)
{
	char text[64];
	int rc;

	snprintf(text, sizeof(text), "PRAGMA user_version = %d", SCHEMA_VERSION);
	rc = db_exec(db, "BEGIN IMMEDIATE");
	if (rc == SQLITE_OK)
		rc = db_exec(db, schema);
	if (rc == SQLITE_OK)
		rc = db_exec(db, text);
	if (rc == SQLITE_OK)
		rc = db_exec(db, "COMMIT");
	return rc == SQLITE_OK
		       ? 0
		       : gs_fail(err, db_errno(rc), "%s: %s", db->path, sqlite3_errmsg(db->sql));
}

/* Adds the columns of sums that the file lacks. Its rows have 0 there: nothing of them was kept. */
static int add_columns(struct db *db, const char *table)
{
#define NAME_OF(sym, column) #column,
	static const char *const columns[] = { GS_HISTORY_SUMS(NAME_OF) };
#undef NAME_OF
	int rc = SQLITE_OK;

	for (size_t i = 0; i < GS_COUNT(columns) && (rc == SQLITE_OK || rc == SQLITE_ROW); i++) {
		int64_t has = 0;
		char text[160];

		snprintf(text, sizeof(text),
			 "SELECT count(*) FROM pragma_table_info('%s') WHERE name = '%s'", table,
			 columns[i]);
		rc = db_number(db, text, &has);
		if (rc != SQLITE_ROW || has)
			continue;
		snprintf(text, sizeof(text),
			 "ALTER TABLE %s ADD COLUMN %s INTEGER NOT NULL DEFAULT 0", table,
			 columns[i]);
		rc = db_exec(db, text);
	}
	return rc == SQLITE_ROW ? SQLITE_OK : rc;
}

/* Brings a file of WIDENED_VERSION to the present one, whole or not at all. */
static int widen(struct db *db, struct gs_error *err)
{
	char text[64];
	int rc = db_exec(db, "BEGIN IMMEDIATE");

	snprintf(text, sizeof(text), "PRAGMA user_version = %d", SCHEMA_VERSION);
	if (rc == SQLITE_OK)
		rc = add_columns(db, "series");
	if (rc == SQLITE_OK)
		rc = add_columns(db, "point");
	if (rc == SQLITE_OK)
		rc = db_exec(db, text);
	if (rc == SQLITE_OK)
		rc = db_exec(db, "COMMIT");
	if (rc == SQLITE_OK)
		return 0;
	gs_fail(err, db_errno(rc), "%s: %s", db->path, sqlite3_errmsg(db->sql));
	db_exec(db, "ROLLBACK");
	return db_errno(rc);
}

static int prepare(struct db *db, struct gs_error *err)
{
	int64_t version = 0;
	int r;

	sqlite3_extended_result_codes(db->sql, 1);
	sqlite3_busy_timeout(db->sql, BUSY_MS);
	sqlite3_create_function(db->sql, "hist_sum", 2, SQLITE_UTF8 | SQLITE_DETERMINISTIC, NULL,
				hist_sum, NULL, NULL);
	r = check_version(db, &version, err);
	if (!r && version == WIDENED_VERSION && has_tables(db))
		return widen(db, err);
	if (!r && version && version < SCHEMA_VERSION)
		r = gs_fail(err, -EUCLEAN, "%s is of an older gpusched (version %lld)", db->path,
			    (long long)version);
	if (!r && version)
		r = check_tables(db, err);
	if (r || version)
		return r;
	/* comes before the first table, after which it has no effect */
	db_exec(db, "PRAGMA auto_vacuum = INCREMENTAL");
	return make_tables(db, err);
}

static int open_file(struct db *db, const char *dir, int flags, struct gs_error *err)
{
	int rc, r;

	snprintf(db->path, sizeof(db->path), "%s/" NAME, dir);
	rc = sqlite3_open_v2(db->path, &db->sql, flags | SQLITE_OPEN_NOMUTEX, NULL);
	r = db_errno(rc);
	return r ? gs_fail(err, r, "%s: %s", db->path, sqlite3_errstr(rc)) : 0;
}

/* Makes the file. SQLite gives its other files the mode of this one. */
static int make_file(const char *dir, bool *ret_new, struct gs_error *err)
{
	CLEANUP_FD int fd = -1;
	char path[300];

	if (mkdir(dir, 0700) && errno != EEXIST)
		return gs_fail(err, -errno, "%s: %s", dir, strerror(errno));
	snprintf(path, sizeof(path), "%s/" NAME, dir);
	*ret_new = access(path, F_OK) != 0;
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	return fd < 0 ? gs_fail(err, -errno, "%s: %s", path, strerror(errno)) : 0;
}

int db_lost(struct db *db, int64_t before_s)
{
	return db_run(db,
		      "INSERT INTO lost VALUES(0, ?1) ON CONFLICT DO UPDATE SET "
		      "before = max(before, ?1)",
		      &before_s, 1);
}

/*
 * A file that is new, though there was one before, has lost the records of that one. The mark beside
 * it stays when the file is put aside, or deleted.
 */
static int note_loss(struct db *db, const char *dir, bool is_new)
{
	CLEANUP_FD int fd = -1;
	char path[300];
	bool again;

	snprintf(path, sizeof(path), "%s/" NAME ".made", dir);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	again = fd < 0 && errno == EEXIST;
	return is_new && again ? db_errno(db_lost(db, (int64_t)time(NULL))) : 0;
}

int db_open(struct db *db, const char *dir, struct gs_error *err)
{
	bool is_new = false;
	int r = make_file(dir, &is_new, err);

	if (!r)
		r = open_file(db, dir, SQLITE_OPEN_READWRITE, err);
	if (!r)
		r = prepare(db, err);
	if (!r)
		r = db_errno(db_exec(db, "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL"));
	if (!r)
		r = db_errno(db_exec(db, late));
	if (!r)
		r = db_errno(db_exec(db, lost));
	if (!r)
		r = note_loss(db, dir, is_new);
	if (!r) /* processes that still run will be reported again */
		r = db_errno(db_exec(db, "UPDATE process SET ended = last WHERE ended IS NULL"));
	if (r == -EIO && db->sql)
		r = db_failure(db);
	if (r)
		gs_fail(err, r, "%s: %s", db->path, strerror(-r));
	if (r)
		db_close(db);
	return r;
}

int db_open_read(struct db *db, const char *dir, struct gs_error *err)
{
	int64_t version = 0;
	char path[300];
	int r;

	*db = (struct db){ 0 };
	snprintf(path, sizeof(path), "%s/" NAME, dir);
	if (access(path, R_OK))
		return gs_fail(err, errno == ENOENT ? -ENOTSUP : -errno, "%s: %s", path,
			       errno == ENOENT ? "no history has been kept: a daemon writes it "
						 "(start gpuschedd)"
					       : strerror(errno));
	r = open_file(db, dir, SQLITE_OPEN_READWRITE, err);
	if (!r) {
		sqlite3_busy_timeout(db->sql, BUSY_MS);
		db_exec(db, "PRAGMA query_only = 1");
		r = check_version(db, &version, err);
	}
	if (!r && !version)
		r = gs_fail(err, -ENOTSUP, "no history has been kept yet: ask again in a minute");
	if (!r)
		r = check_tables(db, err);
	if (!r && version < SCHEMA_VERSION)
		r = gs_fail(err, -ENOTSUP, "%s is of an older gpusched: the daemon's next start %s",
			    db->path,
			    version == WIDENED_VERSION ? "brings it up to date"
						       : "begins a new one");
	if (r)
		db_close(db);
	return r;
}

void db_close(struct db *db)
{
	for (int i = 0; i < ST_MAX; i++)
		sqlite3_finalize(db->st[i]);
	memset(db->st, 0, sizeof(db->st));
	sqlite3_close(db->sql);
	db->sql = NULL;
}

int db_put_aside(const char *dir, struct gs_error *err)
{
	char path[300], aside[320], companion[320];

	snprintf(path, sizeof(path), "%s/" NAME, dir);
	snprintf(aside, sizeof(aside), "%s.damaged", path);
	if (rename(path, aside))
		return gs_fail(err, -errno, "%s: %s", path, strerror(errno));
	snprintf(companion, sizeof(companion), "%s-wal", path);
	unlink(companion);
	snprintf(companion, sizeof(companion), "%s-shm", path);
	unlink(companion);
	return 0;
}
