// SPDX-License-Identifier: MIT
/*
 * fold.c - adds up short programs of a user with very many records, so that their sums stay exact
 *
 * All of one user, pod, job, class and partition become one process without a pid, the fold. It has
 * no cgroup. A point holds the sums up to its minute. So a program's sums are added to the fold's
 * points from the program's last minute on: times are exact to the length of a short program.
 */
#include <stdio.h>

#include "basic/cleanup.h"
#include "history/priv.h"

#define SHORT_S 600
#define FOLDED_A_STEP 200

/* Names the fold of series s of process p. It stands in place of a boot's id. */
#define FOLD \
	"('fold ' || coalesce(p.uid, '') || ' ' || s.namespace || ' ' || s.pod || ' ' || " \
	"s.pod_uid " \
	"|| ' ' || s.job || ' ' || s.class || ' ' || coalesce(s.gpu_instance, '') || ' ' || " \
	"coalesce(s.compute_instance, ''))"
#define SERIES_AND_FOLD \
	"FROM series AS s JOIN process AS p ON p.id = s.process " \
	"JOIN process AS f ON f.boot = " FOLD " AND f.pid = 0 AND f.start = 0 " \
	"WHERE s.process IN gone"
#define OF_SERIES(sym, column) ", s." #column
#define ADD(sym, column) ", " #column " = " #column " + excluded." #column
#define ADD_SERIES(sym, column) ", " #column " = point." #column " + s." #column

/* Puts short programs of that user into the table gone. */
static int choose(struct db *db, const char *user)
{
	const int64_t args[] = { SHORT_S, FOLDED_A_STEP };
	char text[512];

	snprintf(text, sizeof(text),
		 "INSERT INTO gone SELECT id FROM process WHERE pid <> 0 AND ended - began <= ?1 "
		 "AND uid IS (%s) ORDER BY ended LIMIT ?2",
		 user);
	return db_run(db, text, args, 2);
}

static int make_folds(struct db *db)
{
	static const char *const all[] = {
		"INSERT INTO process(boot, pid, start, uid, comm, began, last, ended) "
		"SELECT " FOLD ", 0, 0, p.uid, '(short programs)', min(p.began), max(p.last), "
		"max(p.ended) FROM series AS s JOIN process AS p ON p.id = s.process "
		"WHERE s.process IN gone GROUP BY 1 ON CONFLICT DO UPDATE SET "
		"began = min(began, excluded.began), last = max(last, excluded.last), "
		"ended = max(ended, excluded.ended)",
		"INSERT INTO series(process, uuid, gpu, class, cgroup, policy, pool, namespace, "
		"pod, pod_uid, job, gpu_instance, compute_instance, began, last" SUM_COLUMNS
		") SELECT f.id, s.uuid, s.gpu, s.class, '', s.policy, s.pool, s.namespace, s.pod, "
		"s.pod_uid, s.job, s.gpu_instance, s.compute_instance, s.began, "
		"s.last" GS_HISTORY_SUMS(
			OF_SERIES) ", s.hist " SERIES_AND_FOLD
				   " ON CONFLICT DO UPDATE SET began = min(began, excluded.began), "
				   "last = max(last, excluded.last)" GS_HISTORY_SUMS(
					   ADD) ", hist = hist_sum(hist, excluded.hist)",
		"CREATE TEMP TABLE IF NOT EXISTS folded(series INTEGER PRIMARY KEY, "
		"fold INTEGER, minute INTEGER)",
		"DELETE FROM folded",
		"INSERT INTO folded SELECT s.id, t.id, coalesce((SELECT max(minute) FROM point "
		"WHERE series = s.id), s.last / 60) FROM (SELECT s.*, f.id AS fold " SERIES_AND_FOLD
		") AS s JOIN series AS t ON t.process = s.fold AND "
		"t.uuid = s.uuid AND t.class = s.class AND t.cgroup = '' AND "
		"t.policy = s.policy AND t.pool = s.pool",
		"INSERT INTO late(series, minute, worst_ns) SELECT fold, l.minute, worst_ns "
		"FROM folded JOIN late AS l ON l.series = folded.series WHERE true "
		"ON CONFLICT DO UPDATE SET worst_ns = max(worst_ns, excluded.worst_ns)",
	};
	int rc = SQLITE_DONE;

	for (size_t i = 0; i < GS_COUNT(all) && rc == SQLITE_DONE; i++)
		rc = db_run(db, all[i], NULL, 0);
	return rc;
}

/* Adds the sums of series @args[2] to the points of fold @args[0] from minute @args[1] on. */
static int add_points(struct db *db, const int64_t args[3])
{
	int rc = db_run(db,
			"INSERT OR IGNORE INTO point(series, minute" SUM_COLUMNS ") "
			"SELECT ?1, ?2" SUM_COLUMNS " FROM point WHERE series = ?1 AND "
			"minute < ?2 ORDER BY minute DESC LIMIT 1",
			args, 2);

	if (rc == SQLITE_DONE) /* the fold's first point */
		rc = db_run(db, "INSERT OR IGNORE INTO point(series, minute) VALUES(?1, ?2)", args,
			    2);
	if (rc == SQLITE_DONE)
		rc = db_run(db,
			    "UPDATE point SET hist = hist_sum(point.hist, s.hist)" GS_HISTORY_SUMS(
				    ADD_SERIES) " FROM series AS s WHERE s.id = ?3 AND "
						"point.series = ?1 AND point.minute >= ?2",
			    args, 3);
	return rc;
}

static int add_all_points(struct db *db)
{
	sqlite3_stmt *st = NULL;
	int rc = sqlite3_prepare_v2(db->sql, "SELECT fold, minute, series FROM folded", -1, &st,
				    NULL);

	while (rc == SQLITE_OK || rc == SQLITE_DONE) {
		rc = sqlite3_step(st);
		if (rc != SQLITE_ROW)
			break;
		rc = add_points(db, (const int64_t[]){ sqlite3_column_int64(st, 0),
						       sqlite3_column_int64(st, 1),
						       sqlite3_column_int64(st, 2) });
	}
	sqlite3_finalize(st);
	return rc;
}

int fold_short(struct db *db, const char *user)
{
	int rc = choose(db, user);

	if (rc == SQLITE_DONE)
		rc = make_folds(db);
	return rc == SQLITE_DONE ? add_all_points(db) : rc;
}
