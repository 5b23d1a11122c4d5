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

/* Records of processes that have ended, by user. */
#define BY_USER \
	"FROM process LEFT JOIN series ON series.process = process.id WHERE ended IS NOT NULL " \
	"GROUP BY uid"

/*
 * True if a user has over one and a half times as many records as users have on average. So nobody
 * pushes others out of the file with many short programs.
 */
static bool is_crowded(struct db *db)
{
	int64_t crowded = 0;

	db_number(db,
		  "SELECT count(*) > 1 AND max(n) * count(*) * 2 > sum(n) * 3 FROM "
		  "(SELECT count(*) AS n " BY_USER ")",
		  &crowded);
	return crowded;
}

#define MOST_OF_ALL "SELECT uid " BY_USER " ORDER BY count(*) DESC LIMIT 1"

/* Removes the processes in the table gone, with all their records. */
static int drop_gone(struct db *db, uint64_t *ret_dropped)
{
	static const char *const all[] = {
		"DELETE FROM point WHERE series IN (SELECT id FROM series WHERE process IN gone)",
		"DELETE FROM late WHERE series IN (SELECT id FROM series WHERE process IN gone)",
		"DELETE FROM series WHERE process IN gone",
		"DELETE FROM event WHERE process IN gone",
		"DELETE FROM process WHERE id IN gone",
	};
	int rc = SQLITE_DONE;

	for (size_t i = 0; i < GS_COUNT(all) && rc == SQLITE_DONE; i++)
		rc = db_run(db, all[i], NULL, 0);
	if (rc == SQLITE_DONE)
		*ret_dropped = (uint64_t)sqlite3_changes64(db->sql);
	return rc;
}

static int none_gone(struct db *db)
{
	int rc =
		db_run(db, "CREATE TEMP TABLE IF NOT EXISTS gone(id INTEGER PRIMARY KEY)", NULL, 0);

	return rc == SQLITE_DONE ? db_run(db, "DELETE FROM gone", NULL, 0) : rc;
}

/*
 * Removes some processes that ended before @before_s. Begins with the one that ended first. @crowd:
 * only those of the user who has the most records.
 */
static int drop(struct db *db, int64_t before_s, uint64_t now_s, bool crowd, uint64_t *ret_dropped)
{
	static const char all_users[] =
		"INSERT INTO gone SELECT id FROM process WHERE ended < ?1 ORDER BY ended LIMIT ?2";
	static const char one_user[] =
		"INSERT INTO gone SELECT id FROM process WHERE ended < ?1 AND uid IS "
		"(" MOST_OF_ALL ") ORDER BY ended LIMIT ?2";
	const int64_t args[] = { before_s, PROCESSES_A_STEP };
	int64_t last_s = 0;
	int rc = none_gone(db);

	if (rc == SQLITE_DONE)
		rc = db_run(db, crowd ? one_user : all_users, args, 2);
	if (rc == SQLITE_DONE)
		db_number(db, "SELECT max(ended) FROM process WHERE id IN gone", &last_s);
	if (rc == SQLITE_DONE && last_s)
		rc = db_lost(db, last_s < (int64_t)now_s ? last_s : (int64_t)now_s);
	return rc == SQLITE_DONE ? drop_gone(db, ret_dropped) : rc;
}

/*
 * Adds up some short programs of the user who has the most records: all or none of them, since no
 * sum may count twice.
 */
static int fold(struct db *db, uint64_t *ret_folded)
{
	int rc = db_exec(db, "BEGIN IMMEDIATE");

	if (rc != SQLITE_OK)
		return rc;
	rc = none_gone(db);
	if (rc == SQLITE_DONE)
		rc = fold_short(db, MOST_OF_ALL);
	if (rc == SQLITE_DONE)
		rc = drop_gone(db, ret_folded);
	if (rc == SQLITE_DONE && db_exec(db, "COMMIT") == SQLITE_OK)
		return SQLITE_DONE;
	*ret_folded = 0;
	db_exec(db, "ROLLBACK");
	return rc == SQLITE_DONE ? SQLITE_IOERR : rc;
}

/*
 * Removes a tenth of the events of the user who caused more than half of all, if they are many. A
 * user may cause any number.
 */
#define EVENTS_MANY 1000
static int drop_crowd(struct db *db, uint64_t *ret_dropped)
{
	static const char most[] =
		"SELECT coalesce(max(n), 0) FROM (SELECT count(*) AS n FROM event WHERE by_uid > 0 "
		"GROUP BY by_uid)";
	int64_t n = 0, all = 0;
	int rc;

	*ret_dropped = 0;
	db_number(db, most, &n);
	db_number(db, "SELECT count(*) FROM event", &all);
	if (n <= EVENTS_MANY || n * 2 <= all)
		return SQLITE_DONE;
	n /= 10;
	rc = db_run(db,
		    "DELETE FROM event WHERE id IN (SELECT id FROM event WHERE by_uid IS (SELECT "
		    "by_uid FROM event WHERE by_uid > 0 GROUP BY by_uid ORDER BY count(*) DESC "
		    "LIMIT 1) ORDER BY id LIMIT ?1)",
		    &n, 1);
	if (rc == SQLITE_DONE)
		*ret_dropped = (uint64_t)sqlite3_changes64(db->sql);
	return rc;
}

static int drop_events(struct db *db, int64_t before_s)
{
	return db_run(db, "DELETE FROM event WHERE at < ?1 * 1000", &before_s, 1);
}

/*
 * Shrinks a file that is too large. A user with far more events than others loses some of them
 * first. If no user has far more records than others, younger points are thinned first. Then short
 * programs of the user with most are added up, then that user loses processes, and then the oldest
 * events go.
 */
static int shrink(struct db *db, struct tending *t, uint64_t now_s, struct tended *ret)
{
	bool crowded = is_crowded(db);
	uint64_t events;
	int rc = drop_crowd(db, &events);

	if (rc != SQLITE_DONE || events)
		return rc;
	if (!crowded && t->fine_s > 3600 && t->agrees) {
		t->fine_s /= 2;
		return SQLITE_DONE;
	}
	rc = fold(db, &ret->folded);
	if (rc != SQLITE_DONE || ret->folded)
		return rc;
	rc = drop(db, INT64_MAX, now_s, true,
		  &ret->dropped); /* the clock may be before all of them */
	if (rc == SQLITE_DONE && !ret->dropped)
		rc = db_run(db,
			    "DELETE FROM event WHERE id < (SELECT min(id) + count(*) / 10 "
			    "FROM event)",
			    NULL, 0);
	if (!ret->dropped)
		t->due_s = now_s + TEND_PERIOD_S;
	return rc;
}

int tend_step(struct db *db, struct tending *t, const struct gs_history_opts *opts, uint64_t now_s,
	      struct tended *ret)
{
	uint64_t oldest_s = now_s > opts->days * DAY_S ? now_s - opts->days * DAY_S : 0;
	uint64_t much = opts->bytes;
	int rc;

	*ret = (struct tended){ 0 };
	if (!t->fine_s)
		t->fine_s = FINE_S;
	rc = t->agrees ? thin(db, t, oldest_s, now_s) : SQLITE_DONE;
	/* a part of this round is done; the rest comes next time */
	if (rc == SQLITE_DONE && t->agrees && t->series)
		return rc;
	if (rc == SQLITE_DONE && t->agrees)
		rc = drop(db, (int64_t)oldest_s, now_s, false, &ret->dropped);
	if (rc == SQLITE_DONE && t->agrees && !ret->dropped)
		rc = drop_events(db, (int64_t)oldest_s);
	if (rc == SQLITE_DONE && !ret->dropped && (uint64_t)file_bytes(db) > much)
		rc = shrink(db, t, now_s, ret);
	else if (rc == SQLITE_DONE && !ret->dropped) /* nothing is left to do for a while */
		t->due_s = now_s + TEND_PERIOD_S;
	if (rc == SQLITE_DONE)
		db_exec(db, "PRAGMA incremental_vacuum(1000)");
	return rc;
}
