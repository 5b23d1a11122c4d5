// SPDX-License-Identifier: MIT
/* table.c - opens the table, reads records, and changes them in place */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#include "basic/cleanup.h"
#include "basic/env.h"
#include "table/cfg.h"
#include "table/priv.h"

#define BATCH 256

static const char *const pin_names[GS_PIN_OPENED] = {
#define X(name) [GS_PIN_##name] = #name,
	GS_PIN_MAPS(X) GS_PIN_PROGS(X)
#undef X
};

int gs_table_cfg(struct gs_table *t, struct gpusched_cfg *ret)
{
	uint32_t zero = 0;

	return bpf_map_lookup_elem(t->fd[GS_PIN_gs_cfg], &zero, ret) ? -errno : 0;
}

int gs_table_run_prog(int prog_fd, void *arg, size_t size)
{
	/* no ctx_out: the kernel writes a syscall program's context back to ctx_in */
	LIBBPF_OPTS(bpf_test_run_opts, opts, .ctx_in = arg, .ctx_size_in = size);
	int r = bpf_prog_test_run_opts(prog_fd, &opts);

	return r < 0 ? r : 0;
}

/* ---- open ------------------------------------------------------------------------------------ */

static int open_pin(const char *dir, const char *name, struct gs_error *err)
{
	char path[PATH_MAX];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = bpf_obj_get(path);
	if (fd >= 0)
		return fd;
	if (errno == ENOENT || errno == ENOTDIR)
		return gs_fail(err, -ENOENT, "observing is off: run 'gpusched observe on'");
	if (errno == EPERM || errno == EACCES)
		return gs_fail(err, -EPERM, "the TSG table is root's: %s", path);
	return gs_fail(err, -errno, "cannot open %s: %s", path, strerror(errno));
}

static int check_records(const struct gs_table *t, struct gs_error *err)
{
	struct bpf_map_info info = {};
	uint32_t len = sizeof(info);

	if (bpf_obj_get_info_by_fd(t->fd[GS_PIN_gs_tsgs], &info, &len))
		return gs_fail(err, -errno, "cannot ask for gs_tsgs: %s", strerror(errno));
	if (info.value_size != sizeof(struct gpusched_tsg))
		return gs_fail(err, -EPROTO, "%s/gs_tsgs has values of %u bytes, not %zu",
			       gs_env()->bpffs, info.value_size, sizeof(struct gpusched_tsg));
	return 0;
}

int gs_table_version(unsigned int *ret, struct gs_error *err)
{
	struct bpf_map_info info = {};
	uint32_t len = sizeof(info), zero = 0, *value;
	CLEANUP_FREE void *cfg = NULL;
	CLEANUP_FD int fd = open_pin(gs_env()->bpffs, "gs_cfg", err);

	if (fd < 0)
		return fd;
	if (bpf_obj_get_info_by_fd(fd, &info, &len))
		return gs_fail(err, -errno, "cannot ask for gs_cfg: %s", strerror(errno));
	cfg = calloc(1, info.value_size + sizeof(*value));
	if (!cfg)
		return -ENOMEM;
	if (bpf_map_lookup_elem(fd, &zero, cfg))
		return gs_fail(err, -errno, "cannot read gs_cfg: %s", strerror(errno));
	value = cfg;
	*ret = *value;
	if (*value > GPUSCHED_TABLE_VERSION)
		return gs_fail(err, -EPROTO,
			       "the table under %s is a newer gpusched's (version %u, this one "
			       "knows %u): use that one, or its 'gpusched observe off'",
			       gs_env()->bpffs, *value, GPUSCHED_TABLE_VERSION);
	return 0;
}

static int check_version(struct gs_error *err)
{
	unsigned int version;
	int r = gs_table_version(&version, err);

	if (r < 0)
		return r;
	if (version != GPUSCHED_TABLE_VERSION)
		return gs_fail(err, -ESTALE,
			       "the table under %s is an older gpusched's (version %u): 'gpusched "
			       "observe on' or the start of gpuschedd takes it over",
			       gs_env()->bpffs, version);
	return 0;
}

static int check_namespace(struct gs_table *t, struct gs_error *err)
{
	struct gpusched_cfg cfg = {};
	struct stat st;
	int r = gs_table_cfg(t, &cfg);

	if (r < 0)
		return gs_fail(err, r, "cannot read the table's configuration: %s", strerror(-r));
	if (cfg.pidns_ino && !stat("/proc/self/ns/pid", &st) && st.st_ino != cfg.pidns_ino)
		return gs_fail(err, -EPERM,
			       "the table under %s is of another pid namespace: run gpusched there",
			       gs_env()->bpffs);
	return 0;
}

static void table_close(struct gs_table **t)
{
	gs_table_close(*t);
}

static int table_new(struct gs_table **ret)
{
	struct gs_table *t = calloc(1, sizeof(*t));

	if (!t)
		return -ENOMEM;
	for (unsigned int i = 0; i < GS_PIN_OPENED; i++)
		t->fd[i] = -1;
	t->facts_fd = t->runlists_fd = t->gpus_fd = t->jobs_fd = -1;
	t->cpus = libbpf_num_possible_cpus();
	*ret = t;
	return 0;
}

int gs_table_open_at(const char *dir, struct gs_table **ret, struct gs_error *err)
{
	CLEANUP(table_close) struct gs_table *t = NULL;
	int r = table_new(&t);

	if (r < 0)
		return r;
	for (unsigned int i = 0; i < GS_PIN_OPENED; i++) {
		t->fd[i] = open_pin(dir, pin_names[i], err);
		if (t->fd[i] < 0)
			return t->fd[i];
	}
	r = check_records(t, err);
	if (!r)
		r = check_namespace(t, err);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(t);
	return 0;
}

int gs_table_open(struct gs_table **ret, struct gs_error *err)
{
	int r = check_version(err);

	return r < 0 ? r : gs_table_open_at(gs_env()->bpffs, ret, err);
}

int gs_table_open_remains(struct gs_table **ret, struct gs_error *err)
{
	CLEANUP(table_close) struct gs_table *t = NULL;
	struct gs_error why = {};
	unsigned int version;
	int r = gs_table_version(&version, &why);

	if (r == -EPROTO || r == -EPERM)
		return gs_fail(err, r, "%s", why.text);
	r = table_new(&t);
	if (r < 0)
		return r;
	for (unsigned int i = 0; i < GS_PIN_OPENED; i++)
		t->fd[i] = open_pin(gs_env()->bpffs, pin_names[i], NULL);
	if (t->fd[GS_PIN_gs_tsgs] < 0)
		return gs_fail(err, -ENODATA,
			       "%s has no records any more: what was changed can't be put back, "
			       "end the processes",
			       gs_env()->bpffs);
	r = check_records(t, err);
	if (!r && t->fd[GS_PIN_gs_cfg] >= 0)
		r = check_namespace(t, err);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(t);
	return 0;
}

void gs_table_close(struct gs_table *t)
{
	if (!t)
		return;
	ring_buffer__free(t->ring);
	for (unsigned int i = 0; i < GS_PIN_OPENED; i++)
		if (t->fd[i] >= 0)
			close(t->fd[i]);
	if (t->facts_fd >= 0)
		close(t->facts_fd);
	if (t->runlists_fd >= 0)
		close(t->runlists_fd);
	if (t->gpus_fd >= 0)
		close(t->gpus_fd);
	if (t->jobs_fd >= 0)
		close(t->jobs_fd);
	free(t);
}

int gs_table_map_fd(const struct gs_table *t, const char *name)
{
	for (unsigned int i = 0; i < GS_PIN_OPENED; i++)
		if (!strcmp(pin_names[i], name))
			return t->fd[i];
	if (!strcmp(name, "gs_facts"))
		return t->facts_fd;
	if (!strcmp(name, "gs_jobs"))
		return t->jobs_fd;
	if (!strcmp(name, "gs_costs"))
		return t->gpus_fd;
	return strcmp(name, "gs_runlists") ? -ENOENT : t->runlists_fd;
}

/* ---- reading --------------------------------------------------------------------------------- */

int gs_table_get(struct gs_table *t, const struct gpusched_key *key, struct gpusched_tsg *ret)
{
	return bpf_map_lookup_elem(t->fd[GS_PIN_gs_tsgs], key, ret) ? -errno : 0;
}

bool gs_table_is_empty(struct gs_table *t)
{
	struct gpusched_key key;

	static const enum gs_pin maps[] = { GS_PIN_gs_tsgs, GS_PIN_gs_files, GS_PIN_gs_clients,
					    GS_PIN_gs_devices, GS_PIN_gs_past };

	for (size_t i = 0; i < GS_COUNT(maps); i++)
		if (!bpf_map_get_next_key(t->fd[maps[i]], NULL, &key))
			return false;
	return true;
}

struct growing {
	struct gpusched_key *keys;
	struct gpusched_tsg *recs;
	size_t size;
};

static void growing_free(struct growing *g)
{
	free(g->keys);
	free(g->recs);
}

static int grow(struct growing *g, size_t need)
{
	struct gpusched_key *keys;
	struct gpusched_tsg *recs;
	size_t size = g->size;

	while (size < need)
		size = size ? 2 * size : BATCH;
	if (size == g->size)
		return 0;
	keys = reallocarray(g->keys, size, sizeof(*keys));
	if (!keys)
		return -ENOMEM;
	g->keys = keys;
	recs = reallocarray(g->recs, size, sizeof(*recs));
	if (!recs)
		return -ENOMEM;
	g->recs = recs;
	g->size = size;
	return 0;
}

/* Reads whole buckets per call, so that records that come and go cannot make the walk endless. */
int gs_table_all(struct gs_table *t, struct gpusched_tsg **ret, size_t *ret_n)
{
	CLEANUP(growing_free) struct growing g = {};
	uint32_t at = 0, n, want = BATCH;
	bool first = true;
	size_t have = 0;
	int r;

	for (;;) {
		r = grow(&g, have + want);
		if (r < 0)
			return r;
		n = want;
		r = bpf_map_lookup_batch(t->fd[GS_PIN_gs_tsgs], first ? NULL : &at, &at,
					 g.keys + have, g.recs + have, &n, NULL);
		if (r == -ENOSPC) { /* one bucket holds more than the buffer */
			want *= 2;
			continue;
		}
		if (r && r != -ENOENT)
			return r;
		have += n;
		first = false;
		if (r)
			break;
	}
	*ret = TAKE_PTR(g.recs);
	*ret_n = have;
	return 0;
}

struct gpusched_maker gs_table_maker(struct gs_table *t, const struct gpusched_tsg *rec)
{
	struct gpusched_maker maker = { 0 };

	if (bpf_map_lookup_elem(t->fd[GS_PIN_gs_makers], &rec->key, &maker) ||
	    maker.id != rec->task.id)
		return (struct gpusched_maker){ 0 };
	return maker;
}

uint32_t gs_table_client_owner(struct gs_table *t, const struct gpusched_key *key)
{
	const struct gpusched_key k = { .file = key->file, .client = key->client };
	struct gpusched_client client;

	return bpf_map_lookup_elem(t->fd[GS_PIN_gs_clients], &k, &client) ? 0 : client.origin.owner;
}

int gs_table_channels(struct gs_table *t, const struct gpusched_key *key,
		      struct gpusched_channels *ret)
{
	if (!bpf_map_lookup_elem(t->fd[GS_PIN_gs_chans], key, ret)) {
		if (ret->n > GPUSCHED_MAX_CHANNELS)
			ret->n = GPUSCHED_MAX_CHANNELS;
		return 0;
	}
	if (errno != ENOENT)
		return -errno;
	memset(ret, 0, sizeof(*ret)); /* a TSG without channels has no entry */
	return 0;
}

/* ---- changing -------------------------------------------------------------------------------- */

int gs_table_poke(struct gs_table *t, struct gpusched_poke *poke)
{
	int r = gs_table_run_prog(t->fd[GS_PIN_poke], poke, sizeof(*poke));

	return r < 0 ? r : poke->ret;
}

int gs_table_change(struct gs_table *t, struct gs_table_arg *arg)
{
	int r = gs_table_run_prog(t->fd[GS_PIN_change_table], arg, sizeof(*arg));

	return r < 0 ? r : arg->head.ret;
}

static int insert(struct gs_table *t, enum gs_table_op op, struct gpusched_tsg *inout_rec,
		  const struct gpusched_channels *ch)
{
	struct gs_table_arg arg = {
		.head = { .op = op, .key = inout_rec->key },
		.rec = *inout_rec,
	};
	int r = gs_table_change(t, &arg);

	if (r < 0)
		return r;
	inout_rec->task.id = arg.head.id;
	for (uint32_t i = 0; ch && i < ch->n && i < GPUSCHED_MAX_CHANNELS; i++) {
		arg.head.op = GS_TABLE_CHANNEL;
		arg.head.channel = ch->ch[i];
		r = gs_table_change(t, &arg);
		if (r < 0 && r != -EEXIST)
			return r;
	}
	inout_rec->nchannels = ch ? ch->n : 0;
	return 0;
}

int gs_table_insert(struct gs_table *t, struct gpusched_tsg *inout_rec,
		    const struct gpusched_channels *ch)
{
	return insert(t, GS_TABLE_INSERT, inout_rec, ch);
}

int gs_table_take(struct gs_table *t, const struct gpusched_tsg *rec,
		  const struct gpusched_channels *ch)
{
	struct gpusched_tsg copy = *rec;

	return insert(t, GS_TABLE_TAKE, &copy, ch);
}

int gs_table_remove(struct gs_table *t, const struct gpusched_key *key)
{
	struct gs_table_arg arg = { .head = { .op = GS_TABLE_REMOVE, .key = *key } };

	return gs_table_change(t, &arg);
}

int gs_table_device(struct gs_table *t, const struct gpusched_key *key,
		    const struct gpusched_device *device, uint64_t start_ns)
{
	struct gs_table_arg arg = {
		.head = { .op = GS_TABLE_DEVICE, .key = *key, .device = *device, .id = start_ns },
	};

	return gs_table_change(t, &arg);
}
