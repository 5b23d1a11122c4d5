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
#include "basic/say.h"
#include "basic/starter.h"
#include "cli/cli.h"
#include "gpusched/gpusched.h"
#include "process/preload.h"

#define AGENT "libgpusched-agent.so"

bool cli_run_only_tells(void)
{
	CLEANUP_GPUSCHED struct gpusched *g = NULL;

	return geteuid() && gpusched_open(NULL, &g);
}

/* Looks beside this program first, then where libraries are installed. */
static bool find_agent(char *ret, size_t size)
{
	if (!gs_beside_folder(ret, size - sizeof("/" AGENT))) {
		strcat(ret, "/" AGENT);
		if (!access(ret, R_OK))
			return true;
	}
	return gs_beside_installed(GPUSCHED_LIBDIR "/" AGENT, ret, size) || !access(ret, R_OK);
}

/* ---- programs that drop LD_PRELOAD ------------------------------------------------------------- */

static const char *base_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* True if one of the program's own options, which end at "--", is one of @words. */
static bool has_option(char *const argv[], const char *const words[])
{
	for (size_t i = 1; argv[i] && strcmp(argv[i], "--"); i++)
		for (size_t k = 0; words[k]; k++)
			if (!strcmp(argv[i], words[k]))
				return true;
	return false;
}

/* True if another `gpusched run` comes behind CMD: that one loads the agent. */
static bool starts_gpusched(char *const argv[])
{
	for (size_t i = 0; argv[i]; i++)
		if (!strcmp(base_of(argv[i]), "gpusched"))
			return true;
	return false;
}

/*
 * True if CMD starts its own command as another user, without LD_PRELOAD, and no `gpusched run`
 * comes behind it.
 */
static bool drops_agent(char *const argv[])
{
	static const char *const login[] = { "-", "-l", "--login", "--reset-env", NULL };
	static const struct {
		const char *name;
		bool always; /* else only with an option of @login */
	} programs[] = { { "sudo", true },    { "doas", true }, { "pkexec", true },
			 { "run0", true },    { "su", false },  { "runuser", false },
			 { "setpriv", false } };
	const char *name = base_of(argv[0]);

	if (starts_gpusched(argv))
		return false;
	for (size_t i = 0; i < GS_COUNT(programs); i++)
		if (!strcmp(name, programs[i].name)) /* a user's su is setuid, as sudo is */
			return programs[i].always || has_option(argv, login) ||
			       (geteuid() && !strcmp(name, "su"));
	return false;
}

/*
 * Adds the agent at the front of LD_PRELOAD, which CMD's descendants inherit. Some of them may not
 * bear a preloaded library. The loader of another C library looks for the path as it is written,
 * finds nothing and goes on: it does not know $LIB, which glibc replaces, such as by lib64. "/.." is
 * "/", however deep that is. AddressSanitizer ends a program in which it does not come first, unless
 * it is told otherwise.
 */
static int preload_agent(const char *path, const char *class_name, const char *hint)
{
	const char *before = getenv("LD_PRELOAD");
	CLEANUP_FREE char *list = NULL;

	if (asprintf(&list, "%s%s%s%s", access("/usr/lib", X_OK) ? "" : "/usr/$LIB/../../../..",
		     path, before && *before ? ":" : "", before ? before : "") < 0)
		return cli_fail(-ENOMEM, "run: out of memory");
	setenv("LD_PRELOAD", list, 1);
	setenv("ASAN_OPTIONS", GS_STARTER_ASAN, 0);
	if (class_name)
		setenv("GPUSCHED_AGENT_CLASS", class_name, 1);
	if (hint)
		setenv("GPUSCHED_AGENT_HINT", hint, 1);
	return 0;
}

/* True if an outer `gpusched run` has loaded the agent already. */
static bool has_agent(void)
{
	const char *list = getenv("LD_PRELOAD");

	return list && strstr(list, AGENT);
}

/* Without the agent CMD runs all the same, so this does not fail. */
static int agent_by_itself(const struct cli *c, const char *class_name)
{
	char path[PATH_MAX], why[PATH_MAX + 64];

	if (drops_agent(c->argv)) {
		gs_error_say("run: no agent gets through %s, so nobody is paused for its requests: "
			     "type -- %s ... gpusched run --agent -- COMMAND",
			     base_of(c->argv[0]), base_of(c->argv[0]));
		return 0;
	}
	if (starts_gpusched(c->argv) || has_agent())
		return 0;
	if (!find_agent(path, sizeof(path)) || strpbrk(path, " :"))
		snprintf(why, sizeof(why), "there is no " AGENT);
	else if (gs_preload_fits(c->argv, why, sizeof(why))) {
		setenv("GPUSCHED_AGENT_BY", "run", 1);
		return preload_agent(path, class_name, NULL);
	}
	if (*why)
		gs_error_say("run: no agent, so nobody is paused for its requests: %s", why);
	return 0;
}

int cli_run_agent(const struct cli *c, const char *class_name, bool by_itself)
{
	const char *hint = cli_opt(c, "hint");
	char path[PATH_MAX];

	if (by_itself)
		return agent_by_itself(c, class_name);
	if (hint && strcmp(hint, "auto"))
		return cli_fail(-EINVAL, "run: --hint: '%s' is not auto", hint);
	if (!find_agent(path, sizeof(path)))
		return cli_fail(-ENOSYS, "run: --agent: there is no " AGENT
					 " beside gpusched nor in " GPUSCHED_LIBDIR
					 ": build or install all of gpusched");
	if (strpbrk(path, " :"))
		return cli_fail(-ENOTSUP, "run: --agent: LD_PRELOAD cannot name %s", path);
	if (drops_agent(c->argv))
		gs_error_say("run: the agent does not get through %s: type -- %s ... gpusched run "
			     "--agent -- COMMAND",
			     base_of(c->argv[0]), base_of(c->argv[0]));
	return preload_agent(path, class_name, hint);
}
