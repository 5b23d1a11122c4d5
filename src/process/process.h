/* SPDX-License-Identifier: MIT */
/*
 * process.h - what a pid is: start time, life, user, parent
 *
 * Reads /proc. The forks of reader.h read what may make its reader wait.
 */
#ifndef GPUSCHED_PROCESS_PROCESS_H
#define GPUSCHED_PROCESS_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "gpusched/abi.h"

/*
 * start_boottime of a process in ns (from /proc/PID/stat, clock-tick resolution); 0 if gone. Waits
 * for the lock of its execve(): the loop and the workers ask gs_started() (table/started.h).
 */
uint64_t gs_proc_start_ns(pid_t pid);
/* Equal up to the clock-tick resolution of /proc. */
bool gs_start_same(uint64_t a_ns, uint64_t b_ns);
/* Has it a thread that is not exiting? Waits as well. */
bool gs_proc_has_life(pid_t pid);
/* Its real uid, its name; -ESRCH. */
int gs_process_uid(pid_t pid, uid_t *ret);
int gs_process_comm(pid_t pid, char ret[GPUSCHED_COMM_LEN]);
/* Waits for none of its locks; 0 where it has none here. -ESRCH: it is gone. */
struct gs_process_ids {
	uid_t uid; /* real */
	pid_t parent, group, session;
	char comm[GPUSCHED_COMM_LEN];
};
int gs_process_ids(pid_t pid, struct gs_process_ids *ret);
/* Has it a thread that has not let go of its memory, as it does at its end? Waits for no lock. */
bool gs_process_has_memory(pid_t pid);
/* 0: it is gone, or has none here. Waits for none of its locks. */
pid_t gs_process_parent(pid_t pid);

struct gs_hidepid {
	bool on; /* users outside its group do not see others' processes */
	bool has_gid;
	gid_t gid;
};
/* How /proc is mounted here. On, and nobody's, when that cannot be told. */
void gs_hidepid(struct gs_hidepid *ret);

/* ---- private to the room and to borrowing ---------------------------------------------------- */

/* /proc/PID/stat: the state's letter and the start. false: gone. */
bool gs_proc_stat(pid_t pid, char *ret_state, uint64_t *ret_start_ns);

/* mps.c: the answer to gs_reader_mps(), by a reader, which may have to wait. */
bool gs_mps_read(pid_t pid);

#endif /* GPUSCHED_PROCESS_PROCESS_H */
