// SPDX-License-Identifier: MIT
#include "launch/uprobes.h"

#include <errno.h>
#include <linux/bpf.h>
#include <sys/syscall.h>
#include <unistd.h>

#define UPROBE_MULTI_RETURN 1u

struct multi_attr {
	uint32_t prog_fd, target_fd, attach_type, flags;
	uint64_t path, offsets, ref_ctr_offsets, cookies;
	uint32_t n, uprobe_flags, pid, pad;
};

int gs_uprobes_link(int prog_fd, const struct gs_uprobes *u)
{
	struct multi_attr attr = {
		.prog_fd = (uint32_t)prog_fd,
		.attach_type = GS_UPROBE_MULTI,
		.path = (uint64_t)(uintptr_t)u->path,
		.offsets = (uint64_t)(uintptr_t)u->offsets,
		.cookies = (uint64_t)(uintptr_t)u->cookies,
		.n = (uint32_t)u->n,
		.uprobe_flags = u->ret ? UPROBE_MULTI_RETURN : 0,
		.pid = (uint32_t)u->pid,
	};
	long fd = syscall(__NR_bpf, BPF_LINK_CREATE, &attr, sizeof(attr));

	return fd < 0 ? -errno : (int)fd;
}

bool gs_uprobes_is_roots(const struct statx *st)
{
	return !st->stx_uid && !(st->stx_mode & 0022);
}
