// SPDX-License-Identifier: MIT
/* screen.c - prints tables, objects and notes */
#include "cli/screen.h"

#include <errno.h>
#include <pwd.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "basic/cleanup.h"
#include "basic/escape.h"
#include "basic/term.h"
#include "cli/cli.h"
#include "gpusched/gpusched.h"

#define WIDTH 100 /* of a screen where nobody asked for more */

static const char *name_of(const struct gs_column *col)
{
	return !col->head ? NULL : col->name ? col->name : col->path;
}

/* ---- which columns --------------------------------------------------------------------------- */

void cli_screen_names(json_t *names, const struct gs_column *cols, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (name_of(&cols[i]))
			json_object_set_new(names, name_of(&cols[i]), json_true());
}

static int find_column(const struct gs_column *cols, size_t n, const char *name, size_t len,
		       const struct gs_column **ret)
{
	CLEANUP_FREE char *all = NULL;
	CLEANUP_JSON json_t *names = json_object();
	size_t size;
	const char *key;
	json_t *v;
	FILE *f;

	for (size_t i = 0; i < n; i++) {
		const char *is = name_of(&cols[i]);

		if (is && strlen(is) == len && !strncmp(is, name, len)) {
			*ret = &cols[i];
			return 0;
		}
	}
	f = open_memstream(&all, &size);
	cli_screen_names(names, cols, n);
	json_object_foreach(names, key, v)
		if (f)
			fprintf(f, "%s%s", ftell(f) ? ", " : "", key);
	if (f)
		fclose(f);
	return cli_fail(-EINVAL, "no column is named '%.*s': %s", (int)len, name, all ? all : "");
}

/* Takes the columns that --columns names, in its order. */
static int choose_named(const struct gs_column *cols, size_t n, const char *names,
			struct gs_column *ret, size_t *ret_n)
{
	const struct gs_column *col;
	size_t len;
	int code;

	for (*ret_n = 0; *ret_n < n; names += len + 1) {
		len = strcspn(names, ",");
		code = find_column(cols, n, names, len, &col);
		if (code)
			return code;
		ret[(*ret_n)++] = *col;
		if (!names[len])
			return GS_EXIT_OK;
	}
	return cli_fail(-EINVAL, "--columns names more than all %zu columns", n);
}

static char *text_of(const struct gs_column *col, const json_t *row)
{
	return col->cell ? col->cell(row) : gs_json_cell(gs_json_at(row, col->path));
}

/* True if the column says something: GS_COL_SAYS, GS_COL_MANY. */
static bool tells(const struct gs_column *col, const json_t *rows)
{
	CLEANUP_FREE char *first = NULL;
	size_t i;
	json_t *row;

	json_array_foreach((json_t *)rows, i, row) {
		CLEANUP_FREE char *text = text_of(col, row);

		if (col->flags & GS_COL_SAYS && text && *text && strcmp(text, "-") != 0)
			return true;
		if (col->flags & GS_COL_MANY && i && strcmp(text ?: "", first ?: "") != 0)
			return true;
		if (!i)
			first = TAKE_PTR(text);
	}
	return !(col->flags & (GS_COL_SAYS | GS_COL_MANY));
}

static void choose(const struct cli *c, const struct gs_column *cols, size_t n, const json_t *rows,
		   struct gs_column *ret, size_t *ret_n)
{
	bool wide = cli_opt(c, "wide");

	*ret_n = 0;
	for (size_t i = 0; i < n; i++) {
		bool many = wide && cols[i].flags & GS_COL_MANY;

		if (cols[i].head && (wide || !(cols[i].flags & GS_COL_WIDE)) &&
		    (many || tells(&cols[i], rows)))
			ret[(*ret_n)++] = cols[i];
	}
}

/* ---- in which order -------------------------------------------------------------------------- */

struct sortable {
	const struct gs_column *col;
	json_t *row;
	size_t at;
};

/* Order: the largest number, or the first word, comes first; unknown values come last. */
static int compare(const void *a, const void *b)
{
	const struct sortable *x = a, *y = b;
	const json_t *vx = x->col->path ? gs_json_at(x->row, x->col->path) : NULL;
	const json_t *vy = y->col->path ? gs_json_at(y->row, y->col->path) : NULL;
	CLEANUP_FREE char *tx = NULL, *ty = NULL;
	int order;

	if (json_is_number(vx) && json_is_number(vy)) {
		double dx = json_number_value(vx), dy = json_number_value(vy);

		order = (dx < dy) - (dx > dy);
	} else {
		tx = text_of(x->col, x->row);
		ty = text_of(y->col, y->row);
		order = (!tx || !strcmp(tx, "-")) - (!ty || !strcmp(ty, "-"));
		order = order ? order : strcmp(tx ?: "", ty ?: "");
	}
	return order ? order : (x->at > y->at) - (x->at < y->at);
}

int cli_screen_sort(const struct cli *c, const struct gs_column *cols, size_t n, json_t *rows)
{
	const char *name = cli_opt(c, "sort");
	CLEANUP_FREE struct sortable *all = NULL;
	const struct gs_column *col;
	size_t count = json_array_size(rows);
	int code = name ? find_column(cols, n, name, strlen(name), &col) : GS_EXIT_OK;

	if (code || !name)
		return code;
	all = calloc(count + 1, sizeof(*all));
	if (!all)
		return cli_fail(-ENOMEM, "out of memory");
	for (size_t i = 0; i < count; i++)
		all[i] = (struct sortable){ col, json_incref(json_array_get(rows, i)), i };
	qsort(all, count, sizeof(*all), compare);
	json_array_clear(rows);
	for (size_t i = 0; i < count; i++)
		json_array_append_new(rows, all[i].row);
	return GS_EXIT_OK;
}

/* ---- printing -------------------------------------------------------------------------------- */

size_t cli_screen_width(const struct cli *c)
{
	size_t width = gs_term_width(stdout);

	if (cli_opt(c, "wide"))
		return width;
	return !width || width > WIDTH ? WIDTH : width;
}

static int add_rows(struct gs_sheet *t, json_t *rows)
{
	json_t *row;
	size_t i;

	json_array_foreach(rows, i, row) {
		int r = gs_sheet_row(t, row);

		if (r)
			return cli_fail(r, "output cannot be written: %s", strerror(-r));
	}
	return GS_EXIT_OK;
}

int cli_screen_table(const struct cli *c, const struct gs_column *cols, size_t n, json_t *rows)
{
	const char *names = cli_opt(c, "columns");
	CLEANUP_FREE struct gs_column *shown = calloc(n + 1, sizeof(*shown));
	CLEANUP_SHEET struct gs_sheet *t = NULL;
	size_t n_shown;
	int r;

	if (!shown)
		return cli_fail(-ENOMEM, "out of memory");
	r = names ? choose_named(cols, n, names, shown, &n_shown) : GS_EXIT_OK;
	r = r ? r : cli_screen_sort(c, cols, n, rows);
	if (r)
		return r;
	if (!names)
		choose(c, cols, n, rows, shown, &n_shown);
	r = gs_sheet_new(shown, n_shown, GS_SHEET_PLAIN, stdout, &t);
	if (r)
		return cli_fail(r, "out of memory");
	r = add_rows(t, rows);
	if (r)
		return r;
	gs_sheet_hint(t, ": --columns shows any column");
	if (!names)
		r = gs_sheet_fit(t, cli_screen_width(c));
	r = r ? r : gs_sheet_end(t);
	return r ? cli_fail(r, "output cannot be written: %s", strerror(-r)) : GS_EXIT_OK;
}

void cli_screen_note(const struct cli *c, const char *format, ...)
{
	CLEANUP_FREE char *text = NULL, *escaped = NULL;
	va_list ap;
	int r;

	va_start(ap, format);
	r = vasprintf(&text, format, ap);
	va_end(ap);
	escaped = r < 0 ? NULL : gs_escaped(text);
	if (escaped)
		gs_term_wrap(stdout, escaped, 0, cli_screen_width(c));
}

/* ---- other output ---------------------------------------------------------------------------- */

int cli_screen_rows(const struct cli *c, const struct gs_column *cols, size_t n, json_t *rows)
{
	return cli_screen_rows_with(c, cols, n, rows, NULL, NULL);
}

int cli_screen_rows_with(const struct cli *c, const struct gs_column *cols, size_t n, json_t *rows,
			 const char *key, const json_t *value)
{
	CLEANUP_SHEET struct gs_sheet *t = NULL;
	int r;

	r = gs_sheet_new(cols, n, c->json ? GS_SHEET_JSON : GS_SHEET_PLAIN, stdout, &t);
	if (!r && value)
		r = gs_sheet_tail(t, key, value);
	if (r)
		return cli_fail(r, "out of memory");
	r = add_rows(t, rows);
	if (r)
		return r;
	r = gs_sheet_fit(t, gs_term_width(stdout));
	r = r ? r : gs_sheet_end(t);
	return r ? cli_fail(r, "output cannot be written: %s", strerror(-r)) : GS_EXIT_OK;
}

void cli_screen_lines(const char *text)
{
	while (*text) {
		size_t n = strcspn(text, "\n");
		CLEANUP_JSON json_t *line = json_stringn(text, n);
		CLEANUP_FREE char *one = gs_json_cell(line);

		printf("    %s\n", one ? one : "");
		text += n + (text[n] == '\n');
	}
}

static void print_members(const json_t *object, const char *prefix);

/* Prints several objects, each under its number. */
static void print_elements(const json_t *array, const char *prefix)
{
	json_t *one;
	size_t i;

	json_array_foreach((json_t *)array, i, one) {
		CLEANUP_FREE char *path = NULL;

		if (asprintf(&path, "%s.%zu", prefix, i) < 0)
			return;
		print_members(one, path);
	}
}

static void print_members(const json_t *object, const char *prefix)
{
	const char *key;
	json_t *v;

	json_object_foreach((json_t *)object, key, v) {
		CLEANUP_FREE char *path = NULL, *text = NULL;

		if (asprintf(&path, "%s%s%s", prefix, *prefix ? "." : "", key) < 0)
			return;
		if (json_is_object(v) && json_object_size(v)) {
			print_members(v, path);
			continue;
		}
		if (json_is_object(json_array_get(v, 0))) {
			print_elements(v, path);
			continue;
		}
		/* an object without members prints as "-" */
		text = gs_json_cell(json_is_object(v) ? NULL : v);
		printf("%-36s %s\n", path, text ? text : "-");
	}
}

int cli_screen_object(const struct cli *c, const json_t *object)
{
	if (c->json)
		return gs_json_line(stdout, object) ? cli_fail(-EIO, "output cannot be written")
						    : GS_EXIT_OK;
	print_members(object, "");
	return GS_EXIT_OK;
}

/* Remembers the last user: neighbouring rows mostly belong to the same one. */
const char *cli_screen_user_name(uid_t uid)
{
	static uid_t asked = (uid_t)-1;
	static char name[64];
	const struct passwd *pw;

	if (uid != asked) {
		asked = uid;
		pw = getpwuid(asked);
		if (pw)
			snprintf(name, sizeof(name), "%s", pw->pw_name);
		else
			snprintf(name, sizeof(name), "%u", uid);
	}
	return name;
}

char *cli_screen_user(const json_t *row)
{
	const json_t *uid = gs_json_at(row, "uid");

	return uid ? strdup(cli_screen_user_name((uid_t)json_integer_value(uid))) : NULL;
}
