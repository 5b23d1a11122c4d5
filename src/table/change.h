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
	/* Key and rec; the id comes from the counter, the class from its process. */
	GS_TABLE_INSERT = 1,
	GS_TABLE_TAKE,          /* key and rec with its own id and class */
	GS_TABLE_CLAIM,         /* for the sweep: key and id; id becomes the flags from before */
	GS_TABLE_REMOVE,        /* key; claimed, or claimed by nobody */
	GS_TABLE_CHANNEL,       /* key of the TSG; channel */
	GS_TABLE_DEVICE,        /* key; device; id: start of its owner. Also for the next ones. */
	GS_TABLE_CLIENT,        /* key; client */
	GS_TABLE_FILE,          /* key.file; file */
	GS_TABLE_FORGET_DEVICE, /* key; made */
	GS_TABLE_FORGET_CLIENT, /* key; made */
	GS_TABLE_FORGET_FILE,   /* key.file; made */
	GS_TABLE_FORGET_PAST,   /* key; made */
	GS_TABLE_LET,           /* id: the process that no longer waits at the gate */
	GS_TABLE_HOLDER,        /* key.file; made; file: holder, sweep: GS_SWEEP_* */
	GS_TABLE_FILE_LIVES,    /* key.file: 1 something refers to it; 0 nothing does, or unknown */
	/*
	 * Fields of gs_cfg with id as the value: writing all of it would undo the taps' id counter.
	 */
	GS_CFG_HEARTBEAT,
	GS_CFG_DEFAULT_CLASS,
	GS_CFG_POLICY_ACTIVE,
	GS_CFG_MAX_TSGS,
	GS_CFG_GATE,
	GS_CFG_EPOCH, /* one more; no value */
	GS_CFG_NEWCOMERS,
	GS_CFG_NEWCOMERS_UNTIL,
};
#define GS_SWEEP_DONE 0u
#define GS_SWEEP_WANTED 1u
#define GS_SWEEP_KEEP 2u /* a tap may have asked for a sweep meanwhile */

struct gs_table_head {
	gs_u32 op; /* enum gs_table_op */
	gs_s32 ret;
	gs_u64 id; /* depends on op */
	struct gpusched_key key;
	struct gpusched_channel channel;
	struct gpusched_device device;
	struct gpusched_client client;
	struct gpusched_file file;
	gs_u32 made; /* of the entry that is meant */
	gs_u32 pad;
};
struct gs_table_arg {
	struct gs_table_head head;
	struct gpusched_tsg rec;
};

/* Argument of change_proc: all fields but tsgs, which only the taps change. */
struct gs_proc_arg {
	gs_u32 tgid;
	gs_s32 ret;
	struct gpusched_proc proc;
};

#endif /* GPUSCHED_TABLE_CHANGE_H */
