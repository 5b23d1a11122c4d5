/* SPDX-License-Identifier: MIT */
/*
 * core.h - decides which queues may submit, and which TSGs are to be stopped: pure
 *
 * No clock, no thread, no CUDA: the caller brings the time and the state of its events. A claim of
 * other processes is one priority, and since when it has made no progress.
 */
#ifndef GPUSCHED_PREEMPT_CORE_H
#define GPUSCHED_PREEMPT_CORE_H

#include <stdbool.h>
#include <stdint.h>

#include "basic/clock.h"

#define CORE_QUEUES 32u
#define CORE_NONE (-1)                  /* no priority */
#define CORE_QUANTUM_NS (5 * NS_PER_MS) /* a turn among equals, at weight 100 */
/* Stays suspended for so long after the end of the higher work. */
#define CORE_LINGER_NS NS_PER_MS
#define CORE_LONGEST_NS (500 * NS_PER_MS) /* suspended at a time ... */
#define CORE_REST_NS (50 * NS_PER_MS)     /* ... and then runs for at least so long */
#define CORE_STARVED_NS NS_PER_S          /* no submission waits longer for its turn */

struct core_queue {
	/* as its owner wants it */
	int priority;
	uint32_t weight, depth;
	uint64_t deadline_ns; /* after a submission's arrival; 0: none */
	uint64_t taken_ns;    /* taken away by gpreempt_preempt() until then; 0: no */

	/* its work */
	bool waiting;                /* a submission wants to begin */
	uint64_t waiting_ns, due_ns; /* since when a submission waits; when it is to be done */
	uint32_t in_flight;
	uint64_t since_ns; /* time of the last progress of in_flight */
	uint64_t vtime_ns; /* GPU time by weight */
	uint64_t busy_ns;  /* GPU time, as estimated */

	/* its TSG */
	uint64_t suspended_ns; /* since when it is suspended; 0: it is not */
	/* While suspended: since when there is no higher work; 0: there is some. */
	uint64_t calm_ns;
	uint64_t rests_ns;     /* it may not be suspended before this time */
	uint64_t inverted_ns;  /* the last inversion: since when higher work waited */
	uint64_t preempted_ns; /* when the TSG was preempted because of it */
};

struct core {
	struct core_queue *queues[CORE_QUEUES];
	unsigned int n;
	int outside;             /* highest claim of another process; CORE_NONE */
	uint64_t outside_ns;     /* since when that has made no progress */
	uint32_t outside_levels; /* one bit for each priority that other processes have queues of */
	uint64_t patience_ns, suspend_ns;
	uint64_t done_ns; /* the last completion of any queue */
};

enum core_answer {
	CORE_GO,
	CORE_PASS,  /* has waited for CORE_STARVED_NS: goes in spite of other work */
	CORE_FULL,  /* its own depth is reached */
	CORE_BELOW, /* there is higher work */
	CORE_TURN,  /* an equal queue has the turn */
	CORE_TAKEN, /* it was taken away by hand */
};

/*
 * In order: a submission arrives; whether it may begin; it begins; it failed to begin; @n are done.
 */
void core_arrive(struct core *c, struct core_queue *q, uint64_t now);
enum core_answer core_may(const struct core *c, const struct core_queue *q, uint64_t now);
void core_begin(struct core_queue *q, uint64_t now);
void core_fail(struct core_queue *q);
void core_done(struct core *c, struct core_queue *q, uint32_t n, uint64_t now);

struct core_wish {
	bool suspend;  /* its TSG is to be suspended now */
	bool inverted; /* an inversion begins */
	bool preempt;  /* its TSG is to be preempted, once */
};
struct core_wish core_look(struct core *c, struct core_queue *q, uint64_t now);
/* After gpreempt_resume(): it runs for a while at least. */
void core_resume(struct core_queue *q, uint64_t now);

/* This process's claim: its highest priority with work; CORE_NONE. */
int core_claim(const struct core *c, uint64_t now, uint64_t *ret_since_ns);
/* How long until the monitor must check again if nothing happens. */
uint64_t core_sleep_ns(const struct core *c);

#endif /* GPUSCHED_PREEMPT_CORE_H */
