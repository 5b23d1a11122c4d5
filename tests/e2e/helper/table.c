// SPDX-License-Identifier: MIT
/*
 * table.c - makes what is pinned under DIR a table of an earlier version, or says that it is of any
 *
 * The taps go on, on maps that nobody has pinned any more.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../unit/table_v1.h"
#include "gpusched/abi.h"
#include "helper.h"

/* A value begins with what it was in version 1. A version that changes that converts here. */
_Static_assert(offsetof(struct gpusched_tsg, task) == offsetof(struct v1_tsg, task), "records");
_Static_assert(sizeof(struct gpusched_task) == sizeof(struct v1_task), "what policies see");
_Static_assert(offsetof(struct gpusched_proc, mps) == offsetof(struct v1_proc, mps), "processes");
_Static_assert(sizeof(struct gpusched_class) == sizeof(struct v1_class), "classes");
_Static_assert(offsetof(struct gpusched_cfg, epoch) == offsetof(struct v1_cfg, pad),
	       "configuration");
_Static_assert(sizeof(struct gpusched_stopped) == sizeof(struct v1_stopped), "who waits");

/* Up to version 4 an origin had two words. */
struct v4_origin {
	uint32_t owner, made;
};
#define V4_PLACE(type) (sizeof(type) - sizeof(struct gpusched_origin) + sizeof(struct v4_origin))

static const struct {
	const char *name;
	enum bpf_map_type type;
	uint32_t key, value, entries, flags, first, last; /* versions */
} maps[] = {
#define X(name, type, key, value, entries, flags) \
	{ #name, BPF_MAP_TYPE_##type, key, value, entries, flags, 1, 4 },
#define SINCE(name, key, value, first) \
	{ #name, BPF_MAP_TYPE_HASH, key, value, 16384, BPF_F_NO_PREALLOC, first, 4 },
	V1_MAPS(X) SINCE(gs_files, 8, V4_PLACE(struct gpusched_file), 2)
		SINCE(gs_clients, 16, V4_PLACE(struct gpusched_client), 2)
			SINCE(gs_devices, 16, V4_PLACE(struct gpusched_device), 2)
				SINCE(gs_makers, 16, sizeof(struct gpusched_maker), 3)
#undef SINCE
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
static uint32_t version = 1; /* that is made */

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

static int old_map(const char *name)
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

/* All entries of a map whose values begin as in that version. */
static void copy(const char *name)
{
	int from = open_pin(name), to = old_map(name);
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

	must(bpf_map_update_elem(old_map("gs_devs"), key, &dev, BPF_NOEXIST), "gs_devs");
}

/* Of versions 2 to 4: the values had a shorter origin. */
static void copy_map_of_places(const char *name)
{
	int from = open_pin(name), to = old_map(name);
	char key[16], value[64], *at = NULL;

	while (!bpf_map_get_next_key(from, at, key)) {
		at = key;
		if (bpf_map_lookup_elem(from, key, value))
			continue;
		memmove(value + sizeof(struct v4_origin), value + sizeof(struct gpusched_origin),
			sizeof(value) - sizeof(struct gpusched_origin));
		must(bpf_map_update_elem(to, key, value, BPF_ANY), name);
	}
	close(from);
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

static void set_version(int cfg, uint32_t number)
{
	uint32_t value[64], zero = 0; /* larger than any version's */

	must(bpf_map_lookup_elem(cfg, &zero, value), "gs_cfg");
	value[0] = number;
	must(bpf_map_update_elem(cfg, &zero, value, BPF_ANY), "gs_cfg");
}

static bool has(size_t map)
{
	return version >= maps[map].first && version <= maps[map].last &&
	       (version == 1 || strcmp(maps[map].name, "gs_devs") != 0);
}

static void replace(const char *made)
{
	char from[PATH_MAX], to[PATH_MAX + 32];

	for (size_t i = 0; i < N; i++) {
		snprintf(to, sizeof(to), "%s/%s", made, maps[i].name);
		if (has(i))
			must(bpf_obj_pin(old_map(maps[i].name), to), to);
	}
	for (size_t i = 0; i < sizeof(pins) / sizeof(pins[0]); i++) {
		snprintf(from, sizeof(from), "%s/%s", dir, pins[i][0]);
		snprintf(to, sizeof(to), "%s/%s", made, pins[i][version == 1]);
		must(rename(from, to), from);
	}
	must(renameat2(AT_FDCWD, made, AT_FDCWD, dir, RENAME_EXCHANGE), dir);
}

int verb_share(int n, char **words)
{
	struct gpusched_cfg value;
	uint32_t zero = 0;
	int cfg;

	dir = words[0];
	cfg = open_pin("gs_cfg");
	must(bpf_map_lookup_elem(cfg, &zero, &value), "gs_cfg");
	value.max_tsgs_per_proc = number(n, words, 1);
	must(bpf_map_update_elem(cfg, &zero, &value, BPF_ANY), "gs_cfg");
	return 0;
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
	static const char *const places[] = { "gs_files", "gs_clients", "gs_devices" };
	char made[PATH_MAX];

	dir = words[0];
	if (n > 1)
		version = number(n, words, 1);
	for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++)
		copy(same[i]);
	if (version == 1)
		copy_places();
	for (size_t i = 0; version > 1 && i < sizeof(places) / sizeof(places[0]); i++)
		copy_map_of_places(places[i]);
	if (version > 2)
		copy("gs_makers");
	set_version(old_map("gs_cfg"), version);
	/* what is left there is removed by the next `on`, as after one that was killed */
	snprintf(made, sizeof(made), "%s/../gpusched-tmp-%d", dir, (int)getpid());
	must(mkdir(made, 0700), made);
	replace(made);
	return 0;
}
