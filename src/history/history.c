// SPDX-License-Identifier: MIT
/* Queues records, and writes them in a thread. */
#include "history/history.h"

#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "basic/log.h"
#include "basic/share.h"
#include "basic/steady.h"
#include "history/priv.h"

#define QUEUE_MAX 16384 /* one minute of all 4,096 TSGs, and what happens meanwhile */
#define MANY 1024       /* items */
#define AGAIN_S 5       /* pause after a file could not be opened or written */
#define END_S 3
#define TEND_NS (100 * NS_PER_MS) /* longest time for one call of tend() */

struct gs_history {
	struct gs_history_opts opts;
	char dir[256];
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t work, done;
	struct item *first, **last;
	size_t n;
	struct gs_shares queued; /* the items of @first by user */
	/* number of items given; number of items that were written or lost */
	uint64_t given, taken;
	bool stop, damaged;
	int code; /* why nothing is kept; 0: the history is kept */
	char reason[512];
	_Atomic uint64_t counters[GS_HIST_MAX];

	/* used by the thread alone */
	struct db db;
	struct tending tending;
	struct gs_steady steady;
	uint64_t again_s;
	struct item *kept, **kept_last; /* items to be written, the oldest first */
	size_t nkept;
	bool told; /* a failure was logged after the last success */
};

static uint64_t now_ms(const struct gs_history *h)
{
	struct timespec t;

	if (h->opts.clock)
		return h->opts.clock();
	clock_gettime(CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / NS_PER_MS;
}

static uint64_t now_s(const struct gs_history *h)
{
	return now_ms(h) / 1000;
}

static uint64_t boot_s(const struct gs_history *h)
{
	struct timespec t;

	if (h->opts.boottime)
		return h->opts.boottime();
	clock_gettime(CLOCK_BOOTTIME, &t);
	return (uint64_t)t.tv_sec;
}

static void count(struct gs_history *h, enum gs_history_counter c, uint64_t n)
{
	atomic_fetch_add(&h->counters[c], n);
}

uint64_t gs_history_counter(const struct gs_history *h, enum gs_history_counter c)
{
	return h && c < GS_HIST_MAX ? atomic_load(&h->counters[c]) : 0;
}

/* ---- the writer ------------------------------------------------------------------------------ */

static void set_state(struct gs_history *h, int code, const char *reason)
{
	pthread_mutex_lock(&h->lock);
	h->code = code;
	snprintf(h->reason, sizeof(h->reason), "%s", reason);
	pthread_mutex_unlock(&h->lock);
}

static void complain(struct gs_history *h, const char *text)
{
	if (!h->told)
		gs_log(LOG_WARNING, "the history cannot be written: %s", text);
	h->told = true;
}

/* Renames the file, so that a new one can take its place. */
static int put_aside(struct gs_history *h, const char *why)
{
	struct gs_error err = { 0 };

	db_close(&h->db);
	if (db_put_aside(h->opts.dir, &err)) {
		complain(h, err.text);
		return -EIO;
	}
	count(h, GS_HIST_RENEWED, 1);
	gs_log(LOG_WARNING,
	       "the history cannot be used (%s): it is history.db.damaged now, and begins anew",
	       why);
	return 0;
}

static int open_db(struct gs_history *h)
{
	struct gs_error err = { 0 };
	int r;

	if (h->db.sql)
		return 0;
	r = db_open(&h->db, h->opts.dir, &err);
	if (r == -EUCLEAN && !put_aside(h, err.text))
		r = db_open(&h->db, h->opts.dir, &err);
	set_state(h, r, err.text);
	if (!r)
		return 0;
	complain(h, err.text);
	count(h, GS_HIST_FAILED, 1);
	h->again_s = now_s(h) + AGAIN_S;
	return r;
}

/* Returns an SQLite result. */
static int write_items(struct gs_history *h, const struct item *it)
{
	sqlite3_stmt *st = db_statement(&h->db, ST_BEGIN);
	int rc = st ? sqlite3_step(st) : sqlite3_errcode(h->db.sql);

	for (; it && rc == SQLITE_DONE; it = it->next)
		rc = item_apply(&h->db, it);
	if (rc == SQLITE_DONE) {
		st = db_statement(&h->db, ST_COMMIT);
		rc = st ? sqlite3_step(st) : sqlite3_errcode(h->db.sql);
	}
	return rc;
}

static int failed(struct gs_history *h)
{
	char text[300];
	int r = db_failure(&h->db);
	sqlite3_stmt *st;

	snprintf(text, sizeof(text), "%.290s", sqlite3_errmsg(h->db.sql));
	st = db_statement(&h->db, ST_ROLLBACK);
	if (st)
		sqlite3_step(st);
	count(h, GS_HIST_FAILED, 1);
	if (r == -EUCLEAN)
		put_aside(h, text);
	else
		complain(h, text);
	return r;
}

/* True during the pause after a failure. A clock that was set back does not make it longer. */
static bool is_too_soon(const struct gs_history *h)
{
	uint64_t now = now_s(h);

	return now < h->again_s && now + AGAIN_S >= h->again_s;
}

static void free_items(struct item *it)
{
	while (it) {
		struct item *next = it->next;

		free(it);
		it = next;
	}
}

static void forget_kept(struct gs_history *h)
{
	free_items(h->kept);
	if (h->nkept >= MANY)
		malloc_trim(0); /* malloc would keep tens of MiB */
	h->kept = NULL;
	h->kept_last = &h->kept;
	h->nkept = 0;
}

/* True for failures that may pass: no space, a lock, a disk that is away. */
static bool may_pass(int r)
{
	return r == -ENOSPC || r == -EIO || r == -EBUSY || r == -ENOMEM || r == -EROFS;
}

/*
 * Opens the file if it is not open, even if there is nothing to write; then writes. Returns 0, or
 * the failure.
 */
static int try_to_write(struct gs_history *h)
{
	int r = open_db(h);

	if (!r)
		h->kept_last = items_merge(&h->kept);
	if (!r && h->kept && write_items(h, h->kept) != SQLITE_DONE) {
		r = failed(h);
		if (may_pass(r))
			h->again_s = now_s(h) + AGAIN_S;
	}
	return r;
}

static void write_kept(struct gs_history *h, bool last)
{
	/* if it is too soon to try again, the last failure counts */
	int r = h->code ? h->code : -EBUSY;

	if (last || !is_too_soon(h))
		r = try_to_write(h);
	if (may_pass(r) && !last && h->nkept < QUEUE_MAX)
		return;
	if (h->kept && !r)
		h->told = false;
	count(h, r ? GS_HIST_LOST : GS_HIST_WRITTEN, h->nkept);
	forget_kept(h);
}

/* True if no tending is due. A clock that was set back does not delay the tending. */
static bool is_tended(const struct gs_history *h)
{
	uint64_t now = now_s(h), due = h->tending.due_s;

	return now < due && due - now <= TEND_PERIOD_S;
}

/* Tends the file for TEND_NS at most. The rest comes after the next batch. */
static void tend(struct gs_history *h)
{
	uint64_t until = gs_now_ns() + TEND_NS, boot = boot_s(h);
	struct tended done = { 0 };

	gs_steady_now(&h->steady, boot, (int64_t)now_s(h));
	h->tending.agrees =
		gs_steady_agrees(&h->steady, boot) || (h->opts.clock && !h->opts.boottime);

	while (h->db.sql && !is_tended(h) && gs_now_ns() < until) {
		if (tend_step(&h->db, &h->tending, &h->opts, now_s(h), &done) != SQLITE_DONE) {
			failed(h);
			h->tending.due_s = now_s(h) + AGAIN_S;
		}
		count(h, GS_HIST_TRIMMED, done.dropped);
		count(h, GS_HIST_FOLDED, done.folded);
	}
}

static void wait_for_work(struct gs_history *h)
{
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += is_tended(h) && !h->kept ? 60 : 1;
	while (!h->n && !h->stop && !h->damaged)
		if (pthread_cond_timedwait(&h->work, &h->lock, &until))
			break;
}

static void *writer(void *user)
{
	struct gs_history *h = user;
	bool stop = false;

	open_db(h); /* shows at once whether something is wrong with the file */
	while (!stop) {
		bool damaged;
		size_t n;

		pthread_mutex_lock(&h->lock);
		wait_for_work(h);
		n = h->n;
		if (n) {
			*h->kept_last = h->first;
			h->kept_last = h->last;
			h->nkept += n;
		}
		stop = h->stop;
		damaged = h->damaged;
		h->first = NULL;
		h->last = &h->first;
		h->n = 0;
		gs_shares_done(&h->queued);
		h->damaged = false;
		pthread_mutex_unlock(&h->lock);
		if (damaged && h->db.sql)
			put_aside(h, "found when it was read");
		write_kept(h, stop);
		pthread_mutex_lock(&h->lock);
		h->taken += n;
		pthread_cond_broadcast(&h->done);
		pthread_mutex_unlock(&h->lock);
		if (!stop)
			tend(h);
	}
	db_close(&h->db);
	return NULL;
}

/* ---- the queue ------------------------------------------------------------------------------- */

/* Records count for their user. An end is nobody's: a process has one. */
static uid_t uid_of(const struct item *it)
{
	if (it->kind == ITEM_SUMS)
		return it->who.uid;
	return it->kind == ITEM_EVENT && it->ev.by ? it->ev.by_uid : 0;
}

/* Adds an item to the queue. Takes @it. */
static int put(struct gs_history *h, struct item *it)
{
	bool full;

	it->at_ms = now_ms(h);
	it->at_s = it->at_ms / 1000;
	pthread_mutex_lock(&h->lock);
	full = h->stop || !gs_shares_take(&h->queued, uid_of(it), QUEUE_MAX);
	if (!full) {
		*h->last = it;
		h->last = &it->next;
		h->n++;
		h->given++;
		pthread_cond_signal(&h->work);
	}
	pthread_mutex_unlock(&h->lock);
	if (!full)
		return 0;
	free(it);
	count(h, GS_HIST_LOST, 1);
	return -ENOBUFS;
}

static struct item *item_new(struct gs_history *h, enum item_kind kind)
{
	struct item *it = calloc(1, sizeof(*it));

	if (it)
		it->kind = kind;
	else
		count(h, GS_HIST_LOST, 1);
	return it;
}

int gs_history_add(struct gs_history *h, const struct gs_history_who *who, uint64_t span_s,
		   const struct gs_history_sums *sums)
{
	struct item *it = item_new(h, ITEM_SUMS);

	if (!it)
		return -ENOBUFS;
	it->who = *who;
	it->span_s = span_s;
	it->sums = *sums;
	return put(h, it);
}

int gs_history_ended(struct gs_history *h, int32_t pid, uint64_t start_ns)
{
	struct item *it = item_new(h, ITEM_ENDED);

	if (!it)
		return -ENOBUFS;
	it->who.pid = pid;
	it->who.start_ns = start_ns;
	return put(h, it);
}

static const char *copy(char *to, size_t size, const char *text)
{
	if (text)
		snprintf(to, size, "%s", text);
	return text ? to : NULL;
}

int gs_history_event(struct gs_history *h, const struct gs_history_event *ev)
{
	struct item *it = item_new(h, ITEM_EVENT);

	if (!it)
		return -ENOBUFS;
	it->ev = *ev;
	it->ev.what = copy(it->what, sizeof(it->what), ev->what);
	it->ev.target = copy(it->target, sizeof(it->target), ev->target);
	it->ev.detail = copy(it->detail, sizeof(it->detail), ev->detail);
	it->ev.result = copy(it->result, sizeof(it->result), ev->result);
	return put(h, it);
}

void gs_history_stepped(struct gs_history *h)
{
	count(h, GS_HIST_STEPS, 1);
}

void gs_history_damaged(struct gs_history *h)
{
	pthread_mutex_lock(&h->lock);
	h->damaged = true;
	pthread_cond_signal(&h->work);
	pthread_mutex_unlock(&h->lock);
}

void gs_history_flush(struct gs_history *h)
{
	uint64_t upto;

	pthread_mutex_lock(&h->lock);
	upto = h->given;
	while (h->taken < upto)
		pthread_cond_wait(&h->done, &h->lock);
	pthread_mutex_unlock(&h->lock);
}

int gs_history_state(struct gs_history *h, struct gs_error *err)
{
	int r;

	pthread_mutex_lock(&h->lock);
	r = h->code ? gs_fail(err, -ENOTSUP, "%s", h->reason) : 0;
	pthread_mutex_unlock(&h->lock);
	return r;
}

/* ---- life ------------------------------------------------------------------------------------ */

static void read_boot(char ret[40])
{
	CLEANUP_FILE FILE *f = fopen("/proc/sys/kernel/random/boot_id", "re");

	if (!f || !fgets(ret, 40, f))
		snprintf(ret, 40, "unknown");
	ret[strcspn(ret, "\n")] = '\0';
}

int gs_history_new(const struct gs_history_opts *opts, struct gs_history **ret)
{
	struct gs_history *h = calloc(1, sizeof(*h));
	pthread_condattr_t attr;
	int r;

	if (!h)
		return -ENOMEM;
	h->opts = *opts;
	snprintf(h->dir, sizeof(h->dir), "%s", opts->dir);
	h->opts.dir = h->dir;
	if (opts->boot)
		snprintf(h->db.boot, sizeof(h->db.boot), "%s", opts->boot);
	else
		read_boot(h->db.boot);
	h->last = &h->first;
	h->kept_last = &h->kept;
	pthread_mutex_init(&h->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&h->work, &attr);
	pthread_cond_init(&h->done, &attr);
	pthread_condattr_destroy(&attr);
	r = -pthread_create(&h->thread, NULL, writer, h);
	if (r) {
		free(h);
		return r;
	}
	*ret = h;
	return 0;
}

void gs_history_free(struct gs_history *h)
{
	struct timespec until;

	if (!h)
		return;
	pthread_mutex_lock(&h->lock);
	h->stop = true;
	pthread_cond_signal(&h->work);
	pthread_mutex_unlock(&h->lock);
	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += END_S;
	if (pthread_clockjoin_np(h->thread, NULL, CLOCK_MONOTONIC, &until)) {
		gs_log(LOG_WARNING, "the disk takes too long: the end of the history is lost");
		return; /* the thread still uses @h */
	}
	free_items(h->first);
	gs_shares_done(&h->queued);
	pthread_cond_destroy(&h->work);
	pthread_cond_destroy(&h->done);
	pthread_mutex_destroy(&h->lock);
	free(h);
}
