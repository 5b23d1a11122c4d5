/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * change.h - what user space and the taps' programs exchange beside abi.h; private to this room
 */
#ifndef GPUSCHED_TABLE_CHANGE_H
#define GPUSCHED_TABLE_CHANGE_H

#include "gpusched/abi.h"

#define GS_MAX_DEVS 16384  /* entries of gs_devs */
#define GS_MAX_PROCS 65536 /* of gs_procs */

/*
 * Beside devices, gs_devs has two more kinds of entries:
 * - a client's (handle == hClient): dev_instance holds GS_CLIENT_* bits, h_subdevice the number of
 *   its TSGs, so that the free of a client without TSGs walks no table;
 * - an open file's (client and handle 0): dev_instance is the process that owns its records,
 *   h_subdevice 1 when some of them wait for the sweep, or are another process's. The kernel
 *   reuses the memory of closed files at once: an open that comes out at such an address ends what
 *   was there.
 */
#define GS_CLIENT_MIG 1u

/* One line of the task_file iterator. */
struct gs_holder_rec {
	gs_u64 file;
	gs_u64 start_ns;
	gs_u32 pid;
	gs_u32 fd;
	gs_u32 uid;
	gs_u32 control; /* 1: nvidiactl */
	char comm[GPUSCHED_COMM_LEN];
};
_Static_assert(sizeof(struct gs_holder_rec) == 48, "gs_holder_rec");

/* Argument of change_table. */
enum gs_table_op {
	GS_TABLE_INSERT = 1, /* key and rec, with an id from the counter */
	GS_TABLE_CLAIM,      /* the sweep's: key and id; id becomes the flags before */
	GS_TABLE_REMOVE,     /* key, claimed or nobody's */
	GS_TABLE_CHANNEL,    /* key of the TSG; channel handle and cid */
	GS_TABLE_DEVICE,     /* key of the device; dev, with its owner */
	GS_TABLE_FORGET,     /* key of an entry of gs_devs; dev.made */
	GS_TABLE_FILE,       /* key of a file's entry; dev: made, the process, GS_MARK_* */
	/* Fields of gs_cfg, id is the value: a whole new one would undo the taps' id counter. */
	GS_CFG_HEARTBEAT,
	GS_CFG_DEFAULT_CLASS,
	GS_CFG_POLICY_ACTIVE,
	GS_CFG_MAX_TSGS,
	GS_CFG_GATE,
};
#define GS_MARK_CLEAR 0u
#define GS_MARK_SET 1u
#define GS_MARK_KEEP 2u /* a tap may have set it meanwhile */

struct gs_table_head {
	gs_u32 op; /* enum gs_table_op */
	gs_s32 ret;
	gs_u64 id; /* INSERT: the new record's; DEVICE: start of its owner; CFG: value */
	struct gpusched_key key;
	struct gpusched_channel channel;
	struct gpusched_device dev;
};
struct gs_table_arg {
	struct gs_table_head head;
	struct gpusched_tsg rec;
};

/* Argument of change_proc: all but tsgs, which the taps keep. */
struct gs_proc_arg {
	gs_u32 tgid;
	gs_s32 ret;
	struct gpusched_proc proc;
};

#endif /* GPUSCHED_TABLE_CHANGE_H */
