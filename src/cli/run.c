// SPDX-License-Identifier: MIT
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "basic/parse.h"
#include "cli/cli.h"
#include "gpusched/abi.h"
#include "gpusched/gpusched.h"
#include "lib/priv.h"

#define BUSY_S 3

/*
 * execvp() says EACCES of a program that is nowhere when one folder of $PATH cannot be looked into;
 * a shell tells that from a file which is there and cannot be executed.
 */
static bool is_nowhere(const char *name)
{
	const char *path = getenv("PATH");
	CLEANUP_FREE char *copy = strdup(path ? path : "");
	char file[PATH_MAX], *at = copy, *dir;

	if (strchr(name, '/') || !copy)
		return false;
	while ((dir = strsep(&at, ":"))) {
		snprintf(file, sizeof(file), "%s/%s", *dir ? dir : ".", name);
		if (!access(file, F_OK))
			return false;
	}
	return true;
}

int cli_run_exec(char **argv)
{
	int r;

	execvp(argv[0], argv);
	r = errno == EACCES && is_nowhere(argv[0]) ? ENOENT : errno;
	cli_fail(-r, "run: %s cannot be executed: %s", argv[0], strerror(r));
	return r == ENOENT ? 127 : 126; /* as a shell says it */
}

/* Those that do not go together; an enum gs_exit. */
static int check_options(const struct cli *c, const char *class_name)
{
	bool pool = cli_opt(c, "pool"), share = cli_opt(c, "share");

	if (pool && share)
		return cli_fail(-EINVAL, "run: --pool and --share do not go together");
	if ((pool || share) && !class_name)
		return cli_fail(-EINVAL, "run: --%s needs --class; a name is --%s=NAME",
				pool ? "pool" : "share", pool ? "pool" : "share");
	if (share && strcmp(class_name, "lc") && strcmp(class_name, "be"))
		return cli_fail(-EINVAL, "run: --share is for the classes lc and be");
	if (cli_opt(c, "sm") && !share)
		return cli_fail(-EINVAL, "run: --sm goes with --share");
	if (cli_opt(c, "agent") && (pool || share)) /* its TSGs are the server's */
		return cli_fail(-EINVAL, "run: --agent does not go with --pool or --share");
	if (cli_opt(c, "hint") && !cli_opt(c, "agent"))
		return cli_fail(-EINVAL, "run: --hint needs --agent");
	return GS_EXIT_OK;
}

/*
 * The class is given to this very process and then CMD takes its place: it is in force before
 * CMD's first instruction, and its descendants inherit it. A daemon that has no time to look at this
 * process is asked again.
 */
static int take_class(const char *class_name, uint64_t weight)
{
	CLEANUP_JSON json_t *answer = NULL, *args = NULL;
	CLEANUP_GPUSCHED struct gpusched *g = NULL;
	uint64_t end = gs_now_ns() + BUSY_S * NS_PER_S;
	char target[32];
	int r = cli_open(0, &g);

	if (r)
		return r;
	snprintf(target, sizeof(target), "pid:%d", getpid());
	args = json_pack("{s:s,s:s}", "target", target, "class", class_name);
	if (args && weight)
		json_object_set_new(args, "weight", json_integer((json_int_t)weight));
	while ((r = lib_request(g, "class_set", args, &answer)) == -EBUSY && gs_now_ns() < end)
		gs_sleep_ns(100 * NS_PER_MS);
	if (r)
		cli_fail(r, "%s", gpusched_error(g));
	return r;
}

int cli_run(struct cli *c)
{
	const char *class_name = cli_opt(c, "class"), *weight = cli_opt(c, "weight");
	bool pool = cli_opt(c, "pool") || cli_opt(c, "share");
	bool agent = cli_opt(c, "agent");
	struct gs_error err = {};
	int sock = -1, r;
	uint64_t w = 0;

	if (weight) {
		r = gs_parse_u64(weight, GPUSCHED_WEIGHT_MIN, GPUSCHED_WEIGHT_MAX, &w, &err);
		if (r)
			return cli_fail(r, "run: --weight: %s", err.text);
		if (!class_name)
			return cli_fail(-EINVAL, "run: --weight needs --class");
	}
	r = check_options(c, class_name);
	if (r)
		return r;
	if (pool) /* first: a server that it starts is not of its class by inheritance */
		r = cli_run_join(c, class_name, &sock);
	if (r)
		return r;
	if (class_name && !(agent && cli_run_only_tells())) {
		r = take_class(class_name, w);
		if (r)
			return gs_exit_of(r);
	}
	r = agent ? cli_run_agent(c, class_name) : 0;
	if (r)
		return r;
	fflush(stdout);
	return pool ? cli_run_beside(c, sock) : cli_run_exec(c->argv);
}
