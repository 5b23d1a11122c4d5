// SPDX-License-Identifier: MIT
#include "basic/term.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <wchar.h>

bool gs_term_colour(FILE *out)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

	return !(no && *no) && term && strcmp(term, "dumb") && isatty(fileno(out));
}

size_t gs_term_width(FILE *out)
{
	struct winsize w;

	return ioctl(fileno(out), TIOCGWINSZ, &w) || !w.ws_col ? 0 : w.ws_col;
}

/* Takes the character at @text: its bytes, and its columns in *ret. Other bytes take one column. */
static size_t char_at(const char *text, size_t *ret)
{
	mbstate_t state = { 0 };
	wchar_t ch = 0;
	size_t n = mbrtowc(&ch, text, strlen(text), &state);
	bool whole = n && n != (size_t)-1 && n != (size_t)-2;
	int columns = whole ? wcwidth(ch) : 1;

	*ret = columns < 0 ? 1 : (size_t)columns;
	return whole ? n : 1;
}

/* The columns of the first @n bytes of @text. */
static size_t columns_of(const char *text, size_t n)
{
	size_t all = 0, one;

	for (const char *end = text + n; text < end && *text; all += one)
		text += char_at(text, &one);
	return all;
}

size_t gs_term_columns(const char *text)
{
	return columns_of(text, strlen(text));
}

char *gs_term_shorten(const char *text, size_t most)
{
	size_t all = gs_term_columns(text), room = most > 3 ? most - 3 : 0, at = 0, one;
	const char *head = text, *tail = text;
	char *ret = NULL;

	if (all <= most)
		return strdup(text);
	while (*head) {
		size_t n = char_at(head, &one);

		if (at + one > room - room / 2)
			break;
		at += one;
		head += n;
	}
	while (*tail && all > room / 2) {
		tail += char_at(tail, &one);
		all -= one;
	}
	return asprintf(&ret, "%.*s...%s", (int)(head - text), text, tail) < 0 ? NULL : ret;
}

/* Returns how much of a word of @n bytes fits into @room, at best up to a slash; @n: all of it. */
static size_t part_of_word(const char *word, size_t n, size_t room)
{
	size_t part = n;

	if (n <= room || !room)
		return n;
	for (size_t i = 0; i < room; i++)
		if (word[i] == '/')
			part = i + 1;
	if (part < n)
		return part;
	for (part = room; part > 1 && (word[part] & 0xc0) == 0x80; part--)
		; /* not inside a character */
	return part;
}

void gs_term_wrap(FILE *out, const char *text, size_t column, size_t width)
{
	size_t at = column, room = width > column ? width - column : 0;

	while (*text) {
		size_t word = strcspn(text, " "), part = part_of_word(text, word, room);

		size_t columns = columns_of(text, part);

		if (width && at > column && at + 1 + columns > width) {
			fprintf(out, "\n%*s", (int)column, "");
			at = column;
		}
		if (at > column)
			putc(' ', out);
		fwrite(text, 1, part, out);
		at += columns + (at > column ? 1 : 0);
		if (part < word)
			at = width;
		text += part;
		text += strspn(text, " ");
	}
	putc('\n', out);
}
