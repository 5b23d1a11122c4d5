// SPDX-License-Identifier: MIT
/*
 * taps.c - switches the taps on and off
 *
 * Everything is first pinned into a temporary folder, which is then renamed. So an instance is on
 * or off, never half on. Switching off renames the folder first, and then removes the pins.
 */
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "basic/env.h"
#include "basic/log.h"
#include "table/bpffs.h"
#include "table/hush.h"
#include "table/priv.h"
#include "table/upgrade.h"
#include "taps/on.h"
#include "taps/simfiles.h"
#include "taps.skel.h"
#include "gate/gate.h"
#include "table/cfg.h"
#include "taps/taps.h"

static void skel_destroy(struct taps_bpf **skel)
{
	taps_bpf__destroy(*skel);
}

static int load_error(int code, const char *what, struct gs_error *err)
{
	if (code == -EPERM)
		return gs_fail(err, -EPERM,
			       "the kernel does not let this process load BPF programs: run as "
			       "root (CAP_BPF, CAP_PERFMON, CAP_SYS_ADMIN)");
	if (code == -ESRCH || code == -ENOENT)
		return gs_fail(err, -ENOTSUP,
			       "this kernel lacks something the taps need, 6.1 or later with BTF "
			       "is needed: %s",
			       what);
	return gs_fail(err, code == -ENOMEM ? code : -ENOTSUP,
		       "the kernel refused the taps (%s): %s", strerror(-code), what);
}

static int probe(struct gs_error *err)
{
	if (access("/sys/kernel/btf/vmlinux", R_OK))
		return gs_fail(err, -ENOTSUP,
			       "no /sys/kernel/btf/vmlinux: the taps need a kernel with "
			       "CONFIG_DEBUG_INFO_BTF (6.1 or later)");
	if (geteuid())
		return gs_fail(err, -EPERM, "observing needs root: the taps are BPF programs");
	return gs_bpffs_ready(err);
}

/* ---- on -------------------------------------------------------------------------------------- */

static int fill_cfg(struct taps_bpf *skel, const struct gs_old_table *old)
{
	struct gpusched_cfg cfg = {
		.version = GPUSCHED_TABLE_VERSION,
		.sim = gs_env()->sim,
		.max_tsgs_per_proc = GPUSCHED_MAX_TSGS_PER_PROC,
		.default_class = GPUSCHED_CLASS_NONE,
	};
	const struct gpusched_user none = { 0 };
	uint32_t zero = 0, nobody = GS_NOBODY;
	unsigned int branch = 0;
	struct stat st;

	if (!stat("/proc/self/ns/pid", &st)) {
		cfg.pidns_dev = st.st_dev;
		cfg.pidns_ino = st.st_ino;
	}
	if (!gs_rm_driver(&branch, NULL, 0, NULL))
		cfg.branch = branch;
	if (old)
		gs_upgrade_fill_cfg(old, &cfg);
	if (bpf_map_update_elem(bpf_map__fd(skel->maps.gs_users), &nobody, &none, BPF_ANY))
		return -errno;
	return bpf_map_update_elem(bpf_map__fd(skel->maps.gs_cfg), &zero, &cfg, BPF_ANY);
}

static int fill_simfiles(struct taps_bpf *skel, struct gs_error *err)
{
	CLEANUP_FREE struct gs_simfile_entry *all = NULL;
	size_t n = 0;
	int r;

	if (!gs_env()->sim)
		return 0;
	r = gs_simfiles_read(gs_env()->sim_dir, &all, &n, err);
	if (r < 0)
		return r;
	for (size_t i = 0; i < n; i++) {
		r = bpf_map_update_elem(bpf_map__fd(skel->maps.gs_simfiles), &all[i].key,
					&all[i].control, BPF_ANY);
		if (r)
			return gs_fail(err, r, "cannot register simulated files: %s", strerror(-r));
	}
	return 0;
}

static void fill_classes(struct taps_bpf *skel)
{
	static const char *const names[] = { "none", "lc", "be", "normal" };

	for (uint32_t i = 0; i < GS_COUNT(names); i++) {
		struct gpusched_class cls = {
			.weight = 100,
			.suspend_limit_ms = GPUSCHED_SUSPEND_LIMIT_MS,
			.starve_limit_ms = GPUSCHED_STARVE_LIMIT_MS,
		};

		snprintf(cls.name, sizeof(cls.name), "%s", names[i]);
		bpf_map_update_elem(bpf_map__fd(skel->maps.gs_classes), &i, &cls, BPF_ANY);
	}
}

static void fill_gpus(struct taps_bpf *skel)
{
	CLEANUP_FREE struct gs_gpu *gpus = NULL;
	size_t n = 0;

	if (gs_gpus_read(&gpus, &n, NULL))
		return;
	for (size_t i = 0; i < n; i++) {
		uint32_t value = gpus[i].index + 1;

		bpf_map_update_elem(bpf_map__fd(skel->maps.gs_gpus), &gpus[i].dev_instance, &value,
				    BPF_ANY);
	}
}

static int pin(int fd, const char *dir, const char *name, struct gs_error *err)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	if (fd < 0 || bpf_obj_pin(fd, path))
		return gs_fail(err, fd < 0 ? -EBADF : -errno, "cannot pin %s: %s", path,
			       strerror(errno));
	return 0;
}

static int pin_all(struct taps_bpf *skel, const char *dir, struct gs_error *err)
{
	int r = 0;

#define X(name) \
	if (!r) \
		r = pin(bpf_map__fd(skel->maps.name), dir, #name, err);
	GS_PIN_MAPS(X)
#undef X
#define X(name) \
	if (!r) \
		r = pin(bpf_program__fd(skel->progs.name), dir, #name, err);
	GS_PIN_PROGS(X)
#undef X
#define X(name) \
	if (!r) \
		r = pin(bpf_link__fd(skel->links.name), dir, #name, err);
	GS_PIN_LINKS(X)
#undef X
	return r;
}

/* The clock of processes' start times, which also counts the time that the machine slept. */
static uint64_t now_since_boot(void)
{
	struct timespec t;

	clock_gettime(CLOCK_BOOTTIME, &t);
	return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

/* Attaches all programs except the iterator, which gets a new link for each reading. */
static int attach(struct taps_bpf *skel, struct gs_error *err)
{
#define X(name) \
	skel->links.name = bpf_program__attach(skel->progs.name); \
	if (!skel->links.name) \
		return gs_fail(err, -ENOTSUP, "the kernel does not attach %s: %s", #name, \
			       strerror(errno));
	GS_PIN_LINKS(X)
#undef X
	skel->bss->gs_since_ns = now_since_boot();
	return 0;
}

static int load(struct taps_bpf **ret, struct gs_error *err)
{
	CLEANUP(skel_destroy) struct taps_bpf *skel = NULL;
	char said[512];
	int r;

	gs_hush_begin(said, sizeof(said));
	skel = taps_bpf__open();
	r = skel ? taps_bpf__load(skel) : -errno;
	gs_hush_end();
	if (r)
		return load_error(r, gs_hush_first(said, "no reason given"), err);
	*ret = TAKE_PTR(skel);
	return 0;
}

/* Removes folders of processes that were killed while they switched the taps on or off. */
static void remove_stale(void)
{
	char parent[256], path[PATH_MAX];
	CLEANUP_DIR DIR *d = NULL;
	struct dirent *e;
	int pid;

	snprintf(parent, sizeof(parent), "%s", gs_env()->bpffs);
	*strrchr(parent, '/') = 0;
	d = opendir(parent);
	while (d && (e = readdir(d))) {
		if (sscanf(e->d_name, "gpusched-tmp-%d", &pid) != 1 || !kill(pid, 0))
			continue;
		snprintf(path, sizeof(path), "%s/%s", parent, e->d_name);
		gs_bpffs_remove(path);
	}
}

void gs_taps_tmp(char *ret, size_t size)
{
	char parent[256];

	snprintf(parent, sizeof(parent), "%s", gs_env()->bpffs);
	*strrchr(parent, '/') = 0;
	snprintf(ret, size, "%s/gpusched-tmp-%d", parent, (int)getpid());
}

static int fill(struct taps_bpf *skel, const struct gs_old_table *old, struct gs_error *err)
{
	int r = fill_cfg(skel, old);

	if (r < 0)
		return gs_fail(err, r, "cannot configure the taps: %s", strerror(-r));
	r = fill_simfiles(skel, err);
	if (r < 0)
		return r;
	fill_classes(skel);
	fill_gpus(skel);
	return 0;
}

int gs_taps_pin(const char *dir, const struct gs_old_table *old, struct gs_error *err)
{
	CLEANUP(skel_destroy) struct taps_bpf *skel = NULL;
	struct gs_error why = { 0 };
	int r;

	remove_stale();
	r = load(&skel, err);
	if (!r)
		r = fill(skel, old, err);
	if (!r)
		r = attach(skel, err);
	if (r < 0)
		return r;
	if (mkdir(dir, 0700))
		return gs_fail(err, -errno, "cannot make %s: %s", dir, strerror(errno));
	r = pin_all(skel, dir, err);
	if (!r && gs_gate_on(skel->obj, dir, &why))
		gs_log(LOG_DEBUG, "no gate, holds suspend: %s", why.text);
	if (r < 0)
		gs_bpffs_remove(dir);
	return r;
}

/* 1: the taps are on; 0: off; -errno: the pins are of another version or incomplete. */
static int look(struct gs_error *err)
{
	struct gs_taps_status st = {};
	int r = gs_taps_status(&st, err);

	if (r < 0 || !st.on)
		return r;
	if (st.version && st.version != GPUSCHED_TABLE_VERSION)
		return gs_fail(err, -ESTALE,
			       "%s is an older gpusched's (version %u): as root, 'gpusched observe "
			       "on' takes it over",
			       gs_env()->bpffs, st.version);
	if (!st.complete)
		return gs_fail(err, -EUCLEAN, "%s is incomplete: run 'gpusched observe off' first",
			       gs_env()->bpffs);
	return 1;
}

int gs_taps_on(struct gs_error *err)
{
	char tmp[PATH_MAX];
	int r = probe(err);

	if (r < 0)
		return r;
	r = look(err);
	if (r)
		return r < 0 ? r : 0;
	gs_taps_tmp(tmp, sizeof(tmp));
	r = gs_taps_pin(tmp, NULL, err);
	if (r < 0)
		return r;
	if (rename(tmp, gs_env()->bpffs)) {
		r = -errno;
		/* another process was faster: keep the taps that it pinned */
		r = r == -EEXIST || r == -ENOTEMPTY
			    ? 0
			    : gs_fail(err, r, "cannot make %s: %s", gs_env()->bpffs, strerror(-r));
	}
	gs_bpffs_remove(tmp);
	return r;
}

/* ---- off and status -------------------------------------------------------------------------- */

static void table_close(struct gs_table **t)
{
	gs_table_close(*t);
}

/* Takes the gate away first: once the rest is off, nobody would continue the processes it stops. */
static void open_gate(struct gs_table *t, const char *dir)
{
	gs_cfg_gate(t, false);
	gs_gate_off(dir);
	gs_gate_release(t, true, NULL);
}

int gs_taps_off(struct gs_error *err)
{
	CLEANUP(table_close) struct gs_table *t = NULL;
	char tmp[PATH_MAX];
	int r;

	if (geteuid())
		return gs_fail(err, -EPERM, "observing needs root: the taps are BPF programs");
	if (gs_table_open_remains(&t, NULL))
		t = NULL;
	gs_taps_tmp(tmp, sizeof(tmp));
	if (rename(gs_env()->bpffs, tmp)) {
		if (errno == ENOENT || errno == ENOTDIR)
			return 0;
		return gs_fail(err, -errno, "cannot remove %s: %s", gs_env()->bpffs,
			       strerror(errno));
	}
	if (t)
		open_gate(t, tmp);
	r = gs_bpffs_remove(tmp);
	if (r < 0)
		return gs_fail(err, r, "cannot remove %s: %s", tmp, strerror(-r));
	return 0;
}

static bool exists(const char *name)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", gs_env()->bpffs, name);
	return !access(path, F_OK);
}

static unsigned int count_keys(int fd, size_t key_size)
{
	char key[64], next[64], *at = NULL;
	unsigned int n = 0;

	while (n < 2 * GPUSCHED_MAX_TSGS * 4 && !bpf_map_get_next_key(fd, at, next)) {
		memcpy(key, next, key_size);
		at = key;
		n++;
	}
	return n;
}

static int read_counters(struct gs_table *t, uint64_t *ret)
{
	CLEANUP_FREE uint64_t *v = calloc(t->cpus, sizeof(*v));

	if (!v)
		return -ENOMEM;
	for (uint32_t i = 0; i < GPUSCHED_CNT_MAX; i++) {
		ret[i] = 0;
		if (bpf_map_lookup_elem(t->fd[GS_PIN_gs_counters], &i, v))
			return -errno;
		for (unsigned int c = 0; c < t->cpus; c++)
			ret[i] += v[c];
	}
	return 0;
}

int gs_taps_status(struct gs_taps_status *ret, struct gs_error *err)
{
	CLEANUP(table_close) struct gs_table *t = NULL;
	struct gs_taps_status st = {};
	struct gs_error why = {};
	struct gpusched_cfg cfg;
	int r;

	if (access(gs_env()->bpffs, F_OK)) {
		if (errno == EACCES)
			return gs_fail(err, -EACCES, "%s may not be read: run as root",
				       gs_env()->bpffs);
		*ret = st;
		return 0;
	}
	st.on = true;
	st.gate = gs_gate_there();
	r = gs_table_version(&st.version, &why);
	if (r == -EPROTO)
		return gs_fail(err, r, "%s", why.text);
	st.complete = !r && st.version == GPUSCHED_TABLE_VERSION;
#define X(name) st.complete = st.complete && exists(#name);
	GS_PIN_MAPS(X)
	GS_PIN_PROGS(X)
	GS_PIN_LINKS(X)
#undef X
	if (st.complete) {
		r = gs_table_open(&t, err);
		if (r < 0)
			return r;
		r = gs_table_cfg(t, &cfg);
		if (r < 0)
			return gs_fail(err, r, "cannot read the table's configuration: %s",
				       strerror(-r));
		st.tsgs = cfg.entries[GPUSCHED_IN_TSGS];
		st.procs = count_keys(t->fd[GS_PIN_gs_procs], sizeof(uint32_t));
		r = read_counters(t, st.counters);
		if (r < 0)
			return gs_fail(err, r, "cannot read the counters: %s", strerror(-r));
	}
	*ret = st;
	return 0;
}

bool gs_taps_see_references(void)
{
	struct btf *btf = btf__load_vmlinux_btf();
	int id = btf ? btf__find_by_name_kind(btf, "file", BTF_KIND_STRUCT) : -1;
	const struct btf_type *t = id > 0 ? btf__type_by_id(btf, (uint32_t)id) : NULL;
	bool found = false;

	for (unsigned int i = 0; t && i < btf_vlen(t); i++) {
		const char *name = btf__name_by_offset(btf, btf_members(t)[i].name_off);

		found |= !strcmp(name, "f_count") || !strcmp(name, "f_ref");
	}
	btf__free(btf);
	return found;
}
