// SPDX-License-Identifier: MIT
/*
 * sweep.c - the end of TSGs whose open file nobody holds any more
 *
 * The table keeps an entry for every open file with its holder, so usually a look at the holders'
 * descriptors is enough, however many TSGs they have. All records are read only when a file is not
 * found there, when a tap asks for it, and now and then.
 */
#include <bpf/bpf.h>
#include <string.h>

#include "basic/cleanup.h"
#include "table/priv.h"
#include "rm/abi.h"
#include "rm/way.h"
#include "process/cgroup.h"
#include "process/process.h"
#include "table/procs.h"
#include "taps/holders.h"
#include "taps/taps.h"

#define MANY_HOLDERS 32 /* more: one walk over all processes is cheaper */
#define FULL_EVERY 64   /* sweeps */

/* What hangs below files, of gs_devices or gs_clients. */
struct places {
	struct gpusched_key *keys;
	struct gpusched_device *values; /* or clients: their origin is what counts */
	uint32_t n;
};

struct sweep {
	struct gs_table *t;
	uint64_t *file_keys; /* what gs_files has */
	struct gpusched_file *files;
	uint32_t nfiles;
	struct places devices, clients;
	struct gpusched_tsg *recs;
	size_t nrecs;
	struct gs_holder *holders;
	size_t nholders;
};

static void sweep_free(struct sweep *s)
{
	free(s->file_keys);
	free(s->files);
	free(s->devices.keys);
	free(s->devices.values);
	free(s->clients.keys);
	free(s->clients.values);
	free(s->recs);
	free(s->holders);
}

/* @pid 0: anybody. */
static const struct gs_holder *find(const struct sweep *s, uint64_t file, pid_t pid)
{
	return gs_holder_find(s->holders, s->nholders, file, pid);
}

static int read_map(const struct sweep *s, enum gs_pin map, size_t key_size, void *ret_keys,
		    size_t value_size, void *ret_values, uint32_t *ret_n)
{
	/* not calloc: what is not filled is not touched either */
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

static int read_files(struct sweep *s)
{
	return read_map(s, GS_PIN_gs_files, sizeof(*s->file_keys), &s->file_keys, sizeof(*s->files),
			&s->files, &s->nfiles);
}

static int read_places(struct sweep *s, enum gs_pin map, struct places *p)
{
	return read_map(s, map, sizeof(*p->keys), &p->keys, sizeof(*p->values), &p->values, &p->n);
}

static int append(struct sweep *s, struct gs_holder *more, size_t n)
{
	struct gs_holder *all;

	if (!n)
		return 0;
	all = reallocarray(s->holders, s->nholders + n, sizeof(*all));
	if (!all)
		return -ENOMEM;
	memcpy(all + s->nholders, more, n * sizeof(*more));
	s->holders = all;
	s->nholders += n;
	return 0;
}

static bool was_read(const struct sweep *s, uint32_t until, uint32_t holder)
{
	for (uint32_t i = 0; i < until; i++)
		if (s->files[i].holder == holder)
			return true;
	return false;
}

static int read_all(struct sweep *s, struct gs_error *err)
{
	free(s->holders);
	s->holders = NULL;
	s->nholders = 0;
	return gs_holders_read(s->t, &s->holders, &s->nholders, err);
}

static int read_one(struct sweep *s, uint32_t pid, struct gs_error *err)
{
	CLEANUP_FREE struct gs_holder *more = NULL;
	size_t n = 0;
	int r = gs_holders_of(s->t, (pid_t)pid, &more, &n, err);

	if (!r)
		r = append(s, more, n);
	return r < 0 ? gs_fail(err, r, "cannot read the open files of process %u: %s", pid,
			       strerror(-r))
		     : 0;
}

/* 0, or 1: some tap asks for more. */
static int read_known(struct sweep *s, struct gs_error *err)
{
	unsigned int processes = 0;
	int r;

	for (uint32_t i = 0; i < s->nfiles; i++)
		if (s->files[i].sweep)
			return 1;
	for (uint32_t i = 0; i < s->nfiles; i++) {
		uint32_t holder = s->files[i].holder;

		if (was_read(s, i, holder))
			continue;
		if (++processes > MANY_HOLDERS)
			return read_all(s, err);
		r = read_one(s, holder, err);
		if (r < 0)
			return r;
	}
	return 0;
}

/* Looks at descriptors alone. 1: every file is where it was, and nobody asked for more. */
static int look_at_files(struct sweep *s, struct gs_error *err)
{
	int r = read_known(s, err);

	if (r)
		return r < 0 ? r : 0;
	gs_holders_sort(s->holders, s->nholders);
	for (uint32_t i = 0; i < s->nfiles; i++)
		if (!find(s, s->file_keys[i], (pid_t)s->files[i].holder))
			return 0;
	return 1;
}

/* The address may be another file's by now: RM itself says whether the TSG can be reached there. */
static bool still_there(const struct gpusched_tsg *rec, const struct gs_holder *h)
{
	uint32_t status = GS_NV_INVALID_CLIENT;
	uint64_t us = 0;
	CLEANUP_FD int fd = -1;

	if (gs_rm_borrow(h->pid, h->uid, h->start_ns, h->fd, &fd, NULL) < 0)
		return false;
	return !gs_rm_control(fd, rec->key.client, rec->key.handle, NV_CMD_GET_TIMESLICE, &us,
			      sizeof(us), &status) &&
	       status == GS_NV_OK;
}

static void move(struct gs_table *t, struct gpusched_tsg *rec, const struct gs_holder *h)
{
	struct gpusched_poke poke = {
		.key = rec->key,
		.id = rec->task.id,
		.what = GPUSCHED_POKE_OWNER | GPUSCHED_POKE_WHO,
	};

	rec->task.pid = h->pid;
	rec->task.uid = h->uid;
	rec->task.cgroup_id = gs_cgroup_of(h->pid);
	rec->owner_fd = h->fd;
	rec->owner_start_ns = h->start_ns;
	memcpy(rec->task.comm, h->comm, sizeof(rec->task.comm));
	poke.rec = *rec;
	gs_table_poke(t, &poke);
	gs_proc_forget_dead(t, h->pid, h->start_ns);
}

/* Its end is ours to tell, unless a tap is at it; with the flags that it had before. */
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

/* Number of records ended. */
static int judge(struct sweep *s, void (*fn)(const struct gpusched_tsg *rec, void *user),
		 void *user)
{
	int ended = 0;

	for (size_t i = 0; i < s->nrecs; i++) {
		struct gpusched_tsg *rec = &s->recs[i];
		const struct gs_holder *h = NULL;
		struct gpusched_tsg now;

		if (!(rec->flags & GPUSCHED_TSG_GONE)) {
			if (find(s, rec->key.file, rec->task.pid))
				continue;
			h = find(s, rec->key.file, 0);
		}
		/* it may have ended, and its handle be used again, since we read it */
		if (gs_table_get(s->t, &rec->key, &now) || now.task.id != rec->task.id)
			continue;
		if (h && still_there(rec, h)) {
			move(s->t, rec, h);
			continue;
		}
		if (claim(s->t, &now))
			continue;
		if (fn)
			fn(&now, user);
		gs_table_remove(s->t, &rec->key);
		rec->task.pid = 0;
		ended++;
	}
	return ended;
}

static void change(struct sweep *s, struct gs_table_head head)
{
	struct gs_table_arg arg = { .head = head };

	gs_table_change(s->t, &arg); /* -ESTALE: it is another one by now */
}

static void forget_places(struct sweep *s, const struct places *p, enum gs_table_op op)
{
	for (uint32_t i = 0; i < p->n; i++)
		if (!find(s, p->keys[i].file, 0))
			change(s, (struct gs_table_head){ .op = op,
							  .key = p->keys[i],
							  .made = p->values[i].origin.made });
}

/* Entries of files that are closed; they were read before the holders. */
static void forget_closed(struct sweep *s)
{
	forget_places(s, &s->devices, GS_TABLE_FORGET_DEVICE);
	forget_places(s, &s->clients, GS_TABLE_FORGET_CLIENT);
	for (uint32_t i = 0; i < s->nfiles; i++)
		if (!find(s, s->file_keys[i], 0))
			change(s, (struct gs_table_head){ .op = GS_TABLE_FORGET_FILE,
							  .key.file = s->file_keys[i],
							  .made = s->files[i].origin.made });
}

static void set_holder(struct sweep *s, uint32_t i, uint32_t holder, uint32_t sweep)
{
	change(s, (struct gs_table_head){ .op = GS_TABLE_HOLDER,
					  .key.file = s->file_keys[i],
					  .made = s->files[i].origin.made,
					  .file = { .holder = holder, .sweep = sweep } });
}

/* What waited is being dealt with now; who comes later asks again. */
static void clear_requests(struct sweep *s)
{
	for (uint32_t i = 0; i < s->nfiles; i++)
		if (s->files[i].sweep)
			set_holder(s, i, s->files[i].holder, GS_SWEEP_DONE);
}

/* Who has the records of one file: 0 nobody, -1 several, which only a look at each can tell. */
static int64_t owner_of(const struct sweep *s, uint64_t file)
{
	int64_t owner = 0;

	for (size_t i = 0; i < s->nrecs; i++) {
		uint32_t pid = s->recs[i].task.pid;

		if (s->recs[i].key.file != file || !pid || pid == owner)
			continue;
		if (owner)
			return -1;
		owner = pid;
	}
	return owner;
}

/* So that the next sweep looks at the right processes, or at all. */
static void note_holders(struct sweep *s)
{
	for (uint32_t i = 0; i < s->nfiles; i++) {
		uint32_t holder = s->files[i].holder;
		int64_t owner = owner_of(s, s->file_keys[i]);

		if (owner < 0)
			set_holder(s, i, holder, GS_SWEEP_WANTED);
		else if (owner && owner != holder)
			set_holder(s, i, (uint32_t)owner, GS_SWEEP_KEEP);
	}
}

int gs_sweep(struct gs_table *t, void (*fn)(const struct gpusched_tsg *rec, void *user), void *user,
	     struct gs_error *err)
{
	CLEANUP(sweep_free) struct sweep s = { .t = t };
	bool full = ++t->sweeps % FULL_EVERY == 0;
	int r;

	r = read_files(&s);
	if (r < 0)
		return gs_fail(err, r, "cannot read the table: %s", strerror(-r));
	if (!full) {
		r = look_at_files(&s, err);
		if (r)
			return r < 0 ? r : 0;
	}
	clear_requests(&s);
	r = read_places(&s, GS_PIN_gs_devices, &s.devices);
	if (!r)
		r = read_places(&s, GS_PIN_gs_clients, &s.clients);
	if (!r)
		r = gs_table_all(t, &s.recs, &s.nrecs);
	if (r < 0)
		return gs_fail(err, r, "cannot read the table: %s", strerror(-r));
	r = read_all(&s, err);
	if (r < 0)
		return r;
	r = judge(&s, fn, user);
	forget_closed(&s);
	note_holders(&s);
	return r;
}
