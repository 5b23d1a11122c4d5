// SPDX-License-Identifier: MIT
/* top.c - shows the programs on the GPUs, again and again, with keys to change them */
#include <errno.h>
#include <locale.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "basic/parse.h"
#include "basic/term.h"
#include "cli/cli.h"
#include "cli/verbs_look.h"
#include "gpusched/gpusched.h"
#include "top/identity.h"
#include "local/ask.h"
#include "top/layout.h"
#include "top/screen.h"

#define KEY_MS 100
#define FIRST_NS (500 * NS_PER_MS) /* from the first reading of figures to the second */
#define BATCH_COLS 100
#define ESCAPE 0x1b
#define WINDOW_MAX_S 10 /* the daemon has windows up to this length */

enum mode { BROWSE, FILTER, CLASS, CONFIRM };

struct view {
	struct gs_top t;
	struct gpusched *g, *stream; /* @stream NULL: no turns are reported */
	struct gs_strip *strip;
	struct gs_identity *identity; /* NULL: not on a terminal */
	enum gs_top_sort sorted_by;   /* the order in which @rows are sorted */
	json_t *status;               /* the daemon's last answer */
	json_t *gpus, *rows;
	uint64_t period_ns, count, shown;
	enum mode mode;
	char input[32];
	char verb[12], target[40]; /* an action that waits for a confirmation */
	int64_t chosen_id;         /* id of the row under the cursor; -1: the first row */
	char clock[16];
	bool json, over;
	int code;
};

/* ---- what there is --------------------------------------------------------------------------- */

static int on_line(const json_t *line, void *user)
{
	gs_strip_line(user, line);
	return 0;
}

/* Reads reported turns, for at least @ms. */
static void pump(struct view *v, unsigned int ms)
{
	int r = v->stream ? gs_ask_trace(v->stream, on_line, v->strip, ms * 1000) : 0;

	if (!v->stream)
		gs_sleep_ns(ms * NS_PER_MS);
	if (!v->stream || r == -ETIMEDOUT || r == -EINTR)
		return;
	gpusched_close(v->stream);
	v->stream = NULL;
	v->t.strip = NULL;
}

static void open_stream(struct view *v)
{
	if (gs_strip_new(&v->strip))
		return;
	v->t.strip = v->strip;
	if (gpusched_open(NULL, &v->stream)) {
		gpusched_close(v->stream);
		v->stream = NULL;
		v->t.strip = NULL;
	}
}

static int64_t row_id(const json_t *row)
{
	return json_integer_value(json_object_get(row, "id"));
}

/* Makes the rows. The cursor stays on its row when the row moves. */
static void make_rows(struct view *v)
{
	const json_t *row;
	json_t *rows;
	size_t i;

	v->t.before = v->sorted_by == v->t.sort ? v->rows : NULL;
	rows = gs_top_layout_rows(&v->t);
	v->t.before = NULL;
	json_decref(v->rows);
	v->rows = rows;
	v->sorted_by = v->t.sort;
	json_array_foreach(v->rows, i, row)
		if (row_id(row) == v->chosen_id)
			v->t.chosen = i;
	if (v->t.chosen >= json_array_size(v->rows))
		v->t.chosen = json_array_size(v->rows) ? json_array_size(v->rows) - 1 : 0;
}

/*
 * Asks the daemon for the figures of the last period, or of its longest window if that is shorter.
 */
static int look(struct view *v)
{
	uint64_t window_s = (v->period_ns + NS_PER_S - 1) / NS_PER_S;
	json_t *args, *answer = NULL;
	time_t now = time(NULL);
	struct tm tm;
	int r;

	args = json_pack("{s:I}", "window_s",
			 (json_int_t)(window_s > WINDOW_MAX_S ? WINDOW_MAX_S : window_s));
	r = cli_client_request(v->g, "status", args, &answer);
	if (r)
		return r;
	json_decref(v->status);
	v->status = answer;
	v->gpus = json_object_get(answer, "gpus");
	v->t.gpus = v->gpus;
	v->t.findings = json_object_get(answer, "findings");
	v->t.policy = json_string_value(json_object_get(answer, "policy"));
	strftime(v->clock, sizeof(v->clock), "%T", localtime_r(&now, &tm));
	v->t.clock = v->clock;
	make_rows(v);
	return 0;
}

/* ---- for a file ------------------------------------------------------------------------------ */

static int print_json(struct view *v)
{
	CLEANUP_JSON json_t *o =
		json_pack("{s:I, s:s?, s:O, s:O}", "time_ns", (json_int_t)gs_now_ns(), "policy",
			  v->t.policy, "gpus", v->gpus, "findings", v->t.findings);

	return gs_json_line(stdout, o) || fflush(stdout) ? -EIO : 0;
}

/* Adds users' names, which gs_identity_add() adds on a terminal. */
static void put_users(json_t *rows)
{
	json_t *row;
	size_t i;

	json_array_foreach(rows, i, row) {
		CLEANUP_FREE char *user = cli_screen_user(row);

		json_object_set_new(row, "user", user ? json_string(user) : json_null());
	}
}

static int print_text(struct view *v)
{
	struct gs_grid grid;
	unsigned int cols = (unsigned int)gs_term_width(stdout) ?: BATCH_COLS;
	unsigned int rows = gs_top_layout_height(&v->t, v->rows, cols);

	if (gs_grid_new(rows < 8 ? 8 : rows, cols, &grid))
		return -ENOMEM;
	put_users(v->rows);
	gs_top_layout_draw(&v->t, v->rows, &grid);
	grid.rows = rows;
	if (v->shown)
		putchar('\n');
	gs_grid_print(&grid, stdout);
	gs_grid_free(&grid);
	return fflush(stdout) ? -EIO : 0;
}

static int batch(struct view *v)
{
	int r = 0;

	while (!r && !cli_stopped && v->shown < v->count) {
		uint64_t until = gs_now_ns() + v->period_ns;

		while (!cli_stopped && gs_now_ns() < until)
			pump(v, KEY_MS);
		r = look(v);
		if (!r)
			r = v->json ? print_json(v) : print_text(v);
		v->shown++;
	}
	return r;
}

/* ---- keys ------------------------------------------------------------------------------------ */

static void say(struct view *v, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void say(struct view *v, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(v->t.line, sizeof(v->t.line), format, ap);
	va_end(ap);
}

static const json_t *chosen(const struct view *v)
{
	return json_array_get(v->rows, v->t.chosen);
}

/*
 * Sets the target of an action on the chosen row: the row's process if @process, or if rows are
 * processes; else the row's TSG.
 */
static bool aim(struct view *v, bool process)
{
	const json_t *row = chosen(v), *pid = json_object_get(row, "pid");

	if (!row || !json_is_integer(pid)) {
		say(v, row ? "whose it is is hidden" : "no row is chosen");
		return false;
	}
	if (process || v->t.by_process)
		snprintf(v->target, sizeof(v->target), "pid:%lld",
			 (long long)json_integer_value(pid));
	else
		snprintf(v->target, sizeof(v->target), "tsg:%lld", (long long)row_id(row));
	return true;
}

static void act(struct view *v)
{
	CLEANUP_JSON json_t *answer = NULL;
	CLEANUP_JSON json_t *args = json_pack("{s:s}", "target", v->target);
	int r;

	if (!strcmp(v->verb, "class_set"))
		json_object_set_new(args, "class", json_string(v->input));
	r = args ? gs_ask(v->g, v->verb, args, &answer) : -ENOMEM;
	if (r)
		say(v, "%s", *gpusched_error(v->g) ? gpusched_error(v->g) : strerror(-r));
	else
		say(v, "%s %s: done", v->verb, v->target);
}

static void ask_to(struct view *v, const char *verb)
{
	if (!aim(v, false))
		return;
	snprintf(v->verb, sizeof(v->verb), "%s", verb);
	v->mode = CONFIRM;
	say(v, "%s %s (%s)? y or n", verb, v->target,
	    json_string_value(json_object_get(chosen(v), "comm")) ?: "-");
}

static void move(struct view *v, int by)
{
	size_t n = json_array_size(v->rows);

	if (by < 0 && v->t.chosen)
		v->t.chosen--;
	else if (by > 0 && v->t.chosen + 1 < n)
		v->t.chosen++;
	v->chosen_id = n ? row_id(chosen(v)) : -1;
}

static void ask_for(struct view *v, enum mode mode)
{
	if (mode == CLASS && !aim(v, true))
		return;
	v->mode = mode;
	v->input[0] = '\0';
}

static void on_browse(struct view *v, int key)
{
	v->t.line[0] = '\0';
	if (v->t.help) {
		v->t.help = false;
		return;
	}
	switch (key) {
	case '?':
		v->t.help = true;
		break;
	case 'q':
		v->over = true;
		break;
	case 'k':
	case GS_KEY_UP:
		move(v, -1);
		break;
	case 'j':
	case GS_KEY_DOWN:
		move(v, 1);
		break;
	case 's':
		v->t.sort = (v->t.sort + 1) % GS_SORTS;
		break;
	case 'w':
		v->t.wide = !v->t.wide;
		break;
	case 'g':
		v->t.by_process = !v->t.by_process;
		break;
	case '/':
		ask_for(v, FILTER);
		break;
	case 'c':
		ask_for(v, CLASS);
		break;
	case 'z':
		ask_to(v, "suspend");
		break;
	case 'r':
		ask_to(v, "resume");
		break;
	default:
		break;
	}
}

/* Handles a key in the line that is being typed. Returns true if the line is complete. */
static bool edit(struct view *v, int key)
{
	size_t n = strlen(v->input);

	if (key == '\r' || key == '\n')
		return true;
	if ((key == 0x7f || key == '\b') && n)
		v->input[n - 1] = '\0';
	else if (key >= ' ' && key < 0x7f && n + 1 < sizeof(v->input)) {
		v->input[n] = (char)key;
		v->input[n + 1] = '\0';
	}
	return false;
}

static void on_filter(struct view *v, int key)
{
	bool complete = edit(v, key);

	if (key == ESCAPE)
		v->input[0] = '\0';
	snprintf(v->t.filter, sizeof(v->t.filter), "%s", v->input);
	if (complete || key == ESCAPE)
		v->mode = BROWSE;
}

static void on_class(struct view *v, int key)
{
	if (key == ESCAPE || (edit(v, key) && !v->input[0])) {
		v->mode = BROWSE;
		return;
	}
	if (key != '\r' && key != '\n')
		return;
	snprintf(v->verb, sizeof(v->verb), "class_set");
	v->mode = CONFIRM;
	say(v, "%s becomes %s? y or n", v->target, v->input);
}

static void on_confirm(struct view *v, int key)
{
	v->mode = BROWSE;
	if (key == 'y')
		act(v);
	else
		say(v, "nothing was done");
}

static void on_key(struct view *v, int key)
{
	switch (v->mode) {
	case BROWSE:
		on_browse(v, key);
		break;
	case FILTER:
		on_filter(v, key);
		break;
	case CLASS:
		on_class(v, key);
		break;
	case CONFIRM:
		on_confirm(v, key);
		break;
	}
	if (v->mode == FILTER)
		say(v, "filter: %s", v->input);
	else if (v->mode == CLASS)
		say(v, "class for %s: %s", v->target, v->input);
	else if (v->mode == BROWSE && v->t.line[0] == 'f' && !strncmp(v->t.line, "filter:", 7))
		v->t.line[0] = '\0';
	make_rows(v);
}

/* ---- on a terminal --------------------------------------------------------------------------- */

static int draw(struct view *v)
{
	struct gs_grid grid;
	unsigned int rows, cols;

	gs_screen_size(&rows, &cols);
	if (gs_grid_new(rows, cols, &grid))
		return -ENOMEM;
	/* if not all rows fit, the chosen row is the last one shown */
	gs_identity_add(v->identity, v->rows, v->t.chosen >= rows ? v->t.chosen - rows + 1 : 0,
			rows);
	gs_top_layout_draw(&v->t, v->rows, &grid);
	gs_screen_show(&grid);
	gs_grid_free(&grid);
	return 0;
}

static int interact(struct view *v)
{
	uint64_t next = gs_now_ns() + FIRST_NS;
	int r = look(v);

	if (!r)
		make_rows(v);
	while (!r && !cli_stopped && !v->over) {
		int key;

		r = draw(v);
		key = gs_screen_key(KEY_MS);
		if (key != GS_KEY_NONE && key != GS_KEY_RESIZE)
			on_key(v, key);
		pump(v, 1);
		if (r || gs_now_ns() < next)
			continue;
		r = look(v);
		next = gs_now_ns() + v->period_ns;
	}
	return r;
}

static int on_terminal(struct view *v)
{
	int r = gs_screen_open(gs_term_colour(stdout));

	if (r == -ENODEV)
		return cli_fail(
			-EINVAL,
			"top: TERM=%s is not known here: set TERM=xterm, or print by --batch",
			getenv("TERM") ?: "");
	if (r)
		return cli_fail(-EINVAL, "top: this is no terminal: --batch prints without one");
	v->t.has_cursor = true;
	r = gs_identity_new(&v->identity);
	if (!r)
		r = interact(v);
	gs_identity_free(v->identity);
	gs_screen_close();
	return r ? cli_fail(r, "top: %s",
			    *gpusched_error(v->g) ? gpusched_error(v->g) : strerror(-r))
		 : GS_EXIT_OK;
}

void cli_top_sorts(json_t *words)
{
	for (enum gs_top_sort i = 0; i < GS_SORTS; i++)
		json_object_set_new(words, gs_top_layout_sort_name(i), json_true());
}

static int read_options(struct cli *c, struct view *v, struct gs_error *err)
{
	const char *sort = cli_opt(c, "sort");
	double s = 1;
	int r = 0;

	v->count = 1;
	v->json = c->json;
	v->t.wide = cli_opt(c, "wide");
	v->t.by_process = cli_opt(c, "process") || !v->t.wide;
	if (cli_opt(c, "count"))
		r = cli_of_option("count",
				  gs_parse_u64(cli_opt(c, "count"), 1, UINT32_MAX, &v->count, err),
				  err);
	if (!r && cli_opt(c, "delay"))
		r = cli_of_option("delay",
				  gs_parse_double_in(1e6, cli_opt(c, "delay"), 0.1, 3600, &s, err),
				  err);
	if (r)
		return r;
	v->period_ns = (uint64_t)(s * (double)NS_PER_S);
	if (sort && !strcmp(sort, "held")) /* its name in the JSON */
		sort = "used";
	while (sort && v->t.sort < GS_SORTS && strcmp(sort, gs_top_layout_sort_name(v->t.sort)))
		v->t.sort++;
	return v->t.sort == GS_SORTS
		       ? gs_fail(err, -EINVAL, "--sort is used, waited, turns or pid, not '%s'",
				 sort)
		       : 0;
}

static int run(struct cli *c, struct view *v)
{
	int r;

	cli_command_catch_stop();
	setlocale(LC_CTYPE, "");
	v->gpus = json_object_get(v->status, "gpus");
	v->t.gpus = v->gpus;
	v->t.clock = "";
	v->chosen_id = -1;
	if (!v->json)
		open_stream(v);
	if (!cli_opt(c, "batch") && !c->json)
		return on_terminal(v);
	r = batch(v);
	return r ? (int)gs_error_exit(r) : GS_EXIT_OK;
}

int cli_top(struct cli *c)
{
	struct view v = { .rows = json_array(), .status = json_pack("{s:[]}", "gpus") };
	struct gs_error err = {};
	int r = read_options(c, &v, &err);

	if (r)
		r = cli_fail(r, "top: %s", err.text);
	else if (cli_client_open(0, &v.g))
		r = GS_EXIT_FAILED;
	else
		r = run(c, &v);
	json_decref(v.status);
	json_decref(v.rows);
	gs_strip_free(v.strip);
	gpusched_close(v.stream);
	gpusched_close(v.g);
	return r;
}
