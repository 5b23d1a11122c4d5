// SPDX-License-Identifier: MIT
#include "park/uprobe.h"

#include <bpf/bpf.h>
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "basic/env.h"
#include "launch/launch.h"
#include "launch/launch_find.h"
#include "launch/uprobes.h"
#include "gpusched/abi.h"
#include "table/hush.h"
/* needs the types above */
#include "called.skel.h"

#define PATH 400

/*
 * The functions of libcuda that give work to the GPU, wait for it, or need its memory. Queries are
 * not listed, since they are no sign of work.
 */
static const char *const functions[] = {
	"cuLaunchKernel",
	"cuLaunchKernel_ptsz",
	"cuLaunchKernelEx",
	"cuLaunchKernelEx_ptsz",
	"cuLaunchCooperativeKernel",
	"cuLaunchCooperativeKernel_ptsz",
	"cuGraphLaunch",
	"cuGraphLaunch_ptsz",
	"cuCtxSynchronize",
	"cuStreamSynchronize",
	"cuStreamSynchronize_ptsz",
	"cuStreamWaitEvent",
	"cuStreamWaitEvent_ptsz",
	"cuEventSynchronize",
	"cuEventRecord",
	"cuEventRecord_ptsz",
	"cuMemAlloc_v2",
	"cuMemAllocAsync",
	"cuMemAllocAsync_ptsz",
	"cuMemAllocFromPoolAsync",
	"cuMemAllocFromPoolAsync_ptsz",
	"cuMemCreate",
	"cuMemFree_v2",
	"cuMemFreeAsync",
	"cuMemFreeAsync_ptsz",
	"cuMemcpy",
	"cuMemcpy_ptds",
	"cuMemcpyAsync",
	"cuMemcpyAsync_ptsz",
	"cuMemcpyHtoD_v2",
	"cuMemcpyHtoD_v2_ptds",
	"cuMemcpyHtoDAsync_v2",
	"cuMemcpyHtoDAsync_v2_ptsz",
	"cuMemcpyDtoH_v2",
	"cuMemcpyDtoH_v2_ptds",
	"cuMemcpyDtoHAsync_v2",
	"cuMemcpyDtoHAsync_v2_ptsz",
	"cuMemcpyDtoD_v2",
	"cuMemcpyDtoD_v2_ptds",
	"cuMemcpyDtoDAsync_v2",
	"cuMemcpyDtoDAsync_v2_ptsz",
	"cuMemsetD8_v2",
	"cuMemsetD8Async",
	"cuMemsetD8Async_ptsz",
	"cuMemsetD32_v2",
	"cuMemsetD32Async",
	"cuMemsetD32Async_ptsz",
	"cuModuleLoadData",
	"cuLibraryLoadData",
};

static void path_of(char ret[PATH], const char *name)
{
	snprintf(ret, PATH, "%.250s-park/%.100s", gs_env()->bpffs, name);
}

/* @what: "link": the pin that keeps the probes; "last": the time of the last call. */
static void path_of_process(char ret[PATH], int32_t pid, uint64_t start_ns, const char *what)
{
	char name[64];

	snprintf(name, sizeof(name), "%" PRId32 "-%" PRIu64 "-%s", pid, start_ns, what);
	path_of(ret, name);
}

static int pin(int fd, int32_t pid, uint64_t start_ns, const char *what)
{
	char path[PATH];

	path_of(path, "");
	if (mkdir(path, 0700) && errno != EEXIST)
		return -errno;
	path_of_process(path, pid, start_ns, what);
	unlink(path);
	return bpf_obj_pin(fd, path) ? -errno : 0;
}

static int load(struct called_bpf **ret)
{
	struct called_bpf *skel;
	char said[256];
	int r = -errno;

	gs_hush_begin(said, sizeof(said));
	skel = called_bpf__open();
	if (skel) {
		bpf_program__set_expected_attach_type(skel->progs.called, GS_UPROBE_MULTI);
		r = called_bpf__load(skel);
	}
	gs_hush_end();
	if (!r)
		*ret = skel;
	else
		called_bpf__destroy(skel);
	return r;
}

/* Pins the map for the last call before the probes, so that pinned probes always have the map. */
static int attach(const struct called_bpf *skel, int32_t pid, uint64_t start_ns,
		  const struct gs_uprobes *u)
{
	CLEANUP_FD int link = gs_uprobes_link(bpf_program__fd(skel->progs.called), u);
	int r = link < 0 ? link : pin(bpf_map__fd(skel->maps.bss), pid, start_ns, "last");

	return r ? r : pin(link, pid, start_ns, "link");
}

int gs_park_uprobe_set(int32_t pid, uint64_t start_ns, int fd, struct gs_error *err)
{
	uint64_t found[GS_COUNT(functions)], offsets[GS_COUNT(functions)];
	struct gs_uprobes u = { .offsets = offsets, .pid = pid };
	struct called_bpf *skel = NULL;
	char path[32];
	int r;

	if (!gs_launch_attach_type())
		return gs_fail(err, -ENOTSUP, "probes of one process need Linux 6.6");
	r = gs_launch_find_offsets(fd, functions, GS_COUNT(functions), found);
	for (size_t i = 0; i < GS_COUNT(functions) && !r; i++)
		if (found[i])
			offsets[u.n++] = found[i];
	if (r || !u.n)
		return gs_fail(err, r ? r : -ENOEXEC, "its libcuda has no functions to probe");
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	u.path = path;
	r = load(&skel);
	if (!r)
		r = attach(skel, pid, start_ns, &u);
	called_bpf__destroy(skel);
	return r ? gs_fail(err, r, "the kernel refused the probes: %s", strerror(-r)) : 0;
}

int gs_park_uprobe_last(int32_t pid, uint64_t start_ns, uint64_t *ret_ns)
{
	CLEANUP_FD int link = -1;
	CLEANUP_FD int map = -1;
	uint32_t zero = 0;
	char path[PATH];

	path_of_process(path, pid, start_ns, "link");
	link = bpf_obj_get(path);
	if (link < 0)
		return -errno;
	path_of_process(path, pid, start_ns, "last");
	map = bpf_obj_get(path);
	return map < 0 || bpf_map_lookup_elem(map, &zero, ret_ns) ? -errno : 0;
}

void gs_park_uprobes_sweep(bool (*keep)(int32_t pid, uint64_t start_ns, const void *user),
			   const void *user)
{
	CLEANUP_DIR DIR *d = NULL;
	struct dirent *e;
	uint64_t start_ns;
	char path[PATH];
	int32_t pid;

	path_of(path, "");
	d = opendir(path);
	while (d && (e = readdir(d)))
		if (sscanf(e->d_name, "%" SCNd32 "-%" SCNu64 "-", &pid, &start_ns) == 2 &&
		    !keep(pid, start_ns, user))
			unlinkat(dirfd(d), e->d_name, 0);
	rmdir(path); /* fails while probes remain */
}
