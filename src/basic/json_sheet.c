// SPDX-License-Identifier: MIT
#include "basic/json_sheet.h"

#include <errno.h>
#include <libsmartcols.h>
#include <stdlib.h>
#include <string.h>

#include "basic/cleanup.h"
#include "basic/escape.h"
#include "basic/term.h"

struct gs_sheet {
	const struct gs_column *columns;
	size_t n;
	enum gs_sheet_mode mode;
	FILE *out;
	struct libscols_table *scols;
	bool head_done, colour;
	const char *hint; /* how to see the columns that were left out; NULL: through a pipe */
	char *left_out;   /* headings of columns that were left out, with commas between */
	char *tail;       /* the member at the end of each row of JSON */
};

#define WRAP_LEAST 24 /* least width of a wrapped column, in characters */
#define CUT_LEAST 10  /* least width of a column with text that may be cut */

json_t *gs_json_at(const json_t *row, const char *path)
{
	const char *dot = strchr(path, '.');
	char key[64];
	json_t *v;

	if (!dot) {
		v = json_object_get(row, path);
		return json_is_null(v) ? NULL : v;
	}
	if ((size_t)(dot - path) >= sizeof(key))
		return NULL;
	memcpy(key, path, dot - path);
	key[dot - path] = '\0';
	return gs_json_at(json_object_get(row, key), dot + 1);
}

double gs_json_number(const json_t *row, const char *path)
{
	return json_number_value(gs_json_at(row, path));
}

json_t *gs_json_text(const char *text)
{
	CLEANUP_FREE char *copy = NULL;
	json_t *v = json_string(text);

	if (v)
		return v;
	copy = strdup(text);
	if (copy)
		gs_escape_mend(copy);
	return copy ? json_string(copy) : NULL;
}

void gs_json_put(json_t *o, const char *key, json_t *value)
{
	json_object_set_new(o, key, value ? value : json_null());
}

void gs_json_put_text(json_t *o, const char *key, const char *text)
{
	gs_json_put(o, key, text && *text ? gs_json_text(text) : NULL);
}

void gs_json_put_number(json_t *o, const char *key, bool known, uint64_t value)
{
	gs_json_put(o, key, known ? json_integer((json_int_t)value) : NULL);
}

static char *joined(const json_t *array)
{
	CLEANUP_FREE char *all = strdup("");
	size_t i;
	json_t *v;

	json_array_foreach((json_t *)array, i, v) {
		CLEANUP_FREE char *one = gs_json_cell(v);
		char *longer = NULL;

		if (!all || !one || asprintf(&longer, "%s%s%s", all, i ? "," : "", one) < 0)
			return NULL;
		free(all);
		all = longer;
	}
	if (all && !*all)
		return strdup("-");
	return TAKE_PTR(all);
}

char *gs_json_cell(const json_t *value)
{
	char *text = NULL;

	switch (value ? json_typeof(value) : JSON_NULL) {
	case JSON_NULL:
		return strdup("-");
	case JSON_TRUE:
		return strdup("yes");
	case JSON_FALSE:
		return strdup("no");
	case JSON_STRING:
		return gs_escaped(*json_string_value(value) ? json_string_value(value) : "-");
	case JSON_INTEGER:
		return asprintf(&text, "%" JSON_INTEGER_FORMAT, json_integer_value(value)) < 0
			       ? NULL
			       : text;
	case JSON_REAL:
		return asprintf(&text, "%.6g", json_real_value(value)) < 0 ? NULL : text;
	case JSON_ARRAY:
		return joined(value);
	case JSON_OBJECT:
		return json_dumps(value, JSON_COMPACT);
	}
	return NULL;
}

/* Makes the line in one piece, since json_dumpf() would write it token by token. */
static char *line_of(const json_t *object)
{
	return json_dumps(object, JSON_COMPACT | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(12));
}

int gs_json_line(FILE *out, const json_t *object)
{
	CLEANUP_FREE char *text = line_of(object);

	return !text || fputs(text, out) == EOF || putc('\n', out) == EOF ? -EIO : 0;
}

static bool is_right(const struct gs_column *col)
{
	return col->flags & (GS_COL_RIGHT | GS_COL_TENTHS | GS_COL_WHOLE);
}

static char *value_text(const struct gs_column *col, const json_t *v)
{
	char *text = NULL;

	if (!(col->flags & (GS_COL_TENTHS | GS_COL_WHOLE)) || !json_is_number(v))
		return gs_json_cell(v);
	return asprintf(&text, "%.*f", col->flags & GS_COL_TENTHS ? 1 : 0, json_number_value(v)) < 0
		       ? NULL
		       : text;
}

static char *cell_text(const struct gs_column *col, const json_t *row)
{
	CLEANUP_FREE char *text =
		col->cell ? col->cell(row) : value_text(col, gs_json_at(row, col->path));
	CLEANUP_FREE char *escaped = gs_escaped(text && *text ? text : "-");

	return escaped && col->most ? gs_term_shorten(escaped, col->most) : TAKE_PTR(escaped);
}

static struct libscols_column *new_column(struct gs_sheet *t, const struct gs_column *c)
{
	struct libscols_column *col = scols_table_new_column(
		t->scols, c->head, 0,
		(is_right(c) ? SCOLS_FL_RIGHT : 0) | (c->flags & GS_COL_WRAP ? SCOLS_FL_WRAP : 0));

	if (col && c->flags & GS_COL_WRAP) {
		scols_column_set_safechars(col, "\n");
		scols_column_set_wrapfunc(col, scols_wrapnl_chunksize, scols_wrapnl_nextchunk,
					  NULL);
	}

	if (col && t->colour)
		scols_cell_set_color(scols_column_get_header(col), "bold");
	return col;
}

int gs_sheet_new(const struct gs_column *columns, size_t n, enum gs_sheet_mode mode, FILE *out,
		 struct gs_sheet **ret)
{
	struct gs_sheet *t = calloc(1, sizeof(*t));

	if (!t)
		return -ENOMEM;
	*t = (struct gs_sheet){ .columns = columns, .n = n, .mode = mode, .out = out };
	t->colour = mode != GS_SHEET_JSON && gs_term_colour(out);
	if (mode == GS_SHEET_PLAIN) {
		t->scols = scols_new_table();
		if (!t->scols)
			goto fail;
		scols_table_set_stream(t->scols, out);
		scols_table_enable_colors(t->scols, t->colour);
		/*
		 * cells are escaped already, so libsmartcols encodes them only in locales without
		 * UTF-8
		 */
		scols_table_enable_noencoding(t->scols, MB_CUR_MAX > 1);
		for (size_t i = 0; i < n; i++) {
			if (columns[i].head && !new_column(t, &columns[i]))
				goto fail;
		}
	}
	*ret = t;
	return 0;
fail:
	gs_sheet_free(t);
	return -ENOMEM;
}

static int plain_row(struct gs_sheet *t, const json_t *row)
{
	struct libscols_line *line = scols_table_new_line(t->scols, NULL);
	size_t at = 0;

	if (!line)
		return -ENOMEM;
	for (size_t i = 0; i < t->n; i++) {
		CLEANUP_FREE char *text = NULL;

		if (!t->columns[i].head)
			continue;
		text = cell_text(&t->columns[i], row);
		if (!text || scols_line_set_data(line, at, text))
			return -ENOMEM;
		if (t->colour && t->columns[i].colour)
			scols_cell_set_color(scols_line_get_cell(line, at),
					     t->columns[i].colour(row));
		at++;
	}
	return 0;
}

static void stream_cell(struct gs_sheet *t, size_t i, const char *text)
{
	const struct gs_column *c = &t->columns[i];

	fprintf(t->out, is_right(c) ? "%*s" : "%-*s", c->width, text);
	putc(i + 1 < t->n ? ' ' : '\n', t->out);
}

static int stream_row(struct gs_sheet *t, const json_t *row)
{
	if (!t->head_done && t->colour)
		fputs("\033[1m", t->out);
	for (size_t i = 0; !t->head_done && i < t->n; i++)
		if (t->columns[i].head)
			stream_cell(t, i, t->columns[i].head);
	if (!t->head_done && t->colour)
		fputs("\033[0m", t->out);
	t->head_done = true;
	for (size_t i = 0; i < t->n; i++) {
		CLEANUP_FREE char *text = NULL;

		if (!t->columns[i].head)
			continue;
		text = cell_text(&t->columns[i], row);
		if (!text)
			return -ENOMEM;
		stream_cell(t, i, text);
	}
	fflush(t->out);
	return 0;
}

int gs_sheet_tail(struct gs_sheet *t, const char *key, const json_t *value)
{
	CLEANUP_FREE char *text = t->mode == GS_SHEET_JSON ? line_of(value) : NULL;

	if (t->mode != GS_SHEET_JSON)
		return 0;
	return !text || asprintf(&t->tail, "\"%s\":%s", key, text) < 0 ? -ENOMEM : 0;
}

static int row_with_tail(struct gs_sheet *t, const json_t *row)
{
	CLEANUP_FREE char *text = line_of(row);
	const char *comma = json_object_size(row) ? "," : "";

	if (!text)
		return -ENOMEM;
	return fprintf(t->out, "%.*s%s%s}\n", (int)strlen(text) - 1, text, comma, t->tail) < 0
		       ? -EIO
		       : 0;
}

static int json_row(struct gs_sheet *t, json_t *row)
{
	for (size_t i = 0; i < t->n; i++) {
		const char *path = t->columns[i].path;

		if (path && !strchr(path, '.') && !json_object_get(row, path) &&
		    json_object_set_new(row, path, json_null()))
			return -ENOMEM;
	}
	return t->tail ? row_with_tail(t, row) : gs_json_line(t->out, row);
}

int gs_sheet_row(struct gs_sheet *t, json_t *row)
{
	switch (t->mode) {
	case GS_SHEET_PLAIN:
		return plain_row(t, row);
	case GS_SHEET_STREAM:
		return stream_row(t, row);
	case GS_SHEET_JSON:
		return json_row(t, row);
	}
	return -EINVAL;
}

/* ---- into a width ---------------------------------------------------------------------------- */

static size_t width_of(struct libscols_table *scols, size_t at, const char *head)
{
	size_t most = gs_term_columns(head);

	for (size_t i = 0; i < scols_table_get_nlines(scols); i++) {
		struct libscols_line *line = scols_table_get_line(scols, i);
		const char *text = scols_cell_get_data(scols_line_get_cell(line, at));
		size_t n = text ? gs_term_columns(text) : 0;

		most = n > most ? n : most;
	}
	return most;
}

/* Breaks @text at spaces, so that no line is longer than @width. */
static void break_lines(char *text, size_t width)
{
	char *space = NULL;
	size_t at = 0;

	for (char *p = text; *p; p++) {
		at += (*p & 0xc0) != 0x80;
		if (*p == ' ')
			space = p;
		if (at <= width || !space)
			continue;
		*space = '\n';
		at = (size_t)(p - space);
		space = NULL;
	}
}

static int wrap_column(struct gs_sheet *t, size_t at, size_t width)
{
	for (size_t i = 0; i < scols_table_get_nlines(t->scols); i++) {
		struct libscols_line *line = scols_table_get_line(t->scols, i);
		const char *text = scols_cell_get_data(scols_line_get_cell(line, at));
		char *broken = text ? strdup(text) : NULL;

		if (!broken)
			continue;
		break_lines(broken, width);
		if (scols_line_refer_data(line, at, broken))
			return -ENOMEM;
	}
	return 0;
}

static int leave_out(struct gs_sheet *t, const struct gs_column *c, size_t at)
{
	struct libscols_column *col = scols_table_get_column(t->scols, at);
	char *all = NULL;

	if (asprintf(&all, "%s%s%s", t->left_out ?: "", t->left_out ? ", " : "", c->head) < 0)
		return -ENOMEM;
	free(t->left_out);
	t->left_out = all;
	scols_column_set_flags(col, scols_column_get_flags(col) | SCOLS_FL_HIDDEN);
	return 0;
}

/* A column as it is shown: declaration, width and place. */
struct shown {
	const struct gs_column *c;
	size_t width, at;
};

/* The least width: @total, less what can be saved by wrapping the last column. */
static size_t least(const struct shown *cols, size_t n, size_t total)
{
	const struct shown *last = n ? &cols[n - 1] : NULL;

	return last && last->c->flags & GS_COL_WRAP && last->width > WRAP_LEAST
		       ? total - last->width + WRAP_LEAST
		       : total;
}

/* Cuts the text of column @col by up to @most columns; takes what that saves from *inout_total. */
static int cut_column(struct gs_sheet *t, struct shown *col, size_t most, size_t *inout_total)
{
	size_t head = gs_term_columns(col->c->head);
	size_t lowest = head > CUT_LEAST ? head : CUT_LEAST;
	size_t room = col->width > lowest ? col->width - lowest : 0;
	size_t to = col->width - (most < room ? most : room);

	for (size_t i = 0; i < scols_table_get_nlines(t->scols); i++) {
		struct libscols_line *line = scols_table_get_line(t->scols, i);
		const char *text = scols_cell_get_data(scols_line_get_cell(line, col->at));
		char *cut = text ? gs_term_shorten(text, to) : NULL;

		if (cut && scols_line_refer_data(line, col->at, cut))
			return -ENOMEM;
	}
	*inout_total -= col->width - to;
	col->width = to;
	return 0;
}

static int fit(struct gs_sheet *t, struct shown *cols, size_t n, size_t width)
{
	size_t total = n ? n - 1 : 0;

	for (size_t i = 0; i < n; i++)
		total += cols[i].width;
	while (least(cols, n, total) > width) {
		size_t out = 0;

		for (size_t i = 1; i < n; i++)
			if (cols[i].c->spare > cols[out].c->spare)
				out = i;
		if (!n || !cols[out].c->spare)
			break;
		if (leave_out(t, cols[out].c, cols[out].at))
			return -ENOMEM;
		total -= cols[out].width + 1;
		memmove(&cols[out], &cols[out + 1], (--n - out) * sizeof(*cols));
	}
	for (size_t i = n; i-- && least(cols, n, total) > width;)
		if (cols[i].c->most &&
		    cut_column(t, &cols[i], least(cols, n, total) - width, &total))
			return -ENOMEM;
	if (total <= width || !n || !(cols[n - 1].c->flags & GS_COL_WRAP))
		return 0;
	total -= cols[n - 1].width;
	return wrap_column(t, cols[n - 1].at,
			   width > total + WRAP_LEAST ? width - total : WRAP_LEAST);
}

void gs_sheet_hint(struct gs_sheet *t, const char *hint)
{
	t->hint = hint;
}

int gs_sheet_fit(struct gs_sheet *t, size_t width)
{
	CLEANUP_FREE struct shown *cols = calloc(t->n, sizeof(*cols));
	size_t n = 0;

	if (!cols)
		return -ENOMEM;
	if (!t->scols || !width || !scols_table_get_nlines(t->scols))
		return 0;
	for (size_t i = 0; i < t->n; i++) {
		if (!t->columns[i].head)
			continue;
		cols[n] = (struct shown){ &t->columns[i], width_of(t->scols, n, t->columns[i].head),
					  n };
		n++;
	}
	return fit(t, cols, n, width);
}

int gs_sheet_end(struct gs_sheet *t)
{
	CLEANUP_FREE char *note = NULL;

	errno = 0;
	if (t->scols && scols_table_get_nlines(t->scols) && scols_print_table(t->scols))
		return errno ? -errno : -EIO;
	if (t->left_out && asprintf(&note, "(too narrow for %s%s)", t->left_out,
				    t->hint ?: ": '| cat' shows all") > 0)
		gs_term_wrap(t->out, note, 0, gs_term_width(t->out));
	if (!fflush(t->out) && !ferror(t->out))
		return 0;
	return errno ? -errno : -EIO;
}

void gs_sheet_free(struct gs_sheet *t)
{
	if (!t)
		return;
	if (t->scols)
		scols_unref_table(t->scols);
	free(t->left_out);
	free(t->tail);
	free(t);
}
