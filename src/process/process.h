/* SPDX-License-Identifier: MIT */
/*
 * process.h - facts about a pid: start time, life, user, parent
 *
 * Reads /proc. Files that may make their reader wait are read by forks instead (reader.h).
 */
#ifndef GPUSCHED_PROCESS_PROCESS_H
#define GPUSCHED_PROCESS_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "gpusched/abi.h"

/*
 * start_boottime of a process in ns (from /proc/PID/stat, clock-tick resolution); 0: it is gone.
 * Waits for the lock of the process's execve(): the loop and the workers use gs_started()
 * (table/started.h).
 */
uint64_t gs_proc_start_ns(pid_t pid);
/* Equal up to the clock-tick resolution of /proc. */
bool gs_start_same(uint64_t a_ns, uint64_t b_ns);
/* True if the process has a thread that is not exiting. Waits for the lock of its execve(), too. */
bool gs_proc_has_life(pid_t pid);
/* The real uid of the process; its name. -ESRCH. */
int gs_process_uid(pid_t pid, uid_t *ret);
int gs_process_comm(pid_t pid, char ret[GPUSCHED_COMM_LEN]);
/*
 * Ids of a process. Reading them takes none of the process's locks. An id is 0 if it does not exist
 * in our namespace. -ESRCH: the process is gone.
 */
struct gs_process_ids {
	uid_t uid; /* real */
	pid_t parent, group, session;
	char comm[GPUSCHED_COMM_LEN];
};
int gs_process_ids(pid_t pid, struct gs_process_ids *ret);
/*
 * True if a thread still has the process's memory: a thread gives it up as it ends. Takes no lock.
 */
bool gs_process_has_memory(pid_t pid);
/* 0: the process is gone, or its parent is not in our namespace. Takes none of its locks. */
pid_t gs_process_parent(pid_t pid);

struct gs_hidepid {
	bool on; /* users outside the group do not see others' processes */
	bool has_gid;
	gid_t gid;
};
/*
 * Tells how /proc is mounted here. If that is unknown: processes are hidden, and no group may see
 * them.
 */
void gs_hidepid(struct gs_hidepid *ret);

/* ---- private to the room and to borrowing ---------------------------------------------------- */

/* Reads /proc/PID/stat: the state's letter and the start. Returns false if the process is gone. */
bool gs_proc_stat(pid_t pid, char *ret_state, uint64_t *ret_start_ns);

/* In mps.c: finds the answer for gs_reader_mps(). Called in a reader, since it may have to wait. */
bool gs_mps_read(pid_t pid);

#endif /* GPUSCHED_PROCESS_PROCESS_H */
