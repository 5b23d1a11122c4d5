// SPDX-License-Identifier: MIT
#include "sim/scenario_rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "basic/cleanup.h"
#include "basic/file.h"
#include "sim/params.h"

#define BEGIN "[row "
#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"

/* The line after that at @at; NULL: none. */
static char *line_after(char *at)
{
	at = strchr(at, '\n');
	return at ? at + 1 : NULL;
}

/* The first line from @at on that begins a row; NULL: none. *ret_name is not terminated. */
static char *next_row(char *at, const char **ret_name, size_t *ret_len)
{
	for (; at; at = line_after(at)) {
		const char *word = at + strspn(at, " \t");

		if (!strncmp(word, BEGIN, strlen(BEGIN))) {
			*ret_name = word + strlen(BEGIN);
			*ret_len = strcspn(*ret_name, "]\n");
			return at;
		}
	}
	return NULL;
}

static unsigned int line_of(const char *text, const char *at)
{
	unsigned int n = 1;

	for (; text < at; text++)
		n += *text == '\n';
	return n;
}

static bool is_row(const char *row, const char *name, size_t len)
{
	return strlen(row) == len && !strncmp(row, name, len);
}

static int add(struct sim_rows *rows, const char *name, size_t len, struct gs_error *err)
{
	char(*grown)[SIM_NAME_LEN];

	if (!len || len >= SIM_NAME_LEN || strspn(name, LETTERS) < len)
		return gs_fail(err, -EINVAL, "a row's name is 1 to %d letters, digits, - or _",
			       SIM_NAME_LEN - 1);
	for (size_t i = 0; i < rows->n; i++)
		if (is_row(rows->names[i], name, len))
			return gs_fail(err, -EINVAL, "[row %s] is there twice", rows->names[i]);
	grown = reallocarray(rows->names, rows->n + 1, sizeof(*grown));
	if (!grown)
		return gs_fail(err, -ENOMEM, "out of memory");
	rows->names = grown;
	memcpy(grown[rows->n], name, len);
	grown[rows->n++][len] = '\0';
	return 0;
}

static int list(char *text, const char *path, struct sim_rows *ret, struct gs_error *err)
{
	CLEANUP(sim_rows_free) struct sim_rows rows = { 0 };
	struct gs_error inner = { 0 };
	const char *name;
	size_t len;

	for (char *at = next_row(text, &name, &len); at;
	     at = next_row(line_after(at), &name, &len)) {
		int r = add(&rows, name, len, &inner);

		if (r < 0)
			return gs_fail(err, r, "%s:%u: %s", path, line_of(text, at), inner.text);
	}
	*ret = rows;
	rows = (struct sim_rows){ 0 };
	return 0;
}

int sim_rows_read(const char *path, struct sim_rows *ret, struct gs_error *err)
{
	CLEANUP_FREE unsigned char *text = NULL;
	size_t len;
	int r;

	*ret = (struct sim_rows){ 0 };
	r = gs_read_file(path, SIM_MAX_FILE, &text, &len, err);
	return r < 0 ? r : list((char *)text, path, ret, err);
}

void sim_rows_free(struct sim_rows *rows)
{
	free(rows->names);
	*rows = (struct sim_rows){ 0 };
}

int sim_rows_choose(char *text, const char *path, const char *row, struct gs_error *err)
{
	CLEANUP(sim_rows_free) struct sim_rows rows = { 0 };
	const char *name;
	bool found = !row;
	size_t len;
	int r = list(text, path, &rows, err);

	if (r < 0)
		return r;
	if (!row && rows.n)
		return gs_fail(err, -EINVAL, "%s is %zu scenarios: name one, such as %s", path,
			       rows.n, rows.names[0]);
	for (char *at = next_row(text, &name, &len), *end; at; at = end) {
		bool other = !is_row(row, name, len);

		found |= !other;
		end = next_row(line_after(at), &name, &len);
		for (; other && *at && at != end; at++)
			if (*at != '\n')
				*at = ' ';
	}
	return found ? 0 : gs_fail(err, -EINVAL, "%s has no row '%s'", path, row);
}
