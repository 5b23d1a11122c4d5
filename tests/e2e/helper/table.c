// SPDX-License-Identifier: MIT
/*
 * table.c - makes what is pinned under DIR a table of version 1, or of any
 *
 * The taps go on, on maps that nobody has pinned any more.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../unit/table_v1.h"
#include "gpusched/abi.h"
#include "helper.h"

/* What is the same in version 2 is copied as it is. A version that changes it converts here. */
_Static_assert(sizeof(struct gpusched_tsg) == sizeof(struct v1_tsg), "convert records");
_Static_assert(sizeof(struct gpusched_proc) == sizeof(struct v1_proc), "convert processes");
_Static_assert(sizeof(struct gpusched_class) == sizeof(struct v1_class), "convert classes");
_Static_assert(sizeof(struct gpusched_cfg) == sizeof(struct v1_cfg), "convert the configuration");
_Static_assert(sizeof(struct gpusched_stopped) == sizeof(struct v1_stopped), "convert who waits");

static const struct {
	const char *name;
	enum bpf_map_type type;
	uint32_t key, value, entries, flags;
} maps[] = {
#define X(name, type, key, value, entries, flags) \
	{ #name, BPF_MAP_TYPE_##type, key, value, entries, flags },
	V1_MAPS(X)
#undef X
};
#define N (sizeof(maps) / sizeof(maps[0]))

static const char *const pins[][2] = {
#define SAME(name) { #name, #name },
	V1_LINKS(SAME) SAME(poke) SAME(iter_holders) SAME(gs_threads) SAME(gs_gate_calls)
#undef SAME
		{ "change_table", "run_table" },
	{ "change_proc", "run_proc" },
};

static const char *dir;

static int must(int r, const char *what)
{
	if (r < 0)
		die(what);
	return r;
}

static int open_pin(const char *name)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return must(bpf_obj_get(path), path);
}

static int v1_map(const char *name)
{
	static int fds[N];
	size_t i = 0;

	while (strcmp(maps[i].name, name))
		i++;
	if (!fds[i])
		fds[i] = must(bpf_map_create(maps[i].type, name, maps[i].key, maps[i].value,
					     maps[i].entries,
					     &(struct bpf_map_create_opts){
						     .sz = sizeof(struct bpf_map_create_opts),
						     .map_flags = maps[i].flags }),
			      name);
	return fds[i];
}

/* All entries of a map that is the same in both versions. */
static void copy(const char *name)
{
	int from = open_pin(name), to = v1_map(name);
	char key[16], value[2048], *at = NULL;

	while (!bpf_map_get_next_key(from, at, key)) {
		at = key;
		if (!bpf_map_lookup_elem(from, key, value))
			must(bpf_map_update_elem(to, key, value, BPF_ANY), name);
	}
	close(from);
}

static void put(const struct v1_key *key, const struct gpusched_origin *origin, uint32_t a,
		uint32_t b)
{
	const struct v1_device dev = { a, b, origin->owner, origin->made };

	must(bpf_map_update_elem(v1_map("gs_devs"), key, &dev, BPF_NOEXIST), "gs_devs");
}

/* Devices, clients and files are one map. */
static void copy_places(void)
{
	int devices = open_pin("gs_devices"), clients = open_pin("gs_clients"),
	    files = open_pin("gs_files");
	struct gpusched_device d;
	struct gpusched_client c;
	struct gpusched_file f;
	struct v1_key key, *at = NULL;
	uint64_t file, *last = NULL;

	for (; !bpf_map_get_next_key(devices, at, &key); at = &key)
		if (!bpf_map_lookup_elem(devices, &key, &d))
			put(&key, &d.origin, d.dev_instance, d.h_subdevice);
	at = NULL;
	for (; !bpf_map_get_next_key(clients, at, &key); at = &key)
		if (!bpf_map_lookup_elem(clients, &key, &c))
			put(&(struct v1_key){ key.file, key.client, key.client }, &c.origin,
			    c.mig ? V1_CLIENT_MIG : 0, c.tsgs);
	for (; !bpf_map_get_next_key(files, last, &file); last = &file)
		if (!bpf_map_lookup_elem(files, &file, &f))
			put(&(struct v1_key){ .file = file }, &f.origin, f.holder, f.sweep);
}

static void set_version(int cfg, uint32_t version)
{
	struct v1_cfg value;
	uint32_t zero = 0;

	must(bpf_map_lookup_elem(cfg, &zero, &value), "gs_cfg");
	value.abi = version;
	must(bpf_map_update_elem(cfg, &zero, &value, BPF_ANY), "gs_cfg");
}

static void replace(const char *made)
{
	char from[PATH_MAX], to[PATH_MAX + 32];

	for (size_t i = 0; i < N; i++) {
		snprintf(to, sizeof(to), "%s/%s", made, maps[i].name);
		must(bpf_obj_pin(v1_map(maps[i].name), to), to);
	}
	for (size_t i = 0; i < sizeof(pins) / sizeof(pins[0]); i++) {
		snprintf(from, sizeof(from), "%s/%s", dir, pins[i][0]);
		snprintf(to, sizeof(to), "%s/%s", made, pins[i][1]);
		must(rename(from, to), from);
	}
	must(renameat2(AT_FDCWD, made, AT_FDCWD, dir, RENAME_EXCHANGE), dir);
}

int verb_version(int n, char **words)
{
	dir = words[0];
	set_version(open_pin("gs_cfg"), number(n, words, 1));
	return 0;
}

int verb_oldtable(int n, char **words)
{
	static const char *const same[] = { "gs_tsgs",    "gs_chans",  "gs_chantsg", "gs_procs",
					    "gs_classes", "gs_cfg",    "gs_gpus",    "gs_simfiles",
					    "gs_selves",  "gs_stopped" };
	char made[PATH_MAX];

	(void)n;
	dir = words[0];
	for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++)
		copy(same[i]);
	copy_places();
	set_version(v1_map("gs_cfg"), 1);
	/* what is left there is removed by the next `on`, as after one that was killed */
	snprintf(made, sizeof(made), "%s/../gpusched-tmp-%d", dir, (int)getpid());
	must(mkdir(made, 0700), made);
	replace(made);
	return 0;
}
