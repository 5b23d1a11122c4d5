/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * task.h - defines types for policies: a TSG, the callbacks, why a policy ended
 *
 * A policy either declares the parts of these that it uses, with preserve_access_index, or includes
 * this file after linux/types.h. docs/internals/module.md has an example.
 */
#ifndef GPUSCHED_TASK_H
#define GPUSCHED_TASK_H

#define GPU_TASK_UNKNOWN 0xffffffffu
#define GPU_TASK_WHOLE 0xfffffffeu /* the GPU is not divided by MIG, so there is no instance */

/* A TSG. Policies only read it; they change settings through the kfuncs. */
struct gpu_task {
	__u32 client, tsg;  /* RM handles; the pair identifies the TSG */
	__u32 pid, tid;     /* process and thread that made it; tid 0: unknown */
	__u32 gpu, engine;  /* RM's numbers; GPU_TASK_UNKNOWN without hooks in the driver */
	__u64 timeslice_us; /* timeslice in effect; 0: unknown */
	/* RM's status of the last call; if not 0, RM refused the setting, and it was dropped */
	__u32 status;
	/* number of channels: as the daemon reported, or those that have asked for a work token */
	__u32 channels;
	__u32 group;      /* RM's number for the TSG on its GPU */
	__u32 runlist;    /* this and @group are GPU_TASK_UNKNOWN without hooks in the driver */
	__u32 interleave; /* the owner's setting; GPU_TASK_UNKNOWN: not known */
	/* Class and weight of the process, as the daemon last reported them. */
	__u32 class_id; /* 1 lc, 2 be, 3 normal, 0 none; GPU_TASK_UNKNOWN: not reported yet */
	__u32 weight;   /* valid if @class_id is known */
	/*
	 * Ids of the MIG partition, as the hooks or the daemon last reported them. GPU_TASK_WHOLE:
	 * the GPU is not divided. GPU_TASK_UNKNOWN: no hooks, and no report of the daemon yet. TSGs
	 * of two partitions never share a runlist.
	 */
	__u32 gpu_instance, compute_instance;
	__u32 pad;
};

enum gpu_verdict {
	GPU_GO = 0,
	GPU_HOLD = 1, /* the caller waits, and the policy is called again every 10 ms */
	GPU_DENY = 2, /* the call fails, so that the caller's CUDA context cannot be made */
};

/* Why the policy ended; for exit(). @kind is one of enum gpusched_module_exit. */
struct gpu_exit {
	__u32 kind;
	__s32 code;
};

/*
 * A policy. All callbacks are optional, and none may sleep. With hooks in the driver, callbacks
 * about a TSG come before the driver acts. Without hooks, task_init and task_destroy come when the
 * daemon reports; schedule, timeslice_set and work_token never come. No callback about a TSG comes
 * while no holder of /dev/gpusched sends heartbeats.
 */
struct gpu_sched_ops {
	__s32 (*init)(void); /* non-zero: refuses to start the policy */
	void (*exit)(struct gpu_exit *why);
	void (*task_init)(struct gpu_task *t); /* also called for each TSG that already exists */
	/* Called before the TSG joins its runlist. Returns enum gpu_verdict. */
	__s32 (*schedule)(struct gpu_task *t);
	/*
	 * Called when the owner sets @us. Returns the value to set; if it is out of range, @us is
	 * set.
	 */
	__u64 (*timeslice_set)(struct gpu_task *t, __u64 us);
	/* called once per channel */
	void (*work_token)(struct gpu_task *t, __u32 channel, __u32 token);
	void (*task_destroy)(struct gpu_task *t);
	__u32 timeout_ms; /* longest callback in wall time, at most 5000; 0: 1000 */
	char name[16];
};

#endif /* GPUSCHED_TASK_H */
