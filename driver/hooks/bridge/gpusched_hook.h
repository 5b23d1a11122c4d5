/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * gpusched_hook.h - the events of the hooks in the driver, and the interface of the module that
 * gets them
 *
 * Shared by RM's side (gpusched_rm.c, no kernel headers), the kernel's side (gpusched_os.c) and the
 * module that listens. Plain C types only.
 */
#ifndef GPUSCHED_HOOK_H
#define GPUSCHED_HOOK_H

enum gpusched_hook_kind {
	GPUSCHED_HOOK_TASK_INIT = 1,
	GPUSCHED_HOOK_SCHEDULE,       /* value: 1 onto the runlist, 0 off it */
	GPUSCHED_HOOK_TIMESLICE_SET,  /* value: us; may be rewritten */
	GPUSCHED_HOOK_INTERLEAVE_SET, /* value: 0 low, 1 medium, 2 high; may be rewritten */
	GPUSCHED_HOOK_PREEMPT,        /* cmd: the control; params, size: the kernel's copy of it */
	GPUSCHED_HOOK_WORK_TOKEN,     /* value: the token; channel: its handle */
	GPUSCHED_HOOK_TASK_DESTROY,
};

enum gpusched_hook_verdict {
	GPUSCHED_HOOK_GO = 0,
	GPUSCHED_HOOK_HOLD, /* not now: ends with BUSY_RETRY, unless ioctl_exit() returns 1 */
	GPUSCHED_HOOK_DENY,
};

#define GPUSCHED_HOOK_WHOLE 0xfffffffeu /* the GPU is not divided */
#define GPUSCHED_HOOK_UNKNOWN 0xffffffffu

/*
 * One call of a hook. TSGs that RM makes for itself cause none. RM's locks are held, so the
 * listener must not sleep and must not call RM.
 */
struct gpusched_hook {
	unsigned int kind;   /* enum gpusched_hook_kind */
	unsigned int gpu;    /* RM's instance number */
	unsigned int client; /* RM handles */
	unsigned int object;
	unsigned int group; /* RM's number of the TSG on its GPU */
	unsigned int runlist;
	unsigned int engine; /* RM's engine type */
	/* The MIG partition: ids, GPUSCHED_HOOK_WHOLE, or GPUSCHED_HOOK_UNKNOWN. Only TASK_INIT. */
	unsigned int gpu_instance, compute_instance;
	unsigned int channel; /* WORK_TOKEN: handle */
	unsigned int cmd;     /* PREEMPT */
	unsigned int size;
	void *params;
	unsigned long long timeslice_us; /* RM's copy of the settings in force */
	unsigned long long value;
	unsigned int verdict; /* out; obeyed for SCHEDULE (onto the runlist) and PREEMPT */
	unsigned int pad;
};

#define GPUSCHED_HOOK_VERSION 3u

/* The listener: one module at a time. */
struct gpusched_hook_ops {
	unsigned int size;    /* sizeof(struct gpusched_hook_ops) */
	unsigned int version; /* GPUSCHED_HOOK_VERSION */
	void (*hook)(struct gpusched_hook *h);
	/*
	 * Called before and after RM's part of an ioctl, in the caller's context, without RM's
	 * locks: may sleep and call RM. @file identifies an open file, and is never dereferenced.
	 * @arg is the kernel's copy of the argument. If one returns a negative errno, the ioctl
	 * ends with it; after ioctl_enter(), RM has not seen the ioctl. If ioctl_exit() returns 1,
	 * RM is called again, without another ioctl_enter().
	 */
	int (*ioctl_enter)(const void *file, unsigned int nr, void *arg, unsigned long size);
	int (*ioctl_exit)(const void *file, unsigned int nr, void *arg, unsigned long size);
	/* the last descriptor of @file is closed, and RM frees the objects made with it */
	void (*close)(const void *file);
};

/* -EBUSY: another module listens already; -EINVAL: another version of this header. May sleep. */
int nvidia_gpusched_register(const struct gpusched_hook_ops *ops);
/* After this returns, no function of @ops runs any more. May sleep. */
void nvidia_gpusched_unregister(const struct gpusched_hook_ops *ops);

/* nvidia_get_rm_ops() by a second name: before branch 565, modules cannot look up the first. */
unsigned int nvidia_gpusched_rm_ops(void *ops);

/* For RM's side, which cannot use static keys: a nop and a return while no module listens. */
int os_gpusched_on(void);
void os_gpusched_hook(struct gpusched_hook *h);

#endif /* GPUSCHED_HOOK_H */
