// SPDX-License-Identifier: MIT
#include <pwd.h>
#include <string.h>

#include "basic/cleanup.h"
#include "basic/term.h"
#include "cli/cli.h"

int cli_print_rows(const struct cli *c, const struct gs_column *cols, size_t n, json_t *rows)
{
	return cli_print_rows_with(c, cols, n, rows, NULL, NULL);
}

int cli_print_rows_with(const struct cli *c, const struct gs_column *cols, size_t n, json_t *rows,
			const char *key, const json_t *value)
{
	CLEANUP_SHEET struct gs_sheet *t = NULL;
	json_t *row;
	size_t i;
	int r;

	r = gs_sheet_new(cols, n, c->json ? GS_SHEET_JSON : GS_SHEET_PLAIN, stdout, &t);
	if (!r && value)
		r = gs_sheet_tail(t, key, value);
	if (r)
		return cli_fail(r, "out of memory");
	json_array_foreach(rows, i, row) {
		r = gs_sheet_row(t, row);
		if (r)
			return cli_fail(r, "output cannot be written: %s", strerror(-r));
	}
	r = gs_sheet_fit(t, gs_term_width(stdout));
	r = r ? r : gs_sheet_end(t);
	return r ? cli_fail(r, "output cannot be written: %s", strerror(-r)) : GS_EXIT_OK;
}

void cli_print_lines(const char *text)
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

int cli_print_object(const struct cli *c, const json_t *object)
{
	if (c->json)
		return gs_json_line(stdout, object) ? cli_fail(-EIO, "output cannot be written")
						    : GS_EXIT_OK;
	print_members(object, "");
	return GS_EXIT_OK;
}

/* Remembers the last user: neighbouring rows mostly belong to the same one. */
const char *cli_user_name(uid_t uid)
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

char *cli_user(const json_t *row)
{
	const json_t *uid = gs_json_at(row, "uid");

	return uid ? strdup(cli_user_name((uid_t)json_integer_value(uid))) : NULL;
}
