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
#include "basic/say.h"
#include "cli/cli.h"
#include "cli/park.h"
#include "cli/verbs_act.h"
#include "config/config.h"
#include "gpusched/abi.h"
#include "gpusched/gpusched.h"
#include "local/ask.h"
#include "local/local.h"

#define BUSY_S 3
#define START_S 5 /* longest wait for a daemon that is starting */

/*
 * execvp() returns EACCES for a program that exists nowhere if one folder of $PATH cannot be
 * searched. A shell distinguishes that from a file that exists and cannot be executed.
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
	return r == ENOENT ? 127 : 126; /* the codes that a shell uses */
}

/* Refuses options that exclude each other; returns an enum gs_exit. */
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
	if (cli_opt(c, "agent") && (pool || share)) /* its TSGs are the MPS server's */
		return cli_fail(-EINVAL, "run: --agent does not go with --pool or --share");
	if (cli_opt(c, "if-possible") && !class_name)
		return cli_fail(-EINVAL, "run: --if-possible goes with --class");
	if (!cli_opt(c, "needs") != !cli_opt(c, "park-others"))
		return cli_fail(-EINVAL, "run: --needs and --park-others go together");
	if (cli_opt(c, "hint") && !cli_opt(c, "agent"))
		return cli_fail(-EINVAL, "run: --hint needs --agent");
	return GS_EXIT_OK;
}

/* Percent of the GPU's time; 0: not given. */
struct part {
	uint64_t weight, limit;
};

/*
 * Gives the class to this very process, which CMD then replaces. So the class is in force before
 * CMD's first instruction, and its descendants inherit it. If the daemon has no time to look at
 * this process, it is asked again.
 */
static int take_class(const char *class_name, const struct part *part, struct gs_error *err)
{
	CLEANUP_JSON json_t *answer = NULL, *args = NULL;
	CLEANUP_GPUSCHED struct gpusched *g = NULL;
	uint64_t end = gs_now_ns() + BUSY_S * NS_PER_S;
	char target[32];
	int r = gs_local_open(0, &g);

	snprintf(target, sizeof(target), "pid:%d", getpid());
	args = json_pack("{s:s,s:s}", "target", target, "class", class_name);
	if (args && part->weight)
		json_object_set_new(args, "weight", json_integer((json_int_t)part->weight));
	if (args && part->limit)
		json_object_set_new(args, "limit", json_integer((json_int_t)part->limit));
	while (!r && (r = gs_ask(g, "class_set", args, &answer)) == -EBUSY && gs_now_ns() < end)
		gs_sleep_ns(100 * NS_PER_MS);
	return r ? gs_fail(err, r, "%s", g ? gpusched_error(g) : strerror(-r)) : 0;
}

/* ---- what CMD starts without, if that is allowed ----------------------------------------------- */

struct without {
	bool allowed;
	bool pool, class;
	struct gs_error why; /* of the first failure */
};

/* Not after an error of the caller. Returns 0, or an enum gs_exit. */
static int go_without(struct without *w, bool *what, int r, const struct gs_error *err)
{
	if (!w->allowed || gs_exit_of(r) == GS_EXIT_USAGE)
		return cli_fail(r, "%s", err->text);
	*what = true;
	gs_fail(&w->why, r, "%s", err->text);
	return 0;
}

static void tell_without(const struct without *w, const char *cmd)
{
	if (w->pool || w->class)
		gs_error_say("run: %s starts without %s%s%s: %s", cmd, w->pool ? "its pool" : "",
			     w->pool && w->class ? " and " : "", w->class ? "its class" : "",
			     w->why.text);
}

/* ---- the verb ---------------------------------------------------------------------------------- */

static int parse_number(const struct cli *c, const char *name, uint64_t min, uint64_t max,
			uint64_t *ret)
{
	struct gs_error err = {};
	int r;

	if (!cli_opt(c, name))
		return 0;
	r = gs_parse_u64(cli_opt(c, name), min, max, ret, &err);
	if (r)
		return cli_fail(r, "run: --%s: %s", name, err.text);
	return cli_opt(c, "class") ? 0 : cli_fail(-EINVAL, "run: --%s needs --class", name);
}

static int parse_part(const struct cli *c, struct part *ret)
{
	int r = parse_number(c, "weight", GPUSCHED_WEIGHT_MIN, GPUSCHED_WEIGHT_MAX, &ret->weight);

	return r ? r
		 : parse_number(c, "limit", GPUSCHED_LIMIT_MIN_PCT, GPUSCHED_LIMIT_MAX_PCT,
				&ret->limit);
}

static void await_daemon(void)
{
	const struct gpusched_open_options options = { .size = sizeof(options),
						       .wait_us = START_S * 1000000 };
	CLEANUP_GPUSCHED struct gpusched *g = NULL;

	gpusched_open(&options, &g);
}

/* The pool comes first, so that a server that it starts does not inherit CMD's class. */
static int prepare(const struct cli *c, const char *class_name, const struct part *part,
		   int *ret_sock)
{
	struct without w = { .allowed = cli_opt(c, "if-possible") || gs_config_if_possible() };
	struct gs_error err = {};
	int r = 0;

	await_daemon();
	if (cli_opt(c, "pool") || cli_opt(c, "share")) {
		r = cli_run_join(c, class_name, ret_sock, &err);
		if (r)
			r = go_without(&w, &w.pool, r, &err);
	}
	if (r || (cli_opt(c, "agent") && cli_run_only_tells()))
		return r;
	err = (struct gs_error){};
	r = take_class(class_name, part, &err);
	if (r)
		r = go_without(&w, &w.class, r, &err);
	if (!r)
		tell_without(&w, c->argv[0]);
	return r;
}

int cli_run(struct cli *c)
{
	const char *class_name = cli_opt(c, "class");
	struct part part = { 0 };
	int sock = -1, r;

	r = parse_part(c, &part);
	if (!r)
		r = check_options(c, class_name);
	if (!r && class_name)
		r = prepare(c, class_name, &part, &sock);
	if (!r && cli_opt(c, "needs"))
		r = cli_run_room(c);
	if (!r && cli_opt(c, "agent"))
		r = cli_run_agent(c, class_name);
	if (r)
		return r;
	fflush(stdout);
	return sock < 0 ? cli_run_exec(c->argv) : cli_run_beside(c, sock);
}
