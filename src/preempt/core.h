/* SPDX-License-Identifier: MIT */
/*
 * core.h - decides which queues may submit, and which TSGs are to be stopped: pure
 *
 * The core has no clock, no thread and no CUDA: the caller brings the time and the state of its
 * events. The claim of other processes is one priority, and the time since when it has made no
 * progress.
 */
#ifndef GPUSCHED_PREEMPT_CORE_H
#define GPUSCHED_PREEMPT_CORE_H

#include <stdbool.h>
#include <stdint.h>

#include "basic/clock.h"

#define CORE_QUEUES 32u
#define CORE_NONE (-1)                  /* stands for no priority */
#define CORE_QUANTUM_NS (5 * NS_PER_MS) /* GPU time of a turn among equal queues, at weight 100 */
/* How long a TSG stays suspended after the end of the higher work. */
#define CORE_LINGER_NS NS_PER_MS
/* longest time that a TSG is suspended at a stretch */
#define CORE_LONGEST_NS (500 * NS_PER_MS)
#define CORE_REST_NS (50 * NS_PER_MS) /* how long a TSG runs at least after a suspension */
#define CORE_STARVED_NS NS_PER_S      /* longest wait of a submission for its turn */

struct core_queue {
	/* as the program that owns it wants it */
	int priority;
	uint32_t weight, depth;
	uint64_t deadline_ns; /* time from a submission's arrival to its deadline; 0: none */
	/* gpreempt_preempt() has taken the GPU away until this time; 0: it has not */
	uint64_t taken_ns;

	/* the queue's work */
	bool waiting;                /* a submission wants to begin */
	uint64_t waiting_ns, due_ns; /* when that submission arrived; when it is to be done */
	uint32_t in_flight;
	uint64_t since_ns; /* when work in flight last made progress */
	uint64_t vtime_ns; /* GPU time, divided by the weight */
	uint64_t busy_ns;  /* GPU time, as estimated */

	/* the queue's TSG */
	uint64_t suspended_ns; /* when the suspension began; 0: it is not suspended */
	/* While suspended: when the last higher work ended; 0: there is higher work. */
	uint64_t calm_ns;
	uint64_t rests_ns;     /* it may not be suspended before this time */
	uint64_t inverted_ns;  /* the last inversion: when the higher work began to wait */
	uint64_t preempted_ns; /* when the TSG was preempted because of that inversion */
};

struct core {
	struct core_queue *queues[CORE_QUEUES];
	unsigned int n;
	int outside;             /* highest claim of another process; CORE_NONE: there is none */
	uint64_t outside_ns;     /* since when that claim has made no progress */
	uint32_t outside_levels; /* one bit for each priority of the other processes' queues */
	uint64_t patience_ns, suspend_ns;
	uint64_t done_ns; /* the last completion of any queue */
};

enum core_answer {
	CORE_GO,
	CORE_PASS,  /* its submission has waited for CORE_STARVED_NS: it goes before higher work */
	CORE_FULL,  /* as much is in flight as the queue's depth allows */
	CORE_BELOW, /* there is higher work */
	CORE_TURN,  /* an equal queue has the turn */
	CORE_TAKEN, /* gpreempt_preempt() has taken the GPU away */
};

/*
 * The steps of a submission: it arrives; may it begin? it begins; it could not begin; @n
 * submissions are done.
 */
void core_arrive(struct core *c, struct core_queue *q, uint64_t now);
enum core_answer core_may(const struct core *c, const struct core_queue *q, uint64_t now);
void core_begin(struct core_queue *q, uint64_t now);
void core_fail(struct core_queue *q);
void core_done(struct core *c, struct core_queue *q, uint32_t n, uint64_t now);

struct core_wish {
	bool suspend;  /* the queue's TSG is to be suspended now */
	bool inverted; /* an inversion begins */
	bool preempt;  /* the queue's TSG is to be preempted, once */
};
struct core_wish core_look(struct core *c, struct core_queue *q, uint64_t now);
/* gpreempt_resume() was called: the queue runs for a while at least. */
void core_resume(struct core_queue *q, uint64_t now);

/* The claim of this process: the highest priority with work; CORE_NONE: no work. */
int core_claim(const struct core *c, uint64_t now, uint64_t *ret_since_ns);
/* How long the monitor may sleep if nothing happens. */
uint64_t core_sleep_ns(const struct core *c);

#endif /* GPUSCHED_PREEMPT_CORE_H */
