/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * task.h - what policies see: a TSG, the callbacks, why it ended
 *
 * A policy declares the parts of these that it uses, with preserve_access_index, or includes this
 * file after linux/types.h. docs/internals/module.md has an example.
 */
#ifndef GPUSCHED_TASK_H
#define GPUSCHED_TASK_H

#define GPU_TASK_UNKNOWN 0xffffffffu

/* A TSG. Policies read it; what they wish goes through the kfuncs. */
struct gpu_task {
	__u32 client, tsg;  /* RM handles: together they name it */
	__u32 pid, tid;     /* who made it; tid 0: not known */
	__u32 gpu, engine;  /* RM's numbers; GPU_TASK_UNKNOWN without hooks in the driver */
	__u64 timeslice_us; /* in force; 0: not known */
	__u32 status;       /* RM's, of the last call for it; not 0: refused, and wished no more */
	__u32 channels;   /* that the daemon has told of, else those that have asked for a token */
	__u32 group;      /* RM's number of it on its GPU, and the runlist that it is on: */
	__u32 runlist;    /* GPU_TASK_UNKNOWN without hooks in the driver */
	__u32 interleave; /* as its owner has it; GPU_TASK_UNKNOWN */
	__u32 class_id;   /* its process's, as the daemon told last; 1 lc, 2 be, 3 normal, 0 none */
	__u32 weight;     /* the same; class_id GPU_TASK_UNKNOWN: it has not told yet */
	__u32 pad;
};

enum gpu_verdict {
	GPU_GO = 0,
	GPU_HOLD = 1, /* the caller waits, and the policy is asked again every 10 ms */
	GPU_DENY = 2, /* its context cannot be made */
};

/* exit(): why; the numbers of enum gpusched_module_exit. */
struct gpu_exit {
	__u32 kind;
	__s32 code;
};

/*
 * A policy: any of these, all optional, none may sleep. With hooks in the driver each comes before
 * the driver acts; without them task_init and task_destroy come when the daemon tells, and the
 * three others never. While nobody beats on /dev/gpusched, none is called.
 */
struct gpu_sched_ops {
	__s32 (*init)(void); /* not 0: it is refused */
	void (*exit)(struct gpu_exit *why);
	void (*task_init)(struct gpu_task *t); /* also for each TSG that is there already */
	__s32 (*schedule)(struct gpu_task *t); /* onto its runlist: enum gpu_verdict */
	/* Its owner sets @us: what shall be set. Out of range: what the owner said. */
	__u64 (*timeslice_set)(struct gpu_task *t, __u64 us);
	void (*work_token)(struct gpu_task *t, __u32 channel, __u32 token); /* once a channel */
	void (*task_destroy)(struct gpu_task *t);
	__u32 timeout_ms; /* longest callback, wall time; 0: 1000. At most 5000 */
	char name[16];
};

#endif /* GPUSCHED_TASK_H */
