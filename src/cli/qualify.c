// SPDX-License-Identifier: MIT
/*
 * qualify.c - measures what works on this GPU and what switches cost, after asking the user
 */
#include <errno.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "cli/cli.h"
#include "cli/verbs_look.h"
#include "qualify/qualify.h"

static void tell(const char *what)
{
	fprintf(stderr, "measuring: %s\n", what);
}

/* Asks before it loads the GPU: the user may only have tried the verb out. */
static int consent(const struct cli *c)
{
	char answer[16];

	if (cli_opt(c, "yes"))
		return 0;
	if (!isatty(STDIN_FILENO))
		return cli_fail(-EINVAL, "qualify loads the GPU for up to 3 minutes and changes "
					 "settings of its own programs: --yes says that it may");
	fprintf(stderr,
		"The GPU is loaded for up to 3 minutes, by programs and a daemon of gpusched's "
		"own.\nThen all is as it was. Go on? [y/N] ");
	if (!fgets(answer, sizeof(answer), stdin) || (answer[0] != 'y' && answer[0] != 'Y'))
		return cli_fail(-ECANCELED, "nothing was done");
	return 0;
}

/* ---- the table --------------------------------------------------------------------------------- */

static char *here(const json_t *row)
{
	const json_t *works = gs_json_at(row, "works"), *us = gs_json_at(row, "us");
	char *text = NULL;

	if (us)
		return asprintf(&text, "%.*f us", json_number_value(us) < 10 ? 3 : 1,
				json_number_value(us)) < 0
			       ? NULL
			       : text;
	return works ? strdup(json_is_true(works) ? "yes" : "no") : NULL;
}

static char *note(const json_t *row)
{
	return gs_json_cell(gs_json_at(
		row,
		gs_json_at(row, "name") && !json_object_get(row, "works") ? "reason" : "detail"));
}

static const struct gs_column columns[] = {
	{ "text", "WHAT" },
	{ "here", "HERE", GS_COL_RIGHT, .cell = here },
	{ "note", "WHAT WAS SEEN, OR WHY NOTHING IS KNOWN", GS_COL_WRAP, .cell = note },
};

static json_t *latency_row(const json_t *l)
{
	const char *failed = json_string_value(json_object_get(l, "failed"));
	char what[120], detail[200];

	snprintf(what, sizeof(what), "LC p99, %s, %s",
		 json_string_value(json_object_get(l, "load")),
		 json_string_value(json_object_get(l, "scheme")));
	snprintf(detail, sizeof(detail), "p50 %.1f us of %.0f requests",
		 gs_json_number(l, "lc_p50_us"), gs_json_number(l, "requests"));
	return json_pack("{s:s, s:O, s:s, s:s}", "text", what, "us",
			 json_object_get(l, "lc_p99_us"), "name", "latency", "reason",
			 failed ? failed : detail);
}

/* Times are shown in the GPU's time, which is slower on a simulated GPU. */
static json_t *call_row(const char *name, const json_t *call, double dilate)
{
	char what[80], detail[120];

	snprintf(what, sizeof(what), "a call of %s", name);
	snprintf(detail, sizeof(detail), "%.0f calls, %.0f failed, at most %.0f us",
		 gs_json_number(call, "count"), gs_json_number(call, "failed"),
		 gs_json_number(call, "max_us") / dilate);
	return json_pack("{s:s, s:f, s:s, s:s}", "text", what, "us",
			 gs_json_number(call, "mean_us") / dilate, "name", "call", "reason",
			 detail);
}

static int print(struct cli *c, const struct qualify_result *r)
{
	CLEANUP_JSON json_t *all = qualify_keep_json(r), *rows = json_array();
	const char *name;
	json_t *one;
	size_t i;

	if (c->json)
		return all && !gs_json_line(stdout, all) ? GS_EXIT_OK : GS_EXIT_FAILED;
	printf("%s, driver %s, %.0f s\n\n", r->gpu[0] ? r->gpu : "-",
	       r->driver[0] ? r->driver : "-", r->seconds);
	json_array_extend(rows, json_object_get(all, "checks"));
	json_array_extend(rows, json_object_get(all, "costs"));
	json_object_foreach(json_object_get(all, "calls"), name, one)
		if (gs_json_at(one, "mean_us"))
			json_array_append_new(rows, call_row(name, one, r->dilate));
	json_array_foreach(json_object_get(all, "latency"), i, one)
		json_array_append_new(rows, latency_row(one));
	return cli_screen_rows(c, columns, GS_COUNT(columns), rows);
}

int cli_qualify(struct cli *c)
{
	CLEANUP(qualify_free) struct qualify_result r = { 0 };
	const char *dir = cli_opt(c, "output");
	struct qualify_opts o = {
		.gpu = cli_opt(c, "gpu"),
		.force = cli_opt(c, "force"),
		.quick = cli_opt(c, "quick"),
		.tell = tell,
	};
	struct gs_error err = {};
	int code;

	if (!dir)
		return cli_fail(-EINVAL, "qualify: -o DIR says where gpu.conf and result.json go");
	code = consent(c);
	if (code)
		return code;
	code = qualify_run(&o, &r, &err);
	if (code)
		return cli_fail(code == -EBUSY ? -ENOTSUP : code, "qualify: %s", err.text);
	code = qualify_keep(&r, dir, &err);
	if (code)
		return cli_fail(code, "qualify: %s", err.text);
	code = print(c, &r);
	if (r.left[0])
		return cli_fail(-EIO,
				"what was found is in %s, but not all could be put back: %s; try "
				"'gpusched observe "
				"off'",
				dir, r.left);
	return code != GS_EXIT_OK || r.complete || o.quick ? code : GS_EXIT_PARTLY;
}
