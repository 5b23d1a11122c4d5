// SPDX-License-Identifier: MIT
/* Writes records into the file. Each function returns an SQLite result. */
#include <string.h>

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "history/priv.h"

static int bind_text(sqlite3_stmt *st, int at, const char *text)
{
	return text ? sqlite3_bind_text(st, at, text, -1, SQLITE_STATIC) : SQLITE_OK;
}

/* Gets the one number that a statement with RETURNING returns. */
static int returned(sqlite3_stmt *st, int64_t *ret)
{
	int rc = sqlite3_step(st);

	if (rc != SQLITE_ROW)
		return rc;
	*ret = sqlite3_column_int64(st, 0);
	rc = sqlite3_step(st);
	sqlite3_reset(st);
	return rc;
}

static int put_process(struct db *db, const struct item *it, int64_t *ret)
{
	sqlite3_stmt *st = db_statement(db, ST_PROCESS);

	if (!st)
		return sqlite3_errcode(db->sql);
	bind_text(st, 1, db->boot);
	sqlite3_bind_int64(st, 2, it->who.pid);
	sqlite3_bind_int64(st, 3, (int64_t)it->who.start_ns);
	sqlite3_bind_int64(st, 4, it->who.uid);
	bind_text(st, 5, it->who.comm);
	sqlite3_bind_int64(st, 6, (int64_t)(it->at_s - it->span_s));
	sqlite3_bind_int64(st, 7, (int64_t)it->at_s);
	return returned(st, ret);
}

static void bind_instance(sqlite3_stmt *st, int at, uint32_t id)
{
	if (id != GPUSCHED_NO_INSTANCE)
		sqlite3_bind_int64(st, at, id);
}

static int put_series(struct db *db, const struct item *it, int64_t process, int64_t *ret)
{
	sqlite3_stmt *st = db_statement(db, ST_SERIES);
	int rc;

	if (!st)
		return sqlite3_errcode(db->sql);
	sqlite3_bind_int64(st, 1, process);
	bind_text(st, 2, it->who.gpu_uuid);
	sqlite3_bind_int64(st, 3, it->who.gpu);
	bind_text(st, 4, it->who.class);
	bind_text(st, 5, it->who.cgroup);
	bind_text(st, 6, it->who.policy);
	sqlite3_bind_int64(st, 7, it->who.pool);
	bind_text(st, 8, it->who.pod.namespace);
	bind_text(st, 9, it->who.pod.pod);
	bind_text(st, 10, it->who.pod.container);
	bind_text(st, 11, it->who.pod.uid);
	bind_text(st, 12, it->who.job);
	bind_instance(st, 13, gpusched_gpu_instance(it->who.engine));
	bind_instance(st, 14, gpusched_compute_instance(it->who.engine));
	sqlite3_bind_int64(st, 15, (int64_t)(it->at_s - it->span_s));
	sqlite3_bind_int64(st, 16, (int64_t)it->at_s);
	rc = sums_bind(st, 17, &it->sums);
	return rc == SQLITE_OK ? returned(st, ret) : rc;
}

/* Writes a point. A record at the very beginning of a minute belongs to the minute before. */
static int put_point(struct db *db, const struct item *it, int64_t series)
{
	sqlite3_stmt *st = db_statement(db, ST_POINT);

	if (!st)
		return sqlite3_errcode(db->sql);
	sqlite3_bind_int64(st, 1, series);
	sqlite3_bind_int64(st, 2, (int64_t)((it->at_s - 1) / MINUTE_S));
	return sqlite3_step(st);
}

/* Writes the worst lateness, in the minute of the point. */
static int put_late(struct db *db, const struct item *it, int64_t series)
{
	sqlite3_stmt *st;

	if (!it->sums.worst_late_ns)
		return SQLITE_DONE;
	st = db_statement(db, ST_LATE);
	if (!st)
		return sqlite3_errcode(db->sql);
	sqlite3_bind_int64(st, 1, series);
	sqlite3_bind_int64(st, 2, (int64_t)((it->at_s - 1) / MINUTE_S));
	sqlite3_bind_int64(st, 3, (int64_t)it->sums.worst_late_ns);
	return sqlite3_step(st);
}

static int put_sums(struct db *db, const struct item *it)
{
	int64_t process = 0, series = 0;
	int rc = it->who.pid ? put_process(db, it, &process) : SQLITE_DONE;

	if (rc == SQLITE_DONE)
		rc = put_series(db, it, process, &series);
	if (rc == SQLITE_DONE)
		rc = put_point(db, it, series);
	return rc == SQLITE_DONE ? put_late(db, it, series) : rc;
}

static int put_end(struct db *db, const struct item *it)
{
	sqlite3_stmt *st = db_statement(db, ST_ENDED);

	if (!st)
		return sqlite3_errcode(db->sql);
	bind_text(st, 1, db->boot);
	sqlite3_bind_int64(st, 2, it->who.pid);
	sqlite3_bind_int64(st, 3, (int64_t)it->who.start_ns);
	sqlite3_bind_int64(st, 4, (int64_t)it->at_s);
	return sqlite3_step(st);
}

static int put_event(struct db *db, const struct item *it)
{
	sqlite3_stmt *st = db_statement(db, ST_EVENT);

	if (!st)
		return sqlite3_errcode(db->sql);
	sqlite3_bind_int64(st, 1, (int64_t)(it->at_ms - it->ev.ago_ns / NS_PER_MS));
	bind_text(st, 2, db->boot);
	sqlite3_bind_int64(st, 3, it->ev.pid);
	sqlite3_bind_int64(st, 4, (int64_t)it->ev.start_ns);
	if (it->ev.tsg)
		sqlite3_bind_int64(st, 5, (int64_t)it->ev.tsg);
	bind_text(st, 6, it->ev.what);
	bind_text(st, 7, it->ev.target);
	bind_text(st, 8, it->ev.detail);
	bind_text(st, 9, it->ev.result);
	if (it->ev.by) {
		sqlite3_bind_int64(st, 10, it->ev.by_uid);
		sqlite3_bind_int64(st, 11, it->ev.by_pid);
	}
	return sqlite3_step(st);
}

int item_apply(struct db *db, const struct item *it)
{
	switch (it->kind) {
	case ITEM_SUMS:
		return put_sums(db, it);
	case ITEM_ENDED:
		return put_end(db, it);
	case ITEM_EVENT:
		return put_event(db, it);
	}
	return SQLITE_DONE;
}
