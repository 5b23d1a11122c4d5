/* SPDX-License-Identifier: MIT */
/*
 * test_screens.c - compare what the screens print for fixed answers with golden files
 *
 * tests/unit/screens/NAME.json is the answer. NAME.80.out, NAME.100.out, NAME.200.out and
 * NAME.pipe.out are what is printed: on terminals of these widths, without colours, and into a pipe.
 * NAME.json.out is what --json prints. SCREENS_WRITE=1 in the environment writes them.
 */
#include <locale.h>
#include <pty.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "basic/cleanup.h"
#include "basic/json_sheet.h"
#include "basic/term.h"
#include "cli/cli.h"
#include "cli/verbs_look.h"
#include "top/layout.h"

#define LONGEST 65536

static int print_top(const struct cli *c, const json_t *answer)
{
	struct gs_top t = { .gpus = json_object_get(answer, "gpus"),
			    .findings = json_object_get(answer, "findings"),
			    .policy = json_string_value(json_object_get(answer, "policy")),
			    .clock = "13:46:00",
			    .wide = cli_opt(c, "wide"),
			    .by_process = !cli_opt(c, "wide") };
	CLEANUP_JSON json_t *rows = gs_top_layout_rows(&t);
	unsigned int width = (unsigned int)gs_term_width(stdout) ?: 100;
	unsigned int height = gs_top_layout_height(&t, rows, width);
	size_t i;
	struct gs_grid g;
	json_t *row;

	json_array_foreach(rows, i, row)
		json_object_set_new(row, "user", json_string(i ? "root" : "4001"));
	assert_int_equal(gs_grid_new(20, width, &g), 0);
	gs_top_layout_draw(&t, rows, &g);
	g.rows = height;
	gs_grid_print(&g, stdout);
	gs_grid_free(&g);
	return 0;
}

/* What a screen prints for an answer; returns an enum gs_exit. */
static int print(const struct cli *c, const json_t *answer)
{
	const char *by = cli_opt(c, "by");

	if (!strcmp(c->cmd->noun, "list"))
		return cli_print_list(c, "all", answer);
	if (!strcmp(c->cmd->noun, "top"))
		return print_top(c, answer);
	if (!strcmp(c->cmd->noun, "status"))
		return cli_print_status(c, answer);
	if (!strcmp(c->cmd->noun, "stats"))
		return cli_print_history_sums(c, by, false, answer);
	return cli_print_history(c, by ? by : "process", false, answer);
}

static void parse(const char *line, struct cli *ret)
{
	static char words[256];
	static char *argv[16];
	const struct cli_cmd *cmd;
	int argc = 0, used;
	char *save = NULL;

	snprintf(words, sizeof(words), "gpusched %s", line);
	for (char *w = strtok_r(words, " ", &save); w; w = strtok_r(NULL, " ", &save))
		argv[argc++] = w;
	argv[argc] = NULL;
	assert_int_equal(cli_find(&cli_table, argc, argv, &cmd, &used, NULL), 0);
	assert_int_equal(cli_parse(cmd, argc - used, argv + used, ret, NULL), 0);
}

#define PARKED "parked" /* the answer of list, and notes on programs that were parked */

static void park(json_t *answer)
{
	json_object_set_new(json_array_get(json_object_get(answer, "tsgs"), 0), "restored",
			    json_true());
	json_object_set_new(answer, "parked",
			    json_pack("[{s:s,s:i,s:s,s:b,s:I,s:s}]", "state", "parked", "pid", 77,
				      "comm", "a-train\ning", "by_policy", true, "bytes",
				      (json_int_t)36 << 30, "sign",
				      "a connection to 10.0.0.17, port 8000"));
}

#define MIXED "mixed" /* the answer of status, with a second GPU that has no samples */

static void add_gpu(json_t *answer)
{
	json_t *gpus = json_object_get(answer, "gpus");
	json_t *second = json_deep_copy(json_array_get(gpus, 0));

	json_object_set_new(second, "gpu", json_integer(1));
	json_object_set_new(second, "idle_pct", json_null());
	json_array_append_new(gpus, second);
}

static json_t *answer_of(const char *name)
{
	bool parked = !strcmp(name, PARKED), mixed = !strcmp(name, MIXED);
	CLEANUP_FREE char *path = NULL;
	json_t *answer;

	/* the same answers */
	name = !strcmp(name, "top") || mixed ? "status" : parked ? "list" : name;
	assert_true(asprintf(&path, "%s/%s.json", getenv("GPUSCHED_SCREENS"), name) > 0);
	answer = json_load_file(path, 0, NULL);
	assert_non_null(answer);
	if (parked)
		park(answer);
	if (mixed)
		add_gpu(answer);
	return answer;
}

/* Opens what the screen prints to: a terminal of @width, or a pipe (0). */
static void open_output(unsigned short width, int ends[2])
{
	struct winsize size = { .ws_row = 40, .ws_col = width };
	struct termios raw;

	if (!width) {
		assert_int_equal(pipe(ends), 0);
		return;
	}
	assert_int_equal(openpty(&ends[0], &ends[1], NULL, NULL, &size), 0);
	assert_int_equal(tcgetattr(ends[1], &raw), 0);
	cfmakeraw(&raw);
	assert_int_equal(tcsetattr(ends[1], TCSANOW, &raw), 0);
}

/* Runs the command on a fixed answer; returns what it printed. */
static char *screen(const char *line, const char *name, unsigned short width)
{
	char *text = calloc(1, LONGEST);
	size_t at = 0;
	int ends[2], status;
	ssize_t n;
	pid_t pid;

	assert_non_null(text);
	open_output(width, ends);
	fflush(stdout);
	pid = fork();
	if (!pid) {
		CLEANUP_JSON json_t *answer = answer_of(name);
		struct cli c = {};

		dup2(ends[1], STDOUT_FILENO);
		close(ends[0]);
		close(ends[1]);
		parse(line, &c);
		status = print(&c, answer);
		fflush(stdout);
		_exit(status);
	}
	close(ends[1]);
	while (at < LONGEST - 1 && (n = read(ends[0], text + at, LONGEST - 1 - at)) > 0)
		at += (size_t)n;
	close(ends[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	return text;
}

static void compare(const char *name, const char *ending, const char *text)
{
	CLEANUP_FREE char *path = NULL, *want = calloc(1, LONGEST);
	FILE *f;

	assert_true(asprintf(&path, "%s/%s.%s.out", getenv("GPUSCHED_SCREENS"), name, ending) > 0);
	f = fopen(path, getenv("SCREENS_WRITE") ? "w+" : "r");
	if (!f)
		print_error("%s is missing: SCREENS_WRITE=1 writes it\n", path);
	assert_non_null(f);
	if (getenv("SCREENS_WRITE")) {
		fputs(text, f);
		rewind(f);
	}
	assert_true(fread(want, 1, LONGEST - 1, f) || !*text);
	fclose(f);
	if (strcmp(text, want) != 0)
		print_error("%s\n", path);
	assert_string_equal(text, want);
}

static void no_line_is_wider(const char *text, size_t most)
{
	while (*text) {
		size_t n = strcspn(text, "\n");
		CLEANUP_FREE char *line = strndup(text, n);

		if (gs_term_columns(line) > most)
			print_error("wider than %zu: %s\n", most, line);
		assert_true(gs_term_columns(line) <= most);
		text += n + (text[n] == '\n');
	}
}

static const struct {
	const char *line, *name;
} screens[] = {
	{ "list", "list" },       { "list", "list-pods" },
	{ "status", "status" },   { "status", "status-pods" },
	{ "history", "history" }, { "stats --by class", "stats" },
	{ "top", "top" },
};

static void golden(void **state)
{
	static const unsigned short widths[] = { 80, 100, 200 };

	for (size_t i = 0; i < GS_COUNT(screens); i++) {
		CLEANUP_FREE char *piped = screen(screens[i].line, screens[i].name, 0);

		compare(screens[i].name, "pipe", piped);
		no_line_is_wider(piped, 100);
		for (size_t k = 0; k < GS_COUNT(widths); k++) {
			CLEANUP_FREE char *text =
				screen(screens[i].line, screens[i].name, widths[k]);
			char ending[8];

			snprintf(ending, sizeof(ending), "%u", widths[k]);
			compare(screens[i].name, ending, text);
			no_line_is_wider(text, widths[k] < 100 ? widths[k] : 100);
			/* a pipe gets what a terminal gets that is wide enough */
			if (widths[k] >= 100)
				assert_string_equal(text, piped);
		}
	}
}

static void notes_are_wrapped(void **state)
{
	CLEANUP_FREE char *text = screen("list", PARKED, 80), *piped = screen("list", PARKED, 0);

	assert_non_null(strstr(text, "parked: process 77 (a-train\\x0aing), by policy, 36.0 GiB"));
	assert_non_null(strstr(text, "was parked and brought back; with drivers"));
	no_line_is_wider(text, 80);
	no_line_is_wider(piped, 100);
}

static void used_where_samples_tell(void **state)
{
	CLEANUP_FREE char *text = screen("status", MIXED, 100);
	const char *second = strstr(text, "GPU 1,");

	assert_non_null(second);
	assert_true(strstr(text, " USED ") < second && strstr(text, " HAD GPU ") > second);
	assert_null(strstr(second, " USED "));
}

/* The JSON does not depend on what the tables show. */
static void json_stays(void **state)
{
	static const struct {
		const char *line, *name;
	} all[] = {
		{ "list --json", "list" },
		{ "list --wide --json", "list" },
		{ "history --json", "history" },
		{ "stats --by class --json", "stats" },
	};

	for (size_t i = 0; i < GS_COUNT(all); i++) {
		CLEANUP_FREE char *text = screen(all[i].line, all[i].name, 0);

		compare(all[i].name, strstr(all[i].line, "--wide") ? "wide.json" : "json", text);
	}
}

/* Colours add nothing but escape sequences. None is yellow, which nobody can read on white. */
static void colours(void **state)
{
	CLEANUP_FREE char *plain = screen("list", "list", 100), *coloured = NULL;
	char *to, *from;

	unsetenv("NO_COLOR");
	coloured = screen("list", "list", 100);
	setenv("NO_COLOR", "1", 1);
	assert_non_null(strstr(coloured, "\033["));
	assert_null(strstr(coloured, "33m"));
	for (to = from = coloured; *from; from++) {
		if (*from == '\033')
			from = strchr(from, 'm');
		else
			*to++ = *from;
	}
	*to = '\0';
	assert_string_equal(coloured, plain);
}

static void wide_has_all(void **state)
{
	CLEANUP_FREE char *text = screen("list --wide", "list", 0);
	CLEANUP_FREE char *status = screen("status --wide", "status", 0);
	CLEANUP_FREE char *history = screen("history --wide", "history", 0);

	assert_non_null(strstr(text, "WANTED"));
	assert_non_null(strstr(text, "HW_TSG"));
	assert_non_null(strstr(status, "TURNS/S"));
	assert_non_null(strstr(history, "PAUSED FOR OTHERS"));
}

static void columns_and_sort(void **state)
{
	CLEANUP_FREE char *text =
		screen("list --columns pid,memory_bytes,want.timeslice_us --sort memory_bytes",
		       "list", 80);

	assert_non_null(strstr(text, "  PID  MEMORY WANTED\n24546  36 GiB   1 us\n"
				     "26001  12 GiB   1 us\n25550   4 GiB 200 ms\n"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(golden),
		cmocka_unit_test(json_stays),
		cmocka_unit_test(notes_are_wrapped),
		cmocka_unit_test(used_where_samples_tell),
		cmocka_unit_test(colours),
		cmocka_unit_test(wide_has_all),
		cmocka_unit_test(columns_and_sort),
	};

	setlocale(LC_CTYPE, "C.UTF-8");
	setenv("NO_COLOR", "1", 1);
	setenv("TERM", "xterm", 1);
	setenv("TZ", "UTC", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
