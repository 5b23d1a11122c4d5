/* SPDX-License-Identifier: MIT */
/*
 * core.h - decides which queues may submit, and which TSGs to preempt or suspend
 *
 * The core is pure: it has no clock and no thread, and calls no CUDA. The caller passes the time,
 * and reports completed work. Other processes appear as one claim: a priority, and the time since
 * when its work has made no progress.
 */
#ifndef GPUSCHED_PREEMPT_CORE_H
#define GPUSCHED_PREEMPT_CORE_H

#include <stdbool.h>
#include <stdint.h>

#include "basic/clock.h"

#define CORE_QUEUES 32u
#define CORE_NONE (-1)                  /* stands for no priority */
#define CORE_QUANTUM_NS (5 * NS_PER_MS) /* GPU time of a turn among equal queues, at weight 100 */
/* how long a TSG stays suspended after work of a higher priority has ended */
#define CORE_LINGER_NS NS_PER_MS
/* how long one suspension of a TSG lasts at most */
#define CORE_LONGEST_NS (500 * NS_PER_MS)
/* least time between two preemptions of a TSG, and least run after its longest suspension */
#define CORE_REST_NS (50 * NS_PER_MS)
#define CORE_STARVED_NS NS_PER_S /* a submission that has waited this long may begin anyway */

struct core_queue {
	/* the program's options for the queue */
	int priority;
	uint32_t weight, depth;
	uint64_t deadline_ns; /* time from a submission's arrival to its deadline; 0: none */
	/* gpreempt_preempt() keeps the queue off the GPU until this time; 0: it does not */
	uint64_t taken_ns;

	/* the queue's work */
	bool waiting;                /* a submission waits for the queue's turn */
	uint64_t waiting_ns, due_ns; /* when that submission arrived, and its deadline */
	uint32_t in_flight;          /* submissions that have begun and are not done */
	uint64_t since_ns;           /* when work in flight last made progress */
	uint64_t vtime_ns;           /* GPU time, divided by the weight */
	uint64_t busy_ns;            /* GPU time, as estimated */

	/* the queue's TSG */
	uint64_t suspended_ns; /* when the suspension began; 0: it is not suspended */
	/* while suspended: when work of a higher priority ended; 0: it has not ended */
	uint64_t calm_ns;
	uint64_t rests_ns;     /* the TSG may not be suspended before this time */
	uint64_t inverted_ns;  /* last inversion: when the higher work stopped making progress */
	uint64_t preempted_ns; /* when the TSG was last preempted because of an inversion */
};

struct core {
	struct core_queue *queues[CORE_QUEUES];
	unsigned int n;
	int outside;             /* highest claim of another process; CORE_NONE: there is none */
	uint64_t outside_ns;     /* since when that claim has made no progress */
	uint32_t outside_levels; /* one bit for each priority of the other processes' queues */
	/* how long higher work may lack progress until a TSG is preempted, or suspended */
	uint64_t patience_ns, suspend_ns;
	uint64_t done_ns; /* time of the last completion in any queue */
};

/* Whether a submission may begin, and if not, why. */
enum core_answer {
	CORE_GO,
	CORE_PASS,  /* yes: it has waited for CORE_STARVED_NS, so it goes before higher work */
	CORE_FULL,  /* no: as much is in flight as the queue's depth allows */
	CORE_BELOW, /* no: there is work of a higher priority */
	CORE_TURN,  /* no: another queue of the same priority has the turn */
	CORE_TAKEN, /* no: gpreempt_preempt() keeps the queue off the GPU */
};

/*
 * The steps of a submission. It arrives; core_may() says whether it may begin; it begins. Then it
 * either fails, or is among @n submissions that are done.
 */
void core_arrive(struct core *c, struct core_queue *q, uint64_t now);
enum core_answer core_may(const struct core *c, const struct core_queue *q, uint64_t now);
void core_begin(struct core_queue *q, uint64_t now);
void core_fail(struct core_queue *q);
void core_done(struct core *c, struct core_queue *q, uint32_t n, uint64_t now);

/*
 * The core's decision about a queue's TSG. An inversion is a time in which work of a higher
 * priority waits too long for the GPU while this TSG has work there.
 */
struct core_wish {
	bool suspend;  /* the TSG should be suspended, or stay so */
	bool inverted; /* a new inversion has begun */
	bool preempt;  /* the TSG should be preempted once */
};
/* Decides about one queue's TSG. Call this on each round of the monitor. */
struct core_wish core_look(struct core *c, struct core_queue *q, uint64_t now);
/* For gpreempt_resume(): ends the suspension; the queue then runs at least for CORE_REST_NS. */
void core_resume(struct core_queue *q, uint64_t now);

/*
 * Returns this process's claim: the highest priority that has work, or CORE_NONE. *ret_since_ns:
 * since when that work has made no progress.
 */
int core_claim(const struct core *c, uint64_t now, uint64_t *ret_since_ns);
/* How long the monitor may sleep if nothing wakes it. */
uint64_t core_sleep_ns(const struct core *c);

#endif /* GPUSCHED_PREEMPT_CORE_H */
