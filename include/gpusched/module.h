/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * module.h - /dev/gpusched: the commands of gpusched.ko
 *
 * The node is root's (mode 0600). Every command fails with EPERM unless the process that *opened*
 * the node had CAP_SYS_ADMIN in the initial user namespace. One open file at a time holds the
 * module. Only the holder may report TSGs and change settings, and it must send BEAT at least every
 * GPUSCHED_MODULE_BEAT_MS. Without a beat, or when the file is closed, the module restores
 * everything that was changed, including policies' wishes.
 *
 * Errors of all commands: EPERM as above, or not the holder; ETIMEDOUT the heartbeat was lost (BEAT
 * brings it back); EFAULT; EINVAL padding or unknown bits not 0; ENOTTY no such command. Handles
 * are RM's, pids those of the initial namespace, times us.
 */
#ifndef GPUSCHED_MODULE_H
#define GPUSCHED_MODULE_H

#ifndef __KERNEL__
#include <sys/ioctl.h>
#endif

#include "gpusched/abi.h"

#define GPUSCHED_MODULE_ABI 4u
#define GPUSCHED_MODULE_BEAT_MS 5000u

/* Why the last policy ended. */
enum gpusched_module_exit {
	GPUSCHED_MODULE_EXIT_NONE = 0,
	GPUSCHED_MODULE_EXIT_UNLOADED, /* its link is gone */
	GPUSCHED_MODULE_EXIT_REFUSED,  /* its init() said no: code */
	GPUSCHED_MODULE_EXIT_TIMEOUT,  /* a callback took longer than timeout_ms: code is ms */
};

/* ABOUT: flags of the module. */
/* The driver has the kit's hooks, so policies decide before it acts. */
#define GPUSCHED_MODULE_HOOKS (1u << 0)
#define GPUSCHED_MODULE_HELD (1u << 1) /* a program holds it, and sends beats */
struct gpusched_module_about {
	gs_u32 abi, features;
	gs_u32 tsgs;          /* known */
	gs_u32 changed;       /* those with settings that are not their owners' */
	gs_u64 calls, failed; /* RM controls, since the module was loaded */
	gs_u64 put_off;       /* wishes that had to wait, since calls had taken 5 % of the time */
	gs_u64 left;          /* settings that the driver did not let the module restore */
	gs_u64 lost;          /* TSGs that were not noted: no memory, or too many */
	gs_u32 exit_kind;     /* enum gpusched_module_exit */
	gs_s32 exit_code;
	char policy[16]; /* the policy that runs; "": none */
	char driver[32]; /* the driver's version */
};
_Static_assert(sizeof(struct gpusched_module_about) == 112, "about");

struct gpusched_module_name {
	gs_u32 client, tsg;
};

/*
 * TELL: reports a TSG; if it is known, reports that it has changed. ENOSPC: GPUSCHED_MAX_TSGS are
 * known. @own: the owner's settings, for a restore. If it has no valid timeslice, the driver is
 * asked for it before the first change. Any other setting without a valid value cannot be changed
 * (ENODATA).
 */
struct gpusched_module_tell {
	gs_u32 client, tsg;
	/* a handle of the same client; 0: suspension and preemption modes are impossible */
	gs_u32 subdevice;
	gs_u32 pid, tid;  /* its maker: process and thread; tid 0: unknown */
	gs_u32 nchannels; /* up to GPUSCHED_MAX_CHANNELS */
	gs_u64 channels;  /* pointer to as many handles (gs_u32) */
	struct gpusched_settings own;
	gs_u32 class_id, weight; /* of its process, for policies; as in struct gpusched_task */
	/* The MIG partition: ids, GPUSCHED_MODULE_WHOLE, or GPUSCHED_NO_INSTANCE: unknown. EINVAL */
	gs_u32 gpu_instance, compute_instance;
};
_Static_assert(sizeof(struct gpusched_module_tell) == 64, "tell");
#define GPUSCHED_MODULE_WHOLE 0xfffffffeu /* the GPU is not divided */

/* LIST: the TSGs of a process, of a thread, or all. */
struct gpusched_module_entry {
	gs_u32 client, tsg, pid, tid, nchannels, pad;
	struct gpusched_settings own, want, is; /* is: valid if it is not the owner's */
};
struct gpusched_module_list {
	gs_u32 pid, tid; /* 0: any */
	gs_u32 n;        /* in: room; out: number of TSGs, which may be more than were written */
	gs_u32 pad;
	gs_u64 entries; /* pointer to struct gpusched_module_entry[n] */
};
_Static_assert(sizeof(struct gpusched_module_entry) == 72, "entry");
_Static_assert(sizeof(struct gpusched_module_list) == 24, "list");

/*
 * SET: sets the holder's wish, which comes before any policy's. A bit in @set without one in
 * @want.valid removes the wish. The driver is called even if nothing seems to change, and SET waits
 * for its answer. ENOENT: no such TSG is known; ERANGE; ENODATA; ENXIO: the TSG has no channel or
 * no subdevice. EBUSY: calls have used up their part of the time, or RM did not answer within 5 s
 * (the wish stays). EREMOTEIO: RM refused (see status; the holder's earlier wish stays).
 */
struct gpusched_module_set {
	gs_u32 client, tsg;
	gs_u32 set;    /* GPUSCHED_TIMESLICE | ... */
	gs_u32 status; /* out: RM's */
	struct gpusched_settings want;
};
_Static_assert(sizeof(struct gpusched_module_set) == 32, "set");

/* PREEMPT: takes the TSG off the GPU now. Errors as for SET. */
struct gpusched_module_preempt {
	gs_u32 client, tsg;
	gs_u32 timeout_us; /* 1 to 1000000 */
	gs_u32 status;     /* out: RM's */
};

/*
 * HOLD's argument: the policy in the hooks is the holder's own. Then the answer of its
 * timeslice_set is the holder's wish, and no other wish is applied during an owner's call: the
 * holder learns of the call when it returns. Owners' settings are those that TELL reports, not
 * those that the hooks have seen.
 */
#define GPUSCHED_MODULE_OWN_POLICY (1u << 0)

#define GPUSCHED_MODULE_ABOUT _IOR('G', 0x60, struct gpusched_module_about)
/* The argument is 0 or OWN_POLICY. EBUSY: another open file holds it */
#define GPUSCHED_MODULE_HOLD _IO('G', 0x61)
#define GPUSCHED_MODULE_BEAT _IO('G', 0x62)
#define GPUSCHED_MODULE_TELL _IOW('G', 0x63, struct gpusched_module_tell)
/* Restores the TSG, then forgets it. ENOENT. */
#define GPUSCHED_MODULE_FORGET _IOW('G', 0x64, struct gpusched_module_name)
/*
 * The TSG has ended, and is forgotten without a call or wait. Its handles may be another TSG's by
 * now. ENOENT.
 */
#define GPUSCHED_MODULE_GONE _IOW('G', 0x68, struct gpusched_module_name)
#define GPUSCHED_MODULE_LIST _IOWR('G', 0x65, struct gpusched_module_list)
#define GPUSCHED_MODULE_SET _IOWR('G', 0x66, struct gpusched_module_set)
#define GPUSCHED_MODULE_PREEMPT _IOWR('G', 0x67, struct gpusched_module_preempt)

#endif /* GPUSCHED_MODULE_H */
