/* SPDX-License-Identifier: MIT */
/*
 * klog.h - writes the kernel's log of a simulated world, where the driver reports errors
 *
 * The log is the file "kmsg" of the world's directory, with one record in each line.
 */
#ifndef GPUSCHED_SIM_KLOG_H
#define GPUSCHED_SIM_KLOG_H

#include <stdint.h>
#include <sys/types.h>

struct sim_klog {
	int fd; /* -1: nothing is written */
	uint64_t records;
};

/* @mountpoint: the folder "dev" of the world. On failure nothing is written later. */
void sim_klog_open(struct sim_klog *k, const char *mountpoint);
void sim_klog_close(struct sim_klog *k);
/* Writes one record, as the kernel would for a message of the driver. */
void sim_klog(struct sim_klog *k, const char *format, ...) __attribute__((format(printf, 2, 3)));
/*
 * Writes an Xid in the form of recent branches. @pid 0: unknown. @text: what follows the name, such
 * as "Ch 00000008, errorString CTX SWITCH TIMEOUT"; may be "".
 */
void sim_klog_xid(struct sim_klog *k, unsigned int gpu, unsigned int xid, pid_t pid,
		  const char *name, const char *text);
/*
 * For tests: writes what @line asks for: "XID GPU PID [NAME]", or "! TEXT" for a record with any
 * text. Returns 0 or -EINVAL.
 */
int sim_klog_asked(struct sim_klog *k, const char *line);

#endif /* GPUSCHED_SIM_KLOG_H */
