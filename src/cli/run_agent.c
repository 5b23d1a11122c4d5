// SPDX-License-Identifier: MIT
/*
 * run_agent.c - puts an agent into CMD, for `gpusched run --agent`
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "basic/beside.h"
#include "basic/cleanup.h"
#include "cli/cli.h"
#include "gpusched/gpusched.h"

#define AGENT "libgpusched-agent.so"

bool cli_run_only_tells(void)
{
	CLEANUP_GPUSCHED struct gpusched *g = NULL;

	return geteuid() && gpusched_open(NULL, &g);
}

/* Looks beside this program first, then where libraries are installed. */
static bool find_agent(char *ret, size_t size)
{
	if (!gs_own_folder(ret, size - sizeof("/" AGENT))) {
		strcat(ret, "/" AGENT);
		if (!access(ret, R_OK))
			return true;
	}
	return gs_installed(GPUSCHED_LIBDIR "/" AGENT, ret, size) || !access(ret, R_OK);
}

/* Adds the agent at the front of LD_PRELOAD, which CMD's descendants inherit. */
int cli_run_agent(const struct cli *c, const char *class_name)
{
	const char *before = getenv("LD_PRELOAD"), *hint = cli_opt(c, "hint");
	char path[PATH_MAX];
	CLEANUP_FREE char *list = NULL;

	if (hint && strcmp(hint, "auto"))
		return cli_fail(-EINVAL, "run: --hint: '%s' is not auto", hint);
	if (!find_agent(path, sizeof(path)))
		return cli_fail(-ENOSYS, "run: --agent: there is no " AGENT
					 " beside gpusched nor in " GPUSCHED_LIBDIR
					 ": build or install all of gpusched");
	if (strpbrk(path, " :"))
		return cli_fail(-ENOTSUP, "run: --agent: LD_PRELOAD cannot name %s", path);
	if (asprintf(&list, "%s%s%s", path, before && *before ? ":" : "", before ? before : "") < 0)
		return cli_fail(-ENOMEM, "run: out of memory");
	setenv("LD_PRELOAD", list, 1);
	if (class_name)
		setenv("GPUSCHED_AGENT_CLASS", class_name, 1);
	if (hint)
		setenv("GPUSCHED_AGENT_HINT", hint, 1);
	return 0;
}
