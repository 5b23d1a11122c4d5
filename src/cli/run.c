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
#include "cli/setting.h"
#include "cli/verbs_act.h"
#include "config/config.h"
#include "gpusched/abi.h"
#include "gpusched/gpusched.h"
#include "basic/json_sheet.h"
#include "local/ask.h"
#include "local/local.h"
#include "means/choice.h"
#include "process/command.h"

#define BUSY_S 3
#define START_S 5 /* longest wait for a daemon that is starting */

/*
 * True if no folder of $PATH has the program. execvp() returns EACCES for such a program if it
 * cannot search one of the folders. A shell tells that from a file that exists and cannot be
 * executed.
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
	return r == ENOENT ? 127 : 126; /* these are the codes of a shell */
}

/* Refuses options that do not go together with --means. Returns an enum gs_exit. */
static int check_means(const struct cli *c, const char *class_name)
{
	const char *means = cli_opt(c, "means");

	if (!means)
		return GS_EXIT_OK;
	if (strcmp(means, "auto") && strcmp(means, "slices"))
		return cli_fail(-EINVAL, "run: --means: '%s' is neither auto nor slices", means);
	if (!class_name)
		return cli_fail(-EINVAL, "run: --means needs --class");
	if (cli_opt(c, "pool") || cli_opt(c, "share") || cli_opt(c, "agent"))
		return cli_fail(-EINVAL,
				"run: --means does not go with --pool, --share or --agent");
	return GS_EXIT_OK;
}

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
	/* the program's TSGs would be the MPS server's */
	if (cli_opt(c, "agent") && (pool || share))
		return cli_fail(-EINVAL, "run: --agent does not go with --pool or --share");
	if (cli_opt(c, "agent") && cli_opt(c, "no-agent"))
		return cli_fail(-EINVAL, "run: --agent and --no-agent do not go together");
	if (cli_opt(c, "if-possible") && !class_name)
		return cli_fail(-EINVAL, "run: --if-possible goes with --class");
	if (!cli_opt(c, "needs") != !cli_opt(c, "park-others"))
		return cli_fail(-EINVAL, "run: --needs and --park-others go together");
	if (cli_opt(c, "hint") && !cli_opt(c, "agent"))
		return cli_fail(-EINVAL, "run: --hint needs --agent");
	return check_means(c, class_name);
}

/*
 * Gives the class to this very process, which CMD then replaces. So the class is in force before
 * CMD's first instruction, and CMD's descendants inherit it. While the daemon is too busy (-EBUSY),
 * asks again for up to BUSY_S seconds.
 */
static int take_class(const char *class_name, json_t *part, struct gs_error *err)
{
	CLEANUP_JSON json_t *answer = NULL, *args = NULL;
	CLEANUP_GPUSCHED struct gpusched *g = NULL;
	uint64_t end = gs_now_ns() + BUSY_S * NS_PER_S;
	char target[32];
	int r = gs_local_open(0, &g);

	snprintf(target, sizeof(target), "pid:%d", getpid());
	args = json_pack("{s:s,s:s}", "target", target, "class", class_name);
	json_object_update(args, part);
	while (!r && (r = gs_ask(g, "class_set", args, &answer)) == -EBUSY && gs_now_ns() < end)
		gs_sleep_ns(100 * NS_PER_MS);
	return r ? gs_fail(err, r, "%s", g ? gpusched_error(g) : strerror(-r)) : 0;
}

/* ---- by which means CMD starts ----------------------------------------------------------------- */

/* How CMD shares the GPU, chosen by options or by the daemon. */
struct chosen {
	const char *server; /* name of the server; NULL: none */
	bool share, agent;
	bool has_class;
	bool by_itself; /* the daemon chose @server, so CMD can do without it */
	json_t *answer; /* the daemon's answer, which holds the text of @server */
};

static json_t *question(const struct cli *c, const char *class_name, const struct gs_program *p)
{
	json_t *args = json_array();

	for (uint32_t at = 0; at < p->nargs && json_array_size(args) < 64;
	     at += (uint32_t)strlen(p->args + at) + 1)
		json_array_append_new(args, gs_json_text(p->args + at));
	return json_pack("{s:s, s:o, s:o, s:b}", "class", class_name, "exe", gs_json_text(p->exe),
			 "args", args, "auto", cli_opt(c, "means") != NULL);
}

/* Asks the daemon how CMD should share the GPU. *ret NULL: there is nothing to choose. */
static int ask_means(const struct cli *c, const char *class_name, json_t **ret,
		     struct gs_error *err)
{
	CLEANUP_GPUSCHED struct gpusched *g = NULL;
	CLEANUP_JSON json_t *args = NULL;
	struct gs_program program;
	int r = gs_command_program(c->argv, &program);

	if (r && r != -E2BIG) /* CMD cannot be executed: that is reported later */
		return 0;
	args = question(c, class_name, &program);
	r = gpusched_open(NULL, &g);
	if (r)
		return gs_fail(err, r, "gpuschedd alone knows programs, and it does not run");
	r = gs_ask(g, "means_choose", args, ret);
	return r ? gs_fail(err, r, "%s", gpusched_error(g)) : 0;
}

static void tell_waits(const json_t *answer)
{
	const json_t *slices = gs_json_at(answer, "wait_us.slices"),
		     *share = gs_json_at(answer, "wait_us.share");

	if (slices && share)
		fprintf(stderr,
			"gpusched: run: a request waits for it up to %lld us by slices, %lld us in "
			"a shared server\n",
			(long long)json_integer_value(slices),
			(long long)json_integer_value(share));
}

static void choose_means(const struct cli *c, const char *class_name, struct chosen *inout)
{
	const char *asked = cli_opt(c, "means"), *means, *server;
	struct gs_error err = { 0 };
	int r;

	if (inout->server || inout->agent || (asked && !strcmp(asked, "slices")))
		return;
	r = ask_means(c, class_name, &inout->answer, &err);
	if (r && asked)
		gs_error_say("run: slices: %s", err.text);
	means = r ? NULL : json_string_value(json_object_get(inout->answer, "means"));
	if (!means)
		return;
	gs_error_say("run: %s: %s", means,
		     json_string_value(json_object_get(inout->answer, "why")));
	tell_waits(inout->answer);
	server = json_string_value(json_object_get(inout->answer, "server"));
	inout->by_itself = true;
	inout->agent = !strcmp(means, gs_means_choice_name(GS_MEANS_HOLD));
	inout->share = !strcmp(means, gs_means_choice_name(GS_MEANS_SHARE));
	if (inout->share || !strcmp(means, gs_means_choice_name(GS_MEANS_POOL)))
		inout->server = server ? server : "";
}

/* Makes CMD join its server. If the user did not ask for that server, CMD can do without it. */
static int join(const struct cli *c, const char *class_name, struct chosen *how, int *ret_sock,
		struct gs_error *err)
{
	int r;

	if (!how->server)
		return 0;
	r = cli_run_join(how->server, how->share, cli_opt(c, "sm"), class_name, ret_sock, err);
	if (!r || !how->by_itself)
		return r;
	gs_error_say("run: slices instead: %s", err->text);
	*err = (struct gs_error){ 0 };
	return 0;
}

/* ---- what CMD starts without, if that is allowed ----------------------------------------------- */

struct without {
	bool allowed;
	bool pool, class;
	struct gs_error why; /* the first failure */
};

/*
 * Sets *@what: CMD starts without that thing. Fails if this is not allowed, or after an error of
 * usage. Returns 0, or an enum gs_exit.
 */
static int go_without(struct without *w, bool *what, int r, const struct gs_error *err)
{
	if (!w->allowed || gs_error_exit(r) == GS_EXIT_USAGE)
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

static int parse_part(const struct cli *c, json_t **ret)
{
	static const char *const needs_class[] = { "weight", "limit", "request" };
	int r = cli_setting_args(c, "run", ret);

	for (size_t i = 0; !r && !cli_opt(c, "class") && i < GS_COUNT(needs_class); i++) {
		const char *value = cli_opt(c, needs_class[i]);

		if (value)
			r = cli_fail(-EINVAL,
				     "run: --%s needs --class: 'gpusched run --class be --%s %s -- "
				     "%s%s'",
				     needs_class[i], needs_class[i], value, c->argv[0],
				     c->argc > 1 ? " ..." : "");
	}
	return r;
}

static void await_daemon(void)
{
	const struct gpusched_open_options options = { .size = sizeof(options),
						       .wait_us = START_S * 1000000 };
	CLEANUP_GPUSCHED struct gpusched *g = NULL;

	gpusched_open(&options, &g);
}

/*
 * Reporting its requests is the best that a service can do for itself: an lc gets an agent without
 * being asked, if CMD has its class. A server of MPS has requests of many, and slices are slices.
 */
static bool wants_agent(const struct cli *c, const char *class_name, const struct chosen *how)
{
	return class_name && !strcmp(class_name, "lc") && how->has_class && !how->server &&
	       !how->by_itself && !cli_opt(c, "means") && !cli_opt(c, "no-agent");
}

/* Joins the pool before it takes the class: a server that starts here would inherit the class. */
static int prepare(const struct cli *c, const char *class_name, json_t *part, struct chosen *how,
		   int *ret_sock)
{
	struct without w = { .allowed = cli_opt(c, "if-possible") || gs_config_if_possible() };
	struct gs_error err = {};
	int r;

	await_daemon();
	choose_means(c, class_name, how);
	r = join(c, class_name, how, ret_sock, &err);
	if (r)
		r = go_without(&w, &w.pool, r, &err);
	if (r || (cli_opt(c, "agent") && cli_run_only_tells()))
		return r;
	err = (struct gs_error){};
	r = take_class(class_name, part, &err);
	if (r)
		r = go_without(&w, &w.class, r, &err);
	if (!r)
		tell_without(&w, c->argv[0]);
	how->has_class = !r && !w.class;
	return r;
}

int cli_run(struct cli *c)
{
	const char *class_name = cli_opt(c, "class"), *share = cli_opt(c, "share");
	struct chosen how = { .server = share ? share : cli_opt(c, "pool"),
			      .share = share != NULL,
			      .agent = cli_opt(c, "agent") != NULL };
	CLEANUP_JSON json_t *part = NULL;
	int sock = -1, r;

	r = parse_part(c, &part);
	if (!r)
		r = check_options(c, class_name);
	if (!r && class_name)
		r = prepare(c, class_name, part, &how, &sock);
	if (!r && cli_opt(c, "needs"))
		r = cli_park_make_room(c);
	if (!r && (how.agent || wants_agent(c, class_name, &how)))
		r = cli_run_agent(c, class_name, !cli_opt(c, "agent"));
	json_decref(how.answer);
	if (r)
		return r;
	fflush(stdout);
	return sock < 0 ? cli_run_exec(c->argv) : cli_run_beside(c, sock);
}
