/* SPDX-License-Identifier: MIT */
/*
 * gpusched/gpreempt.h - libgpreempt: GPU queues with priorities that take the GPU from each other
 *
 * For C99 and C++; link with -lgpreempt. The stock driver is enough. Each queue has a CUDA context
 * of its own, and so a TSG (time slice group) of its own. The GPU switches between TSGs, and a TSG
 * can be preempted and suspended. Work within one context cannot be: CUDA's stream priorities let
 * running blocks finish.
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
 *	gpreempt_launch_kernel(low, &other, 0);		another: waits while high works
 *
 * How priorities are enforced:
 *  - While a higher queue has work or wants to submit, submissions to a lower one wait in the
 *    calling thread. After 1 s one of them passes.
 *  - Low queues have short timeslices, so that the GPU leaves their running kernels soon.
 *  - A monitor thread polls the queues' events. If higher work makes no progress while lower work
 *    is on the GPU (an inversion), the monitor preempts the lower queue. If that is not enough, it
 *    suspends the lower queue until the higher work is done. A suspension lasts 500 ms at most;
 *    then the lower queue runs for 50 ms.
 *  - Queues of the same priority take turns, so that the GPU is not switched between them for
 *    nothing. The queue with the earliest deadline is first, then the one with the least GPU time
 *    for its weight.
 *
 * Priorities apply between all processes of one user on one GPU. The processes see each other's
 * claims in $XDG_RUNTIME_DIR/gpusched/gpreempt (or /tmp/gpusched-UID), and each process controls
 * only its own queues. Turns, deadlines and weights apply within one process. Calls on TSGs go
 * through the daemon if one runs, else through gpusched's agent in this process (docs/agent.md),
 * which needs neither root nor daemon. Without either, submissions are still held back, and
 * gpreempt_control() says why TSGs cannot be called.
 *
 * Nothing outlasts the process: its TSGs end with it, and the daemon's suspensions end by
 * themselves within 1 s. While the process lives, a queue is resumed if the monitor has not renewed
 * its suspension for 500 ms. The thread that does so makes no CUDA calls, so CUDA cannot block it.
 *
 * Any user may call these functions, for that user's own process. Any thread may call them, also
 * for a queue that others use: submissions are then made one after the other. Functions return 0 or
 * a negative errno, and
 * gpreempt_error() has one line about the calling thread's last failure. Errors of all functions:
 * -EINVAL (an argument), -ECHILD (in a child of fork(), where CUDA cannot be used), -EIO (CUDA
 * refused).
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

/* Fields that are 0 have their default, which stands in parentheses. */
struct gpreempt_options {
	size_t size; /* sizeof(struct gpreempt_options) */
	int device;  /* ordinal of the GPU in this process (0) */
	/*
	 * If higher work makes no progress for this long, the lower queue is preempted; 50 to
	 * 1000000 (the time of 2.5 switches: 500 on an H200).
	 */
	uint32_t patience_us;
	/*
	 * If higher work makes no progress for this long, the lower queue is suspended; 50 to
	 * 1000000 (the time of 10 switches: 2000 on an H200).
	 */
	uint32_t suspend_us;
};

/*
 * @options may be NULL. Calls cuInit(). Takes some ms. -ENODEV: no libcuda.so.1, or no such GPU;
 * -ERANGE: an option; -ENOMEM.
 */
GPREEMPT_API int gpreempt_init(const struct gpreempt_options *options, struct gpreempt **ret);
/* Destroys @g and its queues. No other call with @g may be under way. @g may be NULL. */
GPREEMPT_API void gpreempt_end(struct gpreempt *g);
/* The calling thread's last failure; "" if there was none. Valid until its next failure. */
GPREEMPT_API const char *gpreempt_error(void);
/*
 * Returns how TSGs are called: "daemon", "agent", or "none: " and why. Valid until gpreempt_end().
 */
GPREEMPT_API const char *gpreempt_control(const struct gpreempt *g);
/*
 * Returns NULL if priorities also apply between this user's processes; otherwise the reason why
 * they do not. Valid until gpreempt_end().
 */
GPREEMPT_API const char *gpreempt_alone(const struct gpreempt *g);

/* ---- queues ---------------------------------------------------------------------------------- */

/* Fields that are 0 have their default, which stands in parentheses. */
struct gpreempt_queue_options {
	size_t size;     /* sizeof(struct gpreempt_queue_options) */
	uint32_t weight; /* share of GPU time among queues of one priority; 1 to 10000 (100) */
	uint32_t depth;  /* submissions on the GPU at a time; 1 to 64 (4) */
	/* Time from a submission's call until it is to be done; 0: no deadline. */
	uint64_t deadline_us;
	uint32_t context_flags; /* as for cuCtxCreate() */
	/*
	 * An existing CUcontext for the queue, such as the primary one; the caller keeps it, and
	 * destroys it. NULL: a new one.
	 */
	void *context;
};

/*
 * @options may be NULL. Takes some 100 ms, because it makes a CUDA context. The calling thread's
 * current context stays as it is. -ENOSPC: more than 32 queues.
 */
GPREEMPT_API int gpreempt_create_queue(struct gpreempt *g, int priority,
				       const struct gpreempt_queue_options *options,
				       struct gpreempt_queue **ret);
/* Waits for @q's work, then destroys @q. No other call on @q may be under way. @q may be NULL. */
GPREEMPT_API void gpreempt_destroy_queue(struct gpreempt_queue *q);
/* The CUcontext and CUstream of the queue, for memory, copies and the like. */
GPREEMPT_API void *gpreempt_queue_context(const struct gpreempt_queue *q);
GPREEMPT_API void *gpreempt_queue_stream(const struct gpreempt_queue *q);
/* Changes the queue's priority, and with it the timeslice of its TSG. */
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

/*
 * Loads a module (PTX or cubin) into the queue's context, and returns its kernel @name, which ends
 * with that context.
 */
GPREEMPT_API int gpreempt_load_kernel(struct gpreempt_queue *q, const void *image, const char *name,
				      void **ret_function);
/* Waits for the queue's turn, then launches. Does not wait for the kernel. */
GPREEMPT_API int gpreempt_launch_kernel(struct gpreempt_queue *q, const struct gpreempt_launch *l,
					unsigned int flags);
/*
 * Waits for the queue's turn, then has @fn submit any work: copies, graphs, a library's calls. @fn
 * runs in the calling thread with the queue's context current, and puts its work on @stream. @fn
 * may not call gpreempt. A non-zero result of @fn is returned.
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
 * on a GPU. Until then, do not wait for CUDA work of the queue's context: it does not end. Errors:
 * -ENOTSUP: TSGs cannot be called (gpreempt_control()); -EREMOTEIO: the driver or the daemon
 * refused, or did not answer in 5 s.
 */
GPREEMPT_API int gpreempt_preempt(struct gpreempt_queue *q, uint64_t for_us);
/*
 * Ends a suspension, by gpreempt_preempt() or by the monitor. The queue then runs for at least 50
 * ms before the monitor may suspend it again. Does not wait.
 */
GPREEMPT_API int gpreempt_resume(struct gpreempt_queue *q);

/* ---- statistics ------------------------------------------------------------------------------ */

/* Figures since the queue was created. */
struct gpreempt_stats {
	size_t size; /* sizeof(struct gpreempt_stats), by the caller */
	uint64_t submitted, done;
	uint64_t late;    /* done after the deadline, as the monitor saw it */
	uint64_t held;    /* submissions that waited for other queues or gpreempt_resume() */
	uint64_t held_us; /* the sum of those waits */
	/* GPU time, estimated from the queue's events; exact if no other queue works. */
	uint64_t busy_us;
	uint64_t inversions; /* times that higher work waited for the queue over patience_us */
	uint64_t preempted;  /* times that it was preempted */
	uint64_t suspended, suspended_us; /* times that it was suspended, and how long in all */
	uint64_t passed;  /* submissions that had waited for 1 s, and passed higher work */
	uint64_t refused; /* calls that the driver or the daemon refused */
	uint64_t expired; /* suspensions that ended because the monitor did not renew them */
	/*
	 * 1: submissions are held back, but the queue is neither preempted nor suspended, because
	 * its TSG is not known or no TSG can be called.
	 */
	uint64_t uncontrolled;
};

GPREEMPT_API int gpreempt_stats(struct gpreempt_queue *q, struct gpreempt_stats *ret);

#ifdef __cplusplus
}
#endif

#endif /* GPUSCHED_GPREEMPT_H */
