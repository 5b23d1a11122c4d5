// SPDX-License-Identifier: MIT
#include <errno.h>
#include <string.h>

#include "basic/cleanup.h"
#include "basic/say.h"
#include "basic/term.h"
#include "cli/cli.h"
#include "cli/verbs_act.h"
#include "local/local.h"
#include "gpusched/abi.h"
#include "gpusched/gpusched.h"
#include "table/table.h"
#include "taps/taps.h"

static const struct {
	const char *name, *text;
} counters[] = {
#define X(sym, name, text) { name, text },
	GPUSCHED_TAP_COUNTERS(X)
#undef X
};

/* Prints a text, wrapped to the terminal's width. */
static void say(const char *what, const char *why)
{
	CLEANUP_FREE char *text = NULL;

	if (asprintf(&text, "%s: %s", what, why) > 0)
		gs_term_wrap(stdout, text, 0, gs_term_width(stdout));
}

/* Prints the counters that are not 0: most count unusual things. */
static void print_counters(const json_t *all)
{
	size_t zeros = 0;

	for (size_t i = 0; i < GS_COUNT(counters); i++) {
		const json_t *n = gs_json_at(all, counters[i].name);
		CLEANUP_FREE char *text = gs_json_cell(n);

		if (n && !json_integer_value(n))
			zeros++;
		else
			printf("%12s  %s\n", text ? text : "-", counters[i].text);
	}
	if (zeros)
		printf("%12s  all %zu other counters: see gpusched-stats(8)\n", "0", zeros);
}

static int print_status(const struct cli *c, const json_t *st)
{
	const json_t *version = json_object_get(st, "version");
	const char *no_gate = json_string_value(json_object_get(st, "gate_reason"));

	if (c->json)
		return cli_screen_object(c, st);
	if (!json_is_true(json_object_get(st, "on"))) {
		puts("off: 'gpusched observe on' turns the taps on");
		return GS_EXIT_OK;
	}
	if (json_is_integer(version) && json_integer_value(version) != GPUSCHED_TABLE_VERSION) {
		printf("on, by an older gpusched (table version %" JSON_INTEGER_FORMAT
		       "): 'gpusched observe on' takes it over\n",
		       json_integer_value(version));
		return GS_EXIT_OK;
	}
	printf("on%s, %" JSON_INTEGER_FORMAT " TSGs, %" JSON_INTEGER_FORMAT " processes noted\n",
	       json_is_true(json_object_get(st, "complete"))
		       ? ""
		       : ", but pins are missing: 'gpusched observe off', then 'on'",
	       json_integer_value(json_object_get(st, "tsgs")),
	       json_integer_value(json_object_get(st, "processes")));
	if (json_is_true(json_object_get(st, "gate")))
		puts("with the gate: it can hold and deny calls before the driver sees them");
	else
		say("without the gate",
		    no_gate ? no_gate : "'gpusched observe off', then 'on' loads it");
	print_counters(json_object_get(st, "counters"));
	return GS_EXIT_OK;
}

static int ask(const struct cli *c, uint32_t flags, const char *verb)
{
	CLEANUP_JSON json_t *answer = NULL;
	int r;

	r = cli_ask(flags, verb, NULL, &answer);
	return r ? (int)gs_error_exit(r) : print_status(c, answer);
}

int cli_observe_on(struct cli *c)
{
	return ask(c, 0, "observe_on");
}

/*
 * Removes the taps directly if no driver is loaded: then nothing has to be restored first. -EAGAIN:
 * a driver is loaded.
 */
static int off_without_driver(struct gs_error *err)
{
	unsigned int branch;
	char version[64];
	struct gs_error none = {};

	if (gs_rm_driver(&branch, version, sizeof(version), &none) != -ENODEV)
		return -EAGAIN;
	return gs_taps_off(err);
}

int cli_observe_off(struct cli *c)
{
	CLEANUP_JSON json_t *answer = NULL;
	struct gs_error err = {};
	int r;

	r = off_without_driver(&err);
	if (r && r != -EAGAIN)
		return cli_fail_err(r, &err, "observe off");
	if (r) {
		r = cli_ask(0, "observe_off", NULL, &answer);
		if (r)
			return gs_error_exit(r);
	}
	return cli_observe_status(c);
}

int cli_observe_status(struct cli *c)
{
	return ask(c, GS_LOCAL_READ_ONLY, "observe_status");
}

static void print_launches(const json_t *st)
{
	const char *refused = json_string_value(json_object_get(st, "refused"));
	const json_t *v;
	size_t i;

	if (json_is_true(json_object_get(st, "ending"))) {
		puts("ending: launches are not wanted any more, their probes still go");
		return;
	}
	if (!json_is_true(json_object_get(st, "on"))) {
		printf("off: launches are not counted%s\n",
		       refused ? "" : "; 'sudo gpusched observe launches on' does");
		if (refused)
			say("cannot be turned on", refused);
		return;
	}
	if (refused)
		say("no further library is probed", refused);
	printf("on: wanted by%s%s%s\n",
	       json_is_true(json_object_get(st, "asked")) ? " a person" : "",
	       json_is_true(json_object_get(st, "policy")) ? " the policy" : "",
	       json_is_true(json_object_get(st, "configured")) ? " the configuration" : "");
	json_array_foreach(json_object_get(st, "libraries"), i, v) {
		CLEANUP_FREE char *path = gs_json_cell(json_object_get(v, "path"));

		printf("%4" JSON_INTEGER_FORMAT " probes, %3" JSON_INTEGER_FORMAT
		       " process%s  %s\n",
		       json_integer_value(json_object_get(v, "probes")),
		       json_integer_value(json_object_get(v, "processes")),
		       json_integer_value(json_object_get(v, "processes")) == 1 ? "  " : "es",
		       path ? path : "-");
	}
	if (json_integer_value(json_object_get(st, "waiting")))
		printf("%4" JSON_INTEGER_FORMAT
		       " libraries or processes wait to be tried again: the log says why\n",
		       json_integer_value(json_object_get(st, "waiting")));
	json_array_foreach(json_object_get(st, "unattributed"), i, v)
		printf("%12" JSON_INTEGER_FORMAT "  launches of process %" JSON_INTEGER_FORMAT
		       " whose context is not known\n",
		       json_integer_value(json_object_get(v, "launches")),
		       json_integer_value(json_object_get(v, "pid")));
}

int cli_observe_launches(struct cli *c)
{
	CLEANUP_JSON json_t *answer = NULL;
	json_t *args = NULL;
	bool on = c->argc && !strcmp(c->argv[0], "on");
	int r;

	if (c->argc && !on && strcmp(c->argv[0], "off"))
		return cli_fail(-EINVAL, "observe launches: 'on' or 'off', not '%s'", c->argv[0]);
	if (c->argc)
		args = json_pack("{s:b}", "on", on);
	r = cli_ask(c->argc ? 0 : GS_LOCAL_READ_ONLY, "observe_launches", args, &answer);
	if (r)
		return gs_error_exit(r);
	if (c->json)
		return cli_screen_object(c, answer);
	print_launches(answer);
	return GS_EXIT_OK;
}
