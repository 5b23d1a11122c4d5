// SPDX-License-Identifier: MIT
/*
 * target.c - finds users in targets that the daemon cannot find
 *
 * The daemon looks only into /etc/passwd, since a directory of users may take minutes. Here only the
 * command waits for it.
 */
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "basic/cleanup.h"
#include "cli/table.h"

#define USER "user:"

static bool is_in_file(const char *name)
{
	CLEANUP_FILE FILE *f = fopen("/etc/passwd", "re");
	const struct passwd *pw = NULL;

	while (f && (pw = fgetpwent(f)) && strcmp(pw->pw_name, name) != 0)
		;
	return pw;
}

/* Writes a part of a target, as it is or as uid:N. */
static void write_part(FILE *out, const char *part, size_t len)
{
	CLEANUP_FREE char *name = NULL;
	const struct passwd *pw;

	if (len > strlen(USER) && !strncmp(part, USER, strlen(USER)))
		name = strndup(part + strlen(USER), len - strlen(USER));
	pw = name && !is_in_file(name) ? getpwnam(name) : NULL;
	if (pw)
		fprintf(out, "uid:%u", pw->pw_uid);
	else
		fprintf(out, "%.*s", (int)len, part);
}

char *cli_target_of(char *text)
{
	static char *made; /* a process has one command line */
	const char *at = text;
	size_t size;
	FILE *out;

	if (!strstr(text, USER))
		return text;
	free(made);
	out = open_memstream(&made, &size);
	while (out && *at) {
		size_t len = strcspn(at, ",");

		write_part(out, at, len);
		at += len;
		if (*at)
			fputc(*at++, out);
	}
	return out && !fclose(out) ? made : text;
}
