// SPDX-License-Identifier: MIT
#include "top/layout.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "basic/cleanup.h"
#include "basic/json_sheet.h"
#include "basic/term.h"
#include "top/cell.h"
#include "top/columns.h"

#define MIN_COLS 40
#define MIN_ROWS 8
#define MOST_COLS 100 /* width of a screen that is not wide */
#define BAR_AT 6
#define MAX_STRIP 400
#define SORT_KEY "sort_key" /* a row's member: the figure by which the row was sorted */
/* changes up to this do not move a row; in percentage points or turns per second */
#define SORT_MARGIN 2

static const char *const sorts[GS_SORTS] = { "used", "waited", "turns", "pid" };

const char *gs_top_layout_sort_name(enum gs_top_sort sort)
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

static void add_row(const struct gs_top *t, json_t *rows, const json_t *tsg, const json_t *gpu)
{
	CLEANUP_JSON json_t *row = json_copy((json_t *)tsg);

	json_object_set(row, "gpu", json_object_get(gpu, "gpu"));
	json_object_set_new(row, "ids", json_pack("[O]", json_object_get(tsg, "id")));
	if (passes(t->filter, row))
		json_array_append(rows, row);
}

json_t *gs_top_layout_rows(const struct gs_top *t)
{
	CLEANUP_JSON json_t *rows = json_array(), *merged = NULL;
	json_t *gpu, *tsg;
	size_t i, j;

	json_array_foreach(t->gpus, i, gpu)
		json_array_foreach(json_object_get(gpu, "tsgs"), j, tsg)
			add_row(t, rows, tsg, gpu);
	merged = t->by_process ? gs_cell_processes(rows) : json_incref(rows);
	gs_cell_put_order(merged);
	return sorted(merged, t);
}

/* ---- GPUs ------------------------------------------------------------------------------------ */

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

static double used_by(const json_t *tsgs, const char *class)
{
	double sum = 0;
	const json_t *t;
	size_t i;

	json_array_foreach(tsgs, i, t)
		if (!strcmp(text(t, "class"), class) && gs_cell_used(t) > 0)
			sum += gs_cell_used(t);
	return sum;
}

static void draw_classes(struct bar *b, const json_t *gpu, double used)
{
	const json_t *tsgs = json_object_get(gpu, "tsgs");
	double known = 0;

	for (const char *class = ""; (class = next_class(tsgs, class));) {
		double sum = used_by(tsgs, class);

		bar_add(b, sum, class_letter(class), gs_columns_style(class));
		known += sum;
	}
	if (used - known >= 1) /* time of processes that this user may not see */
		bar_add(b, used - known, '#', GS_STYLE_OTHER);
}

static unsigned int bar_width(const struct gs_top *t, const struct gs_grid *g)
{
	unsigned int cols = !t->wide && g->cols > MOST_COLS ? MOST_COLS : g->cols;

	return cols > 62 ? cols - 42 : 20;
}

static void draw_gpu(const struct gs_top *t, const json_t *gpu, struct gs_grid *g, unsigned int row)
{
	double held = number(gpu, "held_pct"), idle = fmax(0, number(gpu, "idle_pct"));
	double used = held - idle, free_pct = number(gpu, "open_pct") + idle;
	double lost = number(gpu, "lost_pct");
	struct bar b = { .g = g, .row = row, .width = bar_width(t, g) };
	char figures[3][16];

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
	draw_classes(&b, gpu, used);
	bar_add(&b, lost, '%', GS_STYLE_WARN);
	bar_add(&b, free_pct, '.', GS_STYLE_PLAIN);
	gs_grid_put(g, row, BAR_AT + 1 + b.width, GS_STYLE_PLAIN,
		    "] %s %s, switching %s, free %s %%",
		    number(gpu, "idle_pct") < 0 ? "had" : "used", cell(figures[0], used, 0),
		    cell(figures[1], lost, 0), cell(figures[2], free_pct, 0));
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
	unsigned int width = bar_width(t, g) < MAX_STRIP ? bar_width(t, g) : MAX_STRIP;
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
			     r ? gs_columns_style(text(r, "class")) : GS_STYLE_PLAIN);
	}
	gs_grid_put(g, row, BAR_AT + 1 + width, GS_STYLE_PLAIN, "| the last second");
}

/* ---- the table ------------------------------------------------------------------------------- */

static void draw_row(const struct gs_top *t, const struct gs_columns *c, const json_t *row,
		     size_t i, struct gs_grid *g, unsigned int at)
{
	gs_grid_put(g, at, 0, gs_columns_style(text(row, "class")), "%c", row_letter(i));
	gs_columns_row(c, row, g, at);
	if (t->has_cursor && i == t->chosen)
		gs_grid_mark(g, at, GS_STYLE_CHOSEN);
}

/* The span of the figures: that of the first GPU that has any. */
static char *span_of(const json_t *gpus)
{
	char *span = NULL;
	json_t *gpu;
	size_t i;

	json_array_foreach((json_t *)gpus, i, gpu)
		if (!span)
			span = gs_cell_span(gpu);
	return span;
}

static void draw_top(const struct gs_top *t, const json_t *rows, struct gs_grid *g)
{
	CLEANUP_FREE char *span = span_of(t->gpus);
	unsigned int waiting = 0, paused = 0;
	const json_t *row;
	size_t i;

	json_array_foreach(rows, i, row) {
		paused += gs_cell_is_paused(row);
		waiting += !gs_cell_is_paused(row) && json_is_true(json_object_get(row, "waiting"));
	}
	gs_grid_put(g, 0, 0, GS_STYLE_PLAIN,
		    "top %s%s%s  %s%s  %zu %s by %s: %u waiting, %u paused%s%s", t->clock,
		    span ? ", " : "", span ? span : "", t->policy ? "policy " : "no policy",
		    t->policy ? t->policy : "", json_array_size(rows),
		    t->by_process ? "programs" : "TSGs", gs_top_layout_sort_name(t->sort), waiting,
		    paused, *t->filter ? "  filter: " : "", t->filter);
}

/* "wrong: TEXT" in lines of @cols; malloc'd, NULL: out of memory. */
static char *finding_text(const json_t *finding, unsigned int cols)
{
	static const char before[] = "wrong: ";
	char *all = NULL;
	size_t size;
	FILE *f = open_memstream(&all, &size);

	if (!f)
		return NULL;
	fputs(before, f);
	gs_term_wrap(f, text(finding, "text"), strlen(before), cols);
	fclose(f);
	return all;
}

/*
 * Draws findings of level "wrong", but leaves space for some rows. Returns the number of lines
 * drawn. @g NULL: draws none and returns how many lines all findings need in @cols columns.
 */
static unsigned int draw_findings(const struct gs_top *t, struct gs_grid *g, unsigned int row,
				  unsigned int cols)
{
	const json_t *f;
	unsigned int n = 0;
	size_t i;

	json_array_foreach(t->findings, i, f) {
		CLEANUP_FREE char *all = NULL;
		char *line, *rest;

		if (strcmp(text(f, "level"), "wrong") != 0)
			continue;
		rest = all = finding_text(f, cols);
		while ((line = strsep(&rest, "\n")) && *line) {
			if (g && row + n + 4 >= g->rows)
				return n;
			if (g)
				gs_grid_put(g, row + n, 0, GS_STYLE_BAD, "%s", line);
			n++;
		}
	}
	return n;
}

/* True if samples tell used time of each GPU that has figures. */
static bool have_samples(const json_t *gpus)
{
	bool any = false;
	json_t *gpu;
	size_t i;

	json_array_foreach((json_t *)gpus, i, gpu) {
		if (number(gpu, "held_pct") >= 0 && !gs_cell_has_samples(gpu))
			return false;
		any |= gs_cell_has_samples(gpu);
	}
	return any;
}

static struct gs_columns columns_of(const struct gs_top *t, const json_t *rows, unsigned int cols)
{
	struct gs_columns c = { .wide = t->wide,
				.by_process = t->by_process,
				.samples = have_samples(t->gpus) };

	gs_columns_choose(&c, rows, cols);
	return c;
}

unsigned int gs_top_layout_height(const struct gs_top *t, const json_t *rows, unsigned int cols)
{
	return 2 + (t->strip ? 2 : 1) * (unsigned int)json_array_size(t->gpus) +
	       (unsigned int)json_array_size(rows) + t->has_cursor +
	       draw_findings(t, NULL, 0, cols) + !!*columns_of(t, rows, cols).left_out;
}

/* Draws as many rows as fit, and scrolls so that the chosen row is visible. */
static void draw_rows(const struct gs_top *t, const struct gs_columns *c, const json_t *rows,
		      struct gs_grid *g, unsigned int from)
{
	unsigned int room = g->rows > from + t->has_cursor ? g->rows - from - t->has_cursor : 0;
	size_t first = t->has_cursor && room && t->chosen >= room ? t->chosen - room + 1 : 0;

	for (unsigned int i = 0; i < room && first + i < json_array_size(rows); i++)
		draw_row(t, c, json_array_get(rows, first + i), first + i, g, from + i);
	if (*c->left_out && json_array_size(rows) < room)
		gs_grid_put(g, from + (unsigned int)json_array_size(rows), 0, GS_STYLE_PLAIN,
			    "(too narrow for %s)", c->left_out);
}

static void draw_help(struct gs_grid *g, unsigned int at)
{
	static const char *const lines[] = {
		"q         quit",
		"Up, k     the row above         Down, j   the row below",
		"s         sort by the next of used, waited, turns, pid",
		"w         more columns, or fewer",
		"g         one row per process, or one per TSG",
		"/         show the rows with a text in pid, name or class; Escape: all rows",
		"c         set the class of the chosen program",
		"z, r      pause the chosen row, let it run again",
		"[BBLL%.]  time of class be (B), lc (L), others (#); switching (%); free (.)",
		"|aab.a|   who had the GPU in the last second: its row's letter, + from row 27 on,",
		"          # for one without a row, . for nobody",
		"USED      part of the time; HAD GPU: it may have idled, no samples tell",
		"WAITED    part of the time; > : longer, not all waits are seen; -: not known",
		"MEMORY    memory of the GPU that it holds",
		"any key leads back",
	};

	for (unsigned int i = 0; i < GS_COUNT(lines) && at + i + 1 < g->rows; i++)
		gs_grid_put(g, at + i, 0, GS_STYLE_PLAIN, "%s", lines[i]);
}

void gs_top_layout_draw(const struct gs_top *t, const json_t *rows, struct gs_grid *g)
{
	struct gs_columns c;
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
	at += draw_findings(t, g, at, g->cols);
	if (t->help) {
		draw_help(g, at);
	} else {
		c = columns_of(t, rows, g->cols);
		gs_columns_head(&c, g, at++);
		draw_rows(t, &c, rows, g, at);
	}
	if (t->has_cursor)
		gs_grid_put(g, g->rows - 1, 0, t->line[0] ? GS_STYLE_WARN : GS_STYLE_PLAIN, "%s",
			    t->line[0] ? t->line
				       : "q quit  s sort  w wide  g group  / filter  c class  "
					 "z pause  r resume  ? help");
}
