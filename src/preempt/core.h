/* SPDX-License-Identifier: MIT */
/*
 * core.h - which queues may submit, and which TSGs are to be stopped: pure
 *
 * No clock, no thread, no CUDA: the caller brings the time and what its events tell. A claim of
 * other processes is one priority, and since when it has made no progress.
 */
#ifndef GPUSCHED_PREEMPT_CORE_H
#define GPUSCHED_PREEMPT_CORE_H

#include <stdbool.h>
#include <stdint.h>

#include "basic/clock.h"

#define CORE_QUEUES 32u
#define CORE_NONE (-1)                    /* no priority */
#define CORE_QUANTUM_NS (5 * NS_PER_MS)   /* a turn among equals, at weight 100 */
#define CORE_LINGER_NS NS_PER_MS          /* suspended for so long after the higher work's end */
#define CORE_LONGEST_NS (500 * NS_PER_MS) /* suspended at a time ... */
#define CORE_REST_NS (50 * NS_PER_MS)     /* ... and then not for so long */
#define CORE_STARVED_NS NS_PER_S          /* nobody waits longer for its turn */

struct core_queue {
	/* as its owner wants it */
	int priority;
	uint32_t weight, depth;
	uint64_t deadline_ns; /* from a submission's arrival; 0: none */
	uint64_t taken_ns;    /* gpreempt_preempt(): until then; 0: not */

	/* its work */
	bool waiting;                /* a submission wants to begin */
	uint64_t waiting_ns, due_ns; /* since then; wanted by then */
	uint32_t in_flight;
	uint64_t since_ns; /* of in_flight: the last progress */
	uint64_t vtime_ns; /* GPU time by weight */
	uint64_t busy_ns;  /* GPU time, as estimated */

	/* its TSG */
	uint64_t suspended_ns; /* since then; 0: not */
	uint64_t calm_ns;      /* while suspended: no higher work since then; 0: there is */
	uint64_t rests_ns;     /* not to be suspended before */
	uint64_t inverted_ns;  /* the last inversion: higher work waits since */
	uint64_t preempted_ns; /* answered by preempting it then */
};

struct core {
	struct core_queue *queues[CORE_QUEUES];
	unsigned int n;
	int outside;             /* highest claim of another process; CORE_NONE */
	uint64_t outside_ns;     /* since when that has made no progress */
	uint32_t outside_levels; /* a bit for each priority that others have queues of */
	uint64_t patience_ns, suspend_ns;
	uint64_t done_ns; /* the last completion of any */
};

enum core_answer {
	CORE_GO,
	CORE_PASS,  /* has waited for CORE_STARVED_NS: goes, whatever else works */
	CORE_FULL,  /* its own depth */
	CORE_BELOW, /* higher work is there */
	CORE_TURN,  /* an equal has the turn */
	CORE_TAKEN, /* by hand */
};

/* A submission arrives; may it begin; it begins; it failed to; @n are done. */
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
/* gpreempt_resume(): it runs, for a while at least. */
void core_resume(struct core_queue *q, uint64_t now);

/* The claim of this process: its highest priority with work; CORE_NONE. */
int core_claim(const struct core *c, uint64_t now, uint64_t *ret_since_ns);
/* How long until the monitor must look again if nothing happens. */
uint64_t core_sleep_ns(const struct core *c);

#endif /* GPUSCHED_PREEMPT_CORE_H */
