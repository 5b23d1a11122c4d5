/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * gpusched_hook.h - defines the events of the driver's hooks, and the interface of their listener
 *
 * Shared by RM's side (gpusched_rm.c, without kernel headers), the kernel's side (gpusched_os.c)
 * and the module that listens. So it uses only plain C types.
 */
#ifndef GPUSCHED_HOOK_H
#define GPUSCHED_HOOK_H

enum gpusched_hook_kind {
	GPUSCHED_HOOK_TASK_INIT = 1,
	GPUSCHED_HOOK_SCHEDULE,      /* value: 1 onto the runlist, 0 off it */
	GPUSCHED_HOOK_TIMESLICE_SET, /* value: us; the listener may change it */
	/* value: 0 low, 1 medium, 2 high; the listener may change it */
	GPUSCHED_HOOK_INTERLEAVE_SET,
	/* cmd: the control; params, size: the kernel's copy of its parameters */
	GPUSCHED_HOOK_PREEMPT,
	GPUSCHED_HOOK_WORK_TOKEN, /* value: the token; channel: its handle */
	GPUSCHED_HOOK_TASK_DESTROY,
};

enum gpusched_hook_verdict {
	GPUSCHED_HOOK_GO = 0,
	/* do not schedule now: the call ends with BUSY_RETRY, unless ioctl_exit() returns 1 */
	GPUSCHED_HOOK_HOLD,
	GPUSCHED_HOOK_DENY,
};

#define GPUSCHED_HOOK_WHOLE 0xfffffffeu /* the GPU is not divided */
#define GPUSCHED_HOOK_UNKNOWN 0xffffffffu

/*
 * One call of a hook. TSGs that RM makes for itself cause no calls. RM's locks are held, so the
 * listener must neither sleep nor call RM.
 */
struct gpusched_hook {
	unsigned int kind;   /* enum gpusched_hook_kind */
	unsigned int gpu;    /* RM's instance number */
	unsigned int client; /* RM handles */
	unsigned int object;
	unsigned int group; /* RM's number for the TSG on this GPU */
	unsigned int runlist;
	unsigned int engine; /* RM's engine type */
	/*
	 * Ids of the MIG partition, GPUSCHED_HOOK_WHOLE or GPUSCHED_HOOK_UNKNOWN. Set only for
	 * TASK_INIT.
	 */
	unsigned int gpu_instance, compute_instance;
	unsigned int channel; /* WORK_TOKEN: handle */
	unsigned int cmd;     /* PREEMPT: the control's number */
	unsigned int size;
	void *params;
	unsigned long long timeslice_us; /* the timeslice now in effect, as RM has it */
	unsigned long long value;
	/* set by the listener; applies to SCHEDULE (onto the runlist) and PREEMPT */
	unsigned int verdict;
	unsigned int pad;
};

#define GPUSCHED_HOOK_VERSION 3u

/* The listener: one module at a time. */
struct gpusched_hook_ops {
	unsigned int size;    /* sizeof(struct gpusched_hook_ops) */
	unsigned int version; /* GPUSCHED_HOOK_VERSION */
	void (*hook)(struct gpusched_hook *h);
	/*
	 * Called before and after RM's part of an ioctl, in the caller's context. RM's locks are
	 * not held, so these may sleep and call RM. @file identifies an open file, and must not be
	 * dereferenced. @arg is the kernel's copy of the argument. A negative errno becomes the
	 * result of the ioctl; from ioctl_enter(), it also keeps the ioctl from RM. If ioctl_exit()
	 * returns 1, RM is called again, without another ioctl_enter().
	 */
	int (*ioctl_enter)(const void *file, unsigned int nr, void *arg, unsigned long size);
	int (*ioctl_exit)(const void *file, unsigned int nr, void *arg, unsigned long size);
	/* the last descriptor of @file is closed; RM frees the objects made with it */
	void (*close)(const void *file);
};

/* Registers the listener. -EBUSY: another module listens; -EINVAL: another version. May sleep. */
int nvidia_gpusched_register(const struct gpusched_hook_ops *ops);
/* After this returns, no function of @ops runs or will run. May sleep. */
void nvidia_gpusched_unregister(const struct gpusched_hook_ops *ops);

/*
 * nvidia_get_rm_ops() under another name: before branch 565, modules cannot look up the original.
 */
unsigned int nvidia_gpusched_rm_ops(void *ops);

/*
 * For RM's side, which cannot use static keys. While no module listens, os_gpusched_on() is a nop
 * and a return.
 */
int os_gpusched_on(void);
void os_gpusched_hook(struct gpusched_hook *h);

#endif /* GPUSCHED_HOOK_H */
