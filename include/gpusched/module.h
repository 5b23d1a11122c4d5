/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * module.h - defines the commands of gpusched.ko, ioctls on /dev/gpusched
 *
 * The node belongs to root (mode 0600). Every command fails with EPERM unless the process that
 * *opened* the node had CAP_SYS_ADMIN in the initial user namespace. One open file at a time can be
 * the module's holder (HOLD). Only the holder may report TSGs and change settings, and it must send
 * BEAT at least every GPUSCHED_MODULE_BEAT_MS. If the beats stop, or the file is closed, the module
 * restores all settings that the holder or a policy changed.
 *
 * Handles are those of the driver's resource manager (RM), pids those of the initial pid namespace,
 * and times are in us. Errors of all commands:
 *  - EPERM: as above, or the file is not the holder.
 *  - ETIMEDOUT: beats were late; BEAT makes the commands work again.
 *  - EFAULT.
 *  - EINVAL: padding or unknown bits are not 0.
 *  - ENOTTY: there is no such command.
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
	GPUSCHED_MODULE_EXIT_UNLOADED, /* its BPF link was removed */
	GPUSCHED_MODULE_EXIT_REFUSED,  /* its init() failed: exit_code has the error */
	GPUSCHED_MODULE_EXIT_TIMEOUT, /* a callback took longer than timeout_ms: exit_code has ms */
};

/* The bits of gpusched_module_about.features. */
/* The driver is patched with the hooks, so policies decide before the driver acts. */
#define GPUSCHED_MODULE_HOOKS (1u << 0)
#define GPUSCHED_MODULE_HELD (1u << 1) /* the module has a holder, which sends beats */
/* The answer of ABOUT. */
struct gpusched_module_about {
	gs_u32 abi, features;
	gs_u32 tsgs;          /* TSGs that the module knows */
	gs_u32 changed;       /* TSGs with settings that are not their owners' */
	gs_u64 calls, failed; /* calls to RM since the module was loaded */
	gs_u64 put_off;       /* changes that waited, since calls had taken 5 % of the time */
	gs_u64 left;          /* settings that the driver did not let the module restore */
	gs_u64 lost;          /* TSGs not recorded: out of memory, or too many TSGs */
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
 * TELL: reports a new TSG, or a change of one that the module knows. ENOSPC: the module knows
 * GPUSCHED_MAX_TSGS. A restore puts back the owner's settings in @own. If @own has no valid
 * timeslice, the module asks the driver for it before the first change. Any other setting that @own
 * lacks cannot be changed (ENODATA).
 */
struct gpusched_module_tell {
	gs_u32 client, tsg;
	/* RM handle, of the same client; 0: the TSG cannot be suspended or get a preempt mode */
	gs_u32 subdevice;
	gs_u32 pid, tid;  /* the process and thread that made the TSG; tid 0: unknown */
	gs_u32 nchannels; /* up to GPUSCHED_MAX_CHANNELS */
	gs_u64 channels;  /* pointer to @nchannels handles (gs_u32) */
	struct gpusched_settings own;
	gs_u32 class_id, weight; /* of the TSG's process, as in struct gpusched_task */
	/* The ids of the TSG's MIG partition; GPUSCHED_MODULE_WHOLE without MIG;
	 * GPUSCHED_NO_INSTANCE if unknown. Any other number: EINVAL. */
	gs_u32 gpu_instance, compute_instance;
};
_Static_assert(sizeof(struct gpusched_module_tell) == 64, "tell");
#define GPUSCHED_MODULE_WHOLE 0xfffffffeu /* the GPU has no MIG partitions */

/* LIST: returns the TSGs of a process, of a thread, or all. */
struct gpusched_module_entry {
	gs_u32 client, tsg, pid, tid, nchannels, pad;
	/* In @is, only settings that differ from the owner's have their valid bit. */
	struct gpusched_settings own, want, is;
};
struct gpusched_module_list {
	gs_u32 pid, tid; /* 0: any */
	gs_u32 n;        /* in: length of @entries; out: number of matching TSGs, maybe greater */
	gs_u32 pad;
	gs_u64 entries; /* pointer to struct gpusched_module_entry[n] */
};
_Static_assert(sizeof(struct gpusched_module_entry) == 72, "entry");
_Static_assert(sizeof(struct gpusched_module_list) == 24, "list");

/*
 * SET: sets the holder's wish, that is, the settings that the holder wants for a TSG. This wish
 * overrides any policy's. A bit in @set without the same bit in @want.valid removes the holder's
 * wish for that setting. SET always calls the driver, even if nothing seems to change, and waits
 * for the driver's answer.
 *
 * Errors:
 *  - ENOENT: the module does not know the TSG.
 *  - ERANGE: a value is out of range.
 *  - ENODATA: see TELL.
 *  - ENXIO: the TSG has no channel or no subdevice.
 *  - EBUSY: calls have used up their 5 % of the time, or RM did not answer within 5 s. The wish
 *    stays.
 *  - EREMOTEIO: RM refused: see @status. The holder's earlier wish stays in force.
 */
struct gpusched_module_set {
	gs_u32 client, tsg;
	gs_u32 set;    /* GPUSCHED_TIMESLICE | ... */
	gs_u32 status; /* out: RM's answer */
	struct gpusched_settings want;
};
_Static_assert(sizeof(struct gpusched_module_set) == 32, "set");

/* PREEMPT: takes the TSG off the GPU now. Errors as for SET. */
struct gpusched_module_preempt {
	gs_u32 client, tsg;
	gs_u32 timeout_us; /* 1 to 1000000 */
	gs_u32 status;     /* out: RM's answer */
};

/*
 * An argument of HOLD: the policy in the driver's hooks belongs to the holder. The answer of that
 * policy's timeslice_set then counts as the holder's wish. During an owner's call the module
 * applies no other wish, since the holder learns of the call only when the call returns. The
 * owners' settings are those that TELL reports, not those that the hooks have seen.
 */
#define GPUSCHED_MODULE_OWN_POLICY (1u << 0)

#define GPUSCHED_MODULE_ABOUT _IOR('G', 0x60, struct gpusched_module_about)
/* Makes this file the holder. The argument is 0 or OWN_POLICY. EBUSY: another file is holder. */
#define GPUSCHED_MODULE_HOLD _IO('G', 0x61)
#define GPUSCHED_MODULE_BEAT _IO('G', 0x62)
#define GPUSCHED_MODULE_TELL _IOW('G', 0x63, struct gpusched_module_tell)
/* Restores the TSG's settings, then forgets the TSG. ENOENT: the module does not know the TSG. */
#define GPUSCHED_MODULE_FORGET _IOW('G', 0x64, struct gpusched_module_name)
/*
 * Reports that the TSG has ended. The module forgets the TSG without any call to the driver, since
 * a new TSG may already have the same handles. Does not wait. ENOENT as for FORGET.
 */
#define GPUSCHED_MODULE_GONE _IOW('G', 0x68, struct gpusched_module_name)
#define GPUSCHED_MODULE_LIST _IOWR('G', 0x65, struct gpusched_module_list)
#define GPUSCHED_MODULE_SET _IOWR('G', 0x66, struct gpusched_module_set)
#define GPUSCHED_MODULE_PREEMPT _IOWR('G', 0x67, struct gpusched_module_preempt)

#endif /* GPUSCHED_MODULE_H */
