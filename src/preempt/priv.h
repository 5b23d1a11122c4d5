/* SPDX-License-Identifier: MIT */
/*
 * priv.h - inside of libgpreempt: what its files share
 *
 * There are three kinds of threads. The program's own threads submit work, and wait for their turn.
 * The monitor reads the queues' events and decides (core.h). The hand makes calls for TSGs, and
 * knows no CUDA. The monitor's wish to suspend a TSG lasts LEASE_NS only. So if the monitor waits
 * for a lock of libcuda, nothing stays suspended: that TSG may hold the lock.
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
	/* One thread at a time reads the queue's events. With g->lock held, only try this lock. */
	pthread_mutex_t reaping;
	cu_handle context, stream, events[MAX_DEPTH];
	bool own_context;

	/* the next members are under g->lock */
	struct core_queue core;
	uint32_t recorded, reaped; /* number of events recorded, and of those seen done */
	uint64_t due_ns[MAX_DEPTH];
	struct gpreempt_stats stats;
	bool broken;  /* CUDA refuses the queue's context */
	bool closing; /* the TSG is to be as its owner had it, since the queue ends */

	/* the queue's TSG: wanted state, real state */
	bool has_tsg;
	struct way_tsg tsg;
	uint64_t lease_ns; /* suspension is wanted until this time; 0: it is not wanted */
	bool preempt;
	uint32_t slice_us; /* 0: the TSG's own slice */
	bool calling, is_suspended;
	uint32_t is_slice_us;
	uint64_t suspended_ns, retry_ns;
	int suspend_err;
};

struct gpreempt {
	pid_t pid;
	cu_device device;
	unsigned char uuid[16];
	/* as the program said; 0: they follow from the cost of a switch */
	uint32_t patience_us, suspend_us;
	struct preempt_cuda {
		CUDA_FUNCTIONS(CUDA_MEMBER, CUDA_MEMBER)
	} cuda;
	struct board *board;
	struct way *way;
	pthread_mutex_t creating;
	pthread_t monitor, hand;

	/* Protects all that follows. Not held during calls of CUDA, or calls for TSGs. */
	pthread_mutex_t lock;
	pthread_cond_t changed; /* signalled when a submission may begin, or a call was made */
	pthread_cond_t work;    /* wakes the hand */
	uint32_t switch_cost_us;
	struct core core;
	bool monitor_ends, hand_ends;
	struct gpreempt *next; /* list of all handles of the process */
};

/* ---- handle.c -------------------------------------------------------------------------------- */

extern _Thread_local struct gs_error preempt_error;

/* Stores one line for gpreempt_error(); the value is @result. */
#define FAIL(result, ...) \
	(preempt_error.code = 0, preempt_error.text[0] = '\0', \
	 gs_fail(&preempt_error, result, __VA_ARGS__))

/* Returns -EIO with a line if CUDA has refused @what. */
int preempt_check_cuda(const struct gpreempt *g, cu_result r, const char *what);
/* Waits on @cond with g->lock held. */
void preempt_wait(struct gpreempt *g, pthread_cond_t *cond, uint64_t ns);
struct gpreempt_queue *queue_at(struct gpreempt *g, unsigned int i);
/* 0, or the error that every call on the queue returns. */
int queue_check(const struct gpreempt_queue *q);
/* Between enter and leave the queue's context is the calling thread's current one. */
int queue_enter(struct gpreempt_queue *q);
void queue_leave(struct gpreempt_queue *q);

/* Takes over the switch cost that the daemon knows by now. */
void costs_learn(struct gpreempt *g);

/* ---- claim.c --------------------------------------------------------------------------------- */

/*
 * claim_hear() reads other processes' claims, claim_tell() writes this process's. With g->lock
 * held.
 */
void claim_hear(struct gpreempt *g, uint64_t now);
void claim_tell(struct gpreempt *g, uint64_t now);

/* ---- reap.c ---------------------------------------------------------------------------------- */

cu_handle queue_event(const struct gpreempt_queue *q, uint32_t at);
/*
 * Finds out which work of the queue is done, by its events. With g->lock held, which is released
 * meanwhile.
 */
void queue_reap(struct gpreempt_queue *q);
/* queue_reap(), which then tells other processes and the threads that wait for this. */
void queue_reap_and_tell(struct gpreempt_queue *q);

/* ---- monitor.c, hand.c: the threads ---------------------------------------------------------- */

void *monitor_run(void *g);
void *hand_run(void *g);

#endif /* GPUSCHED_PREEMPT_PRIV_H */
