// SPDX-License-Identifier: MIT
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "basic/say.h"
#include "basic/term.h"
#include "cli/cli.h"
#include "cli/verbs_act.h"
#include "local/local.h"
#include "gpusched/gpusched.h"
#include "policy/policy.h"
#include "policy/build.h"

static void exit_free(struct gs_policy_exit *e)
{
	free(e->dump);
}

static void infos_free(struct gs_policy_info *infos, size_t n)
{
	for (size_t i = 0; i < n; i++)
		gs_policy_info_free(&infos[i]);
	free(infos);
}

static const struct gs_column columns[] = {
	{ "name", "NAME" }, { "about", "WHAT IT DOES", GS_COL_WRAP },
	{ "tick_us" },      { "callbacks" },
	{ "options" },      { "path" },
};

static const struct gs_column option_columns[] = {
	{ "name", "OPTION" },
	{ "default", "DEFAULT", GS_COL_RIGHT },
	{ "min", "FROM", GS_COL_RIGHT },
	{ "max", "TO", GS_COL_RIGHT },
	{ "help", "WHAT IT IS", GS_COL_WRAP },
};

int cli_policy_list(struct cli *c)
{
	CLEANUP_JSON json_t *rows = json_array();
	struct gs_policy_info *infos = NULL;
	struct gs_error err = {};
	size_t n = 0;
	int r;

	r = gs_policy_list(&infos, &n, &err);
	if (r)
		return cli_fail_err(r, &err, "policy list");
	for (size_t i = 0; i < n; i++)
		json_array_append_new(rows, gs_policy_info_json(&infos[i], false));
	infos_free(infos, n);
	if (!n && !c->json)
		puts("no policies found: set GPUSCHED_POLICIES to their directory");
	return cli_screen_rows(c, columns, GS_COUNT(columns), rows);
}

int cli_policy_show(struct cli *c)
{
	CLEANUP(gs_policy_info_free) struct gs_policy_info info = {};
	CLEANUP_JSON json_t *row = NULL;
	struct gs_error err = {};
	int r;

	r = gs_policy_info(c->argv[0], &info, &err);
	if (r)
		return cli_fail_err(r, &err, "policy show");
	row = gs_policy_info_json(&info, false);
	if (c->json)
		return cli_screen_object(c, row);
	printf("%s - %s\n\nobject     %s\ncallbacks  %s\n", info.name,
	       *info.about ? info.about : "it does not say what it does", info.path,
	       info.callbacks);
	if (*info.classes)
		printf("acts on    classes %s\n", info.classes);
	if (info.tick_us)
		printf("tick       every %u us, a round at most %u ms\n", info.tick_us,
		       info.timeout_ms);
	if (info.noptions)
		putchar('\n');
	return cli_screen_rows(c, option_columns, GS_COUNT(option_columns),
			       json_object_get(row, "options"));
}

static int check_one(const struct cli *c, const char *what)
{
	struct gs_policy_exit why __attribute__((cleanup(exit_free))) = {};
	CLEANUP(gs_policy_info_free) struct gs_policy_info info = {};
	CLEANUP_JSON json_t *row = NULL, *remarks = json_array();
	char remark[240];
	struct gs_error err = {};
	const char *text;
	int r;

	r = gs_policy_check(what, &info, &why, &err);
	for (unsigned int n = 0; !r && gs_policy_remark(&info, n, remark, sizeof(remark)); n++) {
		if (!c->json)
			fprintf(stderr, "gpusched: policy check: %s: %s\n", what, remark);
		json_array_append_new(remarks, json_string(remark));
	}
	text = err.text[0] ? err.text : why.message;
	if (c->json) {
		row = json_pack("{s:s,s:b,s:s?,s:s?,s:s?,s:O}", "policy", what, "ok", !r, "kind",
				why.kind ? gs_policy_exit_name(why.kind) : NULL, "message",
				r ? text : NULL, "dump", r ? why.dump : NULL, "remarks", remarks);
		gs_json_line(stdout, row);
	} else if (!r) {
		printf("%s: ok\n", what);
	}
	if (!r)
		return 0;
	if (why.dump && !c->json)
		printf("%s\n", why.dump);
	text = *text ? text : strerror(-r);
	/* most reasons name the policy already */
	if (strstr(text, what))
		cli_fail(r, "policy check: %s", text);
	else
		cli_fail(r, "policy check: %s: %s", what, text);
	/* a policy that is refused is a failed check, not a wrong use of the command */
	return why.kind == GS_POLICY_EXIT_VERIFIER || why.kind == GS_POLICY_EXIT_REFUSED
		       ? GS_EXIT_FAILED
		       : (int)gs_error_exit(r);
}

int cli_policy_check(struct cli *c)
{
	int worst = GS_EXIT_OK, good = 0;

	for (int i = 0; i < c->argc; i++) {
		int code = check_one(c, c->argv[i]);

		good += code == GS_EXIT_OK;
		worst = code ? code : worst;
	}
	return worst && good ? GS_EXIT_PARTLY : worst;
}

int cli_policy_new(struct cli *c)
{
	struct gs_error err = {};
	CLEANUP_FREE char *file = NULL;
	CLEANUP_JSON json_t *row = NULL;
	int r;

	r = gs_policy_build_skeleton(c->argv[0], &err);
	if (r)
		return cli_fail_err(r, &err, "policy new");
	if (asprintf(&file, "%s.bpf.c", c->argv[0]) < 0)
		return cli_fail(-ENOMEM, "out of memory");
	row = json_pack("{s:s}", "file", file);
	if (c->json)
		return cli_screen_object(c, row);
	printf("%s written: next 'gpusched policy build %s'\n", file, file);
	return GS_EXIT_OK;
}

int cli_policy_build(struct cli *c)
{
	const char *source = c->argv[0], *output = cli_opt(c, "output");
	const char *base = strrchr(source, '/') ? strrchr(source, '/') + 1 : source;
	CLEANUP_FREE char *made = NULL;
	CLEANUP_JSON json_t *row = NULL;
	struct gs_error err = {};
	size_t len = strlen(base);
	int r;

	if (len < 7 || strcmp(base + len - 6, ".bpf.c"))
		return cli_fail(-EINVAL, "policy build: %s is not called NAME.bpf.c", source);
	if (!output) {
		if (asprintf(&made, "%.*s.o", (int)strlen(source) - 2, source) < 0)
			return cli_fail(-ENOMEM, "out of memory");
		output = made;
	}
	r = gs_policy_build(source, output, &err);
	if (r)
		return cli_fail_err(r, &err, "policy build");
	row = json_pack("{s:s}", "object", output);
	if (c->json)
		return cli_screen_object(c, row);
	printf("%s built: next 'gpusched policy check %s'\n", output, output);
	return GS_EXIT_OK;
}

/* ---- the running policy: through libgpusched ------------------------------------------------- */

#define TEXT_COLUMN 11

static void print_text(const char *name, const char *text)
{
	printf("%-*s", TEXT_COLUMN, name);
	gs_term_wrap(stdout, text, TEXT_COLUMN, CLI_WIDTH);
}

char *cli_policy_said(const json_t *policy, uint64_t most_s)
{
	const json_t *said = gs_json_at(policy, "said");
	uint64_t at = (uint64_t)json_integer_value(json_object_get(said, "time_ns"));
	uint64_t now = gs_now_ns(), s = now > at ? (now - at) / NS_PER_S : 0;
	char *text = NULL;

	if (!said || s > most_s ||
	    asprintf(&text, "%" PRIu64 " s ago: %s", s,
		     json_string_value(json_object_get(said, "text"))) < 0)
		return NULL;
	return text;
}

static void print_running(const json_t *p)
{
	CLEANUP_FREE char *said = cli_policy_said(p, UINT64_MAX);
	const json_t *options = json_object_get(p, "options");
	CLEANUP_FREE char *text = NULL, *path = gs_json_cell(json_object_get(p, "path"));
	size_t size, i;
	FILE *f = open_memstream(&text, &size);
	json_t *o;

	if (!f)
		return;
	json_array_foreach((json_t *)options, i, o)
		fprintf(f, "%s%s=%" JSON_INTEGER_FORMAT, i ? " " : "",
			json_string_value(json_object_get(o, "name")),
			json_integer_value(json_object_get(o, "value")));
	fclose(f);
	printf("policy %s runs\n", json_string_value(json_object_get(p, "name")));
	print_text("object", path ? path : "-");
	print_text("options", text && *text ? text : "-");
	if (gs_json_at(p, "host"))
		print_text("host", json_string_value(json_object_get(p, "host")));
	if (said)
		print_text("said", said);
	if (gs_json_at(p, "launches_refused"))
		print_text("launches", json_string_value(json_object_get(p, "launches_refused")));
}

static void print_exit(const json_t *e)
{
	CLEANUP_FREE char *policy = gs_json_cell(json_object_get(e, "policy")),
			  *message = gs_json_cell(json_object_get(e, "message")), *line = NULL;
	const char *dump = json_string_value(json_object_get(e, "dump"));

	if (asprintf(&line, "%s (%s): %s", policy, json_string_value(json_object_get(e, "kind")),
		     message) < 0)
		return;
	print_text("ended", line);
	if (dump)
		cli_screen_lines(dump);
}

static int ask(struct cli *c, const char *verb, uint32_t flags, json_t *args,
	       void (*print)(const json_t *answer))
{
	CLEANUP_JSON json_t *answer = NULL;
	int r;

	r = cli_ask(flags, verb, args, &answer);
	if (r)
		return gs_error_exit(r);
	if (c->json)
		return cli_screen_object(c, answer);
	print(answer);
	return GS_EXIT_OK;
}

static void print_get(const json_t *answer)
{
	const json_t *running = gs_json_at(answer, "running");
	const char *starting = json_string_value(json_object_get(answer, "starting"));
	const char *permanent = json_string_value(json_object_get(answer, "permanent"));

	if (running)
		print_running(running);
	else
		puts("no policy runs: the driver's own behaviour is in force");
	if (starting)
		print_text("starting", starting);
	if (permanent)
		print_text("permanent", permanent);
	if (gs_json_at(answer, "last_exit"))
		print_exit(json_object_get(answer, "last_exit"));
}

int cli_policy_get(struct cli *c)
{
	return ask(c, "policy_get", GS_LOCAL_READ_ONLY, NULL, print_get);
}

/* Makes a path absolute, since the daemon has another working folder. */
static char *as_daemon_finds_it(const char *name)
{
	CLEANUP_FREE char *cwd = NULL;
	char *path = NULL;

	if (*name == '/' || !strpbrk(name, "/."))
		return strdup(name);
	cwd = getcwd(NULL, 0);
	while (strncmp(name, "./", 2) == 0)
		name += 2;
	if (!cwd || asprintf(&path, "%s/%s", strcmp(cwd, "/") ? cwd : "", name) < 0)
		return NULL;
	return path;
}

int cli_policy_start(struct cli *c)
{
	CLEANUP_FREE char *name = as_daemon_finds_it(c->argv[0]);
	json_t *options = json_array();

	if (!name) {
		json_decref(options);
		return cli_fail(-errno, "policy: %s: %s", c->argv[0], strerror(errno));
	}
	for (size_t i = 0; i < c->nopts; i++) {
		if (strcmp(c->opts[i].name, "option"))
			continue;
		if (!strchr(c->opts[i].value, '=') || c->opts[i].value[0] == '=') {
			json_decref(options);
			return cli_fail(-EINVAL, "policy: option '%s' is not KEY=VALUE",
					c->opts[i].value);
		}
		json_array_append_new(options, json_string(c->opts[i].value));
	}
	return ask(c, "policy_start", GS_LOCAL_DAEMON_ONLY,
		   json_pack("{s:s,s:s*,s:o,s:b,s:b}", "name", name, "host", cli_opt(c, "host"),
			     "options", options, "replace", !cli_opt(c, "no-replace"), "permanent",
			     cli_opt(c, "permanent") != NULL),
		   print_running);
}

static void print_stopped(const json_t *answer)
{
	if (gs_json_at(answer, "policy"))
		print_exit(answer);
	else
		puts("no policy ran; none starts with the daemon from now on");
}

int cli_policy_stop(struct cli *c)
{
	return ask(c, "policy_stop", 0,
		   json_pack("{s:b}", "permanent", cli_opt(c, "permanent") != NULL), print_stopped);
}
