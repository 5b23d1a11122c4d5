/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * module.h - /dev/gpusched: what gpusched.ko is told, and what it is asked to do
 *
 * The node is root's (mode 0600). Every command fails with EPERM unless the process that *opened*
 * the node had CAP_SYS_ADMIN in the initial user namespace. One open file at a time holds the
 * module: it alone tells and changes, and beats at least every GPUSCHED_MODULE_BEAT_MS. Without a
 * beat, or when it is closed, the module puts back all that was changed, policies' wishes included.
 *
 * Errors of all commands: EPERM as above, or not the holder; ETIMEDOUT the heartbeat was lost (BEAT
 * brings it back); EFAULT; EINVAL padding or unknown bits not 0; ENOTTY no such command. Handles are
 * RM's, pids those of the initial namespace, times us.
 */
#ifndef GPUSCHED_MODULE_H
#define GPUSCHED_MODULE_H

#ifndef __KERNEL__
#include <sys/ioctl.h>
#endif

#include "gpusched/abi.h"

#define GPUSCHED_MODULE_ABI 3u
#define GPUSCHED_MODULE_BEAT_MS 5000u

/* Why the last policy ended. */
enum gpusched_module_exit {
	GPUSCHED_MODULE_EXIT_NONE = 0,
	GPUSCHED_MODULE_EXIT_UNLOADED, /* its link is gone */
	GPUSCHED_MODULE_EXIT_REFUSED,  /* its init() said no: code */
	GPUSCHED_MODULE_EXIT_TIMEOUT,  /* a callback took longer than timeout_ms: code is ms */
};

/* ABOUT: what there is. */
#define GPUSCHED_MODULE_HOOKS (1u << 0) /* the driver has the kit's hooks: decisions come first */
#define GPUSCHED_MODULE_HELD (1u << 1)  /* somebody holds it, and beats */
struct gpusched_module_about {
	gs_u32 abi, features;
	gs_u32 tsgs;          /* known */
	gs_u32 changed;       /* of those, with settings that are not their owners' */
	gs_u64 calls, failed; /* RM controls, since the module was loaded */
	gs_u64 put_off;       /* wishes that waited, since calls had taken 5 % of the time */
	gs_u64 left;          /* settings that the driver did not let the module put back */
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
 * TELL: a TSG that there is; told again, that it has changed. ENOSPC: GPUSCHED_MAX_TSGS are known.
 * @own: what its owner set and will be put back. A timeslice that is not valid is asked from the
 * driver before the first change; any other setting can then not be changed (ENODATA).
 */
struct gpusched_module_tell {
	gs_u32 client, tsg;
	gs_u32 subdevice; /* of the same client; 0: no suspension, no preemption mode */
	gs_u32 pid, tid;  /* its maker: process and thread; tid 0: not known */
	gs_u32 nchannels; /* up to GPUSCHED_MAX_CHANNELS */
	gs_u64 channels;  /* pointer to as many handles (gs_u32) */
	struct gpusched_settings own;
	gs_u32 class_id, weight; /* of its process, for policies; as in struct gpusched_task */
};
_Static_assert(sizeof(struct gpusched_module_tell) == 56, "tell");

/* LIST: the TSGs of a process, of a thread, or all. */
struct gpusched_module_entry {
	gs_u32 client, tsg, pid, tid, nchannels, pad;
	struct gpusched_settings own, want, is; /* is: valid where it is not the owner's */
};
struct gpusched_module_list {
	gs_u32 pid, tid; /* 0: any */
	gs_u32 n;        /* in: room; out: how many there are, more than were written perhaps */
	gs_u32 pad;
	gs_u64 entries; /* pointer to struct gpusched_module_entry[n] */
};
_Static_assert(sizeof(struct gpusched_module_entry) == 72, "entry");
_Static_assert(sizeof(struct gpusched_module_list) == 24, "list");

/*
 * SET: the holder's wish, over any policy's. A bit in @set without one in @want.valid takes the
 * wish back. The driver is called even where nothing seems to change, and SET waits until it has
 * answered. ENOENT: no such TSG is known; ERANGE; ENODATA; ENXIO: it has no channel or no
 * subdevice; EBUSY: calls have had their share of the time, or RM did not answer within 5 s (the
 * wish stands); EREMOTEIO: RM refused (status; what the holder had set before stays).
 */
struct gpusched_module_set {
	gs_u32 client, tsg;
	gs_u32 set;    /* GPUSCHED_TIMESLICE | ... */
	gs_u32 status; /* out: RM's */
	struct gpusched_settings want;
};
_Static_assert(sizeof(struct gpusched_module_set) == 32, "set");

/* PREEMPT: off the GPU, now. Errors as SET's. */
struct gpusched_module_preempt {
	gs_u32 client, tsg;
	gs_u32 timeout_us; /* 1 to 1000000 */
	gs_u32 status;     /* out: RM's */
};

/*
 * HOLD's argument. The policy in the hooks is the holder's own: what its timeslice_set answers is
 * the holder's wish. And the holder hears of owners' calls when they return: no other wish goes out
 * in them, and what TELL says of their own settings counts, not what the hooks have seen.
 */
#define GPUSCHED_MODULE_OWN_POLICY (1u << 0)

#define GPUSCHED_MODULE_ABOUT _IOR('G', 0x60, struct gpusched_module_about)
/* The argument is 0 or OWN_POLICY. EBUSY: another open file holds it */
#define GPUSCHED_MODULE_HOLD _IO('G', 0x61)
#define GPUSCHED_MODULE_BEAT _IO('G', 0x62)
#define GPUSCHED_MODULE_TELL _IOW('G', 0x63, struct gpusched_module_tell)
/* It is put back, then forgotten. ENOENT. */
#define GPUSCHED_MODULE_FORGET _IOW('G', 0x64, struct gpusched_module_name)
/* It is there no more, and is forgotten: no call, no wait. Its names may be another's. ENOENT. */
#define GPUSCHED_MODULE_GONE _IOW('G', 0x68, struct gpusched_module_name)
#define GPUSCHED_MODULE_LIST _IOWR('G', 0x65, struct gpusched_module_list)
#define GPUSCHED_MODULE_SET _IOWR('G', 0x66, struct gpusched_module_set)
#define GPUSCHED_MODULE_PREEMPT _IOWR('G', 0x67, struct gpusched_module_preempt)

#endif /* GPUSCHED_MODULE_H */
