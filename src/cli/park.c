// SPDX-License-Identifier: MIT
/*
 * park.c - moves programs' GPU memory to host memory and back: verbs park, unpark, parked
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "basic/env.h"
#include "basic/parse.h"
#include "basic/say.h"
#include "basic/term.h"
#include "cli/cli.h"
#include "cli/park.h"
#include "cli/screen.h"
#include "gpusched/gpusched.h"
#include "local/local.h"

#define MOST_BYTES (1ull << 44)
#define RISK \
	"a parked program comes back only while its GPU has room for it: gpusched makes sure of " \
	"that first, but if another program takes the memory in the same moment, the program is " \
	"lost (gpusched-park(8))"

static double gib(const json_t *o)
{
	return json_number_value(json_object_get(o, "bytes")) / (double)(1ull << 30);
}

/* ---- progress --------------------------------------------------------------------------------- */

#define LOOK_S 1

struct watching {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t ends;
	bool over, there;
};

/* Prints an estimate, since libcuda says nothing before the end. */
static void print_progress(const json_t *one)
{
	const json_t *moved = gs_json_at(one, "moved_bytes"), *ms = gs_json_at(one, "moving_ms");
	const json_t *rate = gs_json_at(one, "moved_bytes_per_s");

	if (!ms)
		return;
	fprintf(stderr, "\r%lld (%s): %s for %.0f s", json_integer_value(gs_json_at(one, "pid")),
		json_string_value(gs_json_at(one, "comm")) ?: "-",
		json_string_value(gs_json_at(one, "state")), json_number_value(ms) / 1000);
	if (moved)
		fprintf(stderr, ", ~%.1f of %.1f GiB",
			json_number_value(moved) / (double)(1ull << 30),
			gs_json_number(one, "moving_bytes") / (double)(1ull << 30));
	if (rate)
		fprintf(stderr, ", ~%.1f GB/s", json_number_value(rate) / 1e9);
	fputs("\033[K", stderr);
}

static void look_once(void)
{
	CLEANUP_GPUSCHED struct gpusched *g = NULL;
	CLEANUP_JSON json_t *answer = NULL;
	json_t *one;
	size_t i;

	if (gs_local_open(GS_LOCAL_DAEMON_ONLY, &g) || cli_client_try(g, "parked", NULL, &answer))
		return;
	json_array_foreach(json_object_get(answer, "parked"), i, one)
		print_progress(one);
}

static void *watch(void *user)
{
	struct watching *w = user;
	struct timespec at;

	clock_gettime(CLOCK_REALTIME, &at);
	pthread_mutex_lock(&w->lock);
	while (!w->over) {
		at.tv_sec += LOOK_S;
		if (pthread_cond_timedwait(&w->ends, &w->lock, &at) != ETIMEDOUT)
			continue;
		pthread_mutex_unlock(&w->lock);
		look_once();
		pthread_mutex_lock(&w->lock);
	}
	pthread_mutex_unlock(&w->lock);
	fputs("\r\033[K", stderr);
	return NULL;
}

/* Begins to show progress, if a person looks on: on a terminal, without --json and --quiet. */
static void watch_begin(struct watching *w, const struct cli *c)
{
	*w = (struct watching){ .lock = PTHREAD_MUTEX_INITIALIZER,
				.ends = PTHREAD_COND_INITIALIZER };
	w->there = !c->json && !cli_opt(c, "quiet") && isatty(2) &&
		   !pthread_create(&w->thread, NULL, watch, w);
}

static void watch_end(struct watching *w)
{
	if (!w->there)
		return;
	pthread_mutex_lock(&w->lock);
	w->over = true;
	pthread_cond_signal(&w->ends);
	pthread_mutex_unlock(&w->lock);
	pthread_join(w->thread, NULL);
}

/* ---- park, unpark ----------------------------------------------------------------------------- */

static void print_done(const json_t *one, const char *done)
{
	double s = json_number_value(json_object_get(one, "took_ms")) / 1000;

	printf("%s, %.1f GiB", done, gib(one));
	if (s >= 0.1)
		printf(" in %.1f s (%.1f GB/s)", s,
		       json_number_value(json_object_get(one, "bytes")) / 1e9 / s);
	if (json_is_true(json_object_get(one, "lent"))) {
		json_t *stays = json_object_get(one, "stays_bytes");

		fputs("; another process has memory of it open: ", stdout);
		if (json_is_integer(stays))
			printf("%.1f GiB stay in use",
			       json_number_value(stays) / (double)(1ull << 30));
		else
			fputs("unknown how much stays in use", stdout);
	}
	putchar('\n');
}

static void print_one(const json_t *one, const char *done)
{
	const char *why = json_string_value(json_object_get(one, "error"));
	bool waits = json_is_true(json_object_get(one, "waits"));

	printf("%lld (%s): ", json_integer_value(json_object_get(one, "pid")),
	       json_string_value(json_object_get(one, "comm")) ?: "-");
	if (json_is_true(json_object_get(one, "done")))
		print_done(one, done);
	else
		printf("%s%s\n", waits ? "waits: " : "", why ? why : "failed");
}

#define NO_GATE \
	"no gate here keeps new programs waiting while memory is brought back: one that starts " \
	"then " \
	"may take it"

static int outcome(const struct cli *c, const char *verb, const json_t *answer)
{
	json_int_t changed = json_integer_value(json_object_get(answer, "changed"));
	json_int_t matched = json_integer_value(json_object_get(answer, "matched"));
	json_t *one;
	size_t i;

	if (c->json && cli_screen_object(c, (json_t *)answer))
		return GS_EXIT_FAILED;
	json_array_foreach(json_object_get(answer, "results"), i, one)
		if (!c->json)
			print_one(one, !strcmp(verb, "park") ? "parked" : "runs again");
	if (!c->json && matched && json_is_false(json_object_get(answer, "gate")))
		gs_term_wrap(stderr, "gpusched: " NO_GATE, 0, CLI_WIDTH);
	if (!c->json && !matched)
		puts("no process is parked");
	return changed == matched ? GS_EXIT_OK : changed ? GS_EXIT_PARTLY : GS_EXIT_FAILED;
}

static int act(const struct cli *c, const char *verb, json_t *args)
{
	CLEANUP_JSON json_t *answer = NULL;
	struct watching w;
	int r;

	watch_begin(&w, c);
	r = cli_ask(0, verb, args, &answer);
	watch_end(&w);
	return r ? (int)gs_error_exit(r) : outcome(c, verb, answer);
}

int cli_park(struct cli *c)
{
	CLEANUP_GPUSCHED struct gpusched *g = NULL;
	struct gs_error err = {};
	uint64_t for_us = 0;
	int r = 0;

	if (cli_opt(c, "for"))
		r = gs_parse_length(cli_opt(c, "for"), 1000, 86400000000ull, &for_us, &err);
	if (r)
		return cli_fail(r, "park: --for: %s", err.text);
	r = cli_client_open(0, &g);
	if (r)
		return gs_error_exit(r);
	if (for_us && !gpusched_has_daemon(g))
		return cli_fail(-ENOTSUP, "park: --for needs a daemon, which brings it back: %s",
				gs_env_start_daemon());
	cli_client_close_(&g);
	g = NULL;
	if (!c->json && !cli_opt(c, "quiet"))
		gs_term_wrap(stderr, "gpusched: " RISK, 0, CLI_WIDTH);
	return act(c, "park",
		   json_pack("{s:s,s:I,s:b}", "target", c->argv[0], "for_us", (json_int_t)for_us,
			     "force", cli_opt(c, "force") != NULL));
}

int cli_unpark(struct cli *c)
{
	return act(c, "unpark", json_pack("{s:s}", "target", c->argv[0]));
}

bool cli_anybody_parked(void)
{
	char path[300];

	snprintf(path, sizeof(path), "%s/parked.json", gs_env()->run_dir);
	return !access(path, F_OK);
}

int cli_unpark_all(const struct cli *c, bool keep)
{
	CLEANUP_JSON json_t *answer = NULL;

	if (!cli_anybody_parked())
		return GS_EXIT_OK;
	if (keep) /* any gpusched that begins to act unlocks them, so any request is enough */
		return cli_ask(0, "parked", NULL, &answer) ? GS_EXIT_FAILED : GS_EXIT_OK;
	return act(c, "unpark", json_pack("{s:s}", "target", "all"));
}

/* ---- parked ----------------------------------------------------------------------------------- */

static char *size_cell(const json_t *row)
{
	char *text = NULL;

	return asprintf(&text, "%.1f", gib(row)) < 0 ? NULL : text;
}

static char *clock_of(const json_t *row, const char *key)
{
	const json_t *ns = gs_json_at(row, key);
	char text[32];
	struct tm tm;
	time_t at;

	if (!ns)
		return NULL;
	at = time(NULL) + (time_t)((json_integer_value(ns) - (json_int_t)gs_now_ns()) / 1000000000);
	strftime(text, sizeof(text), "%F %T", localtime_r(&at, &tm));
	return strdup(text);
}

static char *since_cell(const json_t *row)
{
	return clock_of(row, "since_ns");
}

static char *until_cell(const json_t *row)
{
	const char *on = json_string_value(json_object_get(row, "back_on"));
	char *at = clock_of(row, "until_ns");

	return at || !on || strcmp(on, "use") != 0 ? at : strdup("use");
}

static char *by_cell(const json_t *row)
{
	if (json_is_true(json_object_get(row, "by_policy")))
		return strdup("policy");
	if (json_is_true(json_object_get(row, "by_itself")))
		return strdup("gpusched");
	return strdup(cli_screen_user_name(
		(uid_t)json_integer_value(json_object_get(row, "parked_by_uid"))));
}

static const struct gs_column columns[] = {
	{ "pid", "PID", GS_COL_RIGHT },
	{ "uid", "USER", .cell = cli_screen_user },
	{ "comm", "COMM" },
	{ "class", "CLASS" },
	{ "state", "STATE" },
	{ "bytes", "GIB", GS_COL_RIGHT, .cell = size_cell },
	{ "parked_by_uid", "BY", .cell = by_cell },
	{ "since_ns", "SINCE", .cell = since_cell },
	{ "until_ns", "UNTIL", .cell = until_cell },
	{ "waiting_threads", "WAITING", GS_COL_RIGHT },
	{ "error", "REASON", GS_COL_WRAP },
};

int cli_parked(struct cli *c)
{
	CLEANUP_JSON json_t *answer = NULL;
	json_t *rows;
	int r = cli_ask(0, "parked", NULL, &answer);

	if (r)
		return gs_error_exit(r);
	rows = json_object_get(answer, "parked");
	if (!json_array_size(rows) && !c->json) {
		puts("no process is parked");
		return GS_EXIT_OK;
	}
	return cli_screen_rows(c, columns, GS_COUNT(columns), rows);
}

void cli_print_parked(const struct cli *c, const json_t *parked)
{
	json_t *p;
	size_t i;

	json_array_foreach((json_t *)parked, i, p) {
		CLEANUP_FREE char *since = since_cell(p), *by = by_cell(p);
		const char *sign = json_string_value(json_object_get(p, "sign"));

		cli_screen_note(c, "%s: process %lld (%s), by %s, %.1f GiB%s%s%s%s%s",
				json_string_value(json_object_get(p, "state")),
				(long long)json_integer_value(json_object_get(p, "pid")),
				json_string_value(json_object_get(p, "comm")), by ? by : "-",
				gib(p), since ? ", since " : "", since ? since : "",
				sign ? ", until it works again (" : "", sign ? sign : "",
				sign ? ")" : "");
	}
}

/* ---- run --needs ------------------------------------------------------------------------------ */

/* Makes the target of --park-others: programs of that class on the first GPU that CMD sees. */
static int target_of_room(const char *class_name, char *ret, size_t size)
{
	const char *visible = getenv("CUDA_VISIBLE_DEVICES");
	size_t n = visible ? strcspn(visible, ",") : 0;

	if (visible && (!n || !strncmp(visible, "MIG-", 4)))
		return cli_fail(-ENOTSUP,
				"run: --needs: CUDA_VISIBLE_DEVICES names no whole GPU first");
	if (snprintf(ret, size, "class:%s,gpu:%.*s", class_name, visible ? (int)n : 1,
		     visible ? visible : "0") >= (int)size)
		return cli_fail(-EINVAL, "run: --park-others: the class's name is too long");
	return 0;
}

static void tell_room(const json_t *answer)
{
	json_t *one;
	size_t i;

	json_array_foreach(json_object_get(answer, "parked"), i, one)
		fprintf(stderr,
			"gpusched: run: process %lld (%s) is parked until this has ended, %.1f "
			"GiB\n",
			json_integer_value(json_object_get(one, "pid")),
			json_string_value(json_object_get(one, "comm")) ?: "-",
			json_number_value(json_object_get(one, "bytes")) / (double)(1ull << 30));
}

int cli_park_make_room(const struct cli *c)
{
	CLEANUP_JSON json_t *answer = NULL;
	struct gs_error err = {};
	char target[300];
	uint64_t bytes;
	int r = gs_parse_bytes(cli_opt(c, "needs"), MOST_BYTES, &bytes, &err);

	if (r)
		return cli_fail(r, "run: --needs: %s", err.text);
	r = target_of_room(cli_opt(c, "park-others"), target, sizeof(target));
	if (r)
		return r;
	/* CMD replaces this process. The daemon brings the programs back after CMD has ended. */
	r = cli_ask(0, "make_room",
		    json_pack("{s:s,s:I}", "target", target, "bytes", (json_int_t)bytes), &answer);
	if (r)
		return (int)gs_error_exit(r);
	tell_room(answer);
	return 0;
}
