/* SPDX-License-Identifier: MIT */
/*
 * priv.h - declares types and functions that the files of libgpreempt share
 *
 * There are three kinds of threads. The program's own threads submit work, and wait for their turn.
 * The monitor reads the queues' events and decides (core.h). The hand makes the calls that suspend
 * or preempt TSGs, and never calls CUDA. A suspended TSG may block a lock inside libcuda, for which
 * the monitor then waits. So each decision to suspend holds only for LEASE_NS unless the monitor
 * renews it; else the hand resumes the TSG.
 */
#ifndef GPUSCHED_PREEMPT_PRIV_H
#define GPUSCHED_PREEMPT_PRIV_H

#include <pthread.h>
#include <stdbool.h>
#include <sys/types.h>

#include "basic/clock.h"
#include "basic/cuda.h"
#include "basic/error.h"
#include "gpusched/gpreempt.h"
#include "preempt/board.h"
#include "preempt/core.h"
#include "preempt/way.h"

#define MAX_DEPTH 64u
#define LEASE_NS (500 * NS_PER_MS)
#define LOOK_NS (20 * NS_PER_MS) /* how often the hand checks for leases that ended */

struct gpreempt_queue {
	struct gpreempt *g;
	pthread_mutex_t submitting; /* one submission at a time; taken before g->lock */
	/* held by a thread that reads the queue's events; with g->lock held, only try this lock */
	pthread_mutex_t reaping;
	cu_handle context, stream, events[MAX_DEPTH];
	bool own_context; /* the queue made its context, and destroys it */

	/* the next members are under g->lock */
	struct core_queue core;
	uint32_t recorded, reaped;  /* events recorded so far, and events found done so far */
	uint64_t due_ns[MAX_DEPTH]; /* deadlines of the submissions in flight */
	struct gpreempt_stats stats;
	bool broken;  /* CUDA refuses the queue's context */
	bool closing; /* the queue ends, so its TSG gets its original settings back */

	/* the queue's TSG: first the wanted state, then the real state */
	bool has_tsg; /* false: no TSG was found that we may call */
	struct way_tsg tsg;
	uint64_t lease_ns; /* the TSG should be suspended until this time; 0: it should run */
	bool preempt;      /* the TSG should be preempted once */
	uint32_t slice_us; /* 0: the TSG's own slice */
	bool calling, is_suspended; /* the hand makes a call; the TSG may be suspended */
	uint32_t is_slice_us;
	/* when it was suspended, or the suspension renewed; no call before @retry_ns */
	uint64_t suspended_ns, retry_ns;
	int suspend_err; /* result of the last suspend call */
};

struct gpreempt {
	pid_t pid;
	cu_device device;
	unsigned char uuid[16];
	/* options from the program; 0: computed from the cost of a switch */
	uint32_t patience_us, suspend_us;
	struct preempt_cuda {
		CUDA_FUNCTIONS(CUDA_MEMBER, CUDA_MEMBER)
	} cuda;
	struct board *board;
	struct way *way;
	pthread_mutex_t creating; /* held while a queue is made */
	pthread_t monitor, hand;

	/* Protects all members below. Not held during calls to CUDA, the daemon or the agent. */
	pthread_mutex_t lock;
	pthread_cond_t changed; /* a submission may be able to begin, or the hand made a call */
	pthread_cond_t work;    /* wakes the hand */
	uint32_t switch_cost_us;
	struct core core;
	bool monitor_ends, hand_ends;
	struct gpreempt *next; /* list of all handles of the process */
};

/* ---- handle.c -------------------------------------------------------------------------------- */

extern _Thread_local struct gs_error preempt_error;

/* Stores a message for gpreempt_error(); the value of the expression is @result. */
#define FAIL(result, ...) \
	(preempt_error.code = 0, preempt_error.text[0] = '\0', \
	 gs_fail(&preempt_error, result, __VA_ARGS__))

/* Returns -EIO with a message if @r is an error of CUDA. @what: the operation that failed. */
int handle_check_cuda(const struct gpreempt *g, cu_result r, const char *what);
/* Waits on @cond for @ns at most. The caller holds g->lock. */
void handle_wait(struct gpreempt *g, pthread_cond_t *cond, uint64_t ns);
struct gpreempt_queue *handle_queue(struct gpreempt *g, unsigned int i);
/* Returns -EINVAL if @q is NULL, and -ECHILD in a child of fork(), where CUDA cannot be used. */
int handle_check_queue(const struct gpreempt_queue *q);
/* Makes the queue's context the calling thread's current one, until handle_leave_queue(). */
int handle_enter_queue(struct gpreempt_queue *q);
void handle_leave_queue(struct gpreempt_queue *q);

/* Asks the daemon for the cost of a switch, and updates the times that depend on it. */
void monitor_learn_costs(struct gpreempt *g);

/* ---- claim.c --------------------------------------------------------------------------------- */

/*
 * claim_hear() reads other processes' claims, and claim_tell() writes this process's claim. The
 * caller holds g->lock.
 */
void claim_hear(struct gpreempt *g, uint64_t now);
void claim_tell(struct gpreempt *g, uint64_t now);

/* ---- reap.c ---------------------------------------------------------------------------------- */

/* The event for submission number @at. */
cu_handle reap_event(const struct gpreempt_queue *q, uint32_t at);
/*
 * Finds out from its events which work of the queue is done. The caller holds g->lock, which is
 * released while events are read.
 */
void queue_reap(struct gpreempt_queue *q);
/* Calls queue_reap(); if work is done, updates the claim and wakes threads that wait. */
void queue_reap_and_tell(struct gpreempt_queue *q);

/* ---- monitor.c, hand.c: the threads ---------------------------------------------------------- */

void *monitor_run(void *g);
void *hand_run(void *g);

#endif /* GPUSCHED_PREEMPT_PRIV_H */
