// SPDX-License-Identifier: MIT
#include "top/layout.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "basic/cleanup.h"
#include "basic/sheet.h"

#define MIN_COLS 40
#define MIN_ROWS 8
#define WIDE_COLS 100     /* least width for the additional columns */
#define IDENTITY_COLS 128 /* least width for user, cgroup and command */
#define STATE_AT 89
#define STATE_COLS 15
#define BAR_AT 6
#define MAX_STRIP 400
#define SORT_KEY "sort_key" /* a row's member: the figure by which the row was sorted */
/* changes up to this do not move a row; in percentage points or turns per second */
#define SORT_MARGIN 2

static const char *const sorts[GS_SORTS] = { "held", "waited", "turns", "pid" };

const char *gs_top_sort_name(enum gs_top_sort sort)
{
	return sort < GS_SORTS ? sorts[sort] : "";
}

static const char *text(const json_t *o, const char *key)
{
	const char *t = json_string_value(json_object_get(o, key));

	return t ? t : "-";
}

/* The value of member @key; -1: unknown. */
static double number(const json_t *o, const char *key)
{
	const json_t *v = json_object_get(o, key);

	return json_is_number(v) ? json_number_value(v) : -1;
}

static const char *cell(char buf[16], double v, int digits)
{
	if (v < 0)
		return "-";
	snprintf(buf, 16, "%.*f", digits, v);
	return buf;
}

/* ---- rows ------------------------------------------------------------------------------------ */

static double key_of(const json_t *row, enum gs_top_sort sort)
{
	static const char *const keys[] = { "held_pct", "waited_pct", "turns_per_s", "pid" };
	double v = number(row, keys[sort]);

	return sort == GS_SORT_PID ? -v : v;
}

struct sortable {
	json_t *row;
	double key, id;
};

static int by_key(const void *a, const void *b)
{
	const struct sortable *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? 1 : -1;
	return (x->id > y->id) - (x->id < y->id);
}

static int by_id(const void *a, const void *b)
{
	const struct sortable *x = a, *y = b;

	return (x->id > y->id) - (x->id < y->id);
}

/*
 * The figures by which the previous screen's rows were sorted, ordered by TSG id. NULL: no rows, or
 * out of memory.
 */
static struct sortable *keys_of(const json_t *rows)
{
	size_t n = json_array_size(rows);
	struct sortable *all = n ? calloc(n, sizeof(*all)) : NULL;

	for (size_t i = 0; all && i < n; i++) {
		json_t *row = json_array_get(rows, i);

		all[i] = (struct sortable){ row, number(row, SORT_KEY), number(row, "id") };
	}
	if (all)
		qsort(all, n, sizeof(*all), by_id);
	return all;
}

/*
 * The figure by which to sort a row: the previous one unless it has changed clearly. Otherwise rows
 * with similar figures would keep changing places.
 */
static double steady_key(const struct sortable *then, size_t n, const struct sortable *now,
			 enum gs_top_sort sort)
{
	const struct sortable *was = then ? bsearch(now, then, n, sizeof(*then), by_id) : NULL;
	double margin = sort == GS_SORT_PID ? 0 : fmax(SORT_MARGIN, fabs(now->key) / 20);

	return was && fabs(was->key - now->key) <= margin ? was->key : now->key;
}

static json_t *sorted(json_t *rows, const struct gs_top *t)
{
	size_t n = json_array_size(rows), n_before = json_array_size(t->before);
	CLEANUP_FREE struct sortable *all = calloc(n + 1, sizeof(*all));
	CLEANUP_FREE struct sortable *before = keys_of(t->before);
	json_t *list = json_array();

	for (size_t i = 0; all && i < n; i++) {
		json_t *row = json_array_get(rows, i);

		all[i] = (struct sortable){ row, key_of(row, t->sort), number(row, "id") };
		all[i].key = steady_key(before, n_before, &all[i], t->sort);
		json_object_set_new(row, SORT_KEY, json_real(all[i].key));
	}
	if (all)
		qsort(all, n, sizeof(*all), by_key);
	for (size_t i = 0; all && i < n; i++)
		json_array_append(list, all[i].row);
	return list;
}

static bool passes(const char *filter, const json_t *row)
{
	char pid[24];

	snprintf(pid, sizeof(pid), "%.0f", number(row, "pid"));
	return !*filter || strstr(pid, filter) || strstr(text(row, "comm"), filter) ||
	       strstr(text(row, "class"), filter);
}

/*
 * Adds a figure of @from to that of @to. An unknown figure counts as 0; if both are unknown, so is
 * the sum.
 */
static void add_number(json_t *to, const json_t *from, const char *key)
{
	double a = number(to, key), b = number(from, key);

	if (b >= 0)
		json_object_set_new(to, key, json_real((a < 0 ? 0 : a) + b));
}

static json_t *of_process(json_t *rows, const json_t *row)
{
	json_t *o;
	size_t i;

	json_array_foreach(rows, i, o)
		if (number(o, "pid") >= 0 && number(o, "pid") == number(row, "pid") &&
		    number(o, "gpu") == number(row, "gpu"))
			return o;
	return NULL;
}

/*
 * Adds a TSG's row to its process's row. States such as "waiting" are true if they are for any TSG.
 */
static void merge(json_t *to, const json_t *from)
{
	static const char *const sums[] = { "held_pct", "waited_pct", "turns_per_s" };
	static const char *const states[] = { "waiting", "overruled" };

	for (size_t i = 0; i < GS_COUNT(sums); i++)
		add_number(to, from, sums[i]);
	for (size_t i = 0; i < GS_COUNT(states); i++)
		if (json_is_true(json_object_get(from, states[i])))
			json_object_set_new(to, states[i], json_true());
	if (json_is_string(json_object_get(from, "suspended_by")))
		json_object_set(to, "suspended_by", json_object_get(from, "suspended_by"));
	/* only a TSG that is alone has this estimate */
	if (number(from, "work_estimated_pct") >= 0)
		json_object_set(to, "work_estimated_pct",
				json_object_get(from, "work_estimated_pct"));
	json_object_set_new(to, "mean_turn_us", json_null());
	json_object_set_new(to, "slice_ended_pct", json_null());
	json_array_append(json_object_get(to, "ids"), json_object_get(from, "id"));
}

static void add_row(const struct gs_top *t, json_t *rows, const json_t *tsg, const json_t *gpu)
{
	CLEANUP_JSON json_t *row = json_copy((json_t *)tsg);
	json_t *same;

	json_object_set(row, "gpu", json_object_get(gpu, "gpu"));
	json_object_set_new(row, "ids", json_pack("[O]", json_object_get(tsg, "id")));
	if (!passes(t->filter, row))
		return;
	same = t->by_process ? of_process(rows, row) : NULL;
	if (same)
		merge(same, row);
	else
		json_array_append(rows, row);
}

json_t *gs_top_rows(const struct gs_top *t)
{
	CLEANUP_JSON json_t *rows = json_array();
	json_t *gpu, *tsg;
	size_t i, j;

	json_array_foreach(t->gpus, i, gpu)
		json_array_foreach(json_object_get(gpu, "tsgs"), j, tsg)
			add_row(t, rows, tsg, gpu);
	return sorted(rows, t);
}

/* ---- GPUs ------------------------------------------------------------------------------------ */

static enum gs_style class_style(const char *class)
{
	return !strcmp(class, "lc")   ? GS_STYLE_LC
	       : !strcmp(class, "be") ? GS_STYLE_BE
				      : GS_STYLE_OTHER;
}

/* The letter for a class: its first letter as a capital, or '#'. */
static char class_letter(const char *class)
{
	return *class >= 'a' && *class <= 'z' ? (char)(*class - 'a' + 'A') : '#';
}

struct bar {
	struct gs_grid *g;
	unsigned int row, width;
	double at; /* end of the bar drawn so far, in percent */
};

static void bar_add(struct bar *b, double percent, char ch, enum gs_style style)
{
	double end = b->at + percent > 100 ? 100 : b->at + percent;
	unsigned int from = (unsigned int)lround(b->at * b->width / 100),
		     to = (unsigned int)lround(end * b->width / 100);

	if (percent > 0)
		gs_grid_fill(b->g, b->row, BAR_AT + 1 + from, to - from, ch, style);
	b->at = end;
}

/* The first class name after @last in alphabetical order, among those of @tsgs; NULL: none. */
static const char *next_class(const json_t *tsgs, const char *last)
{
	const char *next = NULL;
	const json_t *t;
	size_t i;

	json_array_foreach(tsgs, i, t) {
		const char *class = text(t, "class");

		if (strcmp(class, last) > 0 && (!next || strcmp(class, next) < 0))
			next = class;
	}
	return next;
}

static double held_by(const json_t *tsgs, const char *class)
{
	double sum = 0;
	const json_t *t;
	size_t i;

	json_array_foreach(tsgs, i, t)
		if (!strcmp(text(t, "class"), class) && number(t, "held_pct") > 0)
			sum += number(t, "held_pct");
	return sum;
}

static void draw_classes(struct bar *b, const json_t *gpu, double held)
{
	const json_t *tsgs = json_object_get(gpu, "tsgs");
	double known = 0;

	for (const char *class = ""; (class = next_class(tsgs, class));) {
		double sum = held_by(tsgs, class);

		bar_add(b, sum, class_letter(class), class_style(class));
		known += sum;
	}
	if (held - known >= 1) /* held time of processes that this user may not see */
		bar_add(b, held - known, '#', GS_STYLE_OTHER);
}

static unsigned int bar_width(const struct gs_grid *g)
{
	return g->cols > 90 ? g->cols - 50 : g->cols > 60 ? g->cols - 40 : 20;
}

static void draw_gpu(const struct gs_top *t, const json_t *gpu, struct gs_grid *g, unsigned int row)
{
	double held = number(gpu, "held_pct"), lost = number(gpu, "lost_pct");
	struct bar b = { .g = g, .row = row, .width = bar_width(g) };
	char figures[4][16];

	gs_grid_put(g, row, 0, GS_STYLE_HEAD, "GPU %.0f", number(gpu, "gpu"));
	if (held < 0) {
		gs_grid_put(g, row, BAR_AT, GS_STYLE_PLAIN, "%s",
			    json_is_string(json_object_get(gpu, "reason")) ? text(gpu, "reason")
			    : json_array_size(json_object_get(gpu, "tsgs"))
				    ? "one program or none has work: no switches are seen"
				    : "no program uses it");
		return;
	}
	gs_grid_put(g, row, BAR_AT, GS_STYLE_PLAIN, "[");
	draw_classes(&b, gpu, held);
	bar_add(&b, lost, '%', GS_STYLE_WARN);
	bar_add(&b, number(gpu, "open_pct"), '.', GS_STYLE_PLAIN);
	gs_grid_put(g, row, BAR_AT + 1 + b.width, GS_STYLE_PLAIN,
		    "] held %s lost %s open %s %% %s/s", cell(figures[0], held, 0),
		    cell(figures[1], lost, 0), cell(figures[2], number(gpu, "open_pct"), 0),
		    cell(figures[3], number(gpu, "switches_per_s"), 0));
}

static char row_letter(size_t i)
{
	return i < 26 ? (char)('a' + i) : '+';
}

/* The index of the row that contains TSG @id; -1: no row does. */
static int row_of(const json_t *rows, uint64_t id)
{
	const json_t *row, *one;
	size_t i, j;

	json_array_foreach(rows, i, row)
		json_array_foreach(json_object_get(row, "ids"), j, one)
			if ((uint64_t)json_integer_value(one) == id)
				return (int)i;
	return -1;
}

static void draw_strip(const struct gs_top *t, const json_t *gpu, const json_t *rows,
		       struct gs_grid *g, unsigned int row)
{
	unsigned int width = bar_width(g) < MAX_STRIP ? bar_width(g) : MAX_STRIP;
	uint64_t ids[MAX_STRIP];

	if (!t->strip || gs_strip_read(t->strip, (uint32_t)number(gpu, "gpu"), ids, width))
		return;
	gs_grid_put(g, row, 0, GS_STYLE_PLAIN, "%*s", BAR_AT + 1, "|");
	for (unsigned int i = 0; i < width; i++) {
		int of = ids[i] ? row_of(rows, ids[i]) : -1;
		const json_t *r = of < 0 ? NULL : json_array_get(rows, (size_t)of);

		gs_grid_fill(g, row, BAR_AT + 1 + i, 1,
			     !ids[i] ? '.'
			     : r     ? row_letter((size_t)of)
				     : '#',
			     r ? class_style(text(r, "class")) : GS_STYLE_PLAIN);
	}
	gs_grid_put(g, row, BAR_AT + 1 + width, GS_STYLE_PLAIN, "| turns of the last second");
}

/* ---- the table ------------------------------------------------------------------------------- */

static const char *state_of(const json_t *row, char buf[24], enum gs_style *style)
{
	double work = number(row, "work_estimated_pct");

	*style = GS_STYLE_PLAIN;
	if (json_is_true(json_object_get(row, "held"))) {
		*style = GS_STYLE_BAD;
		return "held";
	}
	if (json_is_string(json_object_get(row, "suspended_by"))) {
		const char *by = json_string_value(json_object_get(row, "suspended_by"));

		*style = GS_STYLE_BAD;
		return strcmp(by, "request") ? "suspended" : "held: request";
	}
	*style = GS_STYLE_WARN;
	if (json_is_true(json_object_get(row, "overruled")))
		return "overruled";
	if (json_is_true(json_object_get(row, "waiting")))
		return "waits";
	*style = GS_STYLE_PLAIN;
	if (number(row, "held_pct") <= 0)
		return "-";
	if (work < 0)
		return "runs";
	snprintf(buf, 24, "alone ~%.0f %%", work);
	return buf;
}

bool gs_top_has_identity(unsigned int cols)
{
	return cols >= IDENTITY_COLS;
}

/* Columns at the right of a wide screen. The last column takes all the remaining width. */
static const struct {
	unsigned int at, width;
	const char *head, *key;
} identity[] = {
	{ STATE_AT + STATE_COLS + 1, 10, "USER", "user" },
	{ STATE_AT + STATE_COLS + 12, 24, "CGROUP, POD", "cgroup" },
	{ STATE_AT + STATE_COLS + 37, 0, "COMMAND", "command" },
};

/* The end of the text, which says more about a cgroup's path than the beginning. */
static const char *tail(const char *text, unsigned int width)
{
	size_t n = strlen(text);

	return width && n > width ? text + n - width : text;
}

static void draw_identity(const json_t *row, struct gs_grid *g, unsigned int at)
{
	for (size_t i = 0; i < GS_COUNT(identity) && gs_top_has_identity(g->cols); i++) {
		const char *cell = row ? text(row, identity[i].key) : identity[i].head;
		int width = (int)(identity[i].width ? identity[i].width : g->cols);

		if (row && !strcmp(identity[i].key, "cgroup"))
			cell = tail(cell, identity[i].width);
		gs_grid_put(g, at, identity[i].at, row ? GS_STYLE_PLAIN : GS_STYLE_HEAD, "%.*s",
			    width, cell);
	}
}

static void draw_head(const struct gs_top *t, struct gs_grid *g, unsigned int row)
{
	gs_grid_put(g, row, 0, GS_STYLE_HEAD, "  %6s %7s %-15s %-8s %3s %6s %6s %7s %s",
		    t->by_process ? "TSGS" : "ID", "PID", "COMM", "CLASS", "GPU", "HELD%", "WAIT%",
		    "TURNS/S", g->cols < WIDE_COLS ? "STATE" : "TURN_US CUT% MEM_MIB STATE");
	draw_identity(NULL, g, row);
	gs_grid_mark(g, row, GS_STYLE_HEAD);
}

/* GPU memory of the process in MiB, equal for all its TSGs; negative: unknown. */
static double memory_mib(const json_t *row)
{
	double bytes = number(row, "memory_bytes");

	return bytes < 0 ? bytes : bytes / (double)(1u << 20);
}

static void draw_row(const struct gs_top *t, const json_t *row, size_t i, struct gs_grid *g,
		     unsigned int at)
{
	char id[16], pid[16], gpu[16], held[16], waited[16], turns[16], mean[16], cut[16], mib[16];
	char estimate[24];
	const char *class = text(row, "class");
	enum gs_style style;
	const char *state = state_of(row, estimate, &style);
	double first = t->by_process ? (double)json_array_size(json_object_get(row, "ids"))
				     : number(row, "id");

	gs_grid_put(g, at, 0, class_style(class), "%c", row_letter(i));
	gs_grid_put(g, at, 2, GS_STYLE_PLAIN, "%6s %7s %-15.15s", cell(id, first, 0),
		    cell(pid, number(row, "pid"), 0), text(row, "comm"));
	gs_grid_put(g, at, 33, class_style(class), "%-8.8s", class);
	gs_grid_put(g, at, 42, GS_STYLE_PLAIN, "%3s %6s %6s %7s", cell(gpu, number(row, "gpu"), 0),
		    cell(held, number(row, "held_pct"), 1),
		    cell(waited, number(row, "waited_pct"), 1),
		    cell(turns, number(row, "turns_per_s"), 0));
	if (number(row, "gpu_instance") >= 0) /* a TSG in a MIG partition has no times */
		gs_grid_put(g, at, 45, GS_STYLE_PLAIN, "/%.0f/%s", number(row, "gpu_instance"),
			    cell(gpu, number(row, "compute_instance"), 0));
	if (g->cols < WIDE_COLS) {
		gs_grid_put(g, at, 68, style, "%s", state);
	} else {
		gs_grid_put(g, at, 68, GS_STYLE_PLAIN, "%7s %4s %7s",
			    cell(mean, number(row, "mean_turn_us"), 0),
			    cell(cut, number(row, "slice_ended_pct"), 0),
			    cell(mib, memory_mib(row), 0));
		gs_grid_put(g, at, STATE_AT, style, "%.*s",
			    gs_top_has_identity(g->cols) ? STATE_COLS : (int)g->cols, state);
		draw_identity(row, g, at);
	}
	if (t->has_cursor && i == t->chosen)
		gs_grid_mark(g, at, GS_STYLE_CHOSEN);
}

static void draw_top(const struct gs_top *t, const json_t *rows, struct gs_grid *g)
{
	unsigned int waiting = 0, suspended = 0;
	enum gs_style style;
	char estimate[24];
	const json_t *row;
	size_t i;

	json_array_foreach(rows, i, row) {
		const char *state = state_of(row, estimate, &style);

		waiting += !strcmp(state, "waits");
		suspended += style == GS_STYLE_BAD;
	}
	gs_grid_put(g, 0, 0, GS_STYLE_PLAIN,
		    "gpusched top %s  %s%s  %zu %s by %s: %u waiting, %u suspended%s%s", t->clock,
		    t->policy ? "policy " : "no policy", t->policy ? t->policy : "",
		    json_array_size(rows), t->by_process ? "processes" : "TSGs",
		    gs_top_sort_name(t->sort), waiting, suspended, *t->filter ? "  filter: " : "",
		    t->filter);
}

/*
 * Draws findings of level "wrong", but leaves space for some rows. Returns the number of lines
 * drawn. @g NULL: draws none and returns how many lines all findings need.
 */
static unsigned int draw_findings(const struct gs_top *t, struct gs_grid *g, unsigned int row)
{
	const json_t *f;
	unsigned int n = 0;
	size_t i;

	json_array_foreach(t->findings, i, f) {
		if (strcmp(text(f, "level"), "wrong") != 0)
			continue;
		if (g && row + n + 4 < g->rows)
			gs_grid_put(g, row + n, 0, GS_STYLE_BAD, "wrong: %s", text(f, "text"));
		n += !g || row + n + 4 < g->rows;
	}
	return n;
}

unsigned int gs_top_height(const struct gs_top *t, const json_t *rows)
{
	return 2 + (t->strip ? 2 : 1) * (unsigned int)json_array_size(t->gpus) +
	       (unsigned int)json_array_size(rows) + t->has_cursor + draw_findings(t, NULL, 0);
}

/* Draws as many rows as fit, and scrolls so that the chosen row is visible. */
static void draw_rows(const struct gs_top *t, const json_t *rows, struct gs_grid *g,
		      unsigned int from)
{
	unsigned int room = g->rows > from + t->has_cursor ? g->rows - from - t->has_cursor : 0;
	size_t first = t->has_cursor && room && t->chosen >= room ? t->chosen - room + 1 : 0;

	for (unsigned int i = 0; i < room && first + i < json_array_size(rows); i++)
		draw_row(t, json_array_get(rows, first + i), first + i, g, from + i);
}

static void draw_help(struct gs_grid *g, unsigned int at)
{
	static const char *const lines[] = {
		"q         quit",
		"Up, k     the row above         Down, j   the row below",
		"s         sort by the next of held, waited, turns, pid",
		"g         one row per process, or one per TSG",
		"/         show the rows with a text in pid, name or class; Escape: all rows",
		"c         set the class of the chosen process",
		"z, r      suspend, resume the chosen row",
		"HELD%     time on the GPU; a program alone holds it while it idles",
		"WAIT%     time known to be spent waiting; \"-\" is not known",
		"CUT%      turns that the slice ended",
		"MEM_MIB   memory of the GPU that its process holds",
		"any key leads back",
	};

	for (unsigned int i = 0; i < GS_COUNT(lines) && at + i + 1 < g->rows; i++)
		gs_grid_put(g, at + i, 0, GS_STYLE_PLAIN, "%s", lines[i]);
}

void gs_top_draw(const struct gs_top *t, const json_t *rows, struct gs_grid *g)
{
	unsigned int at = 1;
	const json_t *gpu;
	size_t i;

	if (g->cols < MIN_COLS || g->rows < MIN_ROWS) {
		gs_grid_put(g, 0, 0, GS_STYLE_PLAIN, "%u x %u is too small", g->cols, g->rows);
		return;
	}
	draw_top(t, rows, g);
	json_array_foreach(t->gpus, i, gpu) {
		if (at + 4 > g->rows)
			break;
		draw_gpu(t, gpu, g, at++);
		if (t->strip)
			draw_strip(t, gpu, rows, g, at++);
	}
	at += draw_findings(t, g, at);
	if (t->help) {
		draw_help(g, at);
	} else {
		draw_head(t, g, at++);
		draw_rows(t, rows, g, at);
	}
	if (t->has_cursor)
		gs_grid_put(g, g->rows - 1, 0, t->line[0] ? GS_STYLE_WARN : GS_STYLE_PLAIN, "%s",
			    t->line[0] ? t->line
				       : "q quit  s sort  g group  / filter  c class  z suspend  "
					 "r resume  ? help");
}
