// SPDX-License-Identifier: MIT
/*
 * Answers queries. Totals of a range come from the points at its two ends, and are summed up by
 * group.
 */
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>
#include <uthash.h>

#include "basic/cleanup.h"
#include "basic/json_sheet.h"
#include "history/priv.h"
#include "process/cgroup.h"

#define NAMES_MAX 120      /* length of the list of classes or policies in one row */
#define CALM_MINUTES_MIN 5 /* with fewer minutes, the calm wait is unknown */
#define CALM_SPAN_S (24 * 3600)
#define EVENTS_MAX 10000
#define GPUS_MAX 64

static const char *const by_names[GS_BY_MAX] = {
	[GS_BY_PROCESS] = "process",     [GS_BY_USER] = "user", [GS_BY_CGROUP] = "cgroup",
	[GS_BY_CLASS] = "class",         [GS_BY_GPU] = "gpu",   [GS_BY_POD] = "pod",
	[GS_BY_NAMESPACE] = "namespace", [GS_BY_JOB] = "job",   [GS_BY_PARTITION] = "partition",
};

int gs_history_query_parse_by(const char *text, enum gs_history_by *ret)
{
	for (int i = 0; i < GS_BY_MAX; i++)
		if (!strcmp(by_names[i], text)) {
			*ret = i;
			return 0;
		}
	return -EINVAL;
}

/* One series, as it is read from the file, and what it adds to a row. */
struct series {
	int64_t id, process, pid, uid, began, last, gpu, process_began, process_ended;
	const char *comm, *uuid, *class, *cgroup, *policy;
	const char *namespace, *pod, *container, *pod_uid, *job;
	int64_t gpu_instance, compute_instance; /* -1: in none, or unknown */
	bool pool, runs;
	struct gs_history_sums sums;
};

struct row {
	UT_hash_handle hh;
	char key[400];
	struct series first; /* the first series of the row; its texts are not kept */
	char comm[GPUSCHED_COMM_LEN + 1], cgroup[GS_CGROUP_PATH_LEN];
	char class[NAMES_MAX], policy[NAMES_MAX], uuid[48];
	struct gs_pod_names names;
	char job[32];
	bool partitions;         /* the series are in several partitions, or only some are in one */
	uint16_t gpus[GPUS_MAX]; /* indexes of the row's GPUs, each once */
	size_t ngpus;
	bool pool;
	int64_t began, last;
	struct gs_history_sums sums;
};

struct asking {
	struct db db;
	const struct gs_history_query *q;
	gs_history_row_fn fn;
	void *user;
	/* the first minute of the range, and the one after its last */
	int64_t first_minute, end_minute;
	sqlite3_stmt *point, *late;
	struct row *rows;
};

/* ---- a series in the range ------------------------------------------------------------------- */

#define OF_SERIES(sym, column) ", s." #column
static const char series_text[] =
	"SELECT s.id, s.process, p.pid, p.uid, p.comm, p.began, p.ended, s.uuid, s.gpu, s.class, "
	"s.cgroup, s.policy, s.pool, s.began, s.last, s.namespace, s.pod, s.container, s.pod_uid, "
	"s.job, s.gpu_instance, s.compute_instance" GS_HISTORY_SUMS(
		OF_SERIES) ", s.hist FROM series s "
			   "LEFT JOIN process p ON p.id = s.process WHERE s.last >= ?1 AND s.began "
			   "< ?2 AND (?3 = 0 OR p.pid = ?3)";
#define SERIES_SUMS 22 /* number of the column at which the sums begin */

static const char *text_at(sqlite3_stmt *st, int at)
{
	const char *text = (const char *)sqlite3_column_text(st, at);

	return text ? text : "";
}

static int64_t instance_at(sqlite3_stmt *st, int at)
{
	return sqlite3_column_type(st, at) == SQLITE_NULL ? -1 : sqlite3_column_int64(st, at);
}

static void read_series(sqlite3_stmt *st, struct series *s)
{
	s->id = sqlite3_column_int64(st, 0);
	s->process = sqlite3_column_int64(st, 1);
	s->pid = sqlite3_column_int64(st, 2);
	s->uid = sqlite3_column_int64(st, 3);
	s->comm = text_at(st, 4);
	s->process_began = sqlite3_column_int64(st, 5);
	s->process_ended = sqlite3_column_int64(st, 6);
	s->runs = sqlite3_column_type(st, 6) == SQLITE_NULL;
	s->uuid = text_at(st, 7);
	s->gpu = sqlite3_column_int64(st, 8);
	s->class = text_at(st, 9);
	s->cgroup = text_at(st, 10);
	s->policy = text_at(st, 11);
	s->pool = sqlite3_column_int64(st, 12);
	s->began = sqlite3_column_int64(st, 13);
	s->last = sqlite3_column_int64(st, 14);
	s->namespace = text_at(st, 15);
	s->pod = text_at(st, 16);
	s->container = text_at(st, 17);
	s->pod_uid = text_at(st, 18);
	s->job = text_at(st, 19);
	s->gpu_instance = instance_at(st, 20);
	s->compute_instance = instance_at(st, 21);
	sums_read(st, SERIES_SUMS, &s->sums);
}

/* The totals at the end of the minute before @minute. */
static int totals_before(struct asking *a, int64_t series, int64_t minute,
			 struct gs_history_sums *ret)
{
	static const char text[] = "SELECT minute" SUM_COLUMNS " FROM point WHERE series = ?1 AND "
				   "minute < ?2 ORDER BY minute DESC LIMIT 1";
	int rc = SQLITE_OK;

	memset(ret, 0, sizeof(*ret));
	if (!a->point)
		rc = sqlite3_prepare_v2(a->db.sql, text, -1, &a->point, NULL);
	if (rc != SQLITE_OK)
		return rc;
	sqlite3_reset(a->point);
	sqlite3_bind_int64(a->point, 1, series);
	sqlite3_bind_int64(a->point, 2, minute);
	rc = sqlite3_step(a->point);
	if (rc == SQLITE_ROW)
		sums_read(a->point, 1, ret);
	return rc == SQLITE_ROW ? SQLITE_DONE : rc;
}

static int cut_to_range(struct asking *a, struct series *s)
{
	struct gs_history_sums before;
	int rc = SQLITE_DONE;

	if ((s->last - 1) / MINUTE_S >= a->end_minute)
		rc = totals_before(a, s->id, a->end_minute, &s->sums);
	if (rc == SQLITE_DONE && s->began / MINUTE_S < a->first_minute) {
		rc = totals_before(a, s->id, a->first_minute, &before);
		gs_history_sums_sub(&s->sums, &before);
	}
	return rc;
}

/*
 * Reads the worst lateness in the range. The table may be missing in a file that was not written to
 * since an upgrade.
 */
static int read_late(struct asking *a, struct series *s)
{
	static const char text[] = "SELECT max(worst_ns) FROM late WHERE series = ?1 AND "
				   "minute >= ?2 AND minute < ?3";
	int rc;

	if (!s->sums.v[GS_SUM_MISSED])
		return SQLITE_DONE;
	if (!a->late && sqlite3_prepare_v2(a->db.sql, text, -1, &a->late, NULL) != SQLITE_OK)
		return SQLITE_DONE;
	sqlite3_reset(a->late);
	sqlite3_bind_int64(a->late, 1, s->id);
	sqlite3_bind_int64(a->late, 2, a->first_minute);
	sqlite3_bind_int64(a->late, 3, a->end_minute);
	rc = sqlite3_step(a->late);
	if (rc == SQLITE_ROW)
		s->sums.worst_late_ns = (uint64_t)sqlite3_column_int64(a->late, 0);
	return rc == SQLITE_ROW ? SQLITE_DONE : rc;
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* True if the query is for some processes only. */
static bool of_some(const struct gs_history_query *q)
{
	return q->pid || *q->comm || q->has_uid || *q->cgroup || *q->namespace || *q->pod ||
	       *q->job;
}

/* True if the query is for the sums of GPUs, not of their processes. */
static bool of_gpu(const struct gs_history_query *q)
{
	return q->by == GS_BY_GPU && !of_some(q) && !q->has_class;
}

/* True if the series is in @partition: "/GI", "/GI/CI", or "" for the whole GPU. */
static bool is_in(const char *partition, const struct series *s)
{
	char gi[24], both[48];

	snprintf(gi, sizeof(gi), "/%lld", (long long)s->gpu_instance);
	snprintf(both, sizeof(both), "%s/%lld", gi, (long long)s->compute_instance);
	return !*partition || !strcmp(partition, gi) || !strcmp(partition, both);
}

static bool is_on(const char *gpu, const struct series *s)
{
	size_t n = strcspn(gpu, "/");
	char index[24];

	snprintf(index, sizeof(index), "%lld", (long long)s->gpu);
	return !*gpu || (((n == strlen(index) && !strncmp(gpu, index, n)) ||
			  (n == strlen(s->uuid) && !strncmp(gpu, s->uuid, n))) &&
			 is_in(gpu + n, s));
}

/* Compares with "NAMESPACE/NAME". */
static bool is_pod(const char *pod, const struct series *s)
{
	size_t len = strlen(s->namespace);

	return len && !strncmp(pod, s->namespace, len) && pod[len] == '/' &&
	       !strcmp(pod + len + 1, s->pod);
}

static bool is_where(const struct gs_history_query *q, const struct series *s)
{
	if ((*q->namespace && strcmp(q->namespace, s->namespace) != 0) ||
	    (*q->pod && !is_pod(q->pod, s)) || (*q->job && strcmp(q->job, s->job) != 0))
		return false;
	return is_on(q->gpu, s) && (!q->has_class || !strcmp(q->class, s->class)) &&
	       (!*q->cgroup || gs_cgroup_is_in(s->cgroup, q->cgroup));
}

static bool is_of(const struct gs_history_query *q, const char *comm, int64_t uid)
{
	return (!*q->comm || !fnmatch(q->comm, comm, 0)) && (!q->has_uid || uid == q->of_uid);
}

/*
 * True if the user may see sums over all users' processes. Every user may if the sums name nobody.
 */
static bool sees_sums(const struct gs_history_query *q)
{
	bool names_nobody = (q->by == GS_BY_CLASS || q->by == GS_BY_GPU) && !of_some(q);

	bool names_place = q->by == GS_BY_CGROUP || q->by == GS_BY_POD ||
			   q->by == GS_BY_NAMESPACE || q->by == GS_BY_JOB;

	return q->root || names_nobody || (q->times && !names_place);
}

bool gs_history_query_hides(const struct gs_history_query *q)
{
	return q->tsg || q->changes ? !q->root : !sees_sums(q);
}

/*
 * True if the query is for this series and the user may see it. Rows by GPU have the GPU's own
 * sums.
 */
static bool is_wanted(const struct gs_history_query *q, const struct series *s)
{
	if ((s->process == 0) != of_gpu(q) || !is_of(q, s->comm, s->uid) || !is_where(q, s))
		return false;
	return sees_sums(q) || s->uid == q->uid;
}

static void make_key(enum gs_history_by by, const struct series *s, char *ret, size_t size)
{
	if (by == GS_BY_PROCESS)
		snprintf(ret, size, "%lld", (long long)s->process);
	else if (by == GS_BY_USER)
		snprintf(ret, size, "%lld", (long long)s->uid);
	else if (by == GS_BY_PARTITION)
		snprintf(ret, size, "%s/%lld/%lld", s->uuid, (long long)s->gpu_instance,
			 (long long)s->compute_instance);
	else
		snprintf(ret, size, "%s",
			 by == GS_BY_CGROUP      ? s->cgroup
			 : by == GS_BY_CLASS     ? s->class
			 : by == GS_BY_POD       ? s->pod_uid
			 : by == GS_BY_NAMESPACE ? s->namespace
			 : by == GS_BY_JOB       ? s->job
						 : s->uuid);
}

/* Adds to a list such as "be,lc", each name once. */
static void add_name(char *list, const char *name)
{
	size_t len = strlen(name), at = strlen(list);

	for (const char *p = list; *name && (p = strstr(p, name)); p += len)
		if ((p == list || p[-1] == ',') && (!p[len] || p[len] == ','))
			return;
	if (len && at + len + 2 < NAMES_MAX)
		snprintf(list + at, NAMES_MAX - at, "%s%s", at ? "," : "", name);
}

static void add_gpu(struct row *row, int64_t gpu)
{
	for (size_t i = 0; i < row->ngpus; i++)
		if (row->gpus[i] == gpu)
			return;
	if (row->ngpus < GPUS_MAX)
		row->gpus[row->ngpus++] = (uint16_t)gpu;
}

static json_t *gpus_json(const struct row *row)
{
	json_t *list = json_array();

	for (size_t i = 0; i < row->ngpus; i++)
		json_array_append_new(list, json_integer(row->gpus[i]));
	return list;
}

static void learn(char *name, size_t size, const char *is)
{
	if (!*name)
		snprintf(name, size, "%s", is);
}

static void add_names(struct row *row, const struct series *s)
{
	learn(row->names.namespace, sizeof(row->names.namespace), s->namespace);
	learn(row->names.pod, sizeof(row->names.pod), s->pod);
	learn(row->names.container, sizeof(row->names.container), s->container);
	learn(row->names.uid, sizeof(row->names.uid), s->pod_uid);
	learn(row->job, sizeof(row->job), s->job);
}

static int add_series(struct asking *a, const struct series *s)
{
	struct row *row = NULL;
	char key[400];

	make_key(a->q->by, s, key, sizeof(key));
	HASH_FIND_STR(a->rows, key, row);
	if (!row) {
		row = calloc(1, sizeof(*row));
		if (!row)
			return SQLITE_NOMEM;
		memcpy(row->key, key, sizeof(key));
		row->first = *s;
		row->began = s->began;
		snprintf(row->comm, sizeof(row->comm), "%s", s->comm);
		snprintf(row->cgroup, sizeof(row->cgroup), "%s", s->cgroup);
		snprintf(row->uuid, sizeof(row->uuid), "%s", s->uuid);
		HASH_ADD_STR(a->rows, key, row);
	}
	add_name(row->class, s->class);
	add_name(row->policy, s->policy);
	add_gpu(row, s->gpu);
	row->partitions |= s->gpu_instance != row->first.gpu_instance ||
			   s->compute_instance != row->first.compute_instance;
	add_names(row, s);
	row->pool |= s->pool;
	row->began = s->began < row->began ? s->began : row->began;
	row->last = s->last > row->last ? s->last : row->last;
	gs_history_sums_add(&row->sums, &s->sums);
	return SQLITE_DONE;
}

static int collect(struct asking *a)
{
	sqlite3_stmt *st = NULL;
	int rc = sqlite3_prepare_v2(a->db.sql, series_text, -1, &st, NULL);

	if (rc != SQLITE_OK)
		return rc;
	sqlite3_bind_int64(st, 1, a->first_minute * MINUTE_S);
	sqlite3_bind_int64(st, 2, a->end_minute * MINUTE_S);
	sqlite3_bind_int64(st, 3, a->q->pid);
	while ((rc = sqlite3_step(st)) == SQLITE_ROW) {
		struct series s;

		read_series(st, &s);
		if (!is_wanted(a->q, &s))
			continue;
		rc = cut_to_range(a, &s);
		if (rc == SQLITE_DONE)
			rc = read_late(a, &s);
		if (rc == SQLITE_DONE)
			rc = add_series(a, &s);
		if (rc != SQLITE_DONE)
			break;
	}
	sqlite3_finalize(st);
	return rc;
}

/* ---- calm minutes ---------------------------------------------------------------------------- */

static int compare(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/*
 * Computes a process's wait in calm minutes, as a part of its wait and GPU time. Takes the minutes
 * of the last day in which the process held the GPU. The result is the most that it waited in the
 * calmest quarter of them.
 */
static int calm_of(struct asking *a, int64_t process, int64_t last_s, double *ret_pct,
		   int *ret_minutes)
{
	static const char text[] =
		"SELECT p.series, p.held_ns, p.wait_ns FROM point p JOIN series s ON s.id = "
		"p.series "
		"WHERE s.process = ?1 AND p.minute >= ?2 ORDER BY p.series, p.minute";
	double pct[CALM_SPAN_S / MINUTE_S];
	int64_t series = -1, held = 0, wait = 0;
	sqlite3_stmt *st = NULL;
	int n = 0, rc = sqlite3_prepare_v2(a->db.sql, text, -1, &st, NULL);

	if (rc != SQLITE_OK)
		return rc;
	sqlite3_bind_int64(st, 1, process);
	sqlite3_bind_int64(st, 2, (last_s - CALM_SPAN_S) / MINUTE_S);
	while ((rc = sqlite3_step(st)) == SQLITE_ROW && n < (int)GS_COUNT(pct)) {
		int64_t h = sqlite3_column_int64(st, 1), w = sqlite3_column_int64(st, 2);

		if (sqlite3_column_int64(st, 0) == series && h > held)
			pct[n++] = 100.0 * (double)(w - wait) / (double)(w - wait + h - held);
		series = sqlite3_column_int64(st, 0);
		held = h;
		wait = w;
	}
	sqlite3_finalize(st);
	*ret_minutes = n;
	if (n >= CALM_MINUTES_MIN) {
		qsort(pct, (size_t)n, sizeof(*pct), compare);
		*ret_pct = pct[n / 4];
	}
	return rc == SQLITE_ROW ? SQLITE_DONE : rc;
}

/* ---- JSON ------------------------------------------------------------------------------------ */

/* Adds the names that all processes of the row have in common. */
static void put_names(json_t *o, enum gs_history_by by, bool whole, const struct row *row)
{
	bool process = by == GS_BY_PROCESS && whole, pod = process || by == GS_BY_POD;

	gs_json_put_text(o, "namespace", pod || by == GS_BY_NAMESPACE ? row->names.namespace : "");
	gs_json_put_text(o, "pod", pod ? row->names.pod : "");
	gs_json_put_text(o, "container", process ? row->names.container : "");
	gs_json_put_text(o, "pod_uid", pod ? row->names.uid : "");
	gs_json_put_text(o, "job", process || by == GS_BY_JOB ? row->job : "");
}

/* Adds the partition in which all series of the row were; null if there is none. */
static void put_partition(json_t *o, const struct row *row)
{
	const struct series *s = &row->first;
	bool one = row->ngpus == 1 && !row->partitions;

	gs_json_put_number(o, "gpu_instance", one && s->gpu_instance >= 0,
			   (uint64_t)s->gpu_instance);
	gs_json_put_number(o, "compute_instance", one && s->compute_instance >= 0,
			   (uint64_t)s->compute_instance);
}

static json_t *row_json(const struct gs_history_query *q, const struct row *row)
{
	bool process = q->by == GS_BY_PROCESS;
	const struct series *s = &row->first;
	bool whole = q->root || s->uid == q->uid || (!process && q->by != GS_BY_USER);
	json_t *o = json_object();

	json_object_set_new(o, "by", json_string(by_names[q->by]));
	gs_json_put_number(o, "pid", process && s->pid, (uint64_t)s->pid);
	gs_json_put_text(o, "comm", process ? row->comm : "");
	gs_json_put_number(o, "uid", process || q->by == GS_BY_USER, (uint64_t)s->uid);
	gs_json_put_text(o, "class", row->class);
	gs_json_put_text(o, "cgroup",
			 (process && whole) || q->by == GS_BY_CGROUP ? row->cgroup : "");
	put_names(o, q->by, whole, row);
	gs_json_put_number(o, "gpu", row->ngpus == 1, (uint64_t)s->gpu);
	gs_json_put_text(o, "gpu_uuid", row->ngpus == 1 ? row->uuid : "");
	json_object_set_new(o, "gpus", gpus_json(row));
	put_partition(o, row);
	gs_json_put_text(o, "policy", row->policy);
	gs_json_put_number(o, "began_s", true, (uint64_t)(process ? s->process_began : row->began));
	gs_json_put_number(o, "ended_s", process && !s->runs, (uint64_t)s->process_ended);
	gs_json_put_number(o, "last_s", true, (uint64_t)row->last);
	gs_history_put_figures(o, &row->sums, of_gpu(q) ? GS_FIGURE_GPU : GS_FIGURE_PROCESS,
			       row->pool);
	if (!whole)
		json_object_set_new(o, "launches", json_null());
	return o;
}

static int by_held(struct row *a, struct row *b)
{
	uint64_t x = a->sums.v[GS_SUM_HELD], y = b->sums.v[GS_SUM_HELD];

	return x > y ? -1 : x < y;
}

static int put_calm(struct asking *a, const struct row *row, json_t *o)
{
	double pct = 0;
	int minutes = 0, rc = calm_of(a, row->first.process, row->last, &pct, &minutes);

	json_object_set_new(o, "calm_wait_pct",
			    minutes >= CALM_MINUTES_MIN ? json_real(pct) : json_null());
	json_object_set_new(o, "calm_minutes", json_integer(minutes));
	return rc;
}

static int hand_out(const struct asking *a, json_t *row)
{
	return row && !a->fn(row, a->user) ? SQLITE_DONE : SQLITE_NOMEM;
}

static int ask_sums(struct asking *a)
{
	int rc = collect(a);

	HASH_SORT(a->rows, by_held);
	for (struct row *row = a->rows; row && rc == SQLITE_DONE; row = row->hh.next) {
		CLEANUP_JSON json_t *o = row_json(a->q, row);

		if (a->q->calm && a->q->by == GS_BY_PROCESS)
			rc = put_calm(a, row, o);
		if (rc == SQLITE_DONE)
			rc = hand_out(a, o);
	}
	return rc;
}

/* ---- events ---------------------------------------------------------------------------------- */

static json_t *event_json(sqlite3_stmt *st)
{
	bool by = sqlite3_column_type(st, 7) != SQLITE_NULL;
	json_t *o = json_object();

	gs_json_put_number(o, "time_ms", true, (uint64_t)sqlite3_column_int64(st, 0));
	gs_json_put_text(o, "what", text_at(st, 1));
	gs_json_put_text(o, "target", text_at(st, 2));
	gs_json_put_text(o, "detail", text_at(st, 3));
	gs_json_put_text(o, "result", text_at(st, 4));
	gs_json_put_number(o, "tsg", sqlite3_column_type(st, 5) != SQLITE_NULL,
			   (uint64_t)sqlite3_column_int64(st, 5));
	gs_json_put_number(o, "pid", sqlite3_column_type(st, 6) != SQLITE_NULL,
			   (uint64_t)sqlite3_column_int64(st, 6));
	gs_json_put_number(o, "by_uid", by, (uint64_t)sqlite3_column_int64(st, 7));
	gs_json_put_number(o, "by_pid", by, (uint64_t)sqlite3_column_int64(st, 8));
	gs_json_put_text(o, "comm", text_at(st, 9));
	return o;
}

/*
 * Answers with events. A change is shown to root and to its author, an event of a process to the
 * process's owner.
 */
static int ask_events(struct asking *a)
{
	static const char text[] =
		"SELECT e.at, e.what, e.target, e.detail, e.result, e.tsg, p.pid, e.by_uid, "
		"e.by_pid, p.comm, coalesce(p.uid, -1), coalesce(e.by_uid, -1) FROM event e "
		"LEFT JOIN process p ON p.id = e.process "
		"WHERE e.at >= ?1 AND e.at < ?2 AND (?3 = 0 OR e.tsg = ?3) AND "
		"(?4 = 0 OR e.by_uid IS NOT NULL) AND (?5 = 0 OR p.pid = ?5 OR "
		"e.target = 'pid:' || ?5) AND (?6 OR p.uid = ?7 OR e.by_uid = ?7) "
		"ORDER BY e.at DESC, e.id DESC";
	CLEANUP_JSON json_t *latest = json_array();
	const struct gs_history_query *q = a->q;
	const int64_t args[] = { a->first_minute * MINUTE_S * 1000,
				 a->end_minute * MINUTE_S * 1000,
				 (int64_t)q->tsg,
				 q->changes,
				 q->pid,
				 q->root,
				 q->uid };
	sqlite3_stmt *st = NULL;
	int rc = sqlite3_prepare_v2(a->db.sql, text, -1, &st, NULL);

	for (size_t i = 0; i < GS_COUNT(args) && rc == SQLITE_OK; i++)
		rc = sqlite3_bind_int64(st, (int)i + 1, args[i]);
	if (rc == SQLITE_OK)
		while ((rc = sqlite3_step(st)) == SQLITE_ROW &&
		       json_array_size(latest) < EVENTS_MAX)
			if (is_of(q, text_at(st, 9), sqlite3_column_int64(st, 10)) ||
			    is_of(q, text_at(st, 9), sqlite3_column_int64(st, 11)))
				json_array_append_new(latest, event_json(st));
	sqlite3_finalize(st);
	if (rc == SQLITE_ROW)
		rc = SQLITE_DONE;
	for (size_t i = json_array_size(latest); i-- && rc == SQLITE_DONE;)
		rc = hand_out(a, json_array_get(latest, i));
	return rc;
}

/* ---- asking ---------------------------------------------------------------------------------- */

static void rows_free(struct row *rows)
{
	struct row *row, *next;

	HASH_ITER(hh, rows, row, next) {
		HASH_DEL(rows, row);
		free(row);
	}
}

int gs_history_query_ask(const char *dir, const struct gs_history_query *q, gs_history_row_fn fn,
			 void *user, struct gs_error *err)
{
	struct asking a = {
		.q = q, .fn = fn, .user = user, .first_minute = (int64_t)(q->since_s / MINUTE_S)
	};
	int rc, r;

	a.end_minute = q->until_s ? (int64_t)((q->until_s + MINUTE_S - 1) / MINUTE_S)
				  : INT64_MAX / MINUTE_S / 1000 - 1;
	r = db_open_read(&a.db, dir, err);
	if (r)
		return r;
	db_exec(&a.db, "BEGIN"); /* in a transaction all reads see the same state */
	rc = q->tsg || q->changes ? ask_events(&a) : ask_sums(&a);
	r = db_errno(rc);
	if (r)
		gs_fail(err, r, "%s: %s", a.db.path, sqlite3_errmsg(a.db.sql));
	rows_free(a.rows);
	sqlite3_finalize(a.point);
	sqlite3_finalize(a.late);
	db_close(&a.db);
	return r;
}
