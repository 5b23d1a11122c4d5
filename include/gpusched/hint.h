/* SPDX-License-Identifier: MIT */
/*
 * gpusched/hint.h - functions by which a program tells gpusched about its requests
 *
 * For C99 and C++. No library has to be linked. The functions look for libgpusched-agent.so in the
 * process, which `gpusched run --agent` loads. Without it they do nothing, and cost a few ns. Any
 * thread may call them. No function changes errno, waits for the GPU, or changes results.
 *
 * A request that first needs the CPU, and then the GPU beside others' work:
 *
 *     gpusched_hint_coming();    on arrival: the GPU begins to switch to this program
 *     ... prepare, on the CPU ...
 *     ... launch ...
 *     gpusched_hint_here();      the work is queued: the GPU need not be kept free for it any more
 *     ... wait for the result ...
 *     gpusched_hint_done();
 *
 * docs/hints.md says what happens when, and when hints do harm.
 */
#ifndef GPUSCHED_HINT_H
#define GPUSCHED_HINT_H

#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The table that the agent exports as gpusched_hints. Later versions only add at its end. */
struct gpusched_hints {
	uint32_t size; /* of this struct, in bytes */
	uint32_t version;
	int (*coming)(void);
	void (*here)(void);
	void (*done)(void);
	void (*deadline)(uint64_t us);
	int (*yield_asked)(void);
	int (*self_preempt)(void);
	const char *(*state)(void);
	uint32_t (*lead_us)(void);
};

/*
 * Returns the agent's functions, or NULL if there is no agent. While there is none, only calls 1,
 * 2, 4, 8 ... search again, so that the other calls cost next to nothing.
 */
static inline const struct gpusched_hints *gpusched_hints_find(void)
{
	static const struct gpusched_hints *found;
	static uint32_t calls;
	const struct gpusched_hints *h = __atomic_load_n(&found, __ATOMIC_ACQUIRE);
	uint32_t n;

	if (h)
		return h;
	n = __atomic_load_n(&calls, __ATOMIC_RELAXED);
	if ((n & (n + 1)) == 0)
		h = (const struct gpusched_hints *)dlsym((void *)0, "gpusched_hints");
	__atomic_store_n(&calls, n + 1, __ATOMIC_RELAXED);
	__atomic_store_n(&found, h, __ATOMIC_RELEASE);
	return h;
}

/*
 * A request is coming: its first launch follows within 30 ms. If this program has the class lc and
 * a CUDA context, the GPU is switched to this program. The GPU is kept for it until
 * gpusched_hint_here() or gpusched_hint_done(), for 30 ms at most. All calls together keep the GPU
 * for at most a quarter of
 * any second (half if a daemon runs). The call takes some 10 us; the first one in a context takes
 * some ms. Returns 1 if the GPU is being switched, and 0 if not: gpusched_hint_state() says why.
 */
static inline int gpusched_hint_coming(void)
{
	const struct gpusched_hints *h = gpusched_hints_find();

	return h ? h->coming() : 0;
}

/* The request's first work is launched. */
static inline void gpusched_hint_here(void)
{
	const struct gpusched_hints *h = gpusched_hints_find();

	if (h)
		h->here();
}

/* The request is done, or was dropped. */
static inline void gpusched_hint_done(void)
{
	const struct gpusched_hints *h = gpusched_hints_find();

	if (h)
		h->done();
}

/*
 * Requests are to be done within @us microseconds of their arrival; 0: no deadline. Policies see
 * this deadline if the program has the class lc, and the class has no deadline of its own.
 */
static inline void gpusched_hint_deadline(uint64_t us)
{
	const struct gpusched_hints *h = gpusched_hints_find();

	if (h)
		h->deadline(us);
}

/*
 * Returns 1 if a person or policy has preempted or suspended the program since its last
 * gpusched_self_preempt(). A program that works in steps may check this between two steps.
 */
static inline int gpusched_yield_asked(void)
{
	const struct gpusched_hints *h = gpusched_hints_find();

	return h ? h->yield_asked() : 0;
}

/*
 * Takes the GPU from this program's own work, once: the next program that waits gets it. Takes
 * about 1 ms. Returns 0, or a negative errno: -ENODEV without an agent, -ENOENT without work on a
 * GPU, -ETIMEDOUT.
 */
static inline int gpusched_self_preempt(void)
{
	const struct gpusched_hints *h = gpusched_hints_find();

	return h ? h->self_preempt() : -19 /* ENODEV */;
}

/*
 * Returns how long a switch takes on this GPU, in us. The best time for gpusched_hint_coming() is
 * that long before the launch. The value may change. 0: there is no agent.
 */
static inline uint32_t gpusched_hint_lead_us(void)
{
	const struct gpusched_hints *h = gpusched_hints_find();

	return h && h->size >= offsetof(struct gpusched_hints, lead_us) + sizeof(h->lead_us)
		       ? h->lead_us()
		       : 0;
}

/* The result of the last gpusched_hint_coming(): "on", or why not. Never NULL; do not free it. */
static inline const char *gpusched_hint_state(void)
{
	const struct gpusched_hints *h = gpusched_hints_find();

	return h ? h->state() : "off: no agent (gpusched run --agent)";
}

#ifdef __cplusplus
}
#endif

#endif /* GPUSCHED_HINT_H */
