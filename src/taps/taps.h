/* SPDX-License-Identifier: MIT */
/*
 * taps.h - the BPF programs that fill the table, and what finds out what they cannot see
 *
 * The taps are BPF programs on the exit of ioctl (and on fork, exec and exit) with links, programs
 * and maps that are pinned under gs_env()->bpffs: they go on while no daemon runs, and a restarted
 * daemon has lost nothing. Root only (CAP_BPF, CAP_PERFMON, CAP_SYS_ADMIN for the pins).
 */
#ifndef GPUSCHED_TAPS_TAPS_H
#define GPUSCHED_TAPS_TAPS_H

#include "rm/rm.h"
#include "table/table.h"

/*
 * Loads, pins, attaches; registers simulated files of the instance (gs_env()->sim: DIR/simfiles).
 * Already on: 0, nothing changes. -ESTALE: an older version is; -EUCLEAN: pins are missing. -EPERM,
 * -ENOTSUP (no BPF, no BTF, with the reason), -ENOENT (no bpffs: says how to mount it). On failure
 * nothing stays pinned.
 */
int gs_taps_on(struct gs_error *err);
/*
 * When gs_taps_on() said -ESTALE, in place of the older version's: its records, settings and
 * suspensions are taken over. The caller holds the instance's lock. -EUCLEAN: they can't be: it is
 * there as before, but for its gate and its policy.
 */
int gs_taps_upgrade(struct gs_error *err);
/* Detaches and unpins everything, or what there is of it; 0 when it was off. */
int gs_taps_off(struct gs_error *err);

struct gs_taps_status {
	bool on;
	unsigned int version; /* of the pinned table; 0: not known */
	bool complete;        /* every expected pin is there, of this version */
	bool gate;            /* is loaded */
	unsigned int tsgs, procs;
	uint64_t counters[GPUSCHED_CNT_MAX];
};
int gs_taps_status(struct gs_taps_status *ret, struct gs_error *err);

/* Can this kernel tell whether something refers to an open file that no process holds? */
bool gs_taps_see_references(void);

/* ---- holders of NVIDIA files; adoption; the sweep -------------------------------------------- */

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
int gs_holders_read(struct gs_table *t, struct gs_holder **ret, size_t *ret_n,
		    struct gs_error *err);
/*
 * Number of an open file, as in gpusched_key, among a process's descriptors; -EBADF: it is not among
 * them. As gs_rm_tsg.find, with a struct gs_table. Asks the kernel, however many they are.
 */
int gs_find_fd(void *table, pid_t pid, uint64_t file);

struct gs_adopted {
	unsigned int processes, files, clients, tsgs;
	unsigned int failed; /* that could not be read */
	unsigned int left;   /* files not looked at to the end: their user has too many */
};
/* A TSG that was adopted just now. */
typedef void (*gs_adopted_fn)(const struct gpusched_tsg *rec, void *user);
/*
 * Finds the TSGs of processes that were running before the taps, by asking RM on borrowed
 * descriptors, and inserts them marked ADOPTED with their assumed settings. Users take turns, file by
 * file; what can't be had is tried again. fn (may be NULL) is called for each.
 * Bar: 1 s for 50 processes.
 */
struct gs_adoption;
int gs_adoption_new(struct gs_table *t, const struct gs_gpu *gpus, size_t ngpus, gs_adopted_fn fn,
		    void *user, struct gs_adoption **ret, struct gs_error *err);
/* In any thread, one at a time. Some milliseconds longer than @until_ns. */
void gs_adoption_step(struct gs_adoption *a, uint64_t until_ns);
/* When to go on, CLOCK_MONOTONIC; 0: at once; UINT64_MAX: it is over. */
uint64_t gs_adoption_due(const struct gs_adoption *a);
const struct gs_adopted *gs_adoption_sum(const struct gs_adoption *a);
/* Users with files that were not all looked at to the end, and how many of each. */
typedef void (*gs_adoption_left_fn)(uid_t uid, unsigned int files, void *user);
void gs_adoption_each_left(const struct gs_adoption *a, gs_adoption_left_fn fn, void *user);
void gs_adoption_free(struct gs_adoption *a);

/* One client alone: of process @pid, which uses @key there. -ENOENT: it has closed that file. */
int gs_adopt_orphan(struct gs_table *t, const struct gs_gpu *gpus, size_t ngpus, pid_t pid,
		    const struct gpusched_key *key, gs_adopted_fn fn, void *user,
		    struct gs_adopted *ret, struct gs_error *err);

/*
 * Ends records with a closed file, marks those with a file that no process holds, and moves records
 * to another holder when their owner closed its descriptor. fn (may be NULL) is called for each
 * ended record before removal. Returns how many have ended.
 */
int gs_sweep(struct gs_table *t, void (*fn)(const struct gpusched_tsg *rec, void *user), void *user,
	     struct gs_error *err);
/* Ends one record with a TSG that RM does not have any more. -errno: a tap or a sweep is at it. */
int gs_sweep_one(struct gs_table *t, const struct gpusched_tsg *rec,
		 void (*fn)(const struct gpusched_tsg *rec, void *user), void *user);
/* All in two parts: what takes long, in any thread, one at a time... */
struct gs_sweep;
int gs_sweep_new(struct gs_table *t, struct gs_sweep **ret);
int gs_sweep_look(struct gs_sweep *s, struct gs_error *err);
/* ... and the records that have ended. false: there are more; @until_ns has come. */
bool gs_sweep_end(struct gs_sweep *s, uint64_t until_ns,
		  void (*fn)(const struct gpusched_tsg *rec, void *user), void *user);
void gs_sweep_free(struct gs_sweep *s);

#endif /* GPUSCHED_TAPS_TAPS_H */
