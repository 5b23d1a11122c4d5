// SPDX-License-Identifier: MIT
/*
 * agentcost.c - measure what a counted launch and a hint cost, as one line of JSON
 *
 * Calls libcuda's cuLaunchKernel() without a context, so that the library refuses at once. Times
 * two entries: the address that dlsym() gives, which is the agent's under `gpusched run --agent`,
 * and the library's own address. The difference is the agent's cost.
 */
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

#include "basic/clock.h"
#include "gpusched/hint.h"

#define N 2000000
#define ROUNDS 9

typedef int (*launch_fn)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
			 unsigned, void *, void **, void **);

static double once_ns(launch_fn fn)
{
	uint64_t t = gs_now_ns();

	for (int i = 0; i < N; i++)
		fn(NULL, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL);
	return (double)(gs_now_ns() - t) / N;
}

static double best_ns(launch_fn fn)
{
	double best = 1e9;

	for (int i = 0; i < ROUNDS; i++) {
		double ns = once_ns(fn);

		best = ns < best ? ns : best;
	}
	return best;
}

/* Finds a symbol in the library's own table, since an agent may have replaced dlsym(). */
static void *own_symbol(void *lib, const char *name)
{
	struct link_map *map = lib;
	const ElfW(Sym) *symbols = NULL;
	const char *strings = NULL;

	for (const ElfW(Dyn) *d = map->l_ld; d->d_tag; d++) {
		if (d->d_tag == DT_SYMTAB)
			symbols = (const ElfW(Sym) *)d->d_un.d_ptr;
		if (d->d_tag == DT_STRTAB)
			strings = (const char *)d->d_un.d_ptr;
	}
	/* the strings follow the symbols in memory */
	for (const ElfW(Sym) *s = symbols; symbols && (const char *)s < strings; s++)
		if (s->st_value && !strcmp(strings + s->st_name, name))
			return (char *)map->l_addr + s->st_value;
	return NULL;
}

int main(void)
{
	void *lib = dlopen("libcuda.so.1", RTLD_NOW);
	launch_fn given, own;
	double with, without, hint;
	uint64_t t;

	if (!lib) {
		fprintf(stderr, "agentcost: no libcuda.so.1\n");
		return 3;
	}
	given = (launch_fn)dlsym(lib, "cuLaunchKernel");
	own = (launch_fn)own_symbol(lib, "cuLaunchKernel");
	if (!given || !own)
		return 1;
	with = best_ns(given);
	without = best_ns(own);
	t = gs_now_ns();
	for (int i = 0; i < N; i++)
		gpusched_hint_here();
	hint = (double)(gs_now_ns() - t) / N;
	printf("{\"agent\":%s,\"launch_ns\":%.1f,\"own_ns\":%.1f,\"added_ns\":%.1f,"
	       "\"hint_ns\":%.1f}\n",
	       given == own ? "false" : "true", with, without, with - without, hint);
	return 0;
}
