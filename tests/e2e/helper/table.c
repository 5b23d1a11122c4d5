// SPDX-License-Identifier: MIT
/*
 * table.c - turns the table that is pinned under DIR into version 1, or sets any version number
 *
 * No release had version 1: src/table/upgrade.c describes it. Its values are shorter, so new maps
 * are made for it. The taps go on writing the old maps, which are no longer pinned.
 */
#include <bpf/bpf.h>
#include <dirent.h>
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

#include "gpusched/abi.h"
#include "helper.h"

/* Values of version 1 are the first bytes of today's values: this many. */
#define V1_TSG 360u
#define V1_PROC 48u
#define V1_CFG 64u
_Static_assert(offsetof(struct gpusched_tsg, task) + sizeof(struct gpusched_task) == V1_TSG,
	       "records");
_Static_assert(offsetof(struct gpusched_proc, mps) + sizeof(uint32_t) == V1_PROC, "processes");
_Static_assert(offsetof(struct gpusched_cfg, epoch) + sizeof(uint32_t) == V1_CFG, "configuration");

/* In version 1 struct gpusched_origin had two words. */
struct v1_origin {
	uint32_t owner, made;
};
#define V1_PLACE(type) (sizeof(type) - sizeof(struct gpusched_origin) + sizeof(struct v1_origin))

static const struct {
	const char *name;
	enum bpf_map_type type;
	uint32_t key, value, entries, flags;
	bool place;
} maps[] = {
	{ "gs_tsgs", BPF_MAP_TYPE_HASH, 16, V1_TSG, GPUSCHED_MAX_TSGS, 0, false },
	{ "gs_procs", BPF_MAP_TYPE_HASH, 4, V1_PROC, 65536, BPF_F_NO_PREALLOC, false },
	{ "gs_cfg", BPF_MAP_TYPE_ARRAY, 4, V1_CFG, 1, 0, false },
#define PLACE(name, key, type) \
	{ \
		name, BPF_MAP_TYPE_HASH, key, V1_PLACE(struct type), 16384, BPF_F_NO_PREALLOC, \
			true \
	}
	PLACE("gs_files", 8, gpusched_file),
	PLACE("gs_clients", 16, gpusched_client),
	PLACE("gs_devices", 16, gpusched_device),
#undef PLACE
};
#define N (sizeof(maps) / sizeof(maps[0]))

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

static int fds[N];

static void make(size_t i)
{
	const struct bpf_map_create_opts opts = { .sz = sizeof(opts), .map_flags = maps[i].flags };

	fds[i] = must(bpf_map_create(maps[i].type, maps[i].name, maps[i].key, maps[i].value,
				     maps[i].entries, &opts),
		      maps[i].name);
}

/* Copies all entries, in the layout of version 1. */
static void copy(size_t i)
{
	int from = open_pin(maps[i].name);
	char key[16], value[2048], *at = NULL;

	while (!bpf_map_get_next_key(from, at, key)) {
		at = key;
		if (bpf_map_lookup_elem(from, key, value))
			continue;
		if (maps[i].place)
			memmove(value + sizeof(struct v1_origin),
				value + sizeof(struct gpusched_origin),
				sizeof(value) - sizeof(struct gpusched_origin));
		must(bpf_map_update_elem(fds[i], key, value, BPF_ANY), maps[i].name);
	}
	close(from);
}

static void set_version(int cfg, uint32_t number)
{
	uint32_t value[64], zero = 0; /* large enough for a value of any version */

	must(bpf_map_lookup_elem(cfg, &zero, value), "gs_cfg");
	value[0] = number;
	must(bpf_map_update_elem(cfg, &zero, value, BPF_ANY), "gs_cfg");
}

/* Replaces the pinned table by the new maps, together with today's other maps. */
static void replace(const char *made)
{
	char from[PATH_MAX], to[PATH_MAX + 300];
	struct dirent *e;
	DIR *d;

	for (size_t i = 0; i < N; i++) {
		snprintf(to, sizeof(to), "%s/%s", made, maps[i].name);
		must(bpf_obj_pin(fds[i], to), to);
	}
	d = opendir(dir);
	if (!d)
		die(dir);
	while ((e = readdir(d))) {
		snprintf(from, sizeof(from), "%s/%.255s", dir, e->d_name);
		snprintf(to, sizeof(to), "%s/%.255s", made, e->d_name);
		if (e->d_name[0] != '.' && access(to, F_OK))
			must(rename(from, to), from);
	}
	closedir(d);
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
	char made[PATH_MAX];

	(void)n;
	dir = words[0];
	for (size_t i = 0; i < N; i++) {
		make(i);
		copy(i);
		if (!strcmp(maps[i].name, "gs_cfg"))
			set_version(fds[i], 1);
	}
	/* the next `gpusched observe on` removes what is left of the old folder */
	snprintf(made, sizeof(made), "%s/../gpusched-tmp-%d", dir, (int)getpid());
	must(mkdir(made, 0700), made);
	replace(made);
	return 0;
}
