// SPDX-License-Identifier: MIT
#include "basic/sheet.h"

#include <errno.h>
#include <libsmartcols.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "basic/escape.h"

struct gs_sheet {
	const struct gs_column *columns;
	size_t n;
	enum gs_sheet_mode mode;
	FILE *out;
	struct libscols_table *scols;
	bool head_done, colour;
};

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

json_t *gs_json_text(const char *text)
{
	CLEANUP_FREE char *copy = NULL;
	json_t *v = json_string(text);

	if (v)
		return v;
	copy = strdup(text);
	for (char *p = copy; p && *p; p++)
		if (*p & 0x80)
			*p = '?';
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

int gs_json_line(FILE *out, const json_t *object)
{
	/* in one piece: json_dumpf() writes it token by token */
	CLEANUP_FREE char *text =
		json_dumps(object, JSON_COMPACT | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(12));

	return !text || fputs(text, out) == EOF || putc('\n', out) == EOF ? -EIO : 0;
}

static bool is_right(const struct gs_column *col)
{
	return col->flags & (GS_COL_RIGHT | GS_COL_TENTHS);
}

static char *value_text(const struct gs_column *col, const json_t *v)
{
	char *text = NULL;

	if (!(col->flags & GS_COL_TENTHS) || !json_is_number(v))
		return gs_json_cell(v);
	return asprintf(&text, "%.1f", json_number_value(v)) < 0 ? NULL : text;
}

static char *cell_text(const struct gs_column *col, const json_t *row)
{
	CLEANUP_FREE char *text =
		col->cell ? col->cell(row) : value_text(col, gs_json_at(row, col->path));

	return gs_escaped(text ? text : "-");
}

bool gs_term_colour(FILE *out)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

	return !(no && *no) && term && strcmp(term, "dumb") && isatty(fileno(out));
}

static struct libscols_column *new_column(struct gs_sheet *t, const struct gs_column *c)
{
	struct libscols_column *col =
		scols_table_new_column(t->scols, c->head, 0, is_right(c) ? SCOLS_FL_RIGHT : 0);

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

static int json_row(struct gs_sheet *t, json_t *row)
{
	for (size_t i = 0; i < t->n; i++) {
		const char *path = t->columns[i].path;

		if (path && !strchr(path, '.') && !json_object_get(row, path) &&
		    json_object_set_new(row, path, json_null()))
			return -ENOMEM;
	}
	return gs_json_line(t->out, row);
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

int gs_sheet_end(struct gs_sheet *t)
{
	if (t->scols && scols_table_get_nlines(t->scols) && scols_print_table(t->scols))
		return -EIO;
	return fflush(t->out) || ferror(t->out) ? -EIO : 0;
}

void gs_sheet_free(struct gs_sheet *t)
{
	if (!t)
		return;
	if (t->scols)
		scols_unref_table(t->scols);
	free(t);
}
