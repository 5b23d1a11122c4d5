/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * abi.h - defines the records that gpusched's BPF programs and user space share
 *
 * Every structure here is a value or a key of a pinned BPF map, or a ring-buffer record. BPF
 * programs, policies, the daemon and the library include this file, which needs only fixed-width
 * types. Static assertions check the layouts: moving a field is an ABI change.
 *
 * Units are in the names: _us microseconds, _ns nanoseconds (CLOCK_MONOTONIC unless said).
 */
#ifndef GPUSCHED_ABI_H
#define GPUSCHED_ABI_H

#if defined(__bpf__) || defined(__KERNEL__)
/* not vmlinux.h, so that the file does not depend on the build machine's kernel */
#include <linux/types.h>
typedef __u8 gs_u8;
typedef __u16 gs_u16;
typedef __u32 gs_u32;
typedef __u64 gs_u64;
typedef __s32 gs_s32;
typedef __s64 gs_s64;
#else
#include <stdint.h>
typedef uint8_t gs_u8;
typedef uint16_t gs_u16;
typedef uint32_t gs_u32;
typedef uint64_t gs_u64;
typedef int32_t gs_s32;
typedef int64_t gs_s64;
#endif

/* The version that policies are built against. It is raised when they must be rebuilt. */
#define GPUSCHED_ABI_VERSION 1u
/*
 * The version of the pinned maps and programs. It is raised when their layout or meaning changes.
 * The daemon converts a table of an older version when it starts.
 */
#define GPUSCHED_TABLE_VERSION 3u

#define GPUSCHED_COMM_LEN 16
#define GPUSCHED_CLASS_NAME_LEN 32
#define GPUSCHED_MAX_CLASSES 64
#define GPUSCHED_MAX_CHANNELS 128 /* most channels of one TSG (driver: cid[128] of 0x20801123) */
#define GPUSCHED_MAX_TSGS 16384
#define GPUSCHED_GPU_UNKNOWN 0xffffffffu
#define GPUSCHED_POLICY_WORDS 8

/* ---- settings of a TSG -------------------------------------------------------------------- */

/* Bits of gpusched_settings.valid: a field without its bit has no meaning. */
#define GPUSCHED_TIMESLICE (1u << 0)
#define GPUSCHED_INTERLEAVE (1u << 1)
#define GPUSCHED_PREEMPT_MODE (1u << 2)
#define GPUSCHED_RUNNABLE (1u << 3)
#define GPUSCHED_ALL_SETTINGS 0xfu
/*
 * Further bits, in gpusched_task.want.valid only: see gpusched_hold() and gpusched_yield().
 */
#define GPUSCHED_WANT_HOLD (1u << 4)
#define GPUSCHED_WANT_YIELD (1u << 5)
/* Two bits that count the calls of gpusched_preempt(): 1, 2, 3, 1 ...; 0: no call yet. */
#define GPUSCHED_WANT_PREEMPTS (3u << 6)
/* Two bits count the calls of gpusched_park() likewise; ten more have its time in minutes. */
#define GPUSCHED_WANT_PARKS (3u << 8)
#define GPUSCHED_WANT_PARK_SHIFT 10
#define GPUSCHED_PARK_MAX_MIN 1023u
#define GPUSCHED_WANT_PARK_MIN (GPUSCHED_PARK_MAX_MIN << GPUSCHED_WANT_PARK_SHIFT)
/* The host acts once when one of these bits changes. (Settings it keeps in force.) */
#define GPUSCHED_WANT_ONCE (GPUSCHED_WANT_PREEMPTS | GPUSCHED_WANT_PARKS | GPUSCHED_WANT_PARK_MIN)
#define GPUSCHED_ALL_WANTS \
	(GPUSCHED_ALL_SETTINGS | GPUSCHED_WANT_HOLD | GPUSCHED_WANT_YIELD | GPUSCHED_WANT_ONCE)

/*
 * gpusched_settings.hold in gpusched_task.want: seven bits have the hold's longest time in units of
 * GPUSCHED_HOLD_UNIT_US; each new hold flips the eighth.
 */
#define GPUSCHED_HOLD_UNIT_US 4000u
#define GPUSCHED_HOLD_UNITS 0x7fu
#define GPUSCHED_HOLD_FLIP 0x80u
#define GPUSCHED_HOLD_MAX_US 500000u

/*
 * gpusched_settings.hold in gpusched_task.is: the state of a TSG's hold. Each line has the symbol,
 * the name in output, and the text.
 */
#define GPUSCHED_HOLD_STATES(X) \
	X(NONE, "none", "no hold") \
	X(ON, "on", "best-effort TSGs of its runlist are suspended for its request") \
	X(HELD, "held", "it is suspended for another TSG's request") \
	X(OVER, "over", "its hold lasted as long as it may") \
	X(FLOOR, "floor", "no hold until best effort has had its floor") \
	X(BUDGET, "budget", "no hold while the budget for calls is under its half") \
	X(NOBODY, "nobody", "no TSG of its runlist would be suspended") \
	X(YIELDS, "yields", "no hold for a TSG that yields to others") \
	X(UNABLE, "unable", "it cannot be suspended whole: slices serve")

enum gpusched_hold_state {
#define X(sym, name, text) GPUSCHED_HOLD_##sym,
	GPUSCHED_HOLD_STATES(X)
#undef X
		GPUSCHED_HOLD_STATE_MAX
};

/* Interleave levels: how often the TSG appears in the runlist. */
#define GPUSCHED_INTERLEAVE_LOW 0u
#define GPUSCHED_INTERLEAVE_MEDIUM 1u
#define GPUSCHED_INTERLEAVE_HIGH 2u
#define GPUSCHED_INTERLEAVE_WORDS "low", "medium", "high"

/* Compute preemption modes (control 0x20801210). */
#define GPUSCHED_PREEMPT_WFI 0u
#define GPUSCHED_PREEMPT_CTA 1u
#define GPUSCHED_PREEMPT_CILP 2u
#define GPUSCHED_PREEMPT_WORDS "wfi", "cta", "cilp"

/* Range of timeslices, us: in trials the driver accepted 1 us to 100 s. */
#define GPUSCHED_TIMESLICE_MIN_US 1u
#define GPUSCHED_TIMESLICE_MAX_US 100000000u
/* The timeslice that CUDA sets on its compute TSG at the end of context creation. */
#define GPUSCHED_CUDA_TIMESLICE_US 2048u
/* The driver's default for a new TSG, which holds until CUDA sets its own (GV100 and later). */
#define GPUSCHED_DRIVER_TIMESLICE_US 1024u

/* Weights of processes and classes. */
#define GPUSCHED_WEIGHT_MIN 1u
#define GPUSCHED_WEIGHT_MAX 10000u

/* Limits on GPU time, percent of a GPU. */
#define GPUSCHED_LIMIT_MIN_PCT 1u
#define GPUSCHED_LIMIT_MAX_PCT 100u
#define GPUSCHED_REQUEST_MIN_PCT 1u
#define GPUSCHED_REQUEST_MAX_PCT 100u

struct gpusched_settings {
	gs_u32 valid; /* GPUSCHED_TIMESLICE | ... */
	gs_u32 timeslice_us;
	gs_u8 interleave;
	gs_u8 preempt_mode;
	gs_u8 runnable; /* 1 runnable, 0 suspended (all channels of the TSG are disabled) */
	union {
		/* in want: GPUSCHED_HOLD_UNITS and _FLIP; in is: enum gpusched_hold_state */
		gs_u8 hold;
		gs_u8 pad[5];
	};
};
_Static_assert(sizeof(struct gpusched_settings) == 16, "gpusched_settings");

/* ---- the part of a TSG's record that policies see ------------------------------------------- */

enum gpusched_kind {
	GPUSCHED_KIND_OTHER = 0,
	GPUSCHED_KIND_COMPUTE = 1, /* graphics/compute engine */
	GPUSCHED_KIND_COPY = 2,
};

/* Built-in class ids; the configuration's own classes follow. */
enum gpusched_class_id {
	GPUSCHED_CLASS_NONE = 0, /* no class: most policies leave such a TSG alone */
	GPUSCHED_CLASS_LC = 1,
	GPUSCHED_CLASS_BE = 2,
	GPUSCHED_CLASS_NORMAL = 3,
	GPUSCHED_CLASS_FIRST_USER = 4,
};

/* Bits of gpusched_task.known: which facts are known. An unset bit means "-", never 0. */
#define GPUSCHED_KNOWN_LAUNCHES (1u << 0)
#define GPUSCHED_KNOWN_GPU_TIME (1u << 1)
#define GPUSCHED_KNOWN_BLOCK_TIME (1u << 2)
#define GPUSCHED_KNOWN_LAST_RUN (1u << 3)
#define GPUSCHED_KNOWN_DEADLINE (1u << 4)
#define GPUSCHED_KNOWN_RATE (1u << 5)
/*
 * Unlike the bits above, this one belongs to no field. It is set if the table lacks the record or a
 * channel of one of the process's TSGs. It is also set if the process has used up its GPU time
 * budget (Budget= of the configuration).
 */
#define GPUSCHED_KNOWN_PAST_SHARE (1u << 6)

/*
 * struct gpusched_task - one TSG as a policy sees it. The policy gets a copy. The host reads only
 * @want and @priv back.
 */
struct gpusched_task {
	gs_u64 id;     /* never reused while the table lives */
	gs_u32 gpu;    /* index as nvidia-smi counts, or GPUSCHED_GPU_UNKNOWN */
	gs_u16 kind;   /* enum gpusched_kind */
	gs_u16 engine; /* the engine's type and its MIG partition: see gpusched_engine_in() */
	gs_u32 pid;    /* owner's process id in the initial pid namespace */
	gs_u32 uid;
	gs_u64 cgroup_id;
	gs_u32 class_id;    /* enum gpusched_class_id or a class of the configuration */
	gs_u32 weight;      /* 1..10000, default 100 */
	gs_u64 deadline_us; /* from a request's arrival; valid with GPUSCHED_KNOWN_DEADLINE */
	gs_u64 created_ns;
	gs_u32 known; /* GPUSCHED_KNOWN_* */
	/* Bits of the settings in @asked that are only the driver's defaults: no call was seen. */
	gs_u32 assumed;
	gs_u64 launches; /* number of launches since @launches_since_ns */
	gs_u64 launches_since_ns;
	gs_u64 last_launch_ns;
	gs_u64 launch_rate_mhz; /* launches per second x 1000, smoothed */
	gs_u64 gpu_time_ns;
	gs_u64 wait_time_ns;
	gs_u64 switches;
	gs_u64 last_run_ns;   /* when the TSG last had the GPU, or was seen to wait; 0: never */
	gs_u64 block_time_ns; /* typical thread-block length */
	struct gpusched_settings asked; /* settings that the owner asked for */
	struct gpusched_settings is;    /* settings that the driver last accepted */
	struct gpusched_settings want;  /* settings that the policy wants; where unset: @asked */
	gs_u64 priv[GPUSCHED_POLICY_WORDS]; /* private to the policy, zero at task_init */
	char comm[GPUSCHED_COMM_LEN];
};
_Static_assert(sizeof(struct gpusched_task) == 264, "gpusched_task");

/*
 * An engine of a GPU, as a number. The low byte is the engine's type (NV2080_ENGINE_TYPE_*: 1 is
 * GR0, 9 and above are copy engines). The high byte is the MIG partition, since each partition
 * numbers its engines from the first. A high byte of 0 means the whole GPU, or an unknown
 * partition.
 */
#define GPUSCHED_ENGINE_GR0 1u
#define GPUSCHED_MAX_GPU_INSTANCES 15u /* their ids: the driver's KMIGMGR_MAX_GPU_SWIZZID */
#define GPUSCHED_MAX_COMPUTE_INSTANCES 8u
#define GPUSCHED_NO_INSTANCE 0xffffffffu

#define GPUSCHED_OF_ENGINE static inline __attribute__((always_inline, unused))

GPUSCHED_OF_ENGINE gs_u32 gpusched_engine_type(gs_u16 engine)
{
	return engine & 0xffu;
}

/* Returns GPUSCHED_NO_INSTANCE if the engine is in no instance, or the instance is unknown. */
GPUSCHED_OF_ENGINE gs_u32 gpusched_gpu_instance(gs_u16 engine)
{
	return ((gs_u32)engine >> 12) - 1;
}

GPUSCHED_OF_ENGINE gs_u32 gpusched_compute_instance(gs_u16 engine)
{
	return ((gs_u32)engine >> 8 & 0xfu) - 1;
}

/*
 * Returns the number for an engine. An instance past the maximum, such as GPUSCHED_NO_INSTANCE,
 * counts as unknown.
 */
GPUSCHED_OF_ENGINE gs_u16 gpusched_engine_in(gs_u32 type, gs_u32 gpu_instance,
					     gs_u32 compute_instance)
{
	gs_u32 gi = gpu_instance < GPUSCHED_MAX_GPU_INSTANCES ? gpu_instance + 1 : 0;
	gs_u32 ci = compute_instance < GPUSCHED_MAX_COMPUTE_INSTANCES ? compute_instance + 1 : 0;

	return (gs_u16)(gi << 12 | ci << 8 | (type & 0xffu));
}

/*
 * Returns the map key for data about one runlist. TSGs on the same engine of the same partition of
 * a GPU share a runlist.
 */
GPUSCHED_OF_ENGINE gs_u32 gpusched_runlist_key(gs_u32 gpu, gs_u16 engine)
{
	return ((gs_u32)engine & 0xff00u) << 16 | (gpu & 0xffffu) << 8 | (engine & 0xffu);
}

/* Returns that key for the runlist of a TSG. */
GPUSCHED_OF_ENGINE gs_u32 gpusched_runlist(const struct gpusched_task *t)
{
	return gpusched_runlist_key(t->gpu, t->engine);
}

/* ---- the whole record: the host's part, and the part that policies see ---------------------- */

/*
 * The key of a TSG's record. Handles are unique only within an RM client, and clients only within
 * a driver instance. A process may make calls with another process's handles. The kernel address of
 * the open file is part of the key, so that such calls cannot change the other process's records.
 */
struct gpusched_key {
	gs_u64 file;   /* kernel address of the open nvidiactl file */
	gs_u32 client; /* hClient */
	gs_u32 handle; /* hTsg; in maps of other objects, their handle */
};
_Static_assert(sizeof(struct gpusched_key) == 16, "gpusched_key");

/* gpusched_tsg.flags */
#define GPUSCHED_TSG_SCHEDULED (1u << 0) /* its owner put it on the runlist */
#define GPUSCHED_TSG_ADOPTED (1u << 1)   /* found by a scan; its creation was not seen */
#define GPUSCHED_TSG_MPS (1u << 2)       /* of an MPS server: its clients share this TSG */
#define GPUSCHED_TSG_MIG (1u << 3)       /* on an engine of a MIG partition */
#define GPUSCHED_TSG_HELD (1u << 4)      /* waits until the policy admits it */
#define GPUSCHED_TSG_GONE (1u << 5)      /* its end was seen; the record is removed next */
/* a tap or a process tells the policy of the TSG's end, and then removes the record */
#define GPUSCHED_TSG_ENDING (1u << 6)
/* with ENDING: a user-space process does that, and may be killed before it is done */
#define GPUSCHED_TSG_SWEPT (1u << 7)
/* its owner is stopped at the gate (gs_stopped): the schedule call has not reached the driver */
#define GPUSCHED_TSG_GATED (1u << 8)
/*
 * its open file lives on in a socket message, a ring or a mapping, but no process has a descriptor
 * for that file: no call can reach the TSG
 */
#define GPUSCHED_TSG_IN_FLIGHT (1u << 9)
/* four bits, one for each setting of @manual: a user other than root made that setting */
#define GPUSCHED_TSG_USERS_SHIFT 10
#define GPUSCHED_TSG_USERS (GPUSCHED_ALL_SETTINGS << GPUSCHED_TSG_USERS_SHIFT)
/* bit 14 is unused, and may be set in the record of an older daemon */
/*
 * with MPS: the server's clients have channels in this TSG under other handles than the server's,
 * so no single call suspends the whole TSG
 */
#define GPUSCHED_TSG_SPREAD (1u << 15)
/* a second handle of an MPS server's TSG: after its settings are restored, the record is removed */
#define GPUSCHED_TSG_ALIAS (1u << 16)
/*
 * the TSG never had a channel, so nothing can run in it; the record may be removed to make room for
 * another one of its process
 */
#define GPUSCHED_TSG_EMPTY (1u << 17)
/* some of its channels are not in the table, so no call can suspend the whole TSG */
#define GPUSCHED_TSG_PARTIAL (1u << 18)
/* the record is being removed to make room: the process's quota no longer counts this record */
#define GPUSCHED_TSG_EVICTED (1u << 19)
/* a daemon suspended it or tried to, and no call that enables it has succeeded since */
#define GPUSCHED_TSG_ENABLE_DUE (1u << 20)
/* one of its channels has or had an object of a 3D class, so its program draws */
#define GPUSCHED_TSG_DRAWS (1u << 21)

/* The cause of a TSG's suspension (gpusched_tsg.suspend_by). */
enum gpusched_suspend_by {
	GPUSCHED_BY_NOBODY = 0,
	GPUSCHED_BY_POLICY = 1,
	GPUSCHED_BY_PERSON = 2,
	GPUSCHED_BY_ADMISSION = 3,
	GPUSCHED_BY_REQUEST = 4, /* a hold for another TSG's request: gpusched_hold() */
	GPUSCHED_BY_BUDGET = 5,  /* the GPU time budget of its user or cgroup is used up */
};

/*
 * A TSG's record. Only taps and the poke program write it, so that no writer overwrites another's
 * change.
 */
struct gpusched_tsg {
	struct gpusched_key key;
	/* start_boottime of the owner's thread group leader: shows if the pid was reused. */
	gs_u64 owner_start_ns;
	gs_u32 owner_fd; /* the owner's descriptor number for the file, when last seen */
	gs_u32 flags;    /* GPUSCHED_TSG_* */
	gs_u32 h_device;
	gs_u32 h_subdevice;  /* 0: none seen yet */
	gs_u32 dev_instance; /* RM device instance, or GPUSCHED_GPU_UNKNOWN */
	gs_u32 nchannels;
	gs_u32 changed;    /* bits of settings that gpusched has changed and not restored */
	gs_u32 suspend_by; /* enum gpusched_suspend_by */
	gs_u64 suspended_ns;
	gs_u64 suspend_until_ns;         /* 0: until a person resumes the TSG */
	gs_u32 errors;                   /* consecutive RM calls that failed */
	gs_u32 last_status;              /* RM status of the last failed call */
	struct gpusched_settings manual; /* a person's settings, which override the policy's */
	struct gpusched_task task;
	gs_u32 charged_uid; /* the user whose quota counts this record */
	gs_u32 pad;
};
_Static_assert(sizeof(struct gpusched_tsg) == 368, "gpusched_tsg");

/*
 * True if the TSG is in an unknown MIG partition. It is then unknown which TSGs share its runlist,
 * so policies leave the TSG alone.
 */
GPUSCHED_OF_ENGINE int gpusched_is_apart(const struct gpusched_tsg *rec)
{
	gs_u32 flags = *(const volatile gs_u32 *)&rec->flags;
	gs_u16 engine = rec->task.engine;

	return (flags & GPUSCHED_TSG_MIG) &&
	       (gpusched_gpu_instance(engine) == GPUSCHED_NO_INSTANCE ||
		gpusched_compute_instance(engine) == GPUSCHED_NO_INSTANCE);
}

/*
 * Settings, as bits, of which nobody knows the value: a call for them failed after it may have
 * taken effect, or its daemon died, and no call has succeeded since.
 */
GPUSCHED_OF_ENGINE gs_u32 gpusched_unknown(const struct gpusched_tsg *rec)
{
	return rec->changed & ~rec->task.is.valid & GPUSCHED_ALL_SETTINGS;
}

struct gpusched_channel {
	gs_u32 handle;
	gs_u32 cid; /* FECS context id */
};
struct gpusched_channels {
	gs_u32 n;       /* entries filled */
	gs_u32 dropped; /* channels for which the array had no room */
	struct gpusched_channel ch[GPUSCHED_MAX_CHANNELS];
};
_Static_assert(sizeof(struct gpusched_channels) == 8 + 8 * GPUSCHED_MAX_CHANNELS, "channels");

/* The thread that made a TSG. There is no entry for a TSG that was made before the taps ran. */
struct gpusched_maker {
	gs_u64 id;  /* of the TSG */
	gs_u32 tid; /* the thread's id in the initial pid namespace */
	gs_u32 pid; /* its process; 0: unknown */
};
_Static_assert(sizeof(struct gpusched_maker) == 16, "gpusched_maker");

/* First member of the entries for devices, clients and open files. */
struct gpusched_origin {
	gs_u32 owner; /* the process to which the entry is charged */
	gs_u32 made;  /* distinguishes the entry from a later one with the same key */
	gs_u32 uid;   /* the user whose quota counts the entry */
	gs_u32 used;  /* 1: one of its TSGs has or had channels, so it is not removed for room */
};

/* A device object of a client: the parent of the client's TSGs. */
struct gpusched_device {
	struct gpusched_origin origin;
	gs_u32 dev_instance; /* RM device instance, or GPUSCHED_GPU_UNKNOWN */
	gs_u32 h_subdevice;  /* 0: none seen yet */
};
_Static_assert(sizeof(struct gpusched_device) == 24, "gpusched_device");

/* An RM client of an open file. */
struct gpusched_client {
	struct gpusched_origin origin;
	gs_u32 tsgs; /* number of its TSGs' records; if 0, the table is not searched at its end */
	gs_u32 mig;  /* 0: bound to no MIG instance; else bits of src/table/bound.bpf.h */
};
_Static_assert(sizeof(struct gpusched_client) == 24, "gpusched_client");

/*
 * An open file with records. The kernel soon reuses the memory of a closed file. When a new file is
 * opened at the same address, the records of the old one end.
 */
struct gpusched_file {
	struct gpusched_origin origin;
	gs_u32 holder; /* the process that owns its records */
	gs_u32 sweep;  /* 1: a record ended or has a new owner, so the sweep must check them all */
	gs_u64 inode;  /* with @data, distinguishes the file from a later one at its address */
	gs_u64 data;   /* the driver's own data */
};
_Static_assert(sizeof(struct gpusched_file) == 40, "gpusched_file");

/* ---- processes and classes ------------------------------------------------------------------- */

/* Where a process's class came from, weakest first. */
enum gpusched_class_source {
	GPUSCHED_SRC_DEFAULT = 0,
	GPUSCHED_SRC_RULE = 1,
	GPUSCHED_SRC_CGROUP = 2,
	GPUSCHED_SRC_COMMAND = 3, /* run, class set; inherited by descendants */
	GPUSCHED_SRC_OWNER = 4,   /* a command of the process's own user: that user may undo it */
};

/*
 * The quota of a process: at most a sixteenth of each map. At the limit, the process's unused
 * entries are removed first. If there are none, the process is held back (gpusched_proc.past).
 */
#define GPUSCHED_MAX_TSGS_PER_PROC 1024u    /* default of gpusched_cfg.max_tsgs_per_proc */
#define GPUSCHED_MAX_DEVICES_PER_PROC 1024u /* device objects, clients and open files together */
#define GPUSCHED_MAX_CHANNELS_PER_PROC 8192u
/* The number of channels that CUDA makes for a TSG. No quota counts these. */
#define GPUSCHED_FREE_CHANNELS 8u

/*
 * The quota of a user: at most half of what other users leave free in each map. The last sixteenth
 * of a map is reserved for root, which has no quota.
 */
#define GPUSCHED_ROOM_TSGS GPUSCHED_MAX_TSGS
#define GPUSCHED_ROOM_PLACES 16384u
#define GPUSCHED_ROOM_CHANNELS 131072u
#define GPUSCHED_ROOT_PART 16u
/* A user with at most one 256th of a map is never past the quota. */
#define GPUSCHED_LITTLE_PART 256u

/* The maps for which users have a quota. */
enum gpusched_room {
	GPUSCHED_IN_TSGS,
	GPUSCHED_IN_DEVICES,
	GPUSCHED_IN_CLIENTS,
	GPUSCHED_IN_FILES,
	GPUSCHED_IN_PAST,
	GPUSCHED_IN_CHANNELS,
	GPUSCHED_ROOMS
};

/* Value of the map of users (key: uid). While it is full, nobody is charged for a new user. */
struct gpusched_user {
	gs_u32 n[GPUSCHED_ROOMS];
};

/* The kinds of entries for which a process has a quota. */
enum gpusched_share {
	GPUSCHED_SHARE_TSGS,
	GPUSCHED_SHARE_DEVICES,
	GPUSCHED_SHARE_CHANNELS,
};

/*
 * A grant is a number that identifies the command that gave a program a limit or a request.
 * Children inherit the grant, and all processes with the same grant share the limit or request.
 * This bit is set in the grants that root gave.
 */
#define GPUSCHED_GRANT_ROOT (1ull << 63)

/* Memory that a process has opened and that another process made, or may have made. */
enum gpusched_imported {
	GPUSCHED_IMPORTED_NONE,
	GPUSCHED_IMPORTED_MEMORY,    /* a process's: CUDA IPC, a descriptor of VMM memory */
	GPUSCHED_IMPORTED_FABRIC,    /* memory of the NVLink fabric */
	GPUSCHED_IMPORTED_MULTICAST, /* a multicast object */
};

/* A program is what its TSGs show: graphics if one of them draws, even if it computes as well. */
enum gpusched_program { GPUSCHED_IS_UNKNOWN, GPUSCHED_IS_COMPUTE, GPUSCHED_IS_GRAPHICS };

/*
 * Value of the process map (key: tgid, u32). A child gets a copy at fork if @source is
 * GPUSCHED_SRC_COMMAND or stronger.
 */
struct gpusched_proc {
	gs_u64 start_ns;
	gs_u32 class_id;
	gs_u32 source; /* enum gpusched_class_source */
	gs_u32 weight; /* 0: the class's weight */
	gs_u32 tsgs;   /* live records of this process */
	gs_u64 deadline_us;
	gs_u32 devices;  /* number of its entries for devices, clients and files */
	gs_u32 channels; /* number of channels that it made */
	gs_u32 told;     /* bits 1 << enum gpusched_share: the event LIMIT was sent for this kind */
	gs_u8 mps;       /* not 0: its executable is the MPS server */
	gs_u8 restored;  /* 1: its GPU memory was taken out and brought back */
	gs_u8 computes, draws; /* 1: a TSG of the process did, since it began or executed */
	gs_u32 unused;  /* roughly how many entries may be removed for room; 0: do not search */
	gs_u32 past;    /* number of its TSGs that lack their record, or a channel, in the table */
	gs_u8 let;      /* 1: has waited at the gate as long as HoldLimit= allows, and may pass */
	gs_u8 seen;     /* 1: it started after the taps, which saw all its calls of the driver */
	gs_u8 imported; /* enum gpusched_imported: what it has opened of others */
	gs_u8 exported; /* 1: it has let others open memory of its own */
	/* percent of a GPU for all processes with the same grant; 0: none */
	gs_u16 limit_pct, request_pct;
	gs_u64 limit_grant, request_grant; /* 0: none */
};
_Static_assert(sizeof(struct gpusched_proc) == 80, "gpusched_proc");

/* The limits of a class that says nothing else. */
#define GPUSCHED_SUSPEND_LIMIT_MS 2000u
#define GPUSCHED_STARVE_LIMIT_MS 1000u

struct gpusched_class {
	char name[GPUSCHED_CLASS_NAME_LEN]; /* "": unused */
	gs_u32 weight;
	gs_u32 suspend_limit_ms; /* longest time that a policy may suspend a TSG */
	/* longest time without progress for a TSG with a slice that is shorter than a switch */
	gs_u32 starve_limit_ms;
	/* percent of each GPU, for all members of the class together; 0: none */
	gs_u16 limit_pct, request_pct;
	gs_u64 deadline_us; /* 0: none */
};

/* ---- events ---------------------------------------------------------------------------------- */

/* One line per event: symbol, name in output, text. */
#define GPUSCHED_EVENTS(X) \
	X(CLIENT, "client", "a process made an RM client") \
	X(TSG_NEW, "tsg-new", "a TSG was made") \
	X(CHANNEL, "channel", "a channel was added to a TSG") \
	X(SCHEDULE, "schedule", "its owner put a TSG on the runlist") \
	X(UNSCHEDULE, "unschedule", "its owner took a TSG off the runlist") \
	X(TIMESLICE, "timeslice", "its owner set a TSG's timeslice") \
	X(INTERLEAVE, "interleave", "its owner set a TSG's interleave level") \
	X(PREEMPT_MODE, "preempt-mode", "its owner set a preemption mode") \
	X(TSG_FREE, "tsg-free", "a TSG was freed") \
	X(EXEC, "exec", "a process with a class or TSGs executed a program") \
	X(EXIT, "exit", "a process with a class or TSGs ended") \
	X(WANT, "want", "a policy changed its wish for a TSG") \
	X(CLASS, "class", "a TSG's class changed") \
	X(CALL, "call", "gpusched made an RM call") \
	X(POLICY, "policy", "a policy started, stopped or failed") \
	X(OWNER, "owner", "a TSG went to another process, with its open file") \
	X(LIMIT, "limit", "a process is past its share of the table: it is held back") \
	X(HOLD, "hold", "the gate stopped a process until its TSG is admitted") \
	X(DENY, "deny", "the gate refused to put a TSG on the runlist") \
	X(OVERRULED, "overruled", "a TSG does not get what was wished for it") \
	X(ORPHAN, "orphan", "a process used a TSG that is not in the table") \
	X(LIMITED, "limited", "a limit by user cut, deferred or refused a user's work") \
	X(FINDING, "finding", "something that gpusched status tells of began, or is over") \
	X(BUDGET, "budget", "a user or cgroup has used up its GPU time, or has some again") \
	X(REQUEST_OVER, "request-over", "the requests of a GPU are more than 100 %: one has none") \
	X(REQUEST, "request", "a program's request began, as its counted launches show") \
	X(XID, "xid", "the driver reported an error (Xid), or a lost GPU") \
	X(QUARANTINE, "quarantine", "a program's quarantine after an Xid began, or is over") \
	X(GRAPHICS, "graphics", "a TSG got its first object that draws")

enum gpusched_event_type {
	GPUSCHED_EV_NONE = 0,
#define X(sym, name, text) GPUSCHED_EV_##sym,
	GPUSCHED_EVENTS(X)
#undef X
		GPUSCHED_EV_MAX
};

/* Bit of gpusched_event.arg[3]: the policy also changed its wish for the TSG at this event. */
#define GPUSCHED_EVENT_WANT (1u << 0)

struct gpusched_event {
	gs_u64 ns;
	gs_u32 type; /* enum gpusched_event_type */
	gs_u32 pid;
	struct gpusched_key key; /* of the TSG; CLIENT: handle 0 */
	gs_u64 id;               /* of the TSG; 0: none */
	gs_u32 arg[4];           /* TIMESLICE, SCHEDULE: us; CHANNEL: handle, cid;
			* INTERLEAVE/PREEMPT_MODE: value; LIMIT: enum gpusched_share;
			* OVERRULED: 1 << enum gs_overrule; [3]: GPUSCHED_EVENT_WANT or 0 */
	char comm[GPUSCHED_COMM_LEN];
	gs_u32 tid; /* the thread of @pid that made the call; 0: none, or unknown */
	gs_u32 cpu; /* the CPU on which that thread ran; valid with @tid */
};
_Static_assert(sizeof(struct gpusched_event) == 80, "gpusched_event");

/* ---- configuration and counters of the taps -------------------------------------------------- */

struct gpusched_cfg {
	/* The GPUSCHED_TABLE_VERSION with which the maps were made; always the first member. */
	gs_u32 version;
	gs_u32 sim; /* 1: only registered simulated files are accepted; 0: only char device 195:* */
	gs_u32 branch; /* driver branch, e.g. 580; 0 unknown */
	gs_u32 max_tsgs_per_proc;
	gs_u64 next_id;      /* ids given out so far; atomically incremented by the taps */
	gs_u64 heartbeat_ns; /* time of the daemon's last heartbeat; 0: no daemon */
	gs_u32 policy_active;
	gs_u32 default_class;
	gs_u64 pidns_dev, pidns_ino; /* the pid namespace of the table's pids */
	gs_u32 gate;  /* 1: the running policy may hold and deny at the gate, if there is one */
	gs_u32 epoch; /* counts takeovers from a daemon that did not respond */
	gs_u32 entries[GPUSCHED_ROOMS]; /* number of entries of all users, for each map */
	/*
	 * While memory is brought back to a parked process, new programs wait at the gate until
	 * @newcomers_until_ns (CLOCK_MONOTONIC). A program is new if it started after @newcomers_ns
	 * (since boot) and runs no TSG yet.
	 */
	gs_u64 newcomers_until_ns, newcomers_ns;
};

/*
 * A process that the gate has stopped (SIGSTOP) in its call to schedule a TSG. To continue it,
 * send SIGCONT, then remove the entry; the kernel makes the call again.
 */
struct gpusched_stopped_key {
	/* The TSG that waits for admission; 0: the process is past its quota; or _NEWCOMER. */
	gs_u64 id;
#define GPUSCHED_STOPPED_NEWCOMER (~0ull)
	gs_u32 tgid;
	gs_u32 pad;
};
struct gpusched_stopped {
	gs_u64 start_ns; /* start time of the process: shows if the pid was reused */
	gs_u64 since_ns;
	struct gpusched_key key; /* of the TSG */
	gs_u32 stops;            /* SIGSTOPs sent: one more whenever another program continues it */
	gs_u32 pad;
};
_Static_assert(sizeof(struct gpusched_stopped) == 40, "gpusched_stopped");

/* A simulated NVIDIA file: (device, inode) as the kernel has them. Key of the sim-files map. */
struct gpusched_simfile {
	gs_u64 dev; /* kernel encoding: major << 20 | minor */
	gs_u64 ino;
};

/* Counters of the taps. There is one for each case in which a tap silently gives up. */
#define GPUSCHED_TAP_COUNTERS(X) \
	X(IOCTLS, "ioctls", "NVIDIA ioctls looked at") \
	X(BAD_READ, "bad_read", "user memory that could not be read") \
	X(BAD_SIZE, "bad_size", "structures of an unexpected size") \
	X(NO_FILE, "no_file", "descriptors whose file could not be found") \
	X(TABLE_FULL, "table_full", "TSGs, devices, processes not recorded: no room in the table") \
	X(PROC_LIMIT, "proc_limit", "TSGs not recorded: their process has its share of them") \
	X(DEVICE_LIMIT, "device_limit", \
	  "devices, clients and files not recorded: their process has its share of them") \
	X(CHANNEL_LIMIT, "channel_limit", "channels not recorded: their process has its share") \
	X(USER_LIMIT, "user_limit", "entries not recorded: their user has its share of the table") \
	X(EVICTED, "evicted", "unused TSGs, devices, clients and files that made room for others") \
	X(PAST_SHARE, "past_share", "TSGs with channels of processes that are past their share") \
	X(REUSED, "handle_reused", "TSGs made under a handle whose last TSG's end was not seen") \
	X(CHANNELS_DROPPED, "channels_dropped", "channels past a TSG's channel table") \
	X(ORPHAN_CHANNEL, "orphan_channel", "channels of a TSG that is not in the table") \
	X(ORPHAN_CALL, "orphan_call", \
	  "controls on a TSG that is not in the table, which is then adopted") \
	X(EVENTS_LOST, "events_lost", "events that found the ring buffer full: see losses") \
	X(RM_FAILED, "rm_failed", "calls that the driver itself refused") \
	X(GATE_HELD, "gate_held", "holds at the gate: the caller was stopped") \
	X(GATE_DENIED, "gate_denied", "calls that the gate refused") \
	X(GATE_STALE, "gate_stale", "calls that the gate let pass because no daemon was alive") \
	X(GATE_SUSPENDS, "gate_suspends", "holds that the gate left to suspension") \
	X(GATE_PAST, "gate_past", \
	  "processes that the gate stopped because they are past their share") \
	X(GATE_NEWCOMERS, "gate_newcomers", \
	  "new programs that the gate stopped while memory was brought back to a parked one")

enum gpusched_tap_counter {
#define X(sym, name, text) GPUSCHED_CNT_##sym,
	GPUSCHED_TAP_COUNTERS(X)
#undef X
		GPUSCHED_CNT_MAX
};

/* ---- programs that user space runs by BPF_PROG_RUN ------------------------------------------- */

/*
 * Argument of the taps' "poke" program, which changes fields of one record in place. User space
 * never replaces a whole record: that would undo what a tap writes at the same time.
 */
#define GPUSCHED_POKE_IS (1u << 0)
#define GPUSCHED_POKE_MANUAL (1u << 1)
#define GPUSCHED_POKE_CLASS (1u << 2) /* class_id, weight, deadline_us */
#define GPUSCHED_POKE_GPU (1u << 3)
#define GPUSCHED_POKE_CHANGED (1u << 4)
#define GPUSCHED_POKE_SUSPEND (1u << 5) /* suspend_by, suspended_ns, suspend_until_ns */
#define GPUSCHED_POKE_ERRORS (1u << 6)  /* errors, last_status */
#define GPUSCHED_POKE_FLAGS (1u << 7)   /* flags = (flags & ~flags_mask) | (flags & flags_mask) */
#define GPUSCHED_POKE_OWNER (1u << 8)   /* pid, owner_fd, owner_start_ns */
#define GPUSCHED_POKE_SUBDEVICE (1u << 9)
#define GPUSCHED_POKE_ASKED (1u << 10)      /* asked, assumed: adoption only */
#define GPUSCHED_POKE_WANT_CLEAR (1u << 11) /* want.valid = 0 */
#define GPUSCHED_POKE_ADMIT \
	(1u << 13) /* admits a TSG: clears the flag HELD and the wish to suspend */
#define GPUSCHED_POKE_WHO (1u << 14) /* uid, cgroup_id, comm */

struct gpusched_poke {
	struct gpusched_key key;
	gs_u64 id;   /* must match the record's id, else -ESTALE */
	gs_u32 what; /* GPUSCHED_POKE_* */
	gs_u32 flags_mask;
	gs_s32 ret;
	gs_u32 pad;
	struct gpusched_tsg rec; /* has the new values of the fields in @what */
};

/* Argument of a linked policy's "run" program. */
enum gpusched_run_op {
	GPUSCHED_RUN_INIT = 1,      /* call init */
	GPUSCHED_RUN_EXIT = 2,      /* call exit(reason) */
	GPUSCHED_RUN_TASK_INIT = 3, /* adopted TSG, policy start, or class changed: key */
	GPUSCHED_RUN_TASK_DESTROY = 4,
	GPUSCHED_RUN_TICK = 5, /* over all TSGs */
	GPUSCHED_RUN_SCHEDULE = 6,
	GPUSCHED_RUN_TIMESLICE_SET = 7, /* arg: us */
	GPUSCHED_RUN_WORK_SUBMIT = 8,   /* arg: count */
	GPUSCHED_RUN_REQUEST_BEGIN = 9, /* arg: GS_REQUEST_ARG() */
	GPUSCHED_RUN_REQUEST_END = 10,
};

struct gpusched_run {
	gs_u32 op; /* enum gpusched_run_op */
	gs_s32 ret;
	struct gpusched_key key;
	gs_u64 arg;
	gs_u64 now_ns;
	gs_u64 visited; /* out, TICK: number of calls of tick(); 0: the table is empty */
	gs_u64 changed; /* out, TICK: number of these calls that changed @want */
};
_Static_assert(sizeof(struct gpusched_run) == 56, "gpusched_run");

/* ---- names of the pinned maps, under <bpffs>/gpusched/ --------------------------------------- */

/*
 * gs_tsgs      HASH   gpusched_key -> gpusched_tsg
 * gs_chans     HASH   gpusched_key -> gpusched_channels     (key of the TSG)
 * gs_makers    HASH   gpusched_key -> gpusched_maker        (key of the TSG)
 * gs_devices   HASH   gpusched_key -> gpusched_device       (handle = hDevice)
 * gs_clients   HASH   gpusched_key -> gpusched_client       (handle 0)
 * gs_files     HASH   u64 file -> gpusched_file
 * gs_past      HASH   gpusched_key -> gpusched_origin       (key of a TSG without a record)
 * gs_users     HASH   u32 uid -> gpusched_user
 * gs_procs     HASH   u32 tgid -> gpusched_proc
 * gs_classes   ARRAY  u32 class id -> gpusched_class        [GPUSCHED_MAX_CLASSES]
 * gs_cfg       ARRAY  0 -> gpusched_cfg
 * gs_simfiles  HASH   gpusched_simfile -> u32
 * gs_selves    HASH   u32 tgid -> u32: gpusched's processes, which do not change "asked" by calls
 * gs_counters  PERCPU_ARRAY enum gpusched_tap_counter -> u64
 * gs_events    RINGBUF of gpusched_event
 * gs_slot      PROG_ARRAY [1]: the running policy's dispatch program, reached by tail call
 * gs_call      PERCPU_ARRAY [1] -> gpusched_call: what the tap hands to the policy's dispatcher
 * gs_stopped   HASH   gpusched_stopped_key -> gpusched_stopped
 * gs_gate_slot PROG_ARRAY [1]: the running policy's dispatcher for the gate
 */
struct gpusched_call {
	gs_u32 op; /* enum gpusched_run_op: TASK_INIT, SCHEDULE, TIMESLICE_SET, TASK_DESTROY */
	gs_u32 pad;
	gs_u64 arg;
	struct gpusched_key key;
	struct gpusched_event ev; /* the event to emit after the policy's callback */
};

#endif /* GPUSCHED_ABI_H */
