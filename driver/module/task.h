/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * task.h - types for policies: a TSG, the callbacks, why a policy ended
 *
 * A policy declares the parts of these that it uses, with preserve_access_index, or includes this
 * file after linux/types.h. docs/internals/module.md has an example.
 */
#ifndef GPUSCHED_TASK_H
#define GPUSCHED_TASK_H

#define GPU_TASK_UNKNOWN 0xffffffffu
#define GPU_TASK_WHOLE 0xfffffffeu /* instance: none, the GPU is not divided */

/* A TSG. Policies only read it; their wishes go through the kfuncs. */
struct gpu_task {
	__u32 client, tsg;  /* RM handles: together they name it */
	__u32 pid, tid;     /* its maker; tid 0: unknown */
	__u32 gpu, engine;  /* RM's numbers; GPU_TASK_UNKNOWN without hooks in the driver */
	__u64 timeslice_us; /* in force; 0: unknown */
	/* RM's status of the last call; not 0: RM refused, and the wish was dropped */
	__u32 status;
	/* number of channels: as the daemon reported, else those that have asked for a token */
	__u32 channels;
	__u32 group;      /* RM's number of the TSG on its GPU; see @runlist */
	__u32 runlist;    /* both are GPU_TASK_UNKNOWN without hooks in the driver */
	__u32 interleave; /* the owner's setting; GPU_TASK_UNKNOWN */
	/* Class and weight of the process, as the daemon reported them last. */
	__u32 class_id; /* 1 lc, 2 be, 3 normal, 0 none; GPU_TASK_UNKNOWN: no report yet */
	__u32 weight;   /* valid once @class_id is known */
	/*
	 * The ids of the MIG partition, as the hooks or the daemon reported them last, or
	 * GPU_TASK_WHOLE. GPU_TASK_UNKNOWN without hooks, before the daemon's first report. TSGs of
	 * two partitions never share a runlist.
	 */
	__u32 gpu_instance, compute_instance;
	__u32 pad;
};

enum gpu_verdict {
	GPU_GO = 0,
	GPU_HOLD = 1, /* the caller waits, and the policy is asked again every 10 ms */
	GPU_DENY = 2, /* the caller's CUDA context cannot be made */
};

/* Why the policy ended, for exit(). @kind is one of enum gpusched_module_exit. */
struct gpu_exit {
	__u32 kind;
	__s32 code;
};

/*
 * A policy. All callbacks are optional, and none may sleep. With hooks in the driver, callbacks
 * about a TSG are called before the driver acts. Without hooks, task_init and task_destroy are
 * called when the daemon reports; schedule, timeslice_set and work_token are never called. While no
 * holder of /dev/gpusched sends beats, no callback about a TSG is called.
 */
struct gpu_sched_ops {
	__s32 (*init)(void); /* not 0: the policy is refused */
	void (*exit)(struct gpu_exit *why);
	void (*task_init)(struct gpu_task *t); /* also called for each TSG that exists already */
	/* The TSG is to join its runlist: returns enum gpu_verdict. */
	__s32 (*schedule)(struct gpu_task *t);
	/* The owner sets @us: returns the value to set. Out of range: the owner's value is set. */
	__u64 (*timeslice_set)(struct gpu_task *t, __u64 us);
	void (*work_token)(struct gpu_task *t, __u32 channel, __u32 token); /* once per channel */
	void (*task_destroy)(struct gpu_task *t);
	__u32 timeout_ms; /* longest callback, wall time; 0: 1000. At most 5000 */
	char name[16];
};

#endif /* GPUSCHED_TASK_H */
