// SPDX-License-Identifier: MIT
/*
 * launch_attach.c - lists the functions that are probed, and attaches the probes to one library
 *
 * From Linux 6.6 on, one link per program covers all functions of a library, and is attached in
 * tens of milliseconds. Older kernels need one perf event per function: about 1 ms each to attach
 * and 0.1 s each to detach, and attaching waits for detaching. All links are pinned; a kernel
 * thread detaches a link some time after its pin is removed.
 */
#include "launch/launch_attach.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
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
#include "launch/launch_find.h"
#include "launch/uprobes.h"

/*
 * The probes: program, function, kind (for the cookie). They are attached in this order, returns
 * first: if a probe sees the begin of a context's creation or of a wait, another sees the end too.
 * Launches come last, since they need the data that the other probes record.
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
	X(WAITED, "cuStreamSynchronize", 0) \
	X(WAITED, "cuStreamSynchronize_ptsz", 0) \
	X(WAITED, "cuEventSynchronize", 0) \
	X(WAITED, "cuCtxSynchronize", 0) \
	X(WAITED, "cuMemcpyDtoH_v2", 0) \
	X(WAITED, "cuMemcpyDtoH_v2_ptds", 0) \
	X(WAIT, "cuStreamSynchronize", 0) \
	X(WAIT, "cuStreamSynchronize_ptsz", 0) \
	X(WAIT, "cuEventSynchronize", 0) \
	X(WAIT, "cuCtxSynchronize", 0) \
	X(WAIT, "cuMemcpyDtoH_v2", 0) \
	X(WAIT, "cuMemcpyDtoH_v2_ptds", 0) \
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

/* ---- features of the kernel ------------------------------------------------------------------ */

static bool multi_works;

/* Tries to attach to a folder: only a kernel that has the attach type refuses that with EBADF. */
static void probe_multi(void)
{
	/* r0 = 0; exit */
	static const struct bpf_insn prog[] = { { .code = 0xb7 }, { .code = 0x95 } };
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .expected_attach_type = GS_UPROBE_MULTI);
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
	r = gs_uprobes_link(prog_fd, &(struct gs_uprobes){ .path = "/", .offsets = &zero, .n = 1 });
	multi_works = r == -EBADF;
	if (r >= 0)
		close(r);
}

int gs_launch_attach_type(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, probe_multi);
	return multi_works ? GS_UPROBE_MULTI : 0;
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
		bpf_program__set_expected_attach_type(skel->progs.waited, type);
		bpf_program__set_expected_attach_type(skel->progs.wait, type);
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

static int load_entries(int slots_fd, struct enter_bpf *skel)
{
	int type = gs_launch_attach_type();
	struct bpf_program *p;
	int r = 0;

	if (type)
		bpf_object__for_each_program(p, skel->obj)
			bpf_program__set_expected_attach_type(p, type);
	if (slots_fd >= 0)
		r = bpf_map__reuse_fd(skel->maps.gs_launch_slots, slots_fd);
	if (!r && bpf_map__max_entries(skel->maps.gs_launch_slots) != GS_LAUNCH_PROGS)
		r = -ESTALE; /* the slots of another version of gpusched */
	return r ? r : enter_bpf__load(skel);
}

static int refused(int r, char *said, struct gs_error *err)
{
	return gs_fail(err, r == -EPERM ? r : -ENOTSUP,
		       "the kernel refused the launch probes (%s): %s", strerror(-r),
		       gs_hush_first(said, "no reason given"));
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
		return refused(r, said, err);
	}
	*ret = skel;
	return 0;
}

int gs_launch_load_entries(int slots_fd, struct enter_bpf **ret, struct gs_error *err)
{
	struct enter_bpf *skel;
	char said[256];
	int r;

	gs_hush_begin(said, sizeof(said));
	skel = enter_bpf__open();
	r = skel ? load_entries(slots_fd, skel) : -errno;
	gs_hush_end();
	if (r) {
		enter_bpf__destroy(skel);
		return refused(r, said, err);
	}
	*ret = skel;
	return 0;
}

/* ---- attaching ------------------------------------------------------------------------------- */

static int program_fd(const struct enter_bpf *skel, enum gs_launch_prog prog)
{
	const struct bpf_program *const progs[GS_LAUNCH_PROGS] = {
		[GS_LAUNCH_MADE] = skel->progs.enter_made,
		[GS_LAUNCH_CONTEXT] = skel->progs.enter_context,
		[GS_LAUNCH_WAITED] = skel->progs.enter_waited,
		[GS_LAUNCH_WAIT] = skel->progs.enter_wait,
		[GS_LAUNCH_LAUNCH] = skel->progs.enter_launch,
	};

	return bpf_program__fd(progs[prog]);
}

/* True for programs that run at a function's return. */
static bool is_return(enum gs_launch_prog prog)
{
	return prog == GS_LAUNCH_MADE || prog == GS_LAUNCH_WAITED;
}

struct target {
	/* A /proc path to the file that was read: another file may have its name by now. */
	char path[32];
	const char *pins;
	uint32_t lib;
	uint64_t at[NPROBES]; /* file offsets; 0: the library lacks the function */
	unsigned int links;
};

/*
 * Finds the functions' offsets. A probe on a function's return has the same offset as one on its
 * call. A function with several names is probed once.
 */
static int find_functions(struct target *t, int fd)
{
	const char *names[NPROBES];
	uint64_t at[NPROBES];
	size_t n = 0;
	int r;

	for (size_t i = 0; i < NPROBES; i++)
		if (!is_return(probes[i].prog))
			names[n++] = probes[i].function;
	r = gs_launch_find_offsets(fd, names, n, at);
	for (size_t i = 0; i < NPROBES && !r; i++)
		for (size_t k = 0; k < n; k++)
			if (!strcmp(names[k], probes[i].function))
				t->at[i] = at[k];
	return r;
}

/* Pins @link (may be -errno) and closes it, since the pin keeps it alive. */
static int pin(struct target *t, int link)
{
	CLEANUP_FD int fd = link;
	char path[420];

	if (fd < 0)
		return fd;
	snprintf(path, sizeof(path), "%s/%u", t->pins, t->links++);
	return bpf_obj_pin(fd, path) ? -errno : 0;
}

static int attach_multi(struct target *t, const struct enter_bpf *skel, enum gs_launch_prog prog)
{
	uint64_t offsets[NPROBES], cookies[NPROBES];
	size_t n = 0;

	for (size_t i = 0; i < NPROBES; i++) {
		if (probes[i].prog != prog || !t->at[i])
			continue;
		offsets[n] = t->at[i];
		cookies[n++] = GS_COOKIE(t->lib, probes[i].what);
	}
	if (!n)
		return 0;
	return pin(t, gs_uprobes_link(program_fd(skel, prog),
				      &(struct gs_uprobes){ .path = t->path,
							    .offsets = offsets,
							    .cookies = cookies,
							    .n = n,
							    .ret = is_return(prog) }));
}

/* Reads a number by @format from file @name of the kernel's description of uprobe events. */
static int about_uprobes(const char *name, const char *format, unsigned int *ret)
{
	CLEANUP_FILE FILE *f = NULL;
	char path[96];

	snprintf(path, sizeof(path), "/sys/bus/event_source/devices/uprobe/%s", name);
	f = fopen(path, "re");
	if (!f && errno != ENOENT)
		return -errno;
	return f && fscanf(f, format, ret) == 1 ? 0 : -ENOTSUP;
}

/*
 * Attaches one probe. This does not use libbpf's links, since these disable their event when they
 * are closed, even if they are pinned.
 */
static int single_link(const struct target *t, int prog_fd, const struct probe *p, uint64_t at)
{
	struct perf_event_attr attr = { .size = sizeof(attr),
					.config1 = (uint64_t)(uintptr_t)t->path,
					.config2 = at };
	LIBBPF_OPTS(bpf_link_create_opts, opts,
		    .perf_event.bpf_cookie = GS_COOKIE(t->lib, p->what));
	unsigned int bit = 0;
	CLEANUP_FD int fd = -1;
	int r = about_uprobes("type", "%u", &attr.type);

	if (!r && is_return(p->prog))
		r = about_uprobes("format/retprobe", "config:%u", &bit);
	if (r)
		return r;
	attr.config = is_return(p->prog) ? 1ull << bit : 0;
	fd = (int)syscall(__NR_perf_event_open, &attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);
	return fd < 0 ? -errno : bpf_link_create(prog_fd, fd, BPF_PERF_EVENT, &opts);
}

static int attach_singles(struct target *t, const struct enter_bpf *skel)
{
	int r = 0;

	for (size_t i = 0; i < NPROBES && !r; i++)
		if (t->at[i])
			r = pin(t, single_link(t, program_fd(skel, probes[i].prog), &probes[i],
					       t->at[i]));
	return r;
}

int gs_probes_attach(const struct enter_bpf *skel, const char *pins, uint32_t lib, int fd)
{
	struct target t = { .lib = lib, .pins = pins };
	int n = 0, r;

	snprintf(t.path, sizeof(t.path), "/proc/self/fd/%d", fd);
	r = find_functions(&t, fd);
	for (size_t i = 0; i < NPROBES; i++)
		n += t.at[i] != 0;
	if (r || !n)
		return r ? r : -ENOEXEC;
	if (!gs_launch_attach_type())
		r = attach_singles(&t, skel);
	for (int i = 0; i < GS_LAUNCH_PROGS && !r && gs_launch_attach_type(); i++)
		r = attach_multi(&t, skel, (enum gs_launch_prog)i);
	return r ? r : n;
}
