// SPDX-License-Identifier: MIT
/*
 * hooks.c - stands between a program and libcuda's launch functions
 *
 * A program finds libcuda's functions by dlsym(), by cuGetProcAddress() (as static and shared
 * cudart do), or by being linked with libcuda. In each case it gets our entry in place of the
 * function. A function that is not libcuda's own is left alone: another tool has replaced it
 * already.
 */
#include "agent/hooks.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <string.h>

#include "agent/agent.h"
#include "agent/hold.h"
#include "agent/launches.h"
#include "agent/requests.h"
#include "basic/cleanup.h"

#define NNAMES (sizeof(names) / sizeof(names[0]))
#define CUDA_ERROR_NOT_INITIALIZED 3
#define CUDA_ERROR_NOT_READY 600

static const struct {
	const char *name;
	uint32_t kind;
} names[] = {
#define HOOK(name, kind) { #name, HOOK_##kind },
#include "agent/hooks.def"
#undef HOOK
};

struct hook gs_hooks[NNAMES + HOOK_POOL] = {
#define COUNT_OF(kind) \
	((kind)&HOOK_GRAPH ? COUNT_GRAPHS : (kind)&HOOK_LAUNCHES ? COUNT_LAUNCHES : COUNT_OTHERS)
#define HOOK(name, kind) { (void *)gs_hook_lazy, HOOK_##kind, COUNT_OF(HOOK_##kind), #name, 0 },
#include "agent/hooks.def"
#undef HOOK
};
static unsigned int npool;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* ---- who is who ------------------------------------------------------------------------------ */

/* True for a function of libcuda itself, not of another tool that has replaced it. */
static bool is_cuda(const void *p)
{
	const char *base;
	Dl_info info;

	if (!dladdr(p, &info) || !info.dli_fname)
		return false;
	base = strrchr(info.dli_fname, '/');
	return !strncmp(base ? base + 1 : info.dli_fname, AGENT_LIBCUDA, strlen(AGENT_LIBCUDA));
}

static bool is_entry(const void *p)
{
	return (const char *)p >= gs_hook_entries && (const char *)p < gs_hook_entries_end;
}

static void *entry_of(size_t i)
{
	return (void *)(gs_hook_pool + (i - NNAMES) * 16);
}

/*
 * Returns the entry of the pool that jumps to @real, since libcuda has several versions of some
 * functions. Entries with names are for programs that were linked with libcuda. NULL: the pool is
 * full.
 */
static void *bind(size_t name, void *real)
{
	void *entry = NULL;

	pthread_mutex_lock(&lock);
	for (size_t i = NNAMES; i < NNAMES + npool && !entry; i++)
		if (gs_hooks[i].real == real && gs_hooks[i].kind == names[name].kind)
			entry = entry_of(i);
	if (!entry && npool < HOOK_POOL) {
		size_t i = NNAMES + npool;

		gs_hooks[i] = gs_hooks[name];
		gs_hooks[i].real = real;
		entry = entry_of(i);
		npool++;
	}
	pthread_mutex_unlock(&lock);
	return entry;
}

static bool find_name(const char *name, size_t *ret)
{
	for (size_t i = 0; i < NNAMES; i++) {
		if (strcmp(names[i].name, name))
			continue;
		*ret = i;
		/* where launches are left alone, the start of CUDA is still noticed */
		return !agent_settings.blind[0] || names[i].kind & (HOOK_START | HOOK_NAMES);
	}
	return false;
}

/*
 * For dlsym(): returns our entry. NULL: the real dlsym() is to answer. 1: there is no such
 * function.
 */
EARLY void *gs_hook_find(void *handle, const char *name)
{
	void *p = NULL;
	int saved;
	size_t i;

	agent_real_find_dlsym();
	if (agent_settings.inert || !name || name[0] != 'c' || name[1] != 'u' ||
	    handle == RTLD_NEXT || !find_name(name, &i))
		return NULL;
	saved = errno;
	p = agent_real_dlsym(handle, name);
	if (is_entry(p)) { /* dlsym() found our own export: is there a real function? */
		p = agent_real_dlsym(RTLD_NEXT, name);
		if (!p)
			return (void *)1;
	}
	p = p && is_cuda(p) ? bind(i, p) : NULL;
	errno = saved;
	return p;
}

/* ---- libcuda --------------------------------------------------------------------------------- */

static int not_there(void)
{
	return CUDA_ERROR_NOT_INITIALIZED;
}

/*
 * Finds the real function at the first call of an entry with a name: such entries are called by
 * programs that are linked with libcuda.
 */
void gs_hook_resolve(struct hook *h)
{
	int saved = errno;
	void *p = agent_real_cuda(h->name);

	h->real = p ? p : (void *)not_there;
	errno = saved;
}

/* ---- before and after ------------------------------------------------------------------------ */

#define SEEN 4096
static _Atomic uint64_t seen[SEEN]; /* functions and graphs that were launched before */

/*
 * True at the first launch of function or graph @f. That launch may load code or make local memory
 * grow, which would have to wait until the hold ends.
 */
static bool is_first(uint64_t f)
{
	_Atomic uint64_t *at = &seen[(f >> 4 ^ f >> 16) % SEEN];

	if (*at == f)
		return false;
	*at = f;
	return true;
}

static void forget_functions(void)
{
	for (size_t i = 0; i < SEEN; i++)
		seen[i] = 0;
}

static void before_launch(const struct hook *h, const uint64_t regs[6])
{
	bool first = is_first(regs[h->kind & HOOK_LAUNCH_EX ? 1 : 0]);

	if (first || h->kind & HOOK_TOGETHER)
		hold_release();
}

void gs_hook_before(struct hook *h, const uint64_t regs[6])
{
	int saved = errno;

	launches_count(h->count_at);
	if (!(h->kind & gs_hook_watch))
		return;
	if (h->kind & HOOK_LAUNCHES) {
		requests_launch();
		before_launch(h, regs);
	}
	if (h->kind & HOOK_SYNC)
		requests_wait(true);
	if (h->kind & ~(HOOK_ALWAYS | HOOK_LAUNCHES | HOOK_SYNC | HOOK_QUERY) ||
	    h->kind & HOOK_CAPTURE)
		hold_release();
	if (h->kind & HOOK_CAPTURE)
		launches_capture(true);
	if (h->kind & (HOOK_UNLOADS | HOOK_ENDS | HOOK_DESTROYS))
		forget_functions();
	if (h->kind & (HOOK_ENDS | HOOK_DESTROYS))
		hold_forget(h->kind & HOOK_DESTROYS ? (void *)regs[0] : NULL);
	errno = saved;
}

/* Replaces the answer of cuGetProcAddress(), by the address that libcuda chose for this version. */
static void replace(const char *name, void **at)
{
	size_t i;

	if (name && at && *at && find_name(name, &i) && is_cuda(*at))
		*at = bind(i, *at) ?: *at;
}

void gs_hook_after(struct hook *h, const uint64_t regs[6], uint32_t result)
{
	int saved = errno;

	if (h->kind & HOOK_START && !result)
		agent_start();
	if (h->kind & HOOK_NAMES && !result)
		replace((const char *)regs[0], (void **)regs[1]);
	if ((h->kind & HOOK_CAPTURE && result) || h->kind & HOOK_CAPTURED)
		launches_capture(false);
	if (h->kind & HOOK_SYNC && h->kind & gs_hook_watch)
		requests_wait(false);
	if (h->kind & HOOK_QUERY && h->kind & gs_hook_watch)
		requests_polled(result == CUDA_ERROR_NOT_READY);
	if (h->kind & HOOK_LAUNCHES && h->kind & gs_hook_watch)
		auto_launched();
	errno = saved;
}
