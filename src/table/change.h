/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * change.h - data that user space and the taps' programs exchange beside abi.h; private to this
 * room
 */
#ifndef GPUSCHED_TABLE_CHANGE_H
#define GPUSCHED_TABLE_CHANGE_H

#include "gpusched/abi.h"

#define GS_MAX_PLACES \
	GPUSCHED_ROOM_PLACES  /* entries of gs_devices, gs_clients, gs_files, gs_past */
#define GS_MAX_PROCS 65536    /* size of gs_procs */
#define GS_MAX_USERS 65536    /* size of gs_users */
#define GS_NOBODY 0xffffffffu /* the user of a process without an entry */

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
	/* key; rec, with an id from the counter and the class of its process */
	GS_TABLE_INSERT = 1,
	GS_TABLE_TAKE, /* key and rec with its own id and class */
	/* for the sweep: key, id; the id becomes the flags that the record had */
	GS_TABLE_CLAIM,
	GS_TABLE_REMOVE,        /* key; the caller has claimed the record, or nobody has */
	GS_TABLE_CHANNEL,       /* key of the TSG; channel */
	GS_TABLE_DEVICE,        /* key; device; id: start of its owner. Also for CLIENT and FILE. */
	GS_TABLE_CLIENT,        /* key; client */
	GS_TABLE_FILE,          /* key.file; file */
	GS_TABLE_FORGET_DEVICE, /* key; made */
	GS_TABLE_FORGET_CLIENT, /* key; made */
	GS_TABLE_FORGET_FILE,   /* key.file; made */
	GS_TABLE_FORGET_PAST,   /* key; made */
	GS_TABLE_LET,           /* id: the process that the gate lets pass */
	GS_TABLE_HOLDER,        /* key.file; made; file: holder, sweep: GS_SWEEP_* */
	/*
	 * key.file; the result is 1 if something refers to the file, 0 if nothing does or it is
	 * unknown
	 */
	GS_TABLE_FILE_LIVES,
	/*
	 * These set a field of gs_cfg to id: writing all of gs_cfg would undo the taps' id counter.
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
/* leaves the field as it is, since a tap may have asked for a sweep meanwhile */
#define GS_SWEEP_KEEP 2u

struct gs_table_head {
	gs_u32 op; /* enum gs_table_op */
	gs_s32 ret;
	gs_u64 id; /* depends on op */
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

/* Argument of change_proc. The taps alone change the counts in it. */
struct gs_proc_arg {
	gs_u32 tgid;
	gs_s32 ret;
	struct gpusched_proc proc;
};

#endif /* GPUSCHED_TABLE_CHANGE_H */
