/* SPDX-License-Identifier: MIT */
/*
 * table.h - the TSG table: records in pinned maps, and the events of those who fill it
 *
 * The taps are BPF programs on the exit of ioctl (and on fork, exec and exit) whose links, programs
 * and maps are pinned under gs_env()->bpffs: they go on while no daemon runs, and a restarted
 * daemon has lost nothing. Root only (CAP_BPF, CAP_PERFMON, CAP_SYS_ADMIN for the pins).
 */
#ifndef GPUSCHED_TABLE_TABLE_H
#define GPUSCHED_TABLE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "basic/error.h"
#include "gpusched/abi.h"
#include "rm/rm.h"

/* ---- an open table --------------------------------------------------------------------------- */

struct gs_table;
/* -ENOENT when the taps are off. */
int gs_table_open(struct gs_table **ret, struct gs_error *err);
void gs_table_close(struct gs_table *o);
/* For linking policies: descriptor of the pinned map or program by its name in abi.h; -ENOENT. */
int gs_table_map_fd(const struct gs_table *o, const char *name);

int gs_table_get(struct gs_table *o, const struct gpusched_key *key, struct gpusched_tsg *ret);
/* Walk: *key all zero starts; -ENOENT at the end. Records that vanish meanwhile are skipped. */
int gs_table_next(struct gs_table *o, struct gpusched_key *inout_key, struct gpusched_tsg *ret);
/* No TSG and no device, client or file: nothing for a sweep to find. */
bool gs_table_is_empty(struct gs_table *o);
/* All records at once, free() the array. */
int gs_table_all(struct gs_table *o, struct gpusched_tsg **ret, size_t *ret_n);
int gs_table_channels(struct gs_table *o, const struct gpusched_key *key,
		      struct gpusched_channels *ret);
/* Its owner's call to schedule it has not reached the driver: there is nothing to suspend. */
static inline bool gs_at_gate(const struct gpusched_tsg *rec)
{
	return (rec->flags & (GPUSCHED_TSG_GATED | GPUSCHED_TSG_SCHEDULED)) == GPUSCHED_TSG_GATED;
}

/* Changes the fields named in poke->what in place. -ESTALE: the id is another by now; -ENOENT. */
int gs_table_poke(struct gs_table *o, struct gpusched_poke *poke);
/* Adoption only; -EEXIST when the taps were faster. Gives the record its id. */
int gs_table_insert(struct gs_table *o, struct gpusched_tsg *inout_rec,
		    const struct gpusched_channels *ch);
int gs_table_remove(struct gs_table *o, const struct gpusched_key *key);

int gs_cfg_get(struct gs_table *o, struct gpusched_cfg *ret);
/* Heartbeat of the daemon (now); 0 clears. */
int gs_cfg_heartbeat(struct gs_table *o, uint64_t ns);
int gs_cfg_default_class(struct gs_table *o, uint32_t class_id);
int gs_cfg_policy_active(struct gs_table *o, bool active);
/* Tells the taps the GPUs' indexes, so that a new TSG's is known at once. Done by `on` as well. */
int gs_cfg_gpus(struct gs_table *o, const struct gs_gpu *gpus, size_t n);
/* Most TSGs that one process may have in the table (default 1024); 0: no limit. */
int gs_cfg_max_tsgs(struct gs_table *o, uint32_t max);
/* false: everything passes the gate, and holds suspend. */
int gs_cfg_gate(struct gs_table *o, bool on);
/* Our own processes, whose calls do not count as the owner's wish. */
int gs_self_add(struct gs_table *o, pid_t tgid);
int gs_self_del(struct gs_table *o, pid_t tgid);

int gs_proc_get(struct gs_table *o, pid_t tgid, struct gpusched_proc *ret);
/* -ENOENT: not a command's class, and the process has ended or never met the driver. */
int gs_proc_set(struct gs_table *o, pid_t tgid, const struct gpusched_proc *proc);
int gs_proc_del(struct gs_table *o, pid_t tgid);
/*
 * After user space made an entry: nobody would take it out if the process that started then had
 * ended before. true: it had, and the entry is gone.
 */
bool gs_proc_forget_dead(struct gs_table *o, pid_t pid, uint64_t start_ns);
/*
 * The classes' ids are others now: @to[old] is the new one, GPUSCHED_CLASS_NONE: there is no such
 * class any more. For classes that commands gave; the others are found anew. Before gs_class_set().
 */
int gs_procs_renumber(struct gs_table *o, const uint32_t to[GPUSCHED_MAX_CLASSES]);
int gs_class_get(struct gs_table *o, uint32_t id, struct gpusched_class *ret);
int gs_class_set(struct gs_table *o, uint32_t id, const struct gpusched_class *cls);

/* ---- events ---------------------------------------------------------------------------------- */

/* One reader at a time (the daemon, or a command that holds the instance's lock). */
typedef void (*gs_event_fn)(const struct gpusched_event *ev, void *user);
int gs_events_open(struct gs_table *o, gs_event_fn fn, void *user, struct gs_error *err);
int gs_events_fd(const struct gs_table *o); /* readable when there are events */
/*
 * Calls fn for each; how many, or -errno. Not for all at once: who makes events faster than they are
 * handled would hold the caller up for ever. 0: there are none.
 */
int gs_events_dispatch(struct gs_table *o);
/* How many events found no room since the taps are on. */
int gs_events_lost(struct gs_table *o, uint64_t *ret);
/* Event names from abi.h's table; NULL out of range. */
const char *gs_event_name(unsigned int type);
const char *gs_event_text(unsigned int type);

#endif /* GPUSCHED_TABLE_TABLE_H */
