/* SPDX-License-Identifier: MIT */
/*
 * observe.h - the taps and the TSG table that they fill
 *
 * The taps are BPF programs on the exit of ioctl (and on fork, exec and exit) whose links, programs
 * and maps are pinned under gs_env()->bpffs: they go on while no daemon runs, and a restarted
 * daemon has lost nothing. Root only (CAP_BPF, CAP_PERFMON, CAP_SYS_ADMIN for the pins).
 */
#ifndef GPUSCHED_OBSERVE_OBSERVE_H
#define GPUSCHED_OBSERVE_OBSERVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "basic/error.h"
#include "gpusched/abi.h"
#include "rm/rm.h"

/* ---- the taps -------------------------------------------------------------------------------- */

/*
 * Loads, pins, attaches; registers simulated files of the instance (gs_env()->sim: DIR/simfiles).
 * Already on: 0, nothing changes. -EPERM, -ENOTSUP (no BPF, no BTF, with the reason), -ENOENT (no
 * bpffs: says how to mount it). On failure nothing stays pinned.
 */
int gs_observe_on(struct gs_error *err);
/* Detaches and unpins everything; 0 when it was off. */
int gs_observe_off(struct gs_error *err);

struct gs_observe_status {
	bool on;
	bool complete; /* every expected pin is there */
	bool gate;     /* is loaded */
	unsigned int tsgs, procs;
	uint64_t counters[GPUSCHED_CNT_MAX];
};
int gs_observe_status(struct gs_observe_status *ret, struct gs_error *err);

/* ---- an open table --------------------------------------------------------------------------- */

struct gs_observe;
/* -ENOENT when the taps are off. */
int gs_observe_open(struct gs_observe **ret, struct gs_error *err);
void gs_observe_close(struct gs_observe *o);
/* For linking policies: descriptor of the pinned map or program by its name in abi.h; -ENOENT. */
int gs_observe_map_fd(const struct gs_observe *o, const char *name);

int gs_table_get(struct gs_observe *o, const struct gpusched_key *key, struct gpusched_tsg *ret);
/* Walk: *key all zero starts; -ENOENT at the end. Records that vanish meanwhile are skipped. */
int gs_table_next(struct gs_observe *o, struct gpusched_key *inout_key, struct gpusched_tsg *ret);
/* No TSG and no device, client or file: nothing for a sweep to find. */
bool gs_table_is_empty(struct gs_observe *o);
/* All records at once, free() the array. */
int gs_table_all(struct gs_observe *o, struct gpusched_tsg **ret, size_t *ret_n);
int gs_table_channels(struct gs_observe *o, const struct gpusched_key *key,
		      struct gpusched_channels *ret);
/* Changes the fields named in poke->what in place. -ESTALE: the id is another by now; -ENOENT. */
int gs_table_poke(struct gs_observe *o, struct gpusched_poke *poke);
/* Adoption only; -EEXIST when the taps were faster. Gives the record its id. */
int gs_table_insert(struct gs_observe *o, struct gpusched_tsg *inout_rec,
		    const struct gpusched_channels *ch);
int gs_table_remove(struct gs_observe *o, const struct gpusched_key *key);

int gs_cfg_get(struct gs_observe *o, struct gpusched_cfg *ret);
/* Heartbeat of the daemon (now); 0 clears. */
int gs_cfg_heartbeat(struct gs_observe *o, uint64_t ns);
int gs_cfg_default_class(struct gs_observe *o, uint32_t class_id);
int gs_cfg_policy_active(struct gs_observe *o, bool active);
/* Tells the taps the GPUs' indexes, so that a new TSG's is known at once. Done by `on` as well. */
int gs_cfg_gpus(struct gs_observe *o, const struct gs_gpu *gpus, size_t n);
/* Most TSGs that one process may have in the table (default 1024); 0: no limit. */
int gs_cfg_max_tsgs(struct gs_observe *o, uint32_t max);
/* Our own processes, whose calls do not count as the owner's wish. */
int gs_self_add(struct gs_observe *o, pid_t tgid);
int gs_self_del(struct gs_observe *o, pid_t tgid);

int gs_proc_get(struct gs_observe *o, pid_t tgid, struct gpusched_proc *ret);
/* -ENOENT: not a command's class, and the process has ended or never met the driver. */
int gs_proc_set(struct gs_observe *o, pid_t tgid, const struct gpusched_proc *proc);
int gs_proc_del(struct gs_observe *o, pid_t tgid);
/*
 * After user space made an entry: nobody would take it out if the process that started then had
 * ended before. true: it had, and the entry is gone.
 */
bool gs_proc_forget_dead(struct gs_observe *o, pid_t pid, uint64_t start_ns);
/*
 * Does it run an installed MPS server or control daemon? By its executable, which must be that file
 * here as well, below folders that root alone writes: whoever can choose a name can't choose that.
 */
bool gs_proc_is_mps(pid_t pid);
/*
 * The classes' ids are others now: @to[old] is the new one, GPUSCHED_CLASS_NONE: there is no such
 * class any more. For classes that commands gave; the others are found anew. Before gs_class_set().
 */
int gs_procs_renumber(struct gs_observe *o, const uint32_t to[GPUSCHED_MAX_CLASSES]);
int gs_class_get(struct gs_observe *o, uint32_t id, struct gpusched_class *ret);
int gs_class_set(struct gs_observe *o, uint32_t id, const struct gpusched_class *cls);

/* ---- the gate -------------------------------------------------------------------------------- */

/*
 * A BPF LSM program on ioctl, loaded by gs_observe_on() where the kernel lets it: it keeps a TSG off
 * the runlist by stopping the process that is about to schedule it.
 */
/* 0: this kernel runs such programs. -EPERM, -ENOTSUP with the reason. Changes nothing. */
int gs_gate_probe(struct gs_error *err);
/* It is loaded, by the `on` that made the table. */
bool gs_gate_there(void);
/* The same, and the running policy may use it (gs_cfg_gate). */
bool gs_gate_used(struct gs_observe *o);
/* false: everything passes it, and holds suspend. */
int gs_cfg_gate(struct gs_observe *o, bool on);

/* Its owner's call to schedule it has not reached the driver: there is nothing to suspend. */
static inline bool gs_at_gate(const struct gpusched_tsg *rec)
{
	return (rec->flags & (GPUSCHED_TSG_GATED | GPUSCHED_TSG_SCHEDULED)) == GPUSCHED_TSG_GATED;
}

struct gs_released {
	unsigned int continued; /* processes that were sent SIGCONT */
	unsigned int left;      /* stopped by somebody else as well: left to them */
	unsigned int gone;
};
/*
 * Lets those go on whom the gate stopped and whose TSG nobody holds any more; @all: everybody,
 * whose TSG is taken as admitted. ret may be NULL.
 */
int gs_gate_release(struct gs_observe *o, bool all, struct gs_released *ret);

/* ---- events ---------------------------------------------------------------------------------- */

/* One reader at a time (the daemon, or a command that holds the instance's lock). */
typedef void (*gs_event_fn)(const struct gpusched_event *ev, void *user);
int gs_events_open(struct gs_observe *o, gs_event_fn fn, void *user, struct gs_error *err);
int gs_events_fd(const struct gs_observe *o); /* readable when there are events */
/*
 * Calls fn for each; how many, or -errno. Not for all at once: who makes events faster than they are
 * handled would hold the caller up for ever. 0: there are none.
 */
int gs_events_dispatch(struct gs_observe *o);
/* How many events found no room since the taps are on. */
int gs_events_lost(struct gs_observe *o, uint64_t *ret);
/* Event names from abi.h's table; NULL out of range. */
const char *gs_event_name(unsigned int type);
const char *gs_event_text(unsigned int type);

/* ---- who holds NVIDIA files; adoption; the sweep --------------------------------------------- */

/* One descriptor of one process on an NVIDIA control file (task_file iterator). */
struct gs_holder {
	uint64_t file; /* as in gpusched_key */
	uint64_t start_ns;
	pid_t pid;
	int fd;
	uid_t uid;
	bool control; /* nvidiactl, not one GPU's own file */
	char comm[GPUSCHED_COMM_LEN];
};
/* By file and process, one descriptor for each of these: the lowest. */
int gs_holders_read(struct gs_observe *o, struct gs_holder **ret, size_t *ret_n,
		    struct gs_error *err);

struct gs_adopted {
	unsigned int processes, files, clients, tsgs, failed;
};
/*
 * Finds the TSGs of processes that were running before the taps, by asking RM on borrowed
 * descriptors, and inserts them marked ADOPTED with their assumed settings.
 * Bar: 1 s for 50 processes.
 */
int gs_adopt(struct gs_observe *o, const struct gs_gpu *gpus, size_t ngpus, struct gs_adopted *ret,
	     struct gs_error *err);

/*
 * Ends records whose open file has no holder any more, and moves records whose owner closed its
 * descriptor to another holder. fn (may be NULL) is called for each ended record before removal.
 */
int gs_sweep(struct gs_observe *o, void (*fn)(const struct gpusched_tsg *rec, void *user),
	     void *user, struct gs_error *err);

#endif /* GPUSCHED_OBSERVE_OBSERVE_H */
