// SPDX-License-Identifier: MIT
#include "basic/ini_text.h"

#include <errno.h>
#include <string.h>

void gs_ini_prepare(void)
{
	static char comments[] = ";#";

	ini_max_line = GS_INI_LINE; /* 200 as built: a rule for one pod's container has 236 */
	/* else an indented key or section would continue the value before it */
	ini_allow_multiline = false;
	ini_inline_comment_prefixes = comments;
}

/* Returns the number of the first line that is too long for the library; 0: none is. */
static int long_line(const char *text)
{
	for (int line = 1; *text; line++) {
		size_t n = strcspn(text, "\n");

		if (n + 2 > GS_INI_LINE)
			return line;
		text += n + (text[n] == '\n');
	}
	return 0;
}

int gs_ini_parse_text(const char *text, ini_handler fn, void *user, struct gs_error *err)
{
	int line = long_line(text);

	if (line) {
		gs_fail(err, -EINVAL, "the line is longer than %d bytes", GS_INI_LINE - 2);
		return line;
	}
	gs_ini_prepare();
	return ini_parse_string(text, fn, user);
}
