/* SPDX-License-Identifier: MIT */
/*
 * gpusched/gpreempt.h - libgpreempt: GPU queues, where a higher priority preempts a lower one
 *
 * For C99 and C++; link with -lgpreempt. The stock driver is enough. Each queue has a separate CUDA
 * context, and so a separate TSG (time slice group). The GPU switches between TSGs, and a TSG can
 * be preempted and suspended. Within one context this is impossible: CUDA's stream priorities let
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
 *	gpreempt_launch_kernel(low, &other, 0);		from another: waits while high works
 *
 * How priorities are enforced:
 *  - While a higher queue has work or wants to submit, submissions to a lower one wait in the
 *    calling thread. After 1 s one of them passes.
 *  - Low queues have short timeslices, so that the GPU leaves their running kernels soon.
 *  - A monitor thread polls the queues' events. If higher work makes no progress while lower work
 *    is on the GPU (an inversion), the monitor preempts the lower queue. If that is not enough, it
 *    suspends the lower queue until the higher work is done. A suspension lasts 500 ms at most;
 *    then the lower queue runs for 50 ms.
 *  - Queues of the same priority take turns, which saves needless switches of the GPU between them.
 *    The queue with the earliest deadline is first, then the one with the least GPU time for its
 *    weight.
 *
 * Priorities apply between all processes of one user on one GPU. The processes publish their
 * priorities in $XDG_RUNTIME_DIR/gpusched/gpreempt (or /tmp/gpusched-UID), and each process
 * controls only its own queues. Turns, deadlines and weights apply within one process. Preemptions
 * and suspensions go through the daemon if one runs, else through gpusched's agent in this process
 * (docs/agent.md), which needs neither root nor daemon. Without daemon and agent, submissions still
 * wait for their turn, and gpreempt_control() says why TSGs cannot be preempted or suspended.
 *
 * Nothing remains when the process ends: its TSGs end with it, and the daemon's suspensions expire
 * within 1 s. While the process lives, a queue is resumed if the monitor has not renewed its
 * suspension for 500 ms. The thread that resumes queues makes no CUDA calls, so CUDA cannot block
 * it.
 *
 * Any user may call these functions, for that user's own process. Any thread may call them, also
 * for a queue that other threads use: submissions are then made one after the other. Functions
 * return 0 or a negative errno, and gpreempt_error() has one line about the calling thread's last
 * failure. Errors of all functions: -EINVAL (an argument), -ECHILD (in a child of fork(), where
 * CUDA cannot be used), -EIO (CUDA refused).
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

/* A field that is 0 gets the default that is given in parentheses. */
struct gpreempt_options {
	size_t size; /* sizeof(struct gpreempt_options) */
	int device;  /* ordinal of the GPU in this process (0) */
	/*
	 * If higher work makes no progress for this long, in us, the lower queue is preempted; 50
	 * to 1000000 (the time of 2.5 switches: 500 on an H200).
	 */
	uint32_t patience_us;
	/*
	 * If higher work makes no progress for this long, in us, the lower queue is suspended; 50
	 * to 1000000 (the time of 10 switches: 2000 on an H200).
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
 * Returns what carries out preemptions and suspensions: "daemon", "agent", or "none: " and the
 * reason. Valid until gpreempt_end().
 */
GPREEMPT_API const char *gpreempt_control(const struct gpreempt *g);
/*
 * Returns NULL if priorities also apply between this user's processes; otherwise the reason why
 * they do not. Valid until gpreempt_end().
 */
GPREEMPT_API const char *gpreempt_alone(const struct gpreempt *g);

/* ---- queues ---------------------------------------------------------------------------------- */

/* A field that is 0 gets the default that is given in parentheses. */
struct gpreempt_queue_options {
	size_t size;     /* sizeof(struct gpreempt_queue_options) */
	uint32_t weight; /* share of GPU time among queues of one priority; 1 to 10000 (100) */
	uint32_t depth;  /* most submissions on the GPU at a time; 1 to 64 (4) */
	/* A submission's deadline, counted from its call; 0: no deadline. */
	uint64_t deadline_us;
	uint32_t context_flags; /* as for cuCtxCreate() */
	/*
	 * An existing CUcontext for the queue, such as the primary one; the caller still owns
	 * and destroys it. NULL: a new context.
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
 * Loads a module (PTX or cubin) into the queue's context, and returns its kernel @name. The kernel
 * is valid as long as that context.
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
 * gpreempt_resume(), or for @for_us microseconds (0: no limit; up to 3600000000). The call takes
 * about 1 ms on a GPU. Meanwhile, do not wait for CUDA work of the queue's context: that work does
 * not end before the queue runs again. Errors: -ENOTSUP: TSGs cannot be suspended here
 * (gpreempt_control()); -EREMOTEIO: the driver or the daemon refused, or did not answer in 5 s.
 */
GPREEMPT_API int gpreempt_preempt(struct gpreempt_queue *q, uint64_t for_us);
/*
 * Ends a suspension that gpreempt_preempt() or the monitor began. The queue then runs for at least
 * 50 ms before the monitor may suspend it again. Does not wait.
 */
GPREEMPT_API int gpreempt_resume(struct gpreempt_queue *q);

/* ---- statistics ------------------------------------------------------------------------------ */

/* Figures since the queue was created. */
struct gpreempt_stats {
	size_t size; /* sizeof(struct gpreempt_stats); set by the caller */
	uint64_t submitted, done;
	uint64_t late;    /* submissions that the monitor saw done after their deadline */
	uint64_t held;    /* submissions that waited for other queues or gpreempt_resume() */
	uint64_t held_us; /* the sum of those waits */
	/* GPU time, estimated from the queue's events; exact if no other queue works. */
	uint64_t busy_us;
	uint64_t inversions; /* times that higher work waited for this queue over patience_us */
	uint64_t preempted;  /* times that the queue was preempted */
	uint64_t suspended, suspended_us; /* times that it was suspended, and for how long in all */
	uint64_t passed;  /* submissions let through, past higher work, after a wait of 1 s */
	uint64_t refused; /* calls that the driver or the daemon refused */
	uint64_t expired; /* suspensions that ended because the monitor did not renew them */
	/*
	 * 1: the queue's submissions wait for their turn, but nothing preempts or suspends the
	 * queue, because its TSG is not known or gpreempt_control() is "none".
	 */
	uint64_t uncontrolled;
};

GPREEMPT_API int gpreempt_stats(struct gpreempt_queue *q, struct gpreempt_stats *ret);

#ifdef __cplusplus
}
#endif

#endif /* GPUSCHED_GPREEMPT_H */
