// SPDX-License-Identifier: MIT
/*
 * launch_attach.c - the launch probes: which functions, and attaching them to one library
 *
 * Kernels from 6.6 take all functions of a library in one link for each program, which is attached
 * and detached in tens of milliseconds. Older ones take one perf event a function: about 1 ms each
 * to attach and 0.1 s each to detach, and who attaches waits for whom detaches.
 */
#include "launch/launch_attach.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "gpusched/policy_types.h"
#include "table/hush.h"
#include "launch/launch.bpf.h"
#include "launch/launch.h"

/*
 * What is probed: program, function, what it is (the cookie). In the order of attaching, so that a
 * context's making is never seen to begin without being seen to end; the launches come last, when
 * all that tells where they go is there.
 */
#define PROBES(X) \
	X(MADE, "cuCtxCreate", GS_MADE_PUSHES) \
	X(MADE, "cuCtxCreate_v2", GS_MADE_PUSHES) \
	X(MADE, "cuCtxCreate_v3", GS_MADE_PUSHES) \
	X(MADE, "cuCtxCreate_v4", GS_MADE_PUSHES) \
	X(MADE, "cuDevicePrimaryCtxRetain", GS_MADE_ONLY) \
	X(CONTEXT, "cuCtxCreate", GS_CTX_MAKE) \
	X(CONTEXT, "cuCtxCreate_v2", GS_CTX_MAKE) \
	X(CONTEXT, "cuCtxCreate_v3", GS_CTX_MAKE) \
	X(CONTEXT, "cuCtxCreate_v4", GS_CTX_MAKE) \
	X(CONTEXT, "cuDevicePrimaryCtxRetain", GS_CTX_MAKE) \
	X(CONTEXT, "cuCtxSetCurrent", GS_CTX_SET) \
	X(CONTEXT, "cuCtxPushCurrent", GS_CTX_PUSH) \
	X(CONTEXT, "cuCtxPushCurrent_v2", GS_CTX_PUSH) \
	X(CONTEXT, "cuCtxPopCurrent", GS_CTX_POP) \
	X(CONTEXT, "cuCtxPopCurrent_v2", GS_CTX_POP) \
	X(CONTEXT, "cuCtxDestroy", GS_CTX_DESTROY) \
	X(CONTEXT, "cuCtxDestroy_v2", GS_CTX_DESTROY) \
	X(LAUNCH, "cuLaunchKernel", GPUSCHED_WORK_KERNEL) \
	X(LAUNCH, "cuLaunchKernel_ptsz", GPUSCHED_WORK_KERNEL) \
	X(LAUNCH, "cuLaunchKernelEx", GPUSCHED_WORK_KERNEL) \
	X(LAUNCH, "cuLaunchKernelEx_ptsz", GPUSCHED_WORK_KERNEL) \
	X(LAUNCH, "cuLaunchCooperativeKernel", GPUSCHED_WORK_KERNEL) \
	X(LAUNCH, "cuLaunchCooperativeKernel_ptsz", GPUSCHED_WORK_KERNEL) \
	X(LAUNCH, "cuGraphLaunch", GPUSCHED_WORK_GRAPH) \
	X(LAUNCH, "cuGraphLaunch_ptsz", GPUSCHED_WORK_GRAPH)

static const struct probe {
	enum gs_launch_prog prog;
	const char *function;
	unsigned int what;
} probes[] = {
#define X(prog, function, what) { GS_LAUNCH_##prog, function, what },
	PROBES(X)
#undef X
};
#define NPROBES GS_COUNT(probes)
_Static_assert(NPROBES <= GS_MAX_PROBES, "more probes than a library has room for");

/* ---- what the kernel can --------------------------------------------------------------------- */

/* From Linux 6.6; the headers that we are built with need not have it. */
#define ATTACH_UPROBE_MULTI 48
#define UPROBE_MULTI_RETURN 1u

struct multi_attr {
	uint32_t prog_fd, target_fd, attach_type, flags;
	uint64_t path, offsets, ref_ctr_offsets, cookies;
	uint32_t n, uprobe_flags, pid, pad;
};

static int multi_link(int prog_fd, bool ret, const char *path, const uint64_t *offsets,
		      const uint64_t *cookies, size_t n)
{
	struct multi_attr attr = {
		.prog_fd = (uint32_t)prog_fd,
		.attach_type = ATTACH_UPROBE_MULTI,
		.path = (uint64_t)(uintptr_t)path,
		.offsets = (uint64_t)(uintptr_t)offsets,
		.cookies = (uint64_t)(uintptr_t)cookies,
		.n = (uint32_t)n,
		.uprobe_flags = ret ? UPROBE_MULTI_RETURN : 0,
	};
	long fd = syscall(__NR_bpf, BPF_LINK_CREATE, &attr, sizeof(attr));

	return fd < 0 ? -errno : (int)fd;
}

static bool multi_works;

/* A folder is no library: EBADF from kernels that got as far as looking at it. */
static void probe_multi(void)
{
	/* r0 = 0; exit */
	static const struct bpf_insn prog[] = { { .code = 0xb7 }, { .code = 0x95 } };
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .expected_attach_type = ATTACH_UPROBE_MULTI);
	const char *wish = getenv("GPUSCHED_UPROBES");
	CLEANUP_FD int prog_fd = -1;
	uint64_t zero = 0;
	int r;

	if (wish && !strcmp(wish, "single"))
		return;
	prog_fd =
		bpf_prog_load(BPF_PROG_TYPE_KPROBE, "gs_probe", "GPL", prog, GS_COUNT(prog), &opts);
	if (prog_fd < 0)
		return;
	r = multi_link(prog_fd, false, "/", &zero, NULL, 1);
	multi_works = r == -EBADF;
	if (r >= 0)
		close(r);
}

int gs_launch_attach_type(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, probe_multi);
	return multi_works ? ATTACH_UPROBE_MULTI : 0;
}

/* ---- loading --------------------------------------------------------------------------------- */

static int load_quietly(struct gs_table *t, struct launch_bpf *skel)
{
	int type = gs_launch_attach_type();
	struct bpf_map *map;
	uint32_t session = 0;

	while (!session)
		if (getrandom(&session, sizeof(session), 0) < 0)
			return -errno;
	skel->rodata->gs_session = session;
	if (type) {
		bpf_program__set_expected_attach_type(skel->progs.made, type);
		bpf_program__set_expected_attach_type(skel->progs.context, type);
		bpf_program__set_expected_attach_type(skel->progs.launch, type);
	}
	bpf_object__for_each_map(map, skel->obj) {
		int fd = gs_table_map_fd(t, bpf_map__name(map));
		int r = fd >= 0 ? bpf_map__reuse_fd(map, fd) : 0;

		if (r)
			return r;
	}
	return launch_bpf__load(skel);
}

int gs_launch_load(struct gs_table *t, struct launch_bpf **ret, struct gs_error *err)
{
	struct launch_bpf *skel;
	char said[256];
	int r;

	gs_hush_begin(said, sizeof(said));
	skel = launch_bpf__open();
	r = skel ? load_quietly(t, skel) : -errno;
	gs_hush_end();
	if (r) {
		launch_bpf__destroy(skel);
		return gs_fail(err, r == -EPERM ? r : -ENOTSUP,
			       "the kernel refused the launch probes (%s): %s", strerror(-r),
			       gs_hush_first(said, "no reason given"));
	}
	*ret = skel;
	return 0;
}

/* ---- attaching ------------------------------------------------------------------------------- */

static struct bpf_program *program(const struct launch_bpf *skel, enum gs_launch_prog prog)
{
	return prog == GS_LAUNCH_MADE      ? skel->progs.made
	       : prog == GS_LAUNCH_CONTEXT ? skel->progs.context
					   : skel->progs.launch;
}

struct target {
	char path[32]; /* of the very file that was looked into: a name could be another's by now */
	uint32_t lib;
	uint64_t at[NPROBES]; /* file offsets; 0: not in this library */
};

/* Where the functions are. Return probes take the offset of the entry's; an alias comes once. */
static int find_functions(struct target *t, int fd)
{
	const char *names[NPROBES];
	uint64_t at[NPROBES];
	size_t n = 0;
	int r;

	for (size_t i = 0; i < NPROBES; i++)
		if (probes[i].prog != GS_LAUNCH_MADE)
			names[n++] = probes[i].function;
	r = gs_elf_offsets(fd, names, n, at);
	for (size_t i = 0; i < NPROBES && !r; i++)
		for (size_t k = 0; k < n; k++)
			if (!strcmp(names[k], probes[i].function))
				t->at[i] = at[k];
	return r;
}

static int attach_multi(struct gs_probes *p, const struct launch_bpf *skel, const struct target *t,
			enum gs_launch_prog prog)
{
	uint64_t offsets[NPROBES], cookies[NPROBES];
	size_t n = 0;
	int fd;

	for (size_t i = 0; i < NPROBES; i++) {
		if (probes[i].prog != prog || !t->at[i])
			continue;
		offsets[n] = t->at[i];
		cookies[n++] = GS_COOKIE(t->lib, probes[i].what);
	}
	if (!n)
		return 0;
	fd = multi_link(bpf_program__fd(program(skel, prog)), prog == GS_LAUNCH_MADE, t->path,
			offsets, cookies, n);
	if (fd < 0)
		return fd;
	p->multi[prog] = fd;
	p->n += (unsigned int)n;
	return 0;
}

static int attach_singles(struct gs_probes *p, const struct launch_bpf *skel,
			  const struct target *t)
{
	for (size_t i = 0; i < NPROBES; i++) {
		LIBBPF_OPTS(bpf_uprobe_opts, opts, .retprobe = probes[i].prog == GS_LAUNCH_MADE,
			    .bpf_cookie = GS_COOKIE(t->lib, probes[i].what));

		if (!t->at[i])
			continue;
		p->single[p->n] = bpf_program__attach_uprobe_opts(program(skel, probes[i].prog), -1,
								  t->path, t->at[i], &opts);
		if (!p->single[p->n])
			return -errno;
		p->n++;
	}
	return 0;
}

int gs_probes_attach(struct gs_probes *p, struct launch_bpf *skel, uint32_t lib, int fd, char *said,
		     size_t size)
{
	struct target t = { .lib = lib };
	int r;

	snprintf(t.path, sizeof(t.path), "/proc/self/fd/%d", fd);
	*p = (struct gs_probes){ .multi = { -1, -1, -1 } };
	*said = '\0';
	r = find_functions(&t, fd);
	if (r)
		return r;
	gs_hush_begin(said, size);
	if (gs_launch_attach_type())
		for (int i = 0; i < GS_LAUNCH_PROGS && !r; i++)
			r = attach_multi(p, skel, &t, (enum gs_launch_prog)i);
	else
		r = attach_singles(p, skel, &t);
	gs_hush_end();
	if (!r && !p->n)
		r = -ENOEXEC;
	if (r)
		gs_probes_detach(p);
	return r;
}

void gs_probes_detach(struct gs_probes *p)
{
	/* backwards: launches first */
	for (size_t i = GS_LAUNCH_PROGS; i-- > 0;)
		if (p->n && p->multi[i] >= 0)
			close(p->multi[i]);
	for (size_t i = GS_MAX_PROBES; i-- > 0;)
		bpf_link__destroy(p->single[i]);
	*p = (struct gs_probes){ .multi = { -1, -1, -1 } };
}

size_t gs_probes_fds(const struct gs_probes *p, int *fds)
{
	size_t n = 0;

	for (size_t i = 0; i < GS_LAUNCH_PROGS; i++)
		if (p->n && p->multi[i] >= 0)
			fds[n++] = p->multi[i];
	for (size_t i = 0; i < GS_MAX_PROBES; i++)
		if (p->single[i])
			fds[n++] = bpf_link__fd(p->single[i]);
	return n;
}
