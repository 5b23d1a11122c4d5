// SPDX-License-Identifier: MIT
/* proc.c - configuration of the taps, processes and classes */
#include <bpf/bpf.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "basic/cleanup.h"
#include "observe/peek.h"
#include "observe/priv.h"
#include "observe/reader.h"

#define PF_EXITING 0x4u /* the kernel's, in /proc/PID/stat */

int gs_cfg_get(struct gs_observe *o, struct gpusched_cfg *ret)
{
	uint32_t zero = 0;

	return bpf_map_lookup_elem(o->fd[GS_PIN_gs_cfg], &zero, ret) ? -errno : 0;
}

static int set_cfg(struct gs_observe *o, enum gs_table_op op, uint64_t value)
{
	struct gs_table_arg arg = { .head = { .op = op, .id = value } };

	return gs_run_table(o, &arg);
}

int gs_cfg_heartbeat(struct gs_observe *o, uint64_t ns)
{
	return set_cfg(o, GS_CFG_HEARTBEAT, ns);
}

int gs_cfg_default_class(struct gs_observe *o, uint32_t class_id)
{
	if (class_id >= GPUSCHED_MAX_CLASSES)
		return -ERANGE;
	return set_cfg(o, GS_CFG_DEFAULT_CLASS, class_id);
}

int gs_cfg_policy_active(struct gs_observe *o, bool active)
{
	return set_cfg(o, GS_CFG_POLICY_ACTIVE, active);
}

int gs_cfg_max_tsgs(struct gs_observe *o, uint32_t max)
{
	return set_cfg(o, GS_CFG_MAX_TSGS, max);
}

int gs_cfg_gate(struct gs_observe *o, bool on)
{
	return set_cfg(o, GS_CFG_GATE, on);
}

int gs_cfg_gpus(struct gs_observe *o, const struct gs_gpu *gpus, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		uint32_t value = gpus[i].index + 1;

		if (bpf_map_update_elem(o->fd[GS_PIN_gs_gpus], &gpus[i].dev_instance, &value,
					BPF_ANY))
			return -errno;
	}
	return 0;
}

int gs_self_add(struct gs_observe *o, pid_t tgid)
{
	uint32_t key = tgid, one = 1;

	return bpf_map_update_elem(o->fd[GS_PIN_gs_selves], &key, &one, BPF_ANY) ? -errno : 0;
}

int gs_self_del(struct gs_observe *o, pid_t tgid)
{
	uint32_t key = tgid;

	return bpf_map_delete_elem(o->fd[GS_PIN_gs_selves], &key) ? -errno : 0;
}

/* ---- processes ------------------------------------------------------------------------------- */

int gs_proc_get(struct gs_observe *o, pid_t tgid, struct gpusched_proc *ret)
{
	uint32_t key = tgid;

	return bpf_map_lookup_elem(o->fd[GS_PIN_gs_procs], &key, ret) ? -errno : 0;
}

/* The count of TSGs is the taps' own and stays. */
int gs_proc_set(struct gs_observe *o, pid_t tgid, const struct gpusched_proc *proc)
{
	struct gs_proc_arg arg = { .tgid = tgid, .proc = *proc };
	int r = gs_prog_run(o->fd[GS_PIN_run_proc], &arg, sizeof(arg));

	return r < 0 ? r : arg.ret;
}

int gs_proc_del(struct gs_observe *o, pid_t tgid)
{
	uint32_t key = tgid;

	return bpf_map_delete_elem(o->fd[GS_PIN_gs_procs], &key) ? -errno : 0;
}

/* A thread that is not exiting yet has the end of its process before it, which the tap will see. */
static bool is_exiting(const char *stat)
{
	const char *rest = strrchr(stat, ')'); /* the name may hold anything */
	unsigned int flags = PF_EXITING;

	return !rest || sscanf(rest, ") %*c %*d %*d %*d %*d %*d %u", &flags) != 1 ||
	       flags & PF_EXITING;
}

static bool has_life(pid_t pid)
{
	char path[64], line[512];
	CLEANUP_DIR DIR *d = NULL;
	struct dirent *e;
	bool life = false;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	d = opendir(path);
	while (d && !life && (e = readdir(d))) {
		CLEANUP_FILE FILE *f = NULL;

		snprintf(path, sizeof(path), "/proc/%d/task/%.20s/stat", (int)pid, e->d_name);
		f = e->d_name[0] != '.' ? fopen(path, "re") : NULL;
		life = f && fgets(line, sizeof(line), f) && !is_exiting(line);
	}
	return life;
}

bool gs_proc_forget_dead(struct gs_observe *o, pid_t pid, uint64_t start_ns)
{
	if (has_life(pid) && gs_start_same(gs_proc_start_ns(pid), start_ns))
		return false;
	gs_proc_del(o, pid);
	return true;
}

static bool is_roots(const struct statx *st)
{
	return !st->stx_uid && !(st->stx_mode & (S_IWGRP | S_IWOTH));
}

/* The file and all folders above it. From the top, so that nothing is looked up in a user's FUSE. */
static bool is_roots_all_down(const char *path, struct statx *ret_file)
{
	CLEANUP_FD int at = gs_peek(AT_FDCWD, "/", 0, ret_file);
	char part[NAME_MAX + 1];
	uint64_t mount = 0;
	size_t n;

	while (at >= 0 && is_roots(ret_file)) {
		int next;

		if (ret_file->stx_mnt_id != mount && !gs_peek_is_ours(ret_file))
			return false;
		mount = ret_file->stx_mnt_id;
		path += strspn(path, "/");
		n = strcspn(path, "/");
		if (!n)
			return true;
		if (n >= sizeof(part))
			return false;
		snprintf(part, sizeof(part), "%.*s", (int)n, path);
		path += n;
		next = gs_peek(at, part, O_NOFOLLOW, ret_file);
		close(at);
		at = next;
	}
	return false;
}

static bool is_same(const struct statx *a, const struct statx *b)
{
	return a->stx_ino == b->stx_ino && a->stx_dev_major == b->stx_dev_major &&
	       a->stx_dev_minor == b->stx_dev_minor;
}

/* Who names its executable so may have it served by one who never answers. */
bool gs_proc_runs_mps(pid_t pid)
{
	char link[32], path[PATH_MAX];
	CLEANUP_FD int fd = -1;
	struct statx exe, here;
	const char *name;
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/%d/exe", (int)pid);
	n = readlink(link, path, sizeof(path) - 1);
	if (n <= 0 || path[0] != '/')
		return false;
	path[n] = 0;
	name = strrchr(path, '/') + 1;
	if (strcmp(name, "nvidia-cuda-mps-server") && strcmp(name, "nvidia-cuda-mps-control"))
		return false;
	/* the path is the process's own idea: another file may be mounted there for it */
	fd = gs_peek(AT_FDCWD, link, 0, &exe);
	return fd >= 0 && is_roots_all_down(path, &here) && is_same(&exe, &here);
}

bool gs_proc_is_mps(pid_t pid)
{
	struct gs_program program;

	return !gs_reader_program(pid, &program) && program.mps;
}

uint64_t gs_cgroup_of(pid_t pid)
{
	char path[64], line[512], dir[600];
	CLEANUP_FILE FILE *f = NULL;
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d/cgroup", (int)pid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f)) {
		if (strncmp(line, "0::", 3))
			continue;
		line[strcspn(line, "\n")] = 0;
		snprintf(dir, sizeof(dir), "/sys/fs/cgroup%s", line + 3);
		return stat(dir, &st) ? 0 : st.st_ino;
	}
	return 0;
}

static int renumber(struct gs_observe *o, uint32_t tgid, struct gpusched_proc *proc, uint32_t to)
{
	int r;

	proc->class_id = to;
	if (!to) {
		proc->source = GPUSCHED_SRC_DEFAULT;
		proc->weight = 0;
	}
	r = gs_proc_set(o, (pid_t)tgid, proc);
	return r == -ENOENT ? 0 : r; /* it has just ended */
}

/* All are read before the first is changed: none is met twice. */
int gs_procs_renumber(struct gs_observe *o, const uint32_t to[GPUSCHED_MAX_CLASSES])
{
	CLEANUP_FREE struct gpusched_proc *procs = malloc(GS_MAX_PROCS * sizeof(*procs));
	CLEANUP_FREE uint32_t *tgids = malloc(GS_MAX_PROCS * sizeof(*tgids));
	uint32_t at = 0, n = GS_MAX_PROCS;
	int r;

	if (!procs || !tgids)
		return -ENOMEM;
	r = bpf_map_lookup_batch(o->fd[GS_PIN_gs_procs], NULL, &at, tgids, procs, &n, NULL);
	if (r && r != -ENOENT)
		return r;
	r = 0;
	for (uint32_t i = 0; !r && i < n; i++) {
		uint32_t old = procs[i].class_id;

		if (procs[i].source == GPUSCHED_SRC_COMMAND && old < GPUSCHED_MAX_CLASSES &&
		    to[old] != old)
			r = renumber(o, tgids[i], &procs[i], to[old]);
	}
	return r;
}

/* ---- classes --------------------------------------------------------------------------------- */

int gs_class_get(struct gs_observe *o, uint32_t id, struct gpusched_class *ret)
{
	if (id >= GPUSCHED_MAX_CLASSES)
		return -ERANGE;
	return bpf_map_lookup_elem(o->fd[GS_PIN_gs_classes], &id, ret) ? -errno : 0;
}

int gs_class_set(struct gs_observe *o, uint32_t id, const struct gpusched_class *cls)
{
	if (id >= GPUSCHED_MAX_CLASSES)
		return -ERANGE;
	return bpf_map_update_elem(o->fd[GS_PIN_gs_classes], &id, cls, BPF_ANY) ? -errno : 0;
}
