// SPDX-License-Identifier: MIT
/* near.c - what somebody may have meant by a word that is not known */
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"

#define LONGEST 24
#define PREFIX_LEAST 3

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Letters to be changed, added, left out, or swapped with their neighbours. */
static size_t distance(const char *a, const char *b)
{
	size_t d[LONGEST + 1][LONGEST + 1], n = strlen(a), m = strlen(b);

	if (n > LONGEST || m > LONGEST)
		return n + m;
	for (size_t i = 0; i <= n; i++)
		for (size_t j = 0; j <= m; j++) {
			if (!i || !j) {
				d[i][j] = i + j;
				continue;
			}
			d[i][j] = least(least(d[i - 1][j], d[i][j - 1]) + 1,
					d[i - 1][j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				d[i][j] = least(d[i][j], d[i - 2][j - 2] + 1);
		}
	return d[n][m];
}

static bool is_near(const char *word, const char *known)
{
	size_t n = strlen(word);

	return (n >= PREFIX_LEAST && !strncmp(word, known, n)) ||
	       distance(word, known) <= (n + 1) / 3;
}

/* "did you mean 'X' or 'Y'?" */
static void add(char *buf, size_t size, const char *prefix, const char *one, const char *two)
{
	size_t at = strlen(buf);

	if (at > 2)
		at -= 1; /* the question mark */
	snprintf(buf + at, size - at, "%s'%s%s%s%s'?", at ? " or " : "did you mean ", prefix, one,
		 two ? " " : "", two ? two : "");
}

bool cli_near_command(const char *noun, const char *word, char *buf, size_t size)
{
	buf[0] = '\0';
	for (size_t i = 0; i < cli_ncommands; i++) {
		const struct cli_cmd *cmd = &cli_commands[i];
		bool first = !i || strcmp(cmd->noun, cmd[-1].noun);

		if (noun && !strcmp(noun, cmd->noun) && is_near(word, cmd->verb))
			add(buf, size, "", noun, cmd->verb);
		else if (!noun && first && is_near(word, cmd->noun))
			add(buf, size, "", cmd->noun, NULL);
		else if (!noun && cmd->verb && !strcmp(word, cmd->verb))
			add(buf, size, "", cmd->noun, cmd->verb);
	}
	if (!noun && !*buf && cli_run_has(word))
		add(buf, size, "run --", word, NULL);
	return *buf;
}

bool cli_near_option(const struct cli_cmd *cmd, const char *word, char *buf, size_t size)
{
	char name[LONGEST + 1];

	buf[0] = '\0';
	snprintf(name, sizeof(name), "%.*s", (int)strcspn(word, "="), word);
	for (const struct cli_opt *o = cmd->opts; o && o->name; o++)
		if (is_near(name, o->name))
			add(buf, size, "--", o->name, NULL);
	return *buf;
}
