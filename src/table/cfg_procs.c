// SPDX-License-Identifier: MIT
/* cfg_procs.c - changes configuration, processes and classes of the taps */
#include <bpf/bpf.h>
#include <string.h>

#include "basic/cleanup.h"
#include "table/bpffs.h"
#include "table/priv.h"
#include "process/process.h"
#include "process/reader.h"
#include "table/cfg.h"
#include "table/classes.h"
#include "table/procs.h"

static int set_cfg(struct gs_table *t, enum gs_table_op op, uint64_t value)
{
	struct gs_table_arg arg = { .head = { .op = op, .id = value } };

	return gs_table_change(t, &arg);
}

int gs_cfg_heartbeat(struct gs_table *t, uint64_t ns)
{
	return set_cfg(t, GS_CFG_HEARTBEAT, ns);
}

int gs_cfg_default_class(struct gs_table *t, uint32_t class_id)
{
	if (class_id >= GPUSCHED_MAX_CLASSES)
		return -ERANGE;
	return set_cfg(t, GS_CFG_DEFAULT_CLASS, class_id);
}

/*
 * When no policy is active any more, also removes its pinned maps. Otherwise they would be taken
 * for the next policy's.
 */
int gs_cfg_policy_active(struct gs_table *t, bool active)
{
	char dir[GS_PINS_PATH];

	gs_bpffs_policy_pins(dir);
	if (!active)
		gs_bpffs_remove(dir);
	return set_cfg(t, GS_CFG_POLICY_ACTIVE, active);
}

int gs_cfg_max_tsgs(struct gs_table *t, uint32_t max)
{
	return set_cfg(t, GS_CFG_MAX_TSGS, max);
}

int gs_cfg_next_epoch(struct gs_table *t)
{
	return set_cfg(t, GS_CFG_EPOCH, 0);
}

int gs_cfg_gate(struct gs_table *t, bool on)
{
	return set_cfg(t, GS_CFG_GATE, on);
}

int gs_cfg_newcomers(struct gs_table *t, uint64_t started_ns, uint64_t until_ns)
{
	int r = until_ns ? set_cfg(t, GS_CFG_NEWCOMERS, started_ns) : 0;

	return r ? r : set_cfg(t, GS_CFG_NEWCOMERS_UNTIL, until_ns);
}

int gs_cfg_gpus(struct gs_table *t, const struct gs_gpu *gpus, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		uint32_t value = gpus[i].index + 1;

		if (bpf_map_update_elem(t->fd[GS_PIN_gs_gpus], &gpus[i].dev_instance, &value,
					BPF_ANY))
			return -errno;
	}
	return 0;
}

int gs_cfg_self_add(struct gs_table *t, pid_t tgid)
{
	uint32_t key = tgid, one = 1;

	return bpf_map_update_elem(t->fd[GS_PIN_gs_selves], &key, &one, BPF_ANY) ? -errno : 0;
}

int gs_cfg_self_del(struct gs_table *t, pid_t tgid)
{
	uint32_t key = tgid;

	return bpf_map_delete_elem(t->fd[GS_PIN_gs_selves], &key) ? -errno : 0;
}

/* ---- processes ------------------------------------------------------------------------------- */

int gs_proc_get(struct gs_table *t, pid_t tgid, struct gpusched_proc *ret)
{
	uint32_t key = tgid;

	return bpf_map_lookup_elem(t->fd[GS_PIN_gs_procs], &key, ret) ? -errno : 0;
}

/* Ignores the counts in @proc, which only the taps change. */
int gs_proc_set(struct gs_table *t, pid_t tgid, const struct gpusched_proc *proc)
{
	struct gs_proc_arg arg = { .tgid = tgid, .proc = *proc };
	int r = gs_table_run_prog(t->fd[GS_PIN_change_proc], &arg, sizeof(arg));

	return r < 0 ? r : arg.ret;
}

int gs_proc_del(struct gs_table *t, pid_t tgid)
{
	uint32_t key = tgid;

	return bpf_map_delete_elem(t->fd[GS_PIN_gs_procs], &key) ? -errno : 0;
}

/*
 * True if the process has ended. If the process reader has no answer in time, asks sources that
 * never block, but notice an end a moment later.
 */
static bool is_dead(pid_t pid, uint64_t start_ns)
{
	struct gs_program now;
	int r = gs_reader_program(pid, &now);

	if (!r)
		return !now.life || !gs_process_same(now.start_ns, start_ns);
	return r == -ESRCH || !gs_process_has_memory(pid);
}

bool gs_proc_forget_dead(struct gs_table *t, pid_t pid, uint64_t start_ns)
{
	if (!is_dead(pid, start_ns))
		return false; /* the process lives, so the taps will see its end */
	gs_proc_del(t, pid);
	return true;
}

static int renumber(struct gs_table *t, uint32_t tgid, struct gpusched_proc *proc, uint32_t to)
{
	int r;

	proc->class_id = to;
	if (!to) {
		proc->source = GPUSCHED_SRC_DEFAULT;
		proc->weight = 0;
	}
	r = gs_proc_set(t, (pid_t)tgid, proc);
	return r == -ENOENT ? 0 : r; /* -ENOENT: the process has just ended */
}

/* The caller frees the two arrays, also on failure. */
static int read_all(struct gs_table *t, uint32_t **ret_tgids, struct gpusched_proc **ret,
		    uint32_t *ret_n)
{
	uint32_t at = 0;
	int r;

	*ret_n = GS_MAX_PROCS;
	*ret = malloc(GS_MAX_PROCS * sizeof(**ret));
	*ret_tgids = malloc(GS_MAX_PROCS * sizeof(**ret_tgids));
	if (!*ret || !*ret_tgids)
		return -ENOMEM;
	r = bpf_map_lookup_batch(t->fd[GS_PIN_gs_procs], NULL, &at, *ret_tgids, *ret, ret_n, NULL);
	return r == -ENOENT ? 0 : r;
}

static int by_entries(const void *a, const void *b)
{
	uint32_t x = ((const struct gs_proc_size *)a)->entries;
	uint32_t y = ((const struct gs_proc_size *)b)->entries;

	return (x < y) - (x > y);
}

size_t gs_procs_largest(struct gs_table *t, struct gs_proc_size *ret, size_t n)
{
	CLEANUP_FREE struct gs_proc_size *sizes = NULL;
	CLEANUP_FREE struct gpusched_proc *procs = NULL;
	CLEANUP_FREE uint32_t *tgids = NULL;
	uint32_t all;

	if (read_all(t, &tgids, &procs, &all))
		return 0;
	sizes = calloc(all + 1, sizeof(*sizes));
	if (!sizes)
		return 0;
	for (uint32_t i = 0; i < all; i++)
		sizes[i] = (struct gs_proc_size){ (pid_t)tgids[i], procs[i].start_ns,
						  procs[i].tsgs + procs[i].devices };
	qsort(sizes, all, sizeof(*sizes), by_entries);
	n = n < all ? n : all;
	memcpy(ret, sizes, n * sizeof(*sizes));
	return n;
}

/* Reads all entries before it changes any, so that no entry is renumbered twice. */
int gs_procs_renumber(struct gs_table *t, const uint32_t to[GPUSCHED_MAX_CLASSES])
{
	CLEANUP_FREE struct gpusched_proc *procs = NULL;
	CLEANUP_FREE uint32_t *tgids = NULL;
	uint32_t n;
	int r = read_all(t, &tgids, &procs, &n);

	for (uint32_t i = 0; !r && i < n; i++) {
		uint32_t old = procs[i].class_id;

		if (procs[i].source >= GPUSCHED_SRC_COMMAND && old < GPUSCHED_MAX_CLASSES &&
		    to[old] != old)
			r = renumber(t, tgids[i], &procs[i], to[old]);
	}
	return r;
}

int gs_procs_classed(struct gs_table *t, pid_t **ret, size_t *ret_n)
{
	CLEANUP_FREE struct gpusched_proc *procs = NULL;
	CLEANUP_FREE uint32_t *tgids = NULL;
	uint32_t n;
	int r = read_all(t, &tgids, &procs, &n);

	if (r)
		return r;
	*ret = calloc(n + 1, sizeof(**ret));
	if (!*ret)
		return -ENOMEM;
	*ret_n = 0;
	for (uint32_t i = 0; i < n; i++)
		if (procs[i].source >= GPUSCHED_SRC_COMMAND)
			(*ret)[(*ret_n)++] = (pid_t)tgids[i];
	return 0;
}

int gs_proc_unclass(struct gs_table *t, pid_t tgid)
{
	struct gpusched_proc proc;
	int r = gs_proc_get(t, tgid, &proc);

	if (r)
		return r;
	proc.limit_pct = proc.request_pct = 0;
	proc.limit_grant = proc.request_grant = 0;
	return renumber(t, (uint32_t)tgid, &proc, GPUSCHED_CLASS_NONE);
}

/* ---- classes --------------------------------------------------------------------------------- */

int gs_procs_class_get(struct gs_table *t, uint32_t id, struct gpusched_class *ret)
{
	if (id >= GPUSCHED_MAX_CLASSES)
		return -ERANGE;
	return bpf_map_lookup_elem(t->fd[GS_PIN_gs_classes], &id, ret) ? -errno : 0;
}

int gs_procs_class_set(struct gs_table *t, uint32_t id, const struct gpusched_class *cls)
{
	if (id >= GPUSCHED_MAX_CLASSES)
		return -ERANGE;
	return bpf_map_update_elem(t->fd[GS_PIN_gs_classes], &id, cls, BPF_ANY) ? -errno : 0;
}
