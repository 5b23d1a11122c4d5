// SPDX-License-Identifier: MIT
#include "basic/say.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "basic/escape.h"
#include "basic/term.h"

void gs_error_say(const char *format, ...)
{
	char text[1024], shown[1024];
	va_list ap;

	fflush(stdout);
	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	fputs(gs_term_colour(stderr) ? "\033[31mgpusched:\033[0m " : "gpusched: ", stderr);
	gs_term_wrap(stderr, gs_escape(shown, sizeof(shown), text), strlen("gpusched: "),
		     gs_term_width(stderr));
}
