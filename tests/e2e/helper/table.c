// SPDX-License-Identifier: MIT
/* table.c - changes the configuration of the table that is pinned under DIR */
#include <bpf/bpf.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>

#include "gpusched/abi.h"
#include "helper.h"

static int must(int r, const char *what)
{
	if (r < 0)
		die(what);
	return r;
}

/* Opens the map of the configuration, and reads it. */
static int open_cfg(const char *dir, struct gpusched_cfg *ret)
{
	char path[PATH_MAX];
	uint32_t zero = 0;
	int fd;

	snprintf(path, sizeof(path), "%s/gs_cfg", dir);
	fd = must(bpf_obj_get(path), path);
	must(bpf_map_lookup_elem(fd, &zero, ret), "gs_cfg");
	return fd;
}

static int put_cfg(int fd, const struct gpusched_cfg *cfg)
{
	uint32_t zero = 0;

	must(bpf_map_update_elem(fd, &zero, cfg, BPF_ANY), "gs_cfg");
	return 0;
}

int verb_share(int n, char **words)
{
	struct gpusched_cfg cfg;
	int fd = open_cfg(words[0], &cfg);

	cfg.max_tsgs_per_proc = number(n, words, 1);
	return put_cfg(fd, &cfg);
}

int verb_version(int n, char **words)
{
	struct gpusched_cfg cfg;
	int fd = open_cfg(words[0], &cfg);

	cfg.version = number(n, words, 1);
	return put_cfg(fd, &cfg);
}
