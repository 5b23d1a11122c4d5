// SPDX-License-Identifier: MIT
#include "basic/term.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

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

void gs_wrap(FILE *out, const char *text, size_t column, size_t width)
{
	size_t at = column, room = width > column ? width - column : 0;

	while (*text) {
		size_t word = strcspn(text, " "), part = part_of_word(text, word, room);

		if (width && at > column && at + 1 + part > width) {
			fprintf(out, "\n%*s", (int)column, "");
			at = column;
		}
		if (at > column)
			putc(' ', out);
		fwrite(text, 1, part, out);
		at += part + (at > column ? 1 : 0);
		if (part < word)
			at = width;
		text += part;
		text += strspn(text, " ");
	}
	putc('\n', out);
}
