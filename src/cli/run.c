// SPDX-License-Identifier: MIT
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "basic/parse.h"
#include "cli/cli.h"
#include "gpusched/abi.h"
#include "gpusched/gpusched.h"

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

/*
 * The class is given to this very process and then CMD takes its place: it is in force before
 * CMD's first instruction, and its descendants inherit it.
 */
int cli_run(struct cli *c)
{
	const char *class_name = cli_opt(c, "class"), *weight = cli_opt(c, "weight");
	CLEANUP_JSON json_t *answer = NULL;
	struct gs_error err = {};
	uint64_t w = 0;
	char target[32];
	json_t *args;
	int r;

	if (weight) {
		r = gs_parse_u64(weight, GPUSCHED_WEIGHT_MIN, GPUSCHED_WEIGHT_MAX, &w, &err);
		if (r)
			return cli_fail(r, "run: --weight: %s", err.text);
		if (!class_name)
			return cli_fail(-EINVAL, "run: --weight needs --class");
	}
	if (class_name) {
		snprintf(target, sizeof(target), "pid:%d", getpid());
		args = json_pack("{s:s,s:s}", "target", target, "class", class_name);
		if (args && w)
			json_object_set_new(args, "weight", json_integer((json_int_t)w));
		r = cli_ask(0, "class_set", args, &answer);
		if (r)
			return gs_exit_of(r);
	}
	fflush(stdout);
	execvp(c->argv[0], c->argv);
	r = errno == EACCES && is_nowhere(c->argv[0]) ? ENOENT : errno;
	cli_fail(-r, "run: %s cannot be executed: %s", c->argv[0], strerror(r));
	return r == ENOENT ? 127 : 126; /* as a shell says it */
}
