/* SPDX-License-Identifier: MIT */
/*
 * gpusched/gpreempt.h - libgpreempt: GPU queues with priorities that take the GPU from each other
 *
 * For C99 and C++; link with -lgpreempt. The driver is the stock one. Each queue has a CUDA context
 * of its own, and so a TSG of its own: what the GPU switches between, and what can be preempted and
 * suspended. Within one context nothing can: CUDA's stream priorities let running blocks finish.
 *
 *	struct gpreempt *g;
 *	struct gpreempt_queue *high, *low;
 *
 *	gpreempt_init(NULL, &g);
 *	gpreempt_create_queue(g, GPREEMPT_HIGH, NULL, &high);
 *	gpreempt_create_queue(g, GPREEMPT_LOW, NULL, &low);
 *	gpreempt_load_kernel(high, ptx, "infer", &infer);	a kernel belongs to one queue
 *	...
 *	gpreempt_launch_kernel(high, &launch, 0);		from one thread
 *	gpreempt_synchronize(high);
 *	gpreempt_launch_kernel(low, &other, 0);			from another: waits while high works
 *
 * Its means for priorities:
 *  - A queue's submissions wait, in the calling thread, while a higher queue has work or wants to
 *    submit; 1 s at most, then one passes.
 *  - Low queues have short timeslices, so that the GPU leaves their running kernels soon.
 *  - A monitor thread asks the queues' events. Where higher work makes no progress while lower work
 *    is on the GPU (inversion), it preempts the lower queue, and then suspends it until the higher
 *    work is done; for 500 ms at most, then it runs for 50 ms.
 *  - Queues of one priority take turns: an earlier deadline first, then the queue with least GPU
 *    time for its weight. So the GPU is not switched between them for nothing.
 *
 * It reaches across the processes of one user on one GPU: they see each other's claims in
 * $XDG_RUNTIME_DIR/gpusched/gpreempt (or /tmp/gpusched-UID), and each steers its own queues alone.
 * Turns, deadlines and weights are within one process. TSGs are called through the daemon where
 * one runs, else through gpusched's agent in this process (docs/agent.md), which needs neither root
 * nor daemon. Where neither can be had, submissions are still held back, and gpreempt_control()
 * says why the rest is missing.
 *
 * Nothing outlasts the process: its TSGs end with it, and the daemon's suspensions end by
 * themselves within 1 s. While it lives, a thread that calls no CUDA resumes what the monitor has
 * not asked for again within 500 ms.
 *
 * Any user may call these functions, for its own process. So may any thread, also several on one
 * queue: their submissions come one after the other. Functions return 0 or a negative errno, and
 * gpreempt_error() has one line about the calling thread's last failure. Common to all: -EINVAL (an
 * argument), -ECHILD (in a child of fork(): CUDA cannot be used there), -EIO (CUDA refused).
 */
#ifndef GPUSCHED_GPREEMPT_H
#define GPUSCHED_GPREEMPT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define GPREEMPT_API __attribute__((visibility("default")))

/* Priorities: a greater one goes first. */
#define GPREEMPT_LOW 0
#define GPREEMPT_NORMAL 1
#define GPREEMPT_HIGH 2

struct gpreempt;
struct gpreempt_queue;

/* ---- beginning and end ----------------------------------------------------------------------- */

/* A 0 means the default. */
struct gpreempt_options {
	size_t size;          /* sizeof(struct gpreempt_options) */
	int device;           /* ordinal of the GPU in this process (0) */
	uint32_t patience_us; /* higher work without progress for so long is an inversion: the lower
				 queue is preempted; 50 to 1000000 (2.5 switches; 500 on an H200) */
	uint32_t
		suspend_us; /* ... for so long: it is suspended; 50 to 1000000 (10 switches; 2000) */
};

/*
 * @options may be NULL. Calls cuInit(). Takes some ms. -ENODEV: no libcuda.so.1, or no such GPU;
 * -ERANGE: an option; -ENOMEM.
 */
GPREEMPT_API int gpreempt_init(const struct gpreempt_options *options, struct gpreempt **ret);
/* Destroys its queues. No other call may be under way. NULL is fine. */
GPREEMPT_API void gpreempt_end(struct gpreempt *g);
/* The calling thread's last failure; "" if there was none. Valid until its next failure. */
GPREEMPT_API const char *gpreempt_error(void);
/* How TSGs are called: "daemon", "agent", or "none: " and why. Valid until gpreempt_end(). */
GPREEMPT_API const char *gpreempt_control(const struct gpreempt *g);
/*
 * NULL: priorities also apply between this user's processes; otherwise why not. Valid until
 * gpreempt_end().
 */
GPREEMPT_API const char *gpreempt_alone(const struct gpreempt *g);

/* ---- queues ---------------------------------------------------------------------------------- */

/* A 0 means the default. */
struct gpreempt_queue_options {
	size_t size;     /* sizeof(struct gpreempt_queue_options) */
	uint32_t weight; /* share of GPU time among queues of one priority; 1 to 10000 (100) */
	uint32_t depth;  /* submissions on the GPU at a time; 1 to 64 (4) */
	/* Each submission is to be done so long after its call; 0: no deadline. */
	uint64_t deadline_us;
	uint32_t context_flags; /* as for cuCtxCreate() */
	void *context;          /* a CUcontext that exists, such as the primary one, and stays the
				  caller's; NULL: a new one */
};

/*
 * @options may be NULL. Takes some 100 ms, as a CUDA context does. The calling thread's current
 * context stays as it is. -ENOSPC: more than 32 queues.
 */
GPREEMPT_API int gpreempt_create_queue(struct gpreempt *g, int priority,
				       const struct gpreempt_queue_options *options,
				       struct gpreempt_queue **ret);
/* Waits for its work. No other call on it may be under way. @q may be NULL. */
GPREEMPT_API void gpreempt_destroy_queue(struct gpreempt_queue *q);
/* The CUcontext and CUstream of the queue, for memory, copies and the like. */
GPREEMPT_API void *gpreempt_queue_context(const struct gpreempt_queue *q);
GPREEMPT_API void *gpreempt_queue_stream(const struct gpreempt_queue *q);
/* Changes its priority and, with that, its timeslice: see gpreempt_create_queue(). */
GPREEMPT_API int gpreempt_context_set_priority(struct gpreempt_queue *q, int priority);

/* ---- work ------------------------------------------------------------------------------------ */

#define GPREEMPT_NO_WAIT (1u << 0) /* -EAGAIN instead of waiting for the queue's turn */

/* As for cuLaunchKernel(). */
struct gpreempt_launch {
	size_t size;    /* sizeof(struct gpreempt_launch) */
	void *function; /* a CUfunction of the queue's context, or a CUkernel */
	unsigned int grid[3], block[3];
	unsigned int shared_bytes;
	void **parameters;
};

/* A kernel of a module (PTX or cubin) that is loaded into the queue's context. Ends with that. */
GPREEMPT_API int gpreempt_load_kernel(struct gpreempt_queue *q, const void *image, const char *name,
				      void **ret_function);
/* Waits for the queue's turn, then launches. Does not wait for the kernel. */
GPREEMPT_API int gpreempt_launch_kernel(struct gpreempt_queue *q, const struct gpreempt_launch *l,
					unsigned int flags);
/*
 * The same for any work: copies, graphs, a library's calls. @fn runs in the calling thread with the
 * queue's context current, and puts its work on @stream; it may not call gpreempt. If it returns
 * non-zero, that is returned.
 */
typedef int (*gpreempt_fn)(void *stream, void *user);
GPREEMPT_API int gpreempt_submit(struct gpreempt_queue *q, gpreempt_fn fn, void *user,
				 unsigned int flags);
/* Waits until all submitted work is done. */
GPREEMPT_API int gpreempt_synchronize(struct gpreempt_queue *q);

/* ---- by hand --------------------------------------------------------------------------------- */

/*
 * Takes the GPU from the queue: its TSG is suspended, and its submissions wait, until
 * gpreempt_resume(), or for @for_us microseconds (0: no limit; up to 3600000000). Takes about 1 ms
 * on a GPU. Do not wait for CUDA in its context meanwhile. -ENOTSUP: TSGs cannot be called
 * (gpreempt_control()); -EREMOTEIO: the driver or the daemon refused, or did not answer in 5 s.
 */
GPREEMPT_API int gpreempt_preempt(struct gpreempt_queue *q, uint64_t for_us);
/* Also ends a suspension by the monitor, for 50 ms. Does not wait. */
GPREEMPT_API int gpreempt_resume(struct gpreempt_queue *q);

/* ---- statistics ------------------------------------------------------------------------------ */

/* Figures since the queue was created. */
struct gpreempt_stats {
	size_t size; /* sizeof(struct gpreempt_stats), by the caller */
	uint64_t submitted, done;
	uint64_t late;    /* done after the deadline, as the monitor saw it */
	uint64_t held;    /* submissions that waited for other queues or gpreempt_resume() */
	uint64_t held_us; /* the sum of those waits */
	/* GPU time, estimated from its events: exact if only one queue works. */
	uint64_t busy_us;
	uint64_t inversions; /* higher work waited for it longer than patience_us */
	uint64_t preempted;  /* calls that were made ... */
	uint64_t suspended, suspended_us;
	uint64_t passed;       /* submissions that had waited for 1 s, and passed higher work */
	uint64_t refused;      /* calls that the driver or the daemon refused */
	uint64_t expired;      /* suspensions that ended because the monitor did not renew them */
	uint64_t uncontrolled; /* 1: its TSG could not be told from others, or none can be called:
				  submissions are held back, and that is all */
};

GPREEMPT_API int gpreempt_stats(struct gpreempt_queue *q, struct gpreempt_stats *ret);

#ifdef __cplusplus
}
#endif

#endif /* GPUSCHED_GPREEMPT_H */
