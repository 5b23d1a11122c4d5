/* SPDX-License-Identifier: MIT */
/*
 * hooks.h - declares what hooks.c and its assembler share
 *
 * A hook is a struct with a real function's address, and an entry that stands in for the function.
 * The entry counts the call and jumps to the address. It calls C code before and after only for the
 * kinds in gs_hook_watch.
 */
#ifndef GPUSCHED_AGENT_HOOKS_H
#define GPUSCHED_AGENT_HOOKS_H

#define HOOK_REAL 0 /* offsets in struct hook */
#define HOOK_KIND 8
#define HOOK_COUNT 12
#define HOOK_SIZE 32
#define HOOK_POOL 128 /* number of entries for functions that are found by address */

#define HOOK_START (1 << 0)     /* cuInit: the agent starts after it */
#define HOOK_NAMES (1 << 1)     /* cuGetProcAddress: returns functions by name */
#define HOOK_LAUNCH (1 << 2)    /* a launch; argument 0: the function */
#define HOOK_LAUNCH_EX (1 << 3) /* a launch; argument 1: the function */
#define HOOK_GRAPH (1 << 4)     /* a graph's launch; argument 0: the graph */
/* Starts all blocks at once, so it can't run beside a waiting kernel. */
#define HOOK_TOGETHER (1 << 5)
#define HOOK_CAPTURE (1 << 6)
#define HOOK_CAPTURED (1 << 7)
#define HOOK_WAITS (1 << 8)     /* may wait for the whole context */
#define HOOK_UNLOADS (1 << 9)   /* the same, and each function's next launch counts as its first */
#define HOOK_ENDS (1 << 10)     /* a primary context may end */
#define HOOK_DESTROYS (1 << 11) /* argument 0: the context that ends */

#define HOOK_SYNC (1 << 12)  /* waits for the GPU */
#define HOOK_QUERY (1 << 13) /* asks whether the GPU is done */
#define HOOK_SYNC_ALL (HOOK_SYNC | HOOK_WAITS)

#define HOOK_LAUNCHES (HOOK_LAUNCH | HOOK_LAUNCH_EX | HOOK_GRAPH | HOOK_TOGETHER)
#define HOOK_ALWAYS (HOOK_START | HOOK_NAMES | HOOK_CAPTURE | HOOK_CAPTURED)

/* Index in a thread's counters for each kind. */
#define COUNT_LAUNCHES 0
#define COUNT_GRAPHS 8
#define COUNT_OTHERS 16

#ifndef __ASSEMBLER__
#include <stdint.h>

/* A sanitizer's runtime calls dlsym() before it can check anything. */
#define EARLY __attribute__((no_sanitize("address", "undefined")))

struct hook {
	void *real; /* gs_hook_lazy() until the first call */
	uint32_t kind, count_at;
	const char *name;
	uint64_t pad;
};
_Static_assert(sizeof(struct hook) == HOOK_SIZE, "hook");

/* defined in hooks_ARCH.S */
void gs_hook_lazy(void);
extern const char gs_hook_entries[], gs_hook_entries_end[]; /* entries with names */
extern const char gs_hook_pool[];                           /* entries of the pool, 16 bytes each */

/* defined in launches.c and real.c; the assembler uses them */
extern uint32_t gs_hook_watch; /* kinds for which C code is called */
extern void *gs_real_dlsym;

/* defined in hooks.c; the assembler uses them */
extern struct hook gs_hooks[];
void *gs_hook_find(void *handle, const char *name);
void gs_hook_resolve(struct hook *h);
void gs_hook_before(struct hook *h, const uint64_t regs[6]);
void gs_hook_after(struct hook *h, const uint64_t regs[6], uint32_t result);
#endif

#endif /* GPUSCHED_AGENT_HOOKS_H */
