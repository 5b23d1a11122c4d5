/* SPDX-License-Identifier: MIT */
/*
 * priv.h - declares what the files of the history share
 */
#ifndef GPUSCHED_HISTORY_PRIV_H
#define GPUSCHED_HISTORY_PRIV_H

#include <sqlite3.h>
#include <uthash.h>

#include "history/history.h"

#define MINUTE_S 60
#define SCHEMA_VERSION 10
#define WIDENED_VERSION 9 /* the same, without sums of requests */

/* ", held_ns, contended_ns" and so on, from the table of sums. */
#define SUM_NAME(sym, column) ", " #column
#define SUM_COLUMNS GS_HISTORY_SUMS(SUM_NAME) ", hist"

/* Statements that are kept. Each is prepared when first used. */
enum statement {
	ST_BEGIN,
	ST_COMMIT,
	ST_ROLLBACK,
	ST_PROCESS,
	ST_SERIES,
	ST_POINT,
	ST_LATE,
	ST_ENDED,
	ST_EVENT,
	ST_MAX
};

struct db {
	sqlite3 *sql;
	sqlite3_stmt *st[ST_MAX];
	char path[300];
	char boot[40];
};

/*
 * Opens the file, or makes it. -ENOTSUP: it is of a newer version; -EUCLEAN: of an older one, not
 * ours, or damaged.
 */
int db_open(struct db *db, const char *dir, struct gs_error *err);
/* Opens the file for reading. -ENOTSUP: there is none, or it is of another version. */
int db_open_read(struct db *db, const char *dir, struct gs_error *err);
void db_close(struct db *db);
/* Renames the file, whatever it is. A file that has the new name already is removed. */
int db_put_aside(const char *dir, struct gs_error *err);
/* Notes that records of before @before_s are lost. Returns an SQLite result. */
int db_lost(struct db *db, int64_t before_s);
/* Converts an SQLite result to an errno: 0 for OK, ROW, DONE. */
int db_errno(int rc);
/* The last failure as an errno; -EUCLEAN if tables are missing. */
int db_failure(struct db *db);
/* Returns the kept statement, reset; NULL: it failed, see db_failure(). */
sqlite3_stmt *db_statement(struct db *db, enum statement which);
int db_exec(struct db *db, const char *text);
/* Runs @text, which returns no rows; binds @numbers in order. Returns an SQLite result. */
int db_run(struct db *db, const char *text, const int64_t *numbers, int n);
/* The first number that @text returns. */
int db_number(struct db *db, const char *text, int64_t *ret);

/* ---- sums.c: packed wait buckets, sums in rows ------------------------------------------------ */

/* The SQL function hist_sum(a, b). */
void hist_sum(sqlite3_context *ctx, int n, sqlite3_value **v);
/* sums_read() reads from column @at on; sums_bind() binds from parameter @at on. */
void sums_read(sqlite3_stmt *st, int at, struct gs_history_sums *ret);
int sums_bind(sqlite3_stmt *st, int at, const struct gs_history_sums *s);

/*
 * ---- apply.c: writes one item into the file; returns an SQLite result --------------------------
 */

enum item_kind { ITEM_SUMS, ITEM_ENDED, ITEM_EVENT };

struct item {
	UT_hash_handle hh; /* used by items_merge() */
	struct item *next;
	enum item_kind kind;
	uint64_t at_ms, at_s, span_s;
	struct gs_history_who who;
	struct gs_history_sums sums;
	struct gs_history_event ev;
	char what[32], target[160], detail[256], result[256];
};
int item_apply(struct db *db, const struct item *it);
/*
 * merge.c: adds up records of one series and minute, so that they are one row to write. Frees the
 * others. Returns the end of the list, as struct gs_history's kept_last.
 */
struct item **items_merge(struct item **first);

/*
 * fold.c: puts some short programs of a user into the temporary table gone, and adds their records
 * to those of the user's folds. @user: SQL that selects the uid. Returns an SQLite result.
 */
int fold_short(struct db *db, const char *user);

/* ---- tend.c: keeping to the limits ------------------------------------------------------------ */

#define TEND_PERIOD_S 600 /* between two rounds */

struct tending {
	int64_t series; /* the next series to thin; 0: from the beginning */
	uint64_t due_s; /* time of the next round, if the present one is done */
	/* points of more than this age are thinned from one a minute to one an hour */
	uint64_t fine_s;
	bool agrees; /* CLOCK_BOOTTIME and the wall clock: only then age counts */
};
/* Processes that a part of the round has dropped, and that it has added up (fold.c). */
struct tended {
	uint64_t dropped, folded;
};
/* Does a part of the round. Returns an SQLite result. */
int tend_step(struct db *db, struct tending *t, const struct gs_history_opts *opts, uint64_t now_s,
	      struct tended *ret);

#endif /* GPUSCHED_HISTORY_PRIV_H */
