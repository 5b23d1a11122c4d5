// SPDX-License-Identifier: MIT
/*
 * arrivals.c - reads a trace of arrivals from CSV
 *
 * Quotes, CRLF and a byte order mark are taken as spreadsheets write them. A field may be quoted,
 * and a quoted field may have commas, line ends and doubled quotes.
 */
#include "basic/arrivals.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "basic/file.h"
#include "basic/grow.h"
#include "basic/parse.h"

#define MAX_COLUMNS 64u
#define MAX_FIELD 64u    /* longer fields are cut: they may be in columns that are skipped */
#define LAST_TIME_S 10e9 /* later than any date in seconds */
#define BYTE_ORDER_MARK "\xef\xbb\xbf"

struct csv {
	const char *name;
	const unsigned char *at, *end;
	unsigned int line; /* of the record that was read last */
	unsigned int next_line;
	char field[MAX_COLUMNS][MAX_FIELD + 1];
	unsigned int n;
	int time, size; /* their columns; -1: none */
	double unit_s;  /* of the times */
	unsigned int columns;
	struct gs_error *err;
};

__attribute__((format(printf, 3, 4))) static int fail_at(const struct csv *c, unsigned int line,
							 const char *format, ...)
{
	char text[160];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	return gs_fail(c->err, -EINVAL, "%.300s:%u: %s", c->name, line, text);
}

#define FAIL(csv, ...) fail_at((csv), (csv)->line, __VA_ARGS__)

/* Adds a character to the field that is read. */
static int add_char(const struct csv *c, char *field, size_t *inout_n, unsigned char ch)
{
	if (ch < ' ' && ch != '\t' && ch != '\n' && ch != '\r')
		return FAIL(c, "byte 0x%02x: this is not text", ch);
	if (*inout_n < MAX_FIELD)
		field[(*inout_n)++] = (char)ch;
	field[*inout_n] = '\0';
	return 0;
}

/* Reads the inside of quotes, up to the last one. */
static int read_quoted(struct csv *c, char *field, size_t *inout_n)
{
	for (c->at++; c->at < c->end; c->at++) {
		if (*c->at == '"' && (c->at + 1 == c->end || c->at[1] != '"')) {
			c->at++;
			return 0;
		}
		c->at += *c->at == '"';
		c->next_line += *c->at == '\n';
		if (add_char(c, field, inout_n, *c->at))
			return -EINVAL;
	}
	return FAIL(c, "a quote is not closed");
}

static bool at_line_end(const struct csv *c)
{
	return c->at == c->end || *c->at == '\n' ||
	       (*c->at == '\r' && (c->at + 1 == c->end || c->at[1] == '\n'));
}

static bool is_blank(unsigned char ch)
{
	return ch == ' ' || ch == '\t';
}

/* Reads one field, up to its comma or the end of the line, without the blanks around it. */
static int read_field(struct csv *c, char *field)
{
	size_t n = 0;
	int r = 0;

	field[0] = '\0';
	while (c->at < c->end && is_blank(*c->at))
		c->at++;
	if (c->at < c->end && *c->at == '"') {
		r = read_quoted(c, field, &n);
		while (!r && c->at < c->end && is_blank(*c->at))
			c->at++;
		if (!r && !at_line_end(c) && *c->at != ',')
			return FAIL(c, "text follows a closed quote");
		return r;
	}
	for (; !at_line_end(c) && *c->at != ','; c->at++) {
		if (*c->at == '"')
			return FAIL(c, "a quote within a field");
		if (*c->at == '\r')
			return FAIL(c, "a CR without LF");
		if (add_char(c, field, &n, *c->at))
			return -EINVAL;
	}
	while (n && is_blank((unsigned char)field[n - 1]))
		field[--n] = '\0';
	return 0;
}

/* Reads the next line that is not empty. 1; 0: there is none; -EINVAL. */
static int read_record(struct csv *c)
{
	do {
		if (c->at == c->end)
			return 0;
		c->line = c->next_line++;
		c->n = 0;
		for (;;) {
			if (c->n == MAX_COLUMNS)
				return FAIL(c, "more than %u columns", MAX_COLUMNS);
			if (read_field(c, c->field[c->n++]))
				return -EINVAL;
			if (at_line_end(c))
				break;
			c->at++;
		}
		if (c->at < c->end && *c->at == '\r')
			c->at++;
		if (c->at < c->end)
			c->at++;
	} while (c->n == 1 && !c->field[0][0]);
	return 1;
}

/* ---- columns --------------------------------------------------------------------------------- */

static int know_header(struct csv *c, struct gs_arrivals *a)
{
	for (unsigned int i = 0; i < c->n; i++) {
		const char *name = c->field[i];
		bool ms = !strcasecmp(name, "time_ms"), tokens = !strcasecmp(name, "tokens");
		bool time = ms || !strcasecmp(name, "time");

		if (!time && !tokens && strcasecmp(name, "size"))
			continue;
		if ((time ? c->time : c->size) >= 0)
			return FAIL(c, "two columns for the %s", time ? "time" : "size");
		if (time) {
			c->time = (int)i;
			c->unit_s = ms ? 1e-3 : 1;
		} else {
			c->size = (int)i;
			a->tokens = tokens;
		}
	}
	if (c->time < 0)
		return FAIL(c, "no column 'time' (seconds) or 'time_ms'");
	return 0;
}

/* Learns the columns from the first line. Returns 1 if that line is an arrival itself. */
static int know_columns(struct csv *c, struct gs_arrivals *a)
{
	double v;

	c->columns = c->n;
	c->time = c->size = -1;
	if (gs_parse_double(c->field[0], -LAST_TIME_S, LAST_TIME_S, &v, NULL))
		return know_header(c, a);
	if (c->n > 2)
		return FAIL(c, "%u columns need a header that names them", c->n);
	c->time = 0;
	c->size = c->n == 2 ? 1 : -1;
	c->unit_s = 1;
	return 1;
}

/* Fails for a field that was cut: its number may be another. */
static int check_length(const struct csv *c, int column)
{
	return column >= 0 && strlen(c->field[column]) == MAX_FIELD
		       ? FAIL(c, "a number of %u characters or more", MAX_FIELD)
		       : 0;
}

static int add_arrival(struct csv *c, struct gs_arrivals *a, size_t *inout_room)
{
	struct gs_error why = { 0 };
	uint64_t size = 1;
	double time;

	if (c->n != c->columns)
		return FAIL(c, "%u columns, and the first line has %u", c->n, c->columns);
	if (check_length(c, c->time) || check_length(c, c->size))
		return -EINVAL;
	if (a->n == GS_ARRIVALS_MAX)
		return FAIL(c, "more than %u arrivals", GS_ARRIVALS_MAX);
	if (gs_parse_double(c->field[c->time], 0, LAST_TIME_S / c->unit_s, &time, &why))
		return FAIL(c, "time: %.100s", why.text);
	if (c->size >= 0 && gs_parse_u64(c->field[c->size], 1, GS_ARRIVALS_SIZE_MAX, &size, &why))
		return FAIL(c, "%s: %.100s", a->tokens ? "tokens" : "size", why.text);
	if (GS_GROW(a->at, *inout_room, a->n + 1))
		return gs_fail(c->err, -ENOMEM, "out of memory");
	a->at[a->n++] = (struct gs_arrival){ .ns = (uint64_t)(time * c->unit_s * 1e9 + 0.5),
					     .size = (unsigned int)size,
					     .line = c->line };
	return 0;
}

/* ---- the whole trace ------------------------------------------------------------------------- */

static int compare_arrivals(const void *a, const void *b)
{
	const struct gs_arrival *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? -1 : 1;
	return (x->line > y->line) - (x->line < y->line);
}

static int order_arrivals(const struct csv *c, struct gs_arrivals *a, bool from_first)
{
	uint64_t first;

	if (!a->n)
		return gs_fail(c->err, -EINVAL, "%.300s: no arrivals", c->name);
	qsort(a->at, a->n, sizeof(*a->at), compare_arrivals);
	first = from_first ? a->at[0].ns : 0;
	for (size_t i = 0; i < a->n; i++) {
		a->at[i].ns -= first;
		if ((double)a->at[i].ns > GS_ARRIVALS_SPAN_S * 1e9)
			return fail_at(c, a->at[i].line, "more than %g hours from the %s",
				       GS_ARRIVALS_SPAN_S / 3600,
				       from_first ? "first arrival" : "begin");
	}
	return 0;
}

int gs_arrivals_parse(const char *name, const unsigned char *text, size_t len, bool from_first,
		      struct gs_arrivals *ret, struct gs_error *err)
{
	CLEANUP(gs_arrivals_free) struct gs_arrivals a = { 0 };
	CLEANUP_FREE struct csv *c = calloc(1, sizeof(*c));
	size_t room = 0;
	int r;

	if (!c)
		return gs_fail(err, -ENOMEM, "out of memory");
	*c = (struct csv){
		.name = name, .at = text, .end = text + len, .next_line = 1, .err = err
	};
	if (len >= strlen(BYTE_ORDER_MARK) &&
	    !memcmp(text, BYTE_ORDER_MARK, strlen(BYTE_ORDER_MARK)))
		c->at += strlen(BYTE_ORDER_MARK);
	r = read_record(c);
	if (r == 1)
		r = know_columns(c, &a);
	if (r == 1)
		r = add_arrival(c, &a, &room);
	while (!r && (r = read_record(c)) == 1)
		r = add_arrival(c, &a, &room);
	if (!r)
		r = order_arrivals(c, &a, from_first);
	if (r)
		return r;
	gs_sha256(text, len, a.sha256);
	*ret = a;
	a = (struct gs_arrivals){ 0 };
	return 0;
}

int gs_arrivals_read(const char *path, bool from_first, struct gs_arrivals *ret,
		     struct gs_error *err)
{
	CLEANUP_FREE unsigned char *text = NULL;
	size_t len;
	int r = gs_read_file(path, GS_ARRIVALS_BYTES, &text, &len, err);

	return r ? r : gs_arrivals_parse(path, text, len, from_first, ret, err);
}

void gs_arrivals_free(struct gs_arrivals *a)
{
	free(a->at);
	*a = (struct gs_arrivals){ 0 };
}

bool gs_arrivals_is_file(const char *word)
{
	size_t n = strlen(word);

	return strchr(word, '/') || (n > 4 && !strcasecmp(word + n - 4, ".csv"));
}
