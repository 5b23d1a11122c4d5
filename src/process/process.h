/* SPDX-License-Identifier: MIT */
/*
 * process.h - reads facts about a process from /proc: start time, life, user, parent
 *
 * Other files in /proc, which may block their reader for ever, are read through reader.h.
 */
#ifndef GPUSCHED_PROCESS_PROCESS_H
#define GPUSCHED_PROCESS_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "gpusched/abi.h"

/*
 * The start_boottime of a process in ns, from /proc/PID/stat, rounded to clock ticks; 0: the
 * process is gone. Waits for the process's execve() lock. So the event loop and the workers use
 * gs_started() instead (table/started.h).
 */
uint64_t gs_proc_start_ns(pid_t pid);
/* True if two start times are equal, up to the clock ticks to which /proc rounds. */
bool gs_process_same(uint64_t a_ns, uint64_t b_ns);
/*
 * The answer to: is it still the process that started then? If the answer is unknown, code that puts
 * something back goes on, and code that stops, parks or signals the process does not.
 */
enum gs_still { GS_STILL_YES, GS_STILL_NO, GS_STILL_UNKNOWN };
/*
 * The one rule for this. @err: of the look at the process with that pid; -ESRCH: there is none.
 * @now_ns: when that process started; @start_ns: when the one in question did; 0: not known.
 */
enum gs_still gs_process_still(int err, uint64_t now_ns, uint64_t start_ns);
/* True if the process has a thread that is not exiting. Waits for its execve() lock, too. */
bool gs_proc_has_life(pid_t pid);
/* Get the process's real uid, and its comm. -ESRCH: the process is gone. */
int gs_process_uid(pid_t pid, uid_t *ret);
/* True if the process has this effective or supplementary group. Waits for no lock of it. */
bool gs_process_in_group(pid_t pid, gid_t gid);
int gs_process_comm(pid_t pid, char ret[GPUSCHED_COMM_LEN]);
/*
 * Ids of a process; 0: not in our pid namespace. gs_process_ids() reads them without taking the
 * process's locks. -ESRCH: the process is gone.
 */
struct gs_process_ids {
	uid_t uid; /* real */
	pid_t parent, group, session;
	char comm[GPUSCHED_COMM_LEN];
};
int gs_process_ids(pid_t pid, struct gs_process_ids *ret);
/*
 * True if any thread still has the process's memory; each thread gives it up as it exits. Takes
 * none of the process's locks.
 */
bool gs_process_has_memory(pid_t pid);
/*
 * True if the process's main thread has ended, and another goes on. Takes none of the process's
 * locks.
 */
bool gs_process_is_leaderless(pid_t pid);
/*
 * The process's parent; 0: the process is gone, or its parent is not in our pid namespace. Takes
 * none of the process's locks.
 */
pid_t gs_process_parent(pid_t pid);

struct gs_hidepid {
	bool on;      /* users do not see other users' processes, unless they are in group @gid */
	bool has_gid; /* false: no group is exempt */
	gid_t gid;
};
/*
 * Reads the hidepid= and gid= options with which /proc is mounted here. If they cannot be read,
 * @ret says that processes are hidden, without a group that sees them.
 */
void gs_hidepid(struct gs_hidepid *ret);

/* ---- private to src/process and to rm/way_borrow.c ------------------------------------------- */

/* Reads the state's letter and the start time from /proc/PID/stat. -ESRCH: the process is gone. */
int gs_proc_stat(pid_t pid, char *ret_state, uint64_t *ret_start_ns);

/* In mps.c: implements gs_reader_mps(). Only readers call it, since it may block. */
bool gs_mps_read(pid_t pid);

#endif /* GPUSCHED_PROCESS_PROCESS_H */
