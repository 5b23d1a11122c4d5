// SPDX-License-Identifier: MIT
/*
 * sweep.c - ends the TSGs of open files that no process holds any more
 *
 * For every open file, the table stores one process that holds it. A short sweep reads only the
 * descriptors of these processes, however many TSGs they have. A full sweep checks all records. It
 * comes if a process has lost its file, if a tap asks, and once in FULL_EVERY sweeps.
 */
#include <bpf/bpf.h>
#include <string.h>

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "table/priv.h"
#include "rm/abi.h"
#include "rm/way.h"
#include "process/cgroup.h"
#include "process/process.h"
#include "table/procs.h"
#include "taps/holders.h"
#include "taps/taps.h"

#define MANY_HOLDERS 128 /* with more holders, one walk over all processes is cheaper */
#define FULL_EVERY 64    /* one sweep in this many reads all records */

/* Entries of gs_devices, gs_clients or gs_past. Each entry belongs to an open file. */
struct places {
	struct gpusched_key *keys;
	char *values; /* each value begins with the entry's struct gpusched_origin */
	size_t size;  /* of each value */
	uint32_t n;
};

struct gs_sweep {
	struct gs_table *t;
	struct gpusched_tsg *ended; /* records that this sweep has claimed, to report their end */
	size_t nended, at;
	uint64_t *file_keys; /* keys of gs_files: addresses of open files */
	struct gpusched_file *files;
	uint32_t nfiles;
	struct places devices, clients, past;
	struct gpusched_tsg *recs;
	size_t nrecs;
	struct gs_holder *holders;
	size_t nholders;
};

void gs_sweep_free(struct gs_sweep *s)
{
	if (!s)
		return;
	free(s->ended);
	free(s->file_keys);
	free(s->files);
	free(s->devices.keys);
	free(s->devices.values);
	free(s->clients.keys);
	free(s->clients.values);
	free(s->past.keys);
	free(s->past.values);
	free(s->recs);
	free(s->holders);
	free(s);
}

/* The descriptor of @file in process @pid; @pid 0: in any process. */
static const struct gs_holder *find(const struct gs_sweep *s, uint64_t file, pid_t pid)
{
	return gs_holder_find(s->holders, s->nholders, file, pid);
}

/* The process that has existed longest among those that hold @file; NULL: none. */
static const struct gs_holder *oldest(const struct gs_sweep *s, uint64_t file)
{
	const struct gs_holder *first = find(s, file, 0), *end = s->holders + s->nholders;

	for (const struct gs_holder *h = first; h && h < end && h->file == file; h++)
		if (h->start_ns < first->start_ns)
			first = h;
	return first;
}

static int read_map(const struct gs_sweep *s, enum gs_pin map, size_t key_size, void *ret_keys,
		    size_t value_size, void *ret_values, uint32_t *ret_n)
{
	/* malloc, not calloc: pages beyond the entries stay untouched */
	void *keys = malloc(GS_MAX_PLACES * key_size), *values = malloc(GS_MAX_PLACES * value_size);
	uint32_t at = 0, n = GS_MAX_PLACES;
	int r;

	*(void **)ret_keys = keys;
	*(void **)ret_values = values;
	if (!keys || !values)
		return -ENOMEM;
	r = bpf_map_lookup_batch(s->t->fd[map], NULL, &at, keys, values, &n, NULL);
	if (r && r != -ENOENT)
		return r;
	*ret_n = n;
	return 0;
}

static int read_files(struct gs_sweep *s)
{
	return read_map(s, GS_PIN_gs_files, sizeof(*s->file_keys), &s->file_keys, sizeof(*s->files),
			&s->files, &s->nfiles);
}

static int read_places(struct gs_sweep *s, enum gs_pin map, size_t size, struct places *p)
{
	p->size = size;
	return read_map(s, map, sizeof(*p->keys), &p->keys, size, &p->values, &p->n);
}

static bool was_read(const struct gs_sweep *s, size_t until, uint32_t holder)
{
	for (size_t i = 0; i < until; i++)
		if (s->files[i].holder == holder)
			return true;
	return false;
}

/*
 * True if the file is still open though no process holds it, for example in a message or an
 * io_uring. BPF reads the kernel's reference count.
 */
static bool lives(const struct gs_sweep *s, uint64_t file)
{
	struct gs_table_arg arg = { .head = { .op = GS_TABLE_FILE_LIVES, .key.file = file } };

	return gs_table_change(s->t, &arg) > 0;
}

static bool is_closed(const struct gs_sweep *s, uint64_t file)
{
	return !find(s, file, 0) && !lives(s, file);
}

/*
 * True if RM still knows the TSG at that file. The file's address may belong to a newer file by
 * now.
 */
static bool still_there(const struct gs_sweep *s, const struct gpusched_tsg *rec,
			const struct gs_holder *h)
{
	uint32_t status = GS_NV_INVALID_CLIENT;
	uint64_t us = 0;
	CLEANUP_FD int fd = -1;

	if (gs_rm_borrow(h->pid, h->uid, h->start_ns, h->fd, &fd, NULL) < 0)
		/* no process can be asked: rely on the reference count */
		return lives(s, rec->key.file);
	return !gs_rm_call_control(fd, rec->key.client, rec->key.handle, NV_CMD_GET_TIMESLICE, &us,
				   sizeof(us), &status) &&
	       status == GS_NV_OK;
}

static void move(struct gs_table *t, struct gpusched_tsg *rec, const struct gs_holder *h)
{
	struct gpusched_poke poke = {
		.key = rec->key,
		.id = rec->task.id,
		.what = GPUSCHED_POKE_OWNER | GPUSCHED_POKE_WHO | GPUSCHED_POKE_FLAGS,
		.flags_mask = GPUSCHED_TSG_IN_FLIGHT,
	};

	rec->task.pid = h->pid;
	rec->task.uid = h->uid;
	rec->task.cgroup_id = gs_cgroup_of(h->pid);
	rec->owner_fd = h->fd;
	rec->owner_start_ns = h->start_ns;
	memcpy(rec->task.comm, h->comm, sizeof(rec->task.comm));
	rec->flags &= ~GPUSCHED_TSG_IN_FLIGHT;
	poke.rec = *rec;
	gs_table_poke(t, &poke);
	gs_proc_forget_dead(t, h->pid, h->start_ns);
}

static void set_in_flight(struct gs_table *t, struct gpusched_tsg *rec, bool is)
{
	struct gpusched_poke poke = {
		.key = rec->key,
		.id = rec->task.id,
		.what = GPUSCHED_POKE_FLAGS,
		.flags_mask = GPUSCHED_TSG_IN_FLIGHT,
	};

	if (is == !!(rec->flags & GPUSCHED_TSG_IN_FLIGHT))
		return;
	rec->flags ^= GPUSCHED_TSG_IN_FLIGHT;
	poke.rec = *rec;
	gs_table_poke(t, &poke);
}

/*
 * Claims the record, so that only this sweep reports its end. Fails if a tap is ending the record.
 * Stores the record's flags from before the claim in @inout_rec.
 */
static int claim(struct gs_table *t, struct gpusched_tsg *inout_rec)
{
	struct gs_table_arg arg = {
		.head = { .op = GS_TABLE_CLAIM, .key = inout_rec->key, .id = inout_rec->task.id },
	};
	int r = gs_table_change(t, &arg);

	if (!r)
		inout_rec->flags = (uint32_t)arg.head.id;
	return r;
}

static void judge_one(struct gs_sweep *s, struct gpusched_tsg *rec)
{
	const struct gs_holder *h = NULL;
	struct gpusched_tsg now;

	if (!(rec->flags & GPUSCHED_TSG_GONE)) {
		h = find(s, rec->key.file, (pid_t)rec->task.pid);
		if (h && h->start_ns == rec->owner_start_ns) {
			set_in_flight(s->t, rec, false);
			return;
		}
		h = oldest(s, rec->key.file);
		if (!h && lives(s, rec->key.file)) {
			set_in_flight(s->t, rec, true);
			return;
		}
	}
	/* the TSG may have ended since the record was read, and a new one may have its handle */
	if (gs_table_get(s->t, &rec->key, &now) || now.task.id != rec->task.id)
		return;
	if (h && still_there(s, rec, h)) {
		move(s->t, rec, h);
		return;
	}
	if (claim(s->t, &now))
		return;
	s->ended[s->nended++] = now;
	rec->task.pid = 0;
}

static void change(struct gs_sweep *s, struct gs_table_head head)
{
	struct gs_table_arg arg = { .head = head };

	gs_table_change(s->t, &arg); /* -ESTALE: the entry belongs to a newer object by now */
}

static void forget_places(struct gs_sweep *s, const struct places *p, enum gs_table_op op)
{
	struct gpusched_origin origin;

	for (uint32_t i = 0; i < p->n; i++) {
		if (!is_closed(s, p->keys[i].file))
			continue;
		memcpy(&origin, p->values + i * p->size, sizeof(origin));
		change(s,
		       (struct gs_table_head){ .op = op, .key = p->keys[i], .made = origin.made });
	}
}

static void set_holder(struct gs_sweep *s, uint32_t i, uint32_t holder, uint32_t sweep)
{
	change(s, (struct gs_table_head){ .op = GS_TABLE_HOLDER,
					  .key.file = s->file_keys[i],
					  .made = s->files[i].origin.made,
					  .file = { .holder = holder, .sweep = sweep } });
}

static int by_file(const void *x, const void *y)
{
	const struct gpusched_tsg *a = x, *b = y;

	return a->key.file < b->key.file ? -1 : a->key.file > b->key.file;
}

/*
 * The process that owns all records of one file; 0: no record. -1: the owners differ or a record is
 * in flight, so each record must be checked.
 */
static int64_t owner_of(const struct gs_sweep *s, uint64_t file)
{
	size_t from = 0, to = s->nrecs;
	int64_t owner = 0;

	while (from < to) {
		size_t at = from + (to - from) / 2;

		if (s->recs[at].key.file < file)
			from = at + 1;
		else
			to = at;
	}
	for (size_t i = from; i < s->nrecs && s->recs[i].key.file == file; i++) {
		uint32_t pid = s->recs[i].task.pid;

		if (!pid)
			continue;
		if ((owner && pid != owner) || (s->recs[i].flags & GPUSCHED_TSG_IN_FLIGHT))
			return -1;
		owner = pid;
	}
	return owner;
}

static void note_holder(struct gs_sweep *s, uint32_t i)
{
	uint32_t holder = s->files[i].holder;
	int64_t owner = owner_of(s, s->file_keys[i]);

	if (owner < 0)
		set_holder(s, i, holder, GS_SWEEP_WANTED);
	else if (owner && owner != holder)
		set_holder(s, i, (uint32_t)owner, GS_SWEEP_KEEP);
}

/* ---- looking --------------------------------------------------------------------------------- */

/*
 * Removes the entries of closed files. The holders were read later than these entries, so each open
 * file with an entry is among them.
 */
static void forget_files(struct gs_sweep *s)
{
	for (uint32_t i = 0; i < s->nfiles; i++)
		if (is_closed(s, s->file_keys[i]))
			change(s, (struct gs_table_head){ .op = GS_TABLE_FORGET_FILE,
							  .key.file = s->file_keys[i],
							  .made = s->files[i].origin.made });
}

static int read_table(struct gs_sweep *s)
{
	int r = read_places(s, GS_PIN_gs_devices, sizeof(struct gpusched_device), &s->devices);

	/* clears the requests that this sweep serves; a request that comes later stays */
	for (uint32_t i = 0; i < s->nfiles; i++)
		if (s->files[i].sweep)
			set_holder(s, i, s->files[i].holder, GS_SWEEP_DONE);
	if (!r)
		r = read_places(s, GS_PIN_gs_clients, sizeof(struct gpusched_client), &s->clients);
	if (!r)
		r = read_places(s, GS_PIN_gs_past, sizeof(struct gpusched_origin), &s->past);
	if (!r)
		r = gs_table_all(s->t, &s->recs, &s->nrecs);
	s->ended = malloc((s->nrecs + 1) * sizeof(*s->ended));
	return !r && !s->ended ? -ENOMEM : r;
}

static int look_at_all(struct gs_sweep *s, struct gs_error *err)
{
	int r = read_table(s);

	if (r < 0)
		return gs_fail(err, r, "cannot read the table: %s", strerror(-r));
	free(s->holders);
	r = gs_holders_read(s->t, &s->holders, &s->nholders, err);
	if (r < 0)
		return r;
	for (size_t i = 0; i < s->nrecs; i++)
		judge_one(s, &s->recs[i]);
	forget_places(s, &s->devices, GS_TABLE_FORGET_DEVICE);
	forget_places(s, &s->clients, GS_TABLE_FORGET_CLIENT);
	forget_places(s, &s->past, GS_TABLE_FORGET_PAST);
	forget_files(s);
	if (s->nrecs)
		qsort(s->recs, s->nrecs, sizeof(*s->recs), by_file);
	/* tells the next sweep which process to check for each file, or to check all records */
	for (uint32_t i = 0; i < s->nfiles; i++)
		note_holder(s, i);
	return 0;
}

static bool has_many_holders(const struct gs_sweep *s)
{
	unsigned int processes = 0;

	for (uint32_t i = 0; i < s->nfiles && processes <= MANY_HOLDERS; i++)
		processes += !was_read(s, i, s->files[i].holder);
	return processes > MANY_HOLDERS;
}

/* Reads the descriptors of the stored holders. */
static int read_holders(struct gs_sweep *s, struct gs_error *err)
{
	int r = 0;

	if (has_many_holders(s))
		return gs_holders_read(s->t, &s->holders, &s->nholders, err);
	for (uint32_t i = 0; i < s->nfiles && !r; i++) {
		if (was_read(s, i, s->files[i].holder))
			continue;
		r = gs_holders_add(s->t, (pid_t)s->files[i].holder, &s->holders, &s->nholders, err);
	}
	gs_holders_sort(s->holders, s->nholders);
	return r;
}

/* Checks only descriptors. 0: every stored holder still has its file; 1: a full sweep is needed. */
static int look_at_holders(struct gs_sweep *s, struct gs_error *err)
{
	int r = read_holders(s, err);

	for (uint32_t i = 0; i < s->nfiles && !r; i++)
		r = !find(s, s->file_keys[i], (pid_t)s->files[i].holder);
	return r;
}

int gs_sweep_look(struct gs_sweep *s, struct gs_error *err)
{
	bool full = ++s->t->sweeps % FULL_EVERY == 0;
	int r = read_files(s);

	if (r < 0)
		return gs_fail(err, r, "cannot read the table: %s", strerror(-r));
	for (uint32_t i = 0; i < s->nfiles && !full; i++)
		full = s->files[i].sweep;
	r = full ? 1 : look_at_holders(s, err);
	return r == 1 ? look_at_all(s, err) : r;
}

/* ---- beginning and end ----------------------------------------------------------------------- */

int gs_sweep_new(struct gs_table *t, struct gs_sweep **ret)
{
	struct gs_sweep *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->t = t;
	*ret = s;
	return 0;
}

/* Removes a record unless a tap has made a new one under the same handle. */
static void remove_one(struct gs_table *t, const struct gpusched_tsg *rec)
{
	struct gpusched_tsg now;

	if (!gs_table_get(t, &rec->key, &now) && now.task.id == rec->task.id)
		gs_table_remove(t, &rec->key);
}

int gs_sweep_one(struct gs_table *t, const struct gpusched_tsg *rec,
		 void (*fn)(const struct gpusched_tsg *rec, void *user), void *user)
{
	struct gpusched_tsg claimed = *rec;
	int r = claim(t, &claimed);

	if (r)
		return r;
	if (fn)
		fn(&claimed, user);
	remove_one(t, &claimed);
	return 0;
}

bool gs_sweep_end(struct gs_sweep *s, uint64_t until_ns,
		  void (*fn)(const struct gpusched_tsg *rec, void *user), void *user)
{
	for (; s->at < s->nended && gs_now_ns() < until_ns; s->at++) {
		if (fn)
			fn(&s->ended[s->at], user);
		remove_one(s->t, &s->ended[s->at]);
	}
	return s->at == s->nended;
}

int gs_sweep(struct gs_table *t, void (*fn)(const struct gpusched_tsg *rec, void *user), void *user,
	     struct gs_error *err)
{
	struct gs_sweep *s;
	int r = gs_sweep_new(t, &s);

	if (r)
		return r;
	r = gs_sweep_look(s, err);
	gs_sweep_end(s, UINT64_MAX, fn, user);
	if (!r)
		r = (int)s->nended;
	gs_sweep_free(s);
	return r;
}
