/* SPDX-License-Identifier: MIT */
#include "sim/scenario_cmd.h"

#include <dirent.h>
#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "basic/beside.h"
#include "basic/cleanup.h"
#include "basic/say.h"
#include "basic/json_sheet.h"
#include "basic/term.h"
#include "sim/progress.h"
#include "sim/report.h"
#include "sim/scenario.h"
#include "sim/scenario_rows.h"

#define TIMELINE_MS 100

struct found {
	char *path;
	char name[SIM_NAME_LEN]; /* the row's, or the file's without folder and .scn */
	bool is_row;
};

struct names {
	struct found *all;
	size_t n;
};

static void free_names(struct names *l)
{
	for (size_t i = 0; i < l->n; i++)
		free(l->all[i].path);
	free(l->all);
}

static const char *row_of(const struct found *f)
{
	return f->is_row ? f->name : NULL;
}

/* The length of a file's name without .scn, from *ret_base on. */
static int base_of(const char *path, const char **ret_base)
{
	const char *slash = strrchr(path, '/');
	size_t n;

	*ret_base = slash ? slash + 1 : path;
	n = strlen(*ret_base);
	return (int)(n > 4 && !strcmp(*ret_base + n - 4, ".scn") ? n - 4 : n);
}

/*
 * Lists the folders with scenarios, in this order: from the environment, next to the program, in
 * the source tree, in the system.
 */
static int each_directory(size_t i, char *ret, size_t size)
{
	const char *env = getenv("GPUSCHED_SCENARIOS");
	char folder[PATH_MAX - 32];

	switch (i) {
	case 0:
		snprintf(ret, size, "%s", env ? env : "");
		return 0;
	case 1:
		gs_beside_folder(folder, sizeof(folder));
		snprintf(ret, size, "%s/../scenarios", folder);
		return 0;
	case 2:
		gs_beside_installed(GPUSCHED_DATADIR "/scenarios", ret, size);
		return 0;
	default:
		return -ENOENT;
	}
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct found *)a)->name, ((const struct found *)b)->name);
}

static int add(struct names *to, const char *path, const char *name, int len, bool is_row)
{
	struct found *grown = reallocarray(to->all, to->n + 1, sizeof(*grown)), *f;

	if (!grown)
		return -ENOMEM;
	to->all = grown;
	f = &grown[to->n];
	*f = (struct found){ .path = strdup(path), .is_row = is_row };
	if (!f->path)
		return -ENOMEM;
	snprintf(f->name, sizeof(f->name), "%.*s", len, name);
	to->n++;
	return 0;
}

/*
 * Adds the scenarios of a file: of all its rows, or the one called @name. NULL: all. A file that
 * cannot be read is added as one, since loading it will report that.
 */
static int add_file(struct names *to, const char *path, const char *name)
{
	CLEANUP(sim_rows_free) struct sim_rows rows = { 0 };
	const char *base;
	int len = base_of(path, &base), r = 0;

	if (name && (int)strlen(name) == len && !strncmp(base, name, (size_t)len))
		name = NULL;
	sim_rows_read(path, &rows, NULL);
	if (!rows.n && !name)
		return add(to, path, base, len, false);
	for (size_t i = 0; i < rows.n && !r; i++)
		if (!name || !strcmp(rows.names[i], name))
			r = add(to, path, rows.names[i], SIM_NAME_LEN, true);
	return r;
}

/* Adds the scenarios of a folder that are called @name or are in a file of that name; NULL: all. */
static int add_folder(struct names *to, const char *dir, const char *name)
{
	CLEANUP_DIR DIR *d = opendir(dir);
	struct dirent *e;
	int r = 0;

	while (d && !r && (e = readdir(d))) {
		size_t n = strlen(e->d_name);
		char path[PATH_MAX];

		if (n <= 4 || strcmp(e->d_name + n - 4, ".scn") ||
		    snprintf(path, sizeof(path), "%s/%s", dir, e->d_name) >= (int)sizeof(path))
			continue;
		r = add_file(to, path, name);
	}
	if (to->n)
		qsort(to->all, to->n, sizeof(*to->all), by_name);
	return r;
}

/* Finds scenarios in the first folder that has any, by name as add_folder() does; NULL: all. */
static int find_named(const char *name, struct names *ret)
{
	char dir[PATH_MAX];
	int r = 0;

	for (size_t i = 0; !r && !ret->n && each_directory(i, dir, sizeof(dir)) == 0; i++)
		if (dir[0])
			r = add_folder(ret, dir, name);
	return r;
}

/* Finds scenarios by the file's path (with a slash or .scn), or by name. */
static int find(const char *name, struct names *ret)
{
	size_t n = strlen(name);

	if (!strchr(name, '/') && (n <= 4 || strcmp(name + n - 4, ".scn")))
		return find_named(name, ret);
	return access(name, F_OK) < 0 && errno == ENOENT ? -ENOENT : add_file(ret, name, NULL);
}

struct run_args {
	struct sim_run_options opts;
	const char *options[SIM_MAX_OPTIONS];
	uint64_t seed;
	enum sim_facts facts;
	struct sim_params params; /* valid if @has_params */
	bool has_params;
	struct {
		char policy[256], text[160];
	} unknown; /* facts that the policy reads but the stock host does not have */
	bool json;
	bool hopeless; /* the requested policy cannot run on any scenario */
	bool mistaken; /* the request itself is wrong */
	bool broken;   /* the last scenario could not run: it neither passed nor failed */
	const char *timeline, *scenario;
};

static int usage(const char *why, const char *what)
{
	gs_error_say("sim: %s%s: see 'gpusched sim run --help'", why, what);
	return GS_EXIT_USAGE;
}

static int take_policy(struct run_args *a, const char *value)
{
	if (!*value)
		return usage("--policy: an empty name", "");
	a->opts.policy = value;
	return 0;
}

static int take_option(struct run_args *a, const char *value)
{
	if (!strchr(value, '='))
		return usage("-o takes key=value, not ", value);
	if (a->opts.noptions == SIM_MAX_OPTIONS)
		return usage("too many -o: ", value);
	a->options[a->opts.noptions++] = value;
	return 0;
}

static int take_seed(struct run_args *a, const char *value)
{
	struct gs_error err = { 0 };

	if (gs_parse_u64(value, 0, INT64_MAX, &a->seed, &err) < 0) /* JSON has no larger integers */
		return usage("--seed: ", err.text);
	a->opts.seed = &a->seed;
	return 0;
}

static int take_host(struct run_args *a, const char *value)
{
	a->opts.host = gs_policy_host(value);
	if (!a->opts.host || !a->opts.host->virtual_time)
		return usage("--host takes native or sim, not ", value);
	return 0;
}

static int take_facts(struct run_args *a, const char *value)
{
	a->facts = !strcmp(value, sim_facts_words[SIM_FACTS_ALL]);
	if (strcmp(value, sim_facts_words[a->facts]))
		return usage("--facts takes stock or all, not ", value);
	a->opts.facts = &a->facts;
	return 0;
}

static int take_params(struct run_args *a, const char *value)
{
	struct gs_error err = { 0 };

	if (sim_params_named(value, &a->params, &err) < 0)
		return usage("--params: ", err.text);
	a->has_params = true;
	return 0;
}

static int take_timeline(struct run_args *a, const char *value)
{
	a->timeline = value;
	a->opts.timeline_ms = TIMELINE_MS;
	return 0;
}

static const struct {
	const char *name;
	int (*take)(struct run_args *a, const char *value); /* returns 0, or an exit code */
} takers[] = {
	{ "policy", take_policy }, { "option", take_option }, { "seed", take_seed },
	{ "host", take_host },     { "facts", take_facts },   { "timeline", take_timeline },
	{ "params", take_params },
};

static int take(struct run_args *a, const struct gs_option_text *o)
{
	for (size_t i = 0; i < GS_COUNT(takers); i++)
		if (!strcmp(takers[i].name, o->name))
			return takers[i].take(a, o->value);
	return usage("there is no option ", o->name);
}

static int print_json(const json_t *o)
{
	int r;

	if (!o) {
		gs_error_say("sim: a file's name is not valid UTF-8, as JSON has to be");
		return -EINVAL;
	}
	r = json_dumpf(o, stdout, JSON_COMPACT | JSON_REAL_PRECISION(9));
	putchar('\n');
	return r < 0 ? -EIO : 0;
}

static int write_timeline(const struct run_args *a, const struct sim_result *r)
{
	CLEANUP_FILE FILE *f = fopen(a->timeline, "we");

	if (!f || sim_report_timeline(r, f) < 0 || fflush(f)) {
		gs_error_say("sim: %s: %s", a->timeline, strerror(errno));
		return -EIO;
	}
	return 0;
}

/* Reports a scenario that cannot run: a line on stderr, and with --json an object on stdout. */
static void tell_broken(const struct run_args *a, const struct found *f, const struct gs_error *err)
{
	json_t *o;

	gs_error_say("sim: %s", err->text);
	if (!a->json)
		return;
	o = json_pack("{s:s, s:s, s:b}", "scenario", f->name, "error", err->text, "passed", 0);
	print_json(o);
	json_decref(o);
}

/*
 * Names the facts that the policy reads but the stock host does not have. NULL: none, or the policy
 * cannot be read.
 */
static const char *unknown_facts(struct run_args *a, const char *policy)
{
	CLEANUP(gs_policy_info_free) struct gs_policy_info info = { 0 };

	if (!policy[0])
		return NULL;
	if (strcmp(a->unknown.policy, policy)) {
		snprintf(a->unknown.policy, sizeof(a->unknown.policy), "%s", policy);
		a->unknown.text[0] = '\0';
		if (gs_policy_info(policy, &info, NULL) == 0)
			gs_reads_text(info.reads, gs_host_stock.facts, a->unknown.text,
				      sizeof(a->unknown.text));
	}
	return a->unknown.text[0] ? a->unknown.text : NULL;
}

static int print_result(const struct sim_result *r, const char *unknown)
{
	json_t *o = sim_report_json(r);
	int w;

	json_object_set_new(o, "unknown_facts", unknown ? json_string(unknown) : json_null());
	w = print_json(o);
	json_decref(o);
	return w;
}

/* Runs one scenario; returns true if it passed. */
static bool run_one(struct run_args *a, const struct found *f, bool alone)
{
	CLEANUP(sim_scenario_freep) struct sim_scenario *s = NULL;
	CLEANUP(sim_result_freep) struct sim_result *r = NULL;
	struct gs_error err = { 0 };
	struct sim_progress progress;
	const char *unknown;
	int ret;

	ret = sim_scenario_load(f->path, row_of(f), &s, &err);
	if (ret == 0 && a->has_params)
		s->params = a->params;
	if (ret == 0) {
		sim_progress_begin(&progress, s->name);
		a->opts.progress = sim_progress_tell;
		a->opts.progress_user = &progress;
		ret = sim_scenario_run(s, &a->opts, &r, &err);
		sim_progress_end(&progress);
	}
	if (ret < 0) {
		tell_broken(a, f, &err);
		a->hopeless = s && a->opts.policy;
		a->mistaken =
			gs_error_exit(ret) == GS_EXIT_USAGE && (a->opts.policy || a->opts.noptions);
		a->broken = true;
		return false;
	}
	if (a->timeline && write_timeline(a, r) < 0)
		return false;
	unknown = unknown_facts(a, r->policy);
	if (a->json)
		return print_result(r, unknown) == 0 && r->passed;
	if (unknown && alone)
		gs_error_say("sim: policy %s reads %s, which the stock host does not know: "
			     "%s",
			     r->policy, unknown,
			     r->facts == SIM_FACTS_ALL ? "results there will differ"
						       : "0 here too, unless --facts all");
	if (alone)
		return sim_report_table(r, stdout) == 0 && r->passed;
	if (!r->passed || !s->nchecks)
		sim_report_table(r, stdout);
	else
		sim_report_checks(r, stdout);
	putchar('\n');
	return r->passed;
}

int sim_cmd_run(const char *scenario, const struct gs_option_text *opts, size_t n, bool json)
{
	CLEANUP(free_names) struct names names = { 0 };
	struct run_args a = { .scenario = scenario, .json = json };
	bool all = !strcmp(scenario, "all");
	size_t passed = 0;
	int r = 0;

	a.opts.options = a.options;
	for (size_t i = 0; i < n && !r; i++)
		r = take(&a, &opts[i]);
	if (r)
		return r;
	r = all ? find_named(NULL, &names) : find(a.scenario, &names);
	if (r < 0 || !names.n) {
		gs_error_say("sim: no scenario '%s'; 'gpusched sim list' shows them", a.scenario);
		return GS_EXIT_USAGE;
	}
	if (a.timeline && names.n > 1)
		return usage("--timeline takes one scenario, not ", scenario);
	for (size_t i = 0; i < names.n && !a.hopeless; i++)
		passed += run_one(&a, &names.all[i], !all);
	if (a.json && all)
		printf("{\"passed\":%zu,\"failed\":%zu}\n", passed, names.n - passed);
	else if (!a.json && (all || !a.broken))
		printf("%s%zu passed, %zu failed\n", all ? "" : "\n", passed, names.n - passed);
	if (a.mistaken)
		return GS_EXIT_USAGE;
	return passed == names.n && fflush(stdout) == 0 ? GS_EXIT_OK : GS_EXIT_FAILED;
}

static const struct gs_column list_columns[] = {
	{ "name", "NAME" },
	{ "basis", "BASIS" },
	{ "policy", "POLICY" },
	{ "title", "TITLE", GS_COL_WRAP },
	{ "path" },
	{ "duration_s" },
};

static int print_list(const struct names *names, bool json)
{
	CLEANUP_SHEET struct gs_sheet *t = NULL;
	int code = GS_EXIT_OK;

	if (gs_sheet_new(list_columns, GS_COUNT(list_columns),
			 json ? GS_SHEET_JSON : GS_SHEET_PLAIN, stdout, &t))
		return GS_EXIT_FAILED;
	for (size_t i = 0; i < names->n; i++) {
		CLEANUP(sim_scenario_freep) struct sim_scenario *s = NULL;
		CLEANUP_JSON json_t *o = NULL;
		struct gs_error err = { 0 };

		if (sim_scenario_load(names->all[i].path, row_of(&names->all[i]), &s, &err) < 0) {
			gs_error_say("sim: %s", err.text);
			code = GS_EXIT_FAILED;
			continue;
		}
		o = json_pack("{s:s, s:s, s:s, s:s*, s:s, s:f}", "name", s->name, "title", s->title,
			      "basis", s->basis, "policy", s->policy[0] ? s->policy : NULL, "path",
			      s->path, "duration_s", s->duration_s);
		if (!o)
			gs_error_say("sim: a file's name is not valid UTF-8, as JSON has to be");
		if (!o || gs_sheet_row(t, o))
			code = GS_EXIT_FAILED;
	}
	gs_sheet_fit(t, gs_term_width(stdout));
	return gs_sheet_end(t) ? GS_EXIT_FAILED : code;
}

int sim_cmd_list(bool json)
{
	CLEANUP(free_names) struct names names = { 0 };

	if (find_named(NULL, &names) < 0)
		return GS_EXIT_FAILED;
	if (!names.n) {
		gs_error_say("sim: no scenarios found; set GPUSCHED_SCENARIOS to their "
			     "directory");
		return GS_EXIT_IMPOSSIBLE;
	}
	return print_list(&names, json);
}
