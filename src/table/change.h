/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * change.h - defines data that user space and the taps' programs exchange, in addition to abi.h
 *
 * Private to the table and taps rooms.
 */
#ifndef GPUSCHED_TABLE_CHANGE_H
#define GPUSCHED_TABLE_CHANGE_H

#include "gpusched/abi.h"

#define GS_MAX_PLACES \
	GPUSCHED_ROOM_PLACES  /* entries of gs_devices, gs_clients, gs_files, gs_past */
#define GS_MAX_PROCS 65536    /* size of gs_procs */
#define GS_MAX_USERS 65536    /* size of gs_users */
#define GS_NOBODY 0xffffffffu /* stands for users without an entry in gs_users */

/* One record that the task_file iterator returns: a descriptor of a process. */
struct gs_holder_rec {
	gs_u64 file;
	gs_u64 start_ns;
	gs_u32 pid;
	gs_u32 fd;
	gs_u32 uid;
	gs_u32 control; /* 1: nvidiactl; 0: a GPU's file */
	char comm[GPUSCHED_COMM_LEN];
};
_Static_assert(sizeof(struct gs_holder_rec) == 48, "gs_holder_rec");

/* Operations of change_table. Each comment names the members of gs_table_arg that it uses. */
enum gs_table_op {
	/* key; rec. The record gets a new id, and the class of its process. */
	GS_TABLE_INSERT = 1,
	GS_TABLE_TAKE, /* key; rec. The record keeps its id and class. */
	/* for the sweep: key; id. Afterwards id holds the record's flags from before the claim. */
	GS_TABLE_CLAIM,
	GS_TABLE_REMOVE,  /* key; the caller has claimed the record, or no program has */
	GS_TABLE_CHANNEL, /* key of the TSG; channel */
	/* key; device; id: start time of its owner (also for CLIENT and FILE) */
	GS_TABLE_DEVICE,
	GS_TABLE_CLIENT,        /* key; client */
	GS_TABLE_FILE,          /* key.file; file */
	GS_TABLE_FORGET_DEVICE, /* key; made */
	GS_TABLE_FORGET_CLIENT, /* key; made */
	GS_TABLE_FORGET_FILE,   /* key.file; made */
	GS_TABLE_FORGET_PAST,   /* key; made */
	GS_TABLE_LET,           /* id: pid of the process that the gate lets pass */
	GS_TABLE_HOLDER,        /* key.file; made; file: holder, sweep: GS_SWEEP_* */
	/*
	 * key.file; the result is 1 if the file has references. It is 0 if it has none or is
	 * unknown.
	 */
	GS_TABLE_FILE_LIVES,
	/*
	 * These set one field of gs_cfg to id: writing all of gs_cfg would undo the taps' id
	 * counter.
	 */
	GS_CFG_HEARTBEAT,
	GS_CFG_DEFAULT_CLASS,
	GS_CFG_POLICY_ACTIVE,
	GS_CFG_MAX_TSGS,
	GS_CFG_GATE,
	GS_CFG_EPOCH, /* adds one; id is not used */
	GS_CFG_NEWCOMERS,
	GS_CFG_NEWCOMERS_UNTIL,
};
#define GS_SWEEP_DONE 0u
#define GS_SWEEP_WANTED 1u
/* leaves the request as it is, since a tap may have asked for a sweep concurrently */
#define GS_SWEEP_KEEP 2u

struct gs_table_head {
	gs_u32 op; /* enum gs_table_op */
	gs_s32 ret;
	gs_u64 id; /* meaning depends on op */
	struct gpusched_key key;
	struct gpusched_channel channel;
	struct gpusched_device device;
	struct gpusched_client client;
	struct gpusched_file file;
	gs_u32 made; /* origin.made of the entry to change */
	gs_u32 pad;
};
struct gs_table_arg {
	struct gs_table_head head;
	struct gpusched_tsg rec;
};

/* Argument of change_proc. The counts in @proc are ignored: only the taps change them. */
struct gs_proc_arg {
	gs_u32 tgid;
	gs_s32 ret;
	struct gpusched_proc proc;
};

#endif /* GPUSCHED_TABLE_CHANGE_H */
