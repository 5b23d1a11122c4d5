/* SPDX-License-Identifier: MIT */
/*
 * gpusched/hint.h - functions by which a program tells gpusched about its requests
 *
 * For C99 and C++. No library has to be linked. The functions look in the process for
 * libgpusched-agent.so, which `gpusched run --agent` loads. Without that library they do nothing,
 * and cost a few ns. Any thread may call them. No function changes errno, waits for the GPU, or
 * changes the program's results.
 *
 * Example: a request first needs the CPU, and then the GPU, which other programs use as well:
 *
 *     gpusched_hint_coming();    on arrival: the GPU begins to switch to this program
 *     ... prepare, on the CPU ...
 *     ... launch ...
 *     gpusched_hint_here();      the work is queued: the GPU need not be kept free for it any more
 *     ... wait for the result ...
 *     gpusched_hint_done();
 *
 * docs/agent.md says what happens when, and when hints do harm.
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
 * Returns the agent's functions, or NULL if there is no agent. Until an agent is found, only calls
 * 1, 2, 4, 8 ... search for it, so that the other calls cost next to nothing.
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
 * Says that a request is coming: its first launch follows within 30 ms. If this program has the
 * class lc and a CUDA context, the GPU switches to this program, and stays with it until
 * gpusched_hint_here() or gpusched_hint_done(), for 30 ms at most. All calls together keep the GPU
 * for at most a quarter of any second (half if a daemon runs). The call takes some 10 us; the first
 * one in a context takes some ms. Returns 1 if the GPU begins to switch. Returns 0 if not;
 * gpusched_hint_state() then gives the reason.
 */
static inline int gpusched_hint_coming(void)
{
	const struct gpusched_hints *h = gpusched_hints_find();

	return h ? h->coming() : 0;
}

/* Says that the request's first work is launched. */
static inline void gpusched_hint_here(void)
{
	const struct gpusched_hints *h = gpusched_hints_find();

	if (h)
		h->here();
}

/* Says that the request is done, or was dropped. */
static inline void gpusched_hint_done(void)
{
	const struct gpusched_hints *h = gpusched_hints_find();

	if (h)
		h->done();
}

/*
 * Says that requests must be done within @us microseconds of their arrival; 0: no deadline.
 * Policies see this deadline if the program has the class lc, and that class sets no deadline.
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
 * Gives the GPU to the next program that waits: this program's work is preempted once, and goes on
 * at its next turn. The call takes about 1 ms. Returns 0, or a negative errno: -ENODEV without an
 * agent, -ENOENT without work on a GPU, -ETIMEDOUT.
 */
static inline int gpusched_self_preempt(void)
{
	const struct gpusched_hints *h = gpusched_hints_find();

	return h ? h->self_preempt() : -19 /* ENODEV */;
}

/*
 * Returns how long a switch takes on this GPU, in us; 0 without an agent. The best time to call
 * gpusched_hint_coming() is that long before the launch. The value may change.
 */
static inline uint32_t gpusched_hint_lead_us(void)
{
	const struct gpusched_hints *h = gpusched_hints_find();

	return h && h->size >= offsetof(struct gpusched_hints, lead_us) + sizeof(h->lead_us)
		       ? h->lead_us()
		       : 0;
}

/*
 * Returns "on" if the last gpusched_hint_coming() made the GPU switch, or else the reason why not.
 * Never NULL; do not free it.
 */
static inline const char *gpusched_hint_state(void)
{
	const struct gpusched_hints *h = gpusched_hints_find();

	return h ? h->state() : "off: no agent (gpusched run --agent)";
}

#ifdef __cplusplus
}
#endif

#endif /* GPUSCHED_HINT_H */
