/* SPDX-License-Identifier: MIT */
/*
 * taps.h - the BPF programs that fill the table, adoption, and the sweep
 *
 * The taps are BPF programs on the exit of ioctl (and on fork, exec and exit). Their links,
 * programs and maps are pinned under gs_env()->bpffs. So they go on while no daemon runs, and a
 * restarted daemon has lost nothing. Root only (CAP_BPF, CAP_PERFMON, CAP_SYS_ADMIN for the pins).
 */
#ifndef GPUSCHED_TAPS_TAPS_H
#define GPUSCHED_TAPS_TAPS_H

#include "rm/rm.h"
#include "table/table.h"

/*
 * Loads, pins and attaches the taps. Registers the simulated files of the instance, if any
 * (gs_env()->sim: DIR/simfiles). Returns 0 without change if the taps are on already. On failure
 * nothing stays pinned. -ESTALE: an older version is on; -EUCLEAN: pins are missing; -EPERM;
 * -ENOTSUP with the reason (no BPF, no BTF); -ENOENT: no bpffs (the text says how to mount it).
 */
int gs_taps_on(struct gs_error *err);
/*
 * Replaces an older version's taps, after gs_taps_on() returned -ESTALE. Takes over the records,
 * settings and suspensions. The caller holds the instance's lock. -EUCLEAN: the records cannot be
 * taken over; the older version stays, but without its gate and its policy.
 */
int gs_taps_upgrade(struct gs_error *err);
/* Detaches and unpins everything that is there; 0 if the taps were off. */
int gs_taps_off(struct gs_error *err);

struct gs_taps_status {
	bool on;
	unsigned int version; /* version of the pinned table; 0: unknown */
	bool complete;        /* every expected pin is there, with this version */
	bool gate;            /* the gate is loaded */
	unsigned int tsgs, procs;
	uint64_t counters[GPUSCHED_CNT_MAX];
};
int gs_taps_status(struct gs_taps_status *ret, struct gs_error *err);

/*
 * True if this kernel can tell whether an open file still has references when no process holds it.
 */
bool gs_taps_see_references(void);

/* ---- holders of NVIDIA files; adoption; the sweep -------------------------------------------- */

/* One descriptor of one process on an NVIDIA control file (task_file iterator). */
struct gs_holder {
	uint64_t file; /* as in gpusched_key */
	uint64_t start_ns;
	pid_t pid;
	int fd;
	uid_t uid;
	bool control; /* nvidiactl, not one GPU's file */
	char comm[GPUSCHED_COMM_LEN];
};
/*
 * Reads all holders, sorted by file and process. Each pair occurs once, with its lowest descriptor.
 */
int gs_holders_read(struct gs_table *t, struct gs_holder **ret, size_t *ret_n,
		    struct gs_error *err);
/*
 * The descriptor of an open file (as in gpusched_key) in a process; -EBADF: the process does not
 * have it. Used as gs_rm_tsg.find, with a struct gs_table. Asks the kernel once, whatever the
 * number of descriptors.
 */
int gs_holders_find_fd(void *table, pid_t pid, uint64_t file);

struct gs_adopted {
	unsigned int processes, files, clients, tsgs;
	unsigned int failed; /* files, clients and TSGs that could not be read or entered */
	/* files that were not read to the end, since their user used up its turns */
	unsigned int left;
};
/* Called for a TSG that was adopted just now. */
typedef void (*gs_adopted_fn)(const struct gpusched_tsg *rec, void *user);
/*
 * Asks RM, on borrowed descriptors, for the TSGs that existed before the taps. Inserts them, marked
 * ADOPTED, with assumed settings. Users take turns, file by file. A file that cannot be borrowed is
 * tried again later. fn (may be NULL) is called for each TSG. Goal: 1 s for 50 processes.
 */
struct gs_adoption;
int gs_adoption_new(struct gs_table *t, const struct gs_gpu *gpus, size_t ngpus, gs_adopted_fn fn,
		    void *user, struct gs_adoption **ret, struct gs_error *err);
/* Works until @until_ns, or some milliseconds longer. Any thread may call it, but one at a time. */
void gs_adoption_step(struct gs_adoption *a, uint64_t until_ns);
/* When to call the step again, CLOCK_MONOTONIC; 0: at once; UINT64_MAX: adoption is over. */
uint64_t gs_adoption_due(const struct gs_adoption *a);
const struct gs_adopted *gs_adoption_sum(const struct gs_adoption *a);
/* Calls @fn for each user that has files which were not read to the end, with their number. */
typedef void (*gs_adoption_left_fn)(uid_t uid, unsigned int files, void *user);
void gs_adoption_each_left(const struct gs_adoption *a, gs_adoption_left_fn fn, void *user);
void gs_adoption_free(struct gs_adoption *a);

/*
 * Adopts the TSGs of one client, which @key names and process @pid uses. -ENOENT: the process has
 * closed the file.
 */
int gs_adopt_orphan(struct gs_table *t, const struct gs_gpu *gpus, size_t ngpus, pid_t pid,
		    const struct gpusched_key *key, gs_adopted_fn fn, void *user,
		    struct gs_adopted *ret, struct gs_error *err);

/*
 * Ends the records of closed files. Marks records if no process holds their file. Moves a record
 * to the oldest holder of its file if the owner has closed it. fn (may be NULL) is called for each
 * ended record before removal. Returns how many have ended.
 */
int gs_sweep(struct gs_table *t, void (*fn)(const struct gpusched_tsg *rec, void *user), void *user,
	     struct gs_error *err);
/*
 * Ends the record of a TSG that RM no longer has. -errno: a tap or a sweep is ending the record
 * already.
 */
int gs_sweep_one(struct gs_table *t, const struct gpusched_tsg *rec,
		 void (*fn)(const struct gpusched_tsg *rec, void *user), void *user);
/* The first part of a sweep, which may take long. Any thread may call it, but one at a time. */
struct gs_sweep;
int gs_sweep_new(struct gs_table *t, struct gs_sweep **ret);
int gs_sweep_look(struct gs_sweep *s, struct gs_error *err);
/* The second part: ends records until @until_ns. Returns false if some are left. */
bool gs_sweep_end(struct gs_sweep *s, uint64_t until_ns,
		  void (*fn)(const struct gpusched_tsg *rec, void *user), void *user);
void gs_sweep_free(struct gs_sweep *s);

#endif /* GPUSCHED_TAPS_TAPS_H */
