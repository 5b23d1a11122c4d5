// SPDX-License-Identifier: MIT
#include "launch/watched.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>

#include "launch/launch_attach.h"

static int rests_fd(const struct gs_launches *l)
{
	return bpf_map__fd(gs_launches_programs(l)->maps.gs_rests);
}

static int quiet_fd(const struct gs_launches *l)
{
	return bpf_map__fd(gs_launches_programs(l)->maps.gs_rests_quiet);
}

int gs_watched_add(const struct gs_launches *l, pid_t pid)
{
	static const struct gs_rests none;
	uint32_t key = (uint32_t)pid;

	return bpf_map_update_elem(rests_fd(l), &key, &none, BPF_ANY) ? -errno : 0;
}

void gs_watched_drop(const struct gs_launches *l, pid_t pid)
{
	uint32_t key = (uint32_t)pid;

	bpf_map_delete_elem(rests_fd(l), &key);
	bpf_map_delete_elem(quiet_fd(l), &key);
}

int gs_watched_get(const struct gs_launches *l, pid_t pid, struct gs_rests *ret)
{
	uint32_t key = (uint32_t)pid;

	return bpf_map_lookup_elem(rests_fd(l), &key, ret) ? -errno : 0;
}

int gs_watched_quiet(const struct gs_launches *l, pid_t pid, uint32_t quiet_us)
{
	uint32_t key = (uint32_t)pid;

	return bpf_map_update_elem(quiet_fd(l), &key, &quiet_us, BPF_ANY) ? -errno : 0;
}
