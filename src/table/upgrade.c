// SPDX-License-Identifier: MIT
/*
 * upgrade.c - converts earlier versions of the pinned table
 *
 * All conversions are in this file. Version 2 has the present layout. Its daemons took a suspension
 * that failed for one that changed nothing, so each of its TSGs is owed an enable. No gpusched that
 * is in use made version 1.
 */
#include "table/upgrade.h"

#include <bpf/bpf.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "basic/cleanup.h"
#include "basic/env.h"
#include "basic/log.h"
#include "rm/setting.h"
#include "table/priv.h"
#include "table/procs.h"

#define PASSES 16
/* Limit of records read: a table that changes meanwhile may seem to have more than it can hold. */
#define MAX_READ (2 * GPUSCHED_MAX_TSGS)

#define FIRST_VERSION 2u

/* Name and size of a value. gs_cfg comes first, since it contains the version. */
#define OLD_MAPS(X) \
	X(gs_cfg, sizeof(struct gpusched_cfg)) \
	X(gs_tsgs, sizeof(struct gpusched_tsg)) \
	X(gs_chans, sizeof(struct gpusched_channels)) \
	X(gs_files, sizeof(struct gpusched_file)) \
	X(gs_clients, sizeof(struct gpusched_client)) \
	X(gs_devices, sizeof(struct gpusched_device)) \
	X(gs_procs, sizeof(struct gpusched_proc)) \
	X(gs_classes, sizeof(struct gpusched_class)) \
	X(gs_stopped, sizeof(struct gpusched_stopped)) \
	X(gs_slot, 4) \
	X(gs_work_slot, 4) \
	X(gs_gate_slot, 4) \
	X(gs_makers, sizeof(struct gpusched_maker))

enum old_map {
#define X(name, size) OLD_##name,
	OLD_MAPS(X)
#undef X
		OLD_COUNT
};

struct gs_old_table {
	int fd[OLD_COUNT];
	struct gpusched_cfg cfg;
	struct gpusched_tsg *copied; /* sorted by key */
	size_t ncopied;
};

static int broken(struct gs_error *err, const char *what, int code)
{
	return gs_fail(err, -EUCLEAN, "the older table under %s can't be taken over: %s: %s",
		       gs_env()->bpffs, what, strerror(code < 0 ? -code : code));
}

/* ---- open ------------------------------------------------------------------------------------ */

static int open_map(const char *name, size_t value_size, int *ret_fd, struct gs_error *err)
{
	CLEANUP_FREE char *path = NULL;
	struct bpf_map_info info = {};
	uint32_t len = sizeof(info);

	if (asprintf(&path, "%s/%s", gs_env()->bpffs, name) < 0)
		return -ENOMEM;
	*ret_fd = bpf_obj_get(path);
	if (*ret_fd < 0 || bpf_obj_get_info_by_fd(*ret_fd, &info, &len))
		return broken(err, name, errno);
	return info.value_size == value_size ? 0 : broken(err, name, EPROTO);
}

static int read_cfg(struct gs_old_table *old, struct gs_error *err)
{
	uint32_t zero = 0;

	if (bpf_map_lookup_elem(old->fd[OLD_gs_cfg], &zero, &old->cfg))
		return broken(err, "gs_cfg", errno);
	return old->cfg.version >= FIRST_VERSION && old->cfg.version < GPUSCHED_TABLE_VERSION
		       ? 0
		       : broken(err, "gs_cfg", EPROTO);
}

static void old_free(struct gs_old_table **old)
{
	gs_upgrade_free(*old);
}

int gs_upgrade_open(struct gs_old_table **ret, struct gs_error *err)
{
	static const struct {
		const char *name;
		size_t size;
	} maps[] = {
#define X(name, size) { #name, size },
		OLD_MAPS(X)
#undef X
	};
	CLEANUP(old_free) struct gs_old_table *old = calloc(1, sizeof(*old));
	int r;

	if (!old)
		return -ENOMEM;
	for (unsigned int i = 0; i < OLD_COUNT; i++)
		old->fd[i] = -1;
	r = open_map(maps[0].name, maps[0].size, &old->fd[0], err);
	if (!r)
		r = read_cfg(old, err);
	for (unsigned int i = 1; !r && i < OLD_COUNT; i++)
		r = open_map(maps[i].name, maps[i].size, &old->fd[i], err);
	if (r)
		return r;
	*ret = TAKE_PTR(old);
	return 0;
}

void gs_upgrade_free(struct gs_old_table *old)
{
	if (!old)
		return;
	for (unsigned int i = 0; i < OLD_COUNT; i++)
		if (old->fd[i] >= 0)
			close(old->fd[i]);
	free(old->copied);
	free(old);
}

void gs_upgrade_end_policy(struct gs_old_table *old)
{
	uint32_t zero = 0;

	bpf_map_delete_elem(old->fd[OLD_gs_slot], &zero);
	bpf_map_delete_elem(old->fd[OLD_gs_work_slot], &zero);
	bpf_map_delete_elem(old->fd[OLD_gs_gate_slot], &zero);
}

void gs_upgrade_fill_cfg(const struct gs_old_table *old, struct gpusched_cfg *inout)
{
	inout->max_tsgs_per_proc = old->cfg.max_tsgs_per_proc;
	inout->default_class = old->cfg.default_class;
	inout->heartbeat_ns = old->cfg.heartbeat_ns;
	/* a margin, since the old taps give out more ids until they are removed */
	inout->next_id = old->cfg.next_id + GPUSCHED_MAX_TSGS;
}

/* ---- processes, classes, stopped processes --------------------------------------------------- */

/* Reads a whole map into two new arrays, which the caller frees. */
static int read_all(int fd, size_t key_size, void *ret_keys, size_t value_size, void *ret_values,
		    uint32_t max, uint32_t *ret_n)
{
	void *keys = malloc(max * key_size), *values = malloc(max * value_size);
	uint32_t at = 0, n = max;
	int r;

	*(void **)ret_keys = keys;
	*(void **)ret_values = values;
	if (!keys || !values)
		return -ENOMEM;
	r = bpf_map_lookup_batch(fd, NULL, &at, keys, values, &n, NULL);
	*ret_n = n;
	return r == -ENOENT ? 0 : r;
}

/* Copies processes. Returns how many were new or had changed. */
static int copy_procs(const struct gs_old_table *old, struct gs_table *t)
{
	CLEANUP_FREE struct gpusched_proc *procs = NULL;
	CLEANUP_FREE uint32_t *pids = NULL;
	uint32_t n = 0;
	int r = read_all(old->fd[OLD_gs_procs], sizeof(*pids), &pids, sizeof(*procs), &procs,
			 GS_MAX_PROCS, &n);
	int copied = 0;

	if (r < 0)
		return r;
	for (uint32_t i = 0; i < n; i++) {
		struct gpusched_proc now, *p = &procs[i];

		if (!gs_proc_get(t, (pid_t)pids[i], &now) && now.start_ns == p->start_ns &&
		    now.class_id == p->class_id && now.source == p->source)
			continue;
		/* the new taps count for themselves */
		p->tsgs = p->devices = p->channels = p->told = 0;
		if (bpf_map_update_elem(t->fd[GS_PIN_gs_procs], &pids[i], p, BPF_NOEXIST)) {
			r = gs_proc_set(t, (pid_t)pids[i], p);
			if (r < 0 && r != -ENOENT)
				return r;
		}
		copied += !gs_proc_forget_dead(t, (pid_t)pids[i], p->start_ns);
	}
	return copied;
}

static int copy_classes(const struct gs_old_table *old, struct gs_table *t)
{
	struct gpusched_class cls;

	for (uint32_t id = 0; id < GPUSCHED_MAX_CLASSES; id++)
		if (bpf_map_lookup_elem(old->fd[OLD_gs_classes], &id, &cls) ||
		    bpf_map_update_elem(t->fd[GS_PIN_gs_classes], &id, &cls, BPF_ANY))
			return -errno;
	return 0;
}

static int copy_stopped(const struct gs_old_table *old, struct gs_table *t)
{
	struct gpusched_stopped_key key, *at = NULL;
	struct gpusched_stopped value;

	while (!bpf_map_get_next_key(old->fd[OLD_gs_stopped], at, &key)) {
		at = &key;
		if (!bpf_map_lookup_elem(old->fd[OLD_gs_stopped], &key, &value) &&
		    bpf_map_update_elem(t->fd[GS_PIN_gs_stopped], &key, &value, BPF_ANY))
			return -errno;
	}
	return 0;
}

/* ---- devices, clients, files ----------------------------------------------------------------- */

static int put_place(struct gs_table *t, const struct gs_table_head *head, uint32_t owner)
{
	struct gs_table_arg arg = { .head = *head };
	struct gpusched_proc proc = {};
	int r;

	gs_proc_get(t, (pid_t)owner, &proc);
	arg.head.id = proc.start_ns;
	r = gs_table_change(t, &arg);
	gs_proc_forget_dead(t, (pid_t)owner, proc.start_ns);
	return r;
}

/*
 * Files come first: otherwise an entry below a file would make the file's entry, with the wrong
 * owner. Each value begins with its origin. @at: offset of the value in the request.
 */
static const struct place {
	enum old_map map;
	enum gs_table_op op;
	size_t key_size, value_size, at;
} places[] = {
	{ OLD_gs_files, GS_TABLE_FILE, sizeof(gs_u64), sizeof(struct gpusched_file),
	  offsetof(struct gs_table_head, file) },
	{ OLD_gs_clients, GS_TABLE_CLIENT, sizeof(struct gpusched_key),
	  sizeof(struct gpusched_client), offsetof(struct gs_table_head, client) },
	{ OLD_gs_devices, GS_TABLE_DEVICE, sizeof(struct gpusched_key),
	  sizeof(struct gpusched_device), offsetof(struct gs_table_head, device) },
};

static int copy_place(const struct gs_old_table *old, struct gs_table *t, const struct place *p)
{
	CLEANUP_FREE char *keys = NULL, *values = NULL;
	struct gpusched_origin origin;
	uint32_t n = 0;
	int r = read_all(old->fd[p->map], p->key_size, &keys, p->value_size, &values, MAX_READ, &n);

	for (uint32_t i = 0; !r && i < n; i++) {
		const char *value = values + i * p->value_size;
		struct gs_table_head h = { .op = p->op };

		memcpy(&h.key, keys + i * p->key_size, p->key_size);
		memcpy((char *)&h + p->at, value, p->value_size);
		memcpy(&origin, value, sizeof(origin));
		r = put_place(t, &h, origin.owner);
	}
	return r;
}

static int copy_places(const struct gs_old_table *old, struct gs_table *t)
{
	int r = 0;

	for (size_t i = 0; !r && i < GS_COUNT(places); i++)
		r = copy_place(old, t, &places[i]);
	return r;
}

/* ---- records --------------------------------------------------------------------------------- */

static int by_key(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct gpusched_key)); /* the key is a record's first member */
}

/* True if the two records agree in TSG, process and all fields that taps write. */
static bool is_same(const struct gpusched_tsg *a, const struct gpusched_tsg *b)
{
	return a->task.id == b->task.id && a->flags == b->flags && a->nchannels == b->nchannels &&
	       a->h_subdevice == b->h_subdevice && a->task.pid == b->task.pid &&
	       gs_settings_same(&a->task.asked, &b->task.asked) &&
	       gs_settings_same(&a->task.is, &b->task.is);
}

static bool has_ended(const struct gpusched_tsg *rec)
{
	return rec->flags & (GPUSCHED_TSG_GONE | GPUSCHED_TSG_ENDING);
}

static void take_back(struct gs_table *t, const struct gpusched_tsg *rec)
{
	struct gpusched_tsg now;

	if (!gs_table_get(t, &rec->key, &now) && now.task.id == rec->task.id)
		gs_table_remove(t, &rec->key);
}

static void copy_maker(const struct gs_old_table *old, struct gs_table *t,
		       const struct gpusched_tsg *rec)
{
	int now = t->fd[GS_PIN_gs_makers];
	struct gpusched_maker maker;
	struct gpusched_tsg is;

	if (old->fd[OLD_gs_makers] < 0 ||
	    bpf_map_lookup_elem(old->fd[OLD_gs_makers], &rec->key, &maker))
		return;
	bpf_map_update_elem(now, &rec->key, &maker, BPF_NOEXIST);
	if (gs_table_get(t, &rec->key, &is)) /* the TSG has ended meanwhile */
		bpf_map_delete_elem(now, &rec->key);
}

static int copy_record(const struct gs_old_table *old, struct gs_table *t,
		       const struct gpusched_tsg *from)
{
	struct gpusched_channels ch = {};
	struct gpusched_tsg rec = *from;
	int r;

	if (has_ended(from))
		return 0;
	bpf_map_lookup_elem(old->fd[OLD_gs_chans], &rec.key, &ch);
	rec.flags &= ~(GPUSCHED_TSG_HELD | GPUSCHED_TSG_GATED);
	rec.flags |= GPUSCHED_TSG_ENABLE_DUE;
	rec.task.want.valid = 0;
	memset(rec.task.priv, 0, sizeof(rec.task.priv));
	r = gs_table_take(t, &rec, &ch);
	if (!r)
		copy_maker(old, t, &rec);
	gs_proc_forget_dead(t, (pid_t)rec.task.pid, rec.owner_start_ns);
	return r == -EEXIST ? 0 : r; /* -EEXIST: the new taps saw this TSG being made */
}

static struct gpusched_tsg *find(struct gpusched_tsg *all, size_t n, const struct gpusched_tsg *rec)
{
	return n ? bsearch(rec, all, n, sizeof(*all), by_key) : NULL;
}

/* Copies records. Returns how many were new or had changed since the last pass. */
static int copy_records(struct gs_old_table *old, struct gs_table *t)
{
	CLEANUP_FREE struct gpusched_key *keys = NULL;
	CLEANUP_FREE struct gpusched_tsg *recs = NULL;
	struct gpusched_tsg *last;
	uint32_t n = 0;
	int changed = 0;
	int r = read_all(old->fd[OLD_gs_tsgs], sizeof(*keys), &keys, sizeof(*recs), &recs, MAX_READ,
			 &n);

	if (r < 0)
		return r;
	qsort(recs, n, sizeof(*recs), by_key);
	for (size_t i = 0; i < old->ncopied; i++)
		if (!find(recs, n, &old->copied[i]))
			take_back(t, &old->copied[i]);
	for (uint32_t i = 0; !r && i < n; i++) {
		last = find(old->copied, old->ncopied, &recs[i]);
		if (last && is_same(last, &recs[i]))
			continue;
		if (last)
			take_back(t, last);
		r = copy_record(old, t, &recs[i]);
		changed++;
	}
	free(old->copied);
	old->copied = TAKE_PTR(recs);
	old->ncopied = n;
	return r < 0 ? r : changed;
}

int gs_upgrade_copy(struct gs_old_table *old, struct gs_table *t, struct gs_error *err)
{
	int procs = 1, records = 1, r = copy_classes(old, t);

	for (int pass = 0; !r && (procs || records) && pass < PASSES; pass++) {
		procs = copy_procs(old, t);
		r = procs < 0 ? procs : copy_places(old, t);
		records = r ? 0 : copy_records(old, t);
		r = records < 0 ? records : r;
	}
	if (!r)
		r = copy_stopped(old, t);
	if (r < 0)
		return broken(err, "copying its records", r);
	gs_log(LOG_INFO, "%zu TSGs of an older version's table taken over", old->ncopied);
	return 0;
}
