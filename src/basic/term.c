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

void gs_wrap(FILE *out, const char *text, size_t column, size_t width)
{
	size_t at = column;

	while (*text) {
		size_t word = strcspn(text, " ");

		if (width && at > column && at + 1 + word > width) {
			fprintf(out, "\n%*s", (int)column, "");
			at = column;
		}
		if (at > column)
			putc(' ', out);
		fwrite(text, 1, word, out);
		at += word + (at > column ? 1 : 0);
		text += word;
		text += strspn(text, " ");
	}
	putc('\n', out);
}
