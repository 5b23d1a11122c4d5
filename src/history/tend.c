// SPDX-License-Identifier: MIT
/*
 * Keeps the file within its limits: thins old points to one an hour, and removes records that are
 * too old or too many.
 */
#include <string.h>

#include "basic/cleanup.h"
#include "history/priv.h"

#define DAY_S (24 * 3600ull)
#define FINE_S (2 * DAY_S)
#define SERIES_A_STEP 64
#define PROCESSES_A_STEP 200

static int64_t file_bytes(struct db *db)
{
	int64_t pages = 0, unused = 0, size = 0;

	db_number(db, "PRAGMA page_count", &pages);
	db_number(db, "PRAGMA freelist_count", &unused);
	db_number(db, "PRAGMA page_size", &size);
	return (pages - unused) * size;
}

/*
 * Thins the next few series. From points older than t->fine_s it keeps one an hour, and from points
 * before @oldest_s one in all.
 */
static int thin(struct db *db, struct tending *t, uint64_t oldest_s, uint64_t now_s)
{
	const int64_t fine = (int64_t)((now_s - t->fine_s) / MINUTE_S / 60 * 60);
	const int64_t args[] = { t->series, t->series + SERIES_A_STEP, fine,
				 (int64_t)(oldest_s / MINUTE_S) };
	int64_t last = 0;
	int rc = db_run(db,
			"DELETE FROM point WHERE series >= ?1 AND series < ?2 AND minute < ?3 AND "
			"EXISTS(SELECT 1 FROM point AS q WHERE q.series = point.series AND "
			"q.minute > point.minute AND (q.minute / 60 = point.minute / 60 OR "
			"q.minute < ?4))",
			args, 4);

	if (rc == SQLITE_DONE) /* of each hour, the worst lateness stays */
		rc = db_run(db,
			    "DELETE FROM late WHERE series >= ?1 AND series < ?2 AND "
			    "(minute < ?4 OR (minute < ?3 AND EXISTS(SELECT 1 FROM late AS q "
			    "WHERE q.series = late.series AND q.minute BETWEEN "
			    "late.minute / 60 * 60 AND late.minute / 60 * 60 + 59 AND "
			    "(q.worst_ns > late.worst_ns OR (q.worst_ns = late.worst_ns AND "
			    "q.minute > late.minute)))))",
			    args, 4);
	if (rc != SQLITE_DONE)
		return rc;
	db_number(db, "SELECT max(id) FROM series", &last);
	t->series += SERIES_A_STEP;
	if (t->series > last)
		t->series = 0;
	return SQLITE_DONE;
}

/*
 * Removes some processes that ended before @before_s, with all their records. Begins with the one
 * that ended first.
 */
static int drop(struct db *db, int64_t before_s, uint64_t *ret_dropped)
{
	static const char *const all[] = {
		"CREATE TEMP TABLE IF NOT EXISTS gone(id INTEGER PRIMARY KEY)",
		"DELETE FROM gone",
		"INSERT INTO gone SELECT id FROM process WHERE ended < ?1 ORDER BY ended LIMIT ?2",
		"DELETE FROM point WHERE series IN (SELECT id FROM series WHERE process IN gone)",
		"DELETE FROM late WHERE series IN (SELECT id FROM series WHERE process IN gone)",
		"DELETE FROM series WHERE process IN gone",
		"DELETE FROM event WHERE process IN gone",
		"DELETE FROM process WHERE id IN gone",
	};
	const int64_t args[] = { before_s, PROCESSES_A_STEP };
	int rc = SQLITE_DONE;

	for (size_t i = 0; i < GS_COUNT(all) && rc == SQLITE_DONE; i++)
		rc = db_run(db, all[i], args, i == 2 ? 2 : 0);
	if (rc == SQLITE_DONE)
		*ret_dropped = (uint64_t)sqlite3_changes64(db->sql);
	return rc;
}

static int drop_events(struct db *db, int64_t before_s)
{
	return db_run(db, "DELETE FROM event WHERE at < ?1 * 1000", &before_s, 1);
}

/*
 * Shrinks a file that is too large: thins younger points first, then removes whole processes, then
 * the oldest events.
 */
static int shrink(struct db *db, struct tending *t, uint64_t now_s, uint64_t *ret_trimmed)
{
	int rc;

	if (t->fine_s > 3600) {
		t->fine_s /= 2;
		return SQLITE_DONE;
	}
	rc = drop(db, (int64_t)now_s, ret_trimmed);
	if (rc == SQLITE_DONE && !*ret_trimmed)
		rc = db_run(db,
			    "DELETE FROM event WHERE id < (SELECT min(id) + count(*) / 10 "
			    "FROM event)",
			    NULL, 0);
	if (!*ret_trimmed)
		t->due_s = now_s + TEND_PERIOD_S;
	return rc;
}

int tend_step(struct db *db, struct tending *t, const struct gs_history_opts *opts, uint64_t now_s,
	      uint64_t *ret_trimmed)
{
	uint64_t oldest_s = now_s > opts->days * DAY_S ? now_s - opts->days * DAY_S : 0;
	uint64_t much = opts->bytes;
	int rc;

	*ret_trimmed = 0;
	if (!t->fine_s)
		t->fine_s = FINE_S;
	rc = thin(db, t, oldest_s, now_s);
	/* a part of this round is done; the rest comes next time */
	if (rc == SQLITE_DONE && t->series)
		return rc;
	if (rc == SQLITE_DONE)
		rc = drop(db, (int64_t)oldest_s, ret_trimmed);
	if (rc == SQLITE_DONE && !*ret_trimmed)
		rc = drop_events(db, (int64_t)oldest_s);
	if (rc == SQLITE_DONE && !*ret_trimmed && (uint64_t)file_bytes(db) > much)
		rc = shrink(db, t, now_s, ret_trimmed);
	else if (rc == SQLITE_DONE && !*ret_trimmed) /* nothing is left to do for a while */
		t->due_s = now_s + TEND_PERIOD_S;
	if (rc == SQLITE_DONE)
		db_exec(db, "PRAGMA incremental_vacuum(1000)");
	return rc;
}
