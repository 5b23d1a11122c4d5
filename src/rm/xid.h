/* SPDX-License-Identifier: MIT */
/*
 * xid.h - reads the driver's reports of errors (Xids) and of lost GPUs from the kernel's log
 *
 * Pure. The form of these lines differs between branches, and ends in free text. So only the part
 * before the text is required. A program chooses its name, and the driver writes it after the pid;
 * so nothing that is read after the pid decides anything.
 */
#ifndef GPUSCHED_RM_XID_H
#define GPUSCHED_RM_XID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gs_xid {
	uint32_t number; /* 0: a report without a number, of a lost GPU */
	bool located;    /* the GPU's address is known */
	uint32_t domain, bus, device;
	uint32_t pid;     /* 0: unknown */
	char name[17];    /* the program's name; "": unknown */
	bool has_channel; /* @channel is known */
	uint32_t channel;
	bool reset; /* the GPU is lost, or needs a reset */
};

/* Xids with a meaning for gpusched. */
#define GS_XID_CTXSW_TIMEOUT 109u
#define GS_XID_RPC_TIMEOUT 119u

/* True for Xids that a program's own mistakes make: never a sign that gpusched did harm. */
bool gs_xid_is_own(uint32_t number);
/* True for Xids that a suspension, a preemption mode or a stuck switch may cause. */
bool gs_xid_is_ours(uint32_t number);

/*
 * Reads one record of /dev/kmsg. Returns false if it is no report of the driver. A record that a
 * process wrote into the log counts as none.
 */
bool gs_xid_read(const char *record, size_t n, struct gs_xid *ret);

#endif /* GPUSCHED_RM_XID_H */
