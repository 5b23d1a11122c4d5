// SPDX-License-Identifier: MIT
/*
 * set.c - implements the verbs that act on TSGs: set, preempt, suspend, resume, restore
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <time.h>

#include "basic/cleanup.h"
#include "basic/parse.h"
#include "cli/cli.h"
#include "cli/park.h"
#include "cli/verbs_act.h"
#include "cli/setting.h"
#include "gpusched/abi.h"
#include "gpusched/gpusched.h"

/* The exit code: 0: all done; 4: some failed; 1: all failed. Prints the first reason. */
static int outcome(const struct cli *c, const char *verb, json_t *answer)
{
	json_int_t changed = json_integer_value(json_object_get(answer, "changed"));
	json_int_t failed = json_integer_value(json_object_get(answer, "failed"));
	json_int_t matched = json_integer_value(json_object_get(answer, "matched"));
	const char *why = NULL;
	json_t *res;
	size_t i;

	if (c->json && cli_screen_object(c, answer))
		return GS_EXIT_FAILED;
	if (!c->json)
		printf("%s: %" JSON_INTEGER_FORMAT " of %" JSON_INTEGER_FORMAT " TSGs\n", verb,
		       changed, matched);
	if (!failed)
		return GS_EXIT_OK;
	json_array_foreach(json_object_get(answer, "results"), i, res) {
		if (!why)
			why = json_string_value(json_object_get(res, "error"));
	}
	cli_fail(-EREMOTEIO,
		 "%s: %" JSON_INTEGER_FORMAT " of %" JSON_INTEGER_FORMAT " TSGs failed: %s", verb,
		 failed, matched, why ? why : "'gpusched stats' has the counters");
	return changed ? GS_EXIT_PARTLY : GS_EXIT_FAILED;
}

static int act(const struct cli *c, const char *verb, json_t *args)
{
	CLEANUP_JSON json_t *answer = NULL;
	int r;

	r = cli_ask(0, verb, args, &answer);
	return r ? (int)gs_error_exit(r) : outcome(c, verb, answer);
}

/* Sets "limit=30" or "request=none", which apply to a whole program, not to its TSGs. */
static int set_part(const struct cli *c, const char *name, const char *word)
{
	CLEANUP_JSON json_t *answer = NULL;
	struct gs_error err = {};
	char what[32];
	uint64_t pct = 0;
	int r = c->argc == 2 ? 0
			     : gs_fail(&err, -EINVAL,
				       "a %s is of a program, the other "
				       "settings are of TSGs: say it by itself",
				       name);

	if (!r && strcmp(word, "none"))
		r = gs_parse_u64(word, GPUSCHED_LIMIT_MIN_PCT, GPUSCHED_LIMIT_MAX_PCT, &pct, &err);
	if (r)
		return cli_fail(r, "set: %s: %s", name, err.text);
	r = cli_ask(0, name, json_pack("{s:s,s:I}", "target", c->argv[0], name, (json_int_t)pct),
		    &answer);
	snprintf(what, sizeof(what), "set %s", name);
	return r ? (int)gs_error_exit(r) : cli_class_told(c, what, answer);
}

int cli_set(struct cli *c)
{
	CLEANUP_JSON json_t *args = json_pack("{s:s}", "target", c->argv[0]);
	struct gs_error err = {};
	int r;

	for (int i = 1; i < c->argc; i++)
		if (!strncmp(c->argv[i], "limit=", 6))
			return set_part(c, "limit", c->argv[i] + 6);
		else if (!strncmp(c->argv[i], "request=", 8))
			return set_part(c, "request", c->argv[i] + 8);
	if (c->argc == 2 && !strcmp(c->argv[1], "clear"))
		json_object_set_new(args, "clear", json_true());
	for (int i = 1; i < c->argc && !json_object_get(args, "clear"); i++) {
		r = cli_setting_parse(c->argv[i], args, &err);
		if (r)
			return cli_fail(r, "set: %s", err.text);
	}
	return act(c, "set", TAKE_PTR(args));
}

int cli_set_preempt(struct cli *c)
{
	return act(c, "preempt", json_pack("{s:s}", "target", c->argv[0]));
}

/* Resumes the TSGs after @us, or when interrupted: without a daemon nothing else would. */
static int resume_after(const struct cli *c, uint64_t us, const sigset_t *ends)
{
	struct timespec ts = { (time_t)(us / 1000000), (long)(us % 1000000) * 1000 };
	CLEANUP_JSON json_t *answer = NULL;

	fflush(stdout);
	sigtimedwait(ends, NULL, &ts);
	return cli_ask(0, "resume", json_pack("{s:s}", "target", c->argv[0]), &answer);
}

/* True if there is a daemon, which ends the suspension in time. */
static bool daemon_there(void)
{
	CLEANUP_GPUSCHED struct gpusched *g = NULL;

	return !cli_client_open(0, &g) && gpusched_has_daemon(g);
}

static int suspend_for(const struct cli *c, uint64_t us)
{
	bool alone = !daemon_there();
	sigset_t ends;
	int r;

	sigemptyset(&ends);
	sigaddset(&ends, SIGINT);
	sigaddset(&ends, SIGTERM);
	sigaddset(&ends, SIGHUP);
	/* block signals before the suspension, so that none can leave the TSGs suspended */
	if (alone)
		sigprocmask(SIG_BLOCK, &ends, NULL);
	r = act(c, "suspend",
		json_pack("{s:s,s:I}", "target", c->argv[0], "for_us", (json_int_t)us));
	if (alone && (r == GS_EXIT_OK || r == GS_EXIT_PARTLY) && resume_after(c, us, &ends))
		return GS_EXIT_FAILED;
	return r;
}

int cli_set_suspend(struct cli *c)
{
	struct gs_error err = {};
	uint64_t for_us = 0;
	int r;

	if (cli_opt(c, "for")) {
		r = gs_parse_length(cli_opt(c, "for"), 1000, 86400000000ull, &for_us, &err);
		if (r)
			return cli_fail(r, "suspend: --for: %s", err.text);
	}
	if (for_us)
		return suspend_for(c, for_us);
	return act(c, "suspend", json_pack("{s:s}", "target", c->argv[0]));
}

int cli_set_resume(struct cli *c)
{
	return act(c, "resume", json_pack("{s:s}", "target", c->argv[0]));
}

/* A class alone changes nothing, but a person who restores may not expect it to count again. */
static void print_classes(const struct cli *c, json_int_t n)
{
	if (n && cli_opt(c, "classes"))
		printf("restore: %" JSON_INTEGER_FORMAT " class%s taken back\n", n,
		       n == 1 ? " is" : "es are");
	else if (n)
		printf("restore: %" JSON_INTEGER_FORMAT " class%s, and the next policy acts on "
		       "%s: 'gpusched restore --classes'\n",
		       n, n == 1 ? " stays" : "es stay", n == 1 ? "it" : "them");
}

static int restore_tsgs(struct cli *c)
{
	CLEANUP_JSON json_t *answer = NULL;
	json_int_t failed, restored;
	int r;

	r = cli_ask(0, "restore",
		    json_pack("{s:b, s:b}", "keep", cli_opt(c, "keep") != NULL, "classes",
			      cli_opt(c, "classes") != NULL),
		    &answer);
	if (r)
		return gs_error_exit(r);
	failed = json_integer_value(json_object_get(answer, "failed"));
	restored = json_integer_value(json_object_get(answer, "restored"));
	if (c->json)
		cli_screen_object(c, answer);
	else if (!json_integer_value(json_object_get(answer, "changed")))
		puts("restore: every TSG has its owner's settings, and no policy runs");
	else
		printf("restore: %" JSON_INTEGER_FORMAT " of %" JSON_INTEGER_FORMAT
		       " changed TSGs put back, %" JSON_INTEGER_FORMAT " gone; no policy runs\n",
		       restored, json_integer_value(json_object_get(answer, "changed")),
		       json_integer_value(json_object_get(answer, "gone")));
	if (!c->json)
		print_classes(c, json_integer_value(json_object_get(answer, "classes")));
	if (json_is_true(json_object_get(answer, "overtook")))
		fprintf(stderr, "gpusched: gpuschedd does not answer: everything was put back in "
				"its place; when it goes on it begins anew\n");
	if (!failed)
		return GS_EXIT_OK;
	cli_fail(-EREMOTEIO,
		 "restore: %" JSON_INTEGER_FORMAT
		 " TSGs could not be put back: run it again, then end their processes",
		 failed);
	return restored ? GS_EXIT_PARTLY : GS_EXIT_FAILED;
}

int cli_set_restore(struct cli *c)
{
	int r = restore_tsgs(c), parked = cli_unpark_all(c, cli_opt(c, "keep") != NULL);

	return r == GS_EXIT_OK ? parked : r;
}
