// SPDX-License-Identifier: MIT
/* real.c - finds functions behind our hooks: the next definition of a name, and libcuda's own */
#include <dlfcn.h>

#include "agent/agent.h"
#include "agent/launches.h"
#include "agent/hooks.h"

void *gs_real_dlsym;

void *agent_real_dlsym(void *handle, const char *name)
{
	return ((void *(*)(void *, const char *))gs_real_dlsym)(handle, name);
}

void EARLY __attribute__((constructor)) agent_real_find_dlsym(void)
{
	if (!gs_real_dlsym)
		gs_real_dlsym = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.34")
					?: dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5");
}

void *agent_real_next(const char *name)
{
	agent_real_find_dlsym();
	return agent_real_dlsym(RTLD_NEXT, name);
}

void *agent_real_cuda(const char *name)
{
	void *lib = dlopen(AGENT_LIBCUDA ".1", RTLD_LAZY | RTLD_NOLOAD), *p;

	if (!lib)
		return NULL;
	agent_real_find_dlsym();
	p = agent_real_dlsym(lib, name);
	dlclose(lib);
	return p;
}
