// SPDX-License-Identifier: MIT
/* find.c - finds the command that some words name, and suggests one for an unknown word */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "basic/similar.h"
#include "cli/table.h"

/* Adds a suggestion, as in "did you mean 'X' or 'Y'?". */
static void add(char *buf, size_t size, const char *prefix, const char *one, const char *two)
{
	size_t at = strlen(buf);

	if (at > 2)
		at -= 1; /* the question mark */
	snprintf(buf + at, size - at, "%s'%s%s%s%s'?", at ? " or " : "did you mean ", prefix, one,
		 two ? " " : "", two ? two : "");
}

bool cli_find_near_option(const struct cli_cmd *cmd, const char *word, char *buf, size_t size)
{
	char name[32];

	buf[0] = '\0';
	snprintf(name, sizeof(name), "%.*s", (int)strcspn(word, "="), word);
	for (const struct cli_opt *o = cmd->opts; o && o->name; o++)
		if (gs_similar(name, o->name))
			add(buf, size, "--", o->name, NULL);
	return *buf;
}

/* ---- words of the table ---------------------------------------------------------------------- */

bool cli_find_noun(const struct cli_table *t, const char *noun)
{
	for (size_t i = 0; i < t->n; i++)
		if (!strcmp(t->cmds[i].noun, noun))
			return true;
	return false;
}

bool cli_find_run_option(const struct cli_table *t, const char *option)
{
	for (size_t i = 0; i < t->n; i++) {
		if (strcmp(t->cmds[i].noun, "run"))
			continue;
		for (const struct cli_opt *o = t->cmds[i].opts; o && o->name; o++)
			if (!strcmp(o->name, option))
				return true;
	}
	return false;
}

/* Suggests a command. @noun NULL: @word is the first word. */
static bool near_command(const struct cli_table *t, const char *noun, const char *word, char *buf,
			 size_t size)
{
	buf[0] = '\0';
	for (size_t i = 0; i < t->n; i++) {
		const struct cli_cmd *cmd = &t->cmds[i];
		bool first = !i || strcmp(cmd->noun, cmd[-1].noun);

		if (noun && !strcmp(noun, cmd->noun) && gs_similar(word, cmd->verb))
			add(buf, size, "", noun, cmd->verb);
		else if (!noun && first && gs_similar(word, cmd->noun))
			add(buf, size, "", cmd->noun, NULL);
		else if (!noun && cmd->verb && !strcmp(word, cmd->verb))
			add(buf, size, "", cmd->noun, cmd->verb);
	}
	if (!noun && !*buf && cli_find_run_option(t, word))
		add(buf, size, "run --", word, NULL);
	return *buf;
}

/* Lists the verbs of a noun: "get, set, clear". */
static void verbs_of(const struct cli_table *t, const char *noun, char *buf, size_t size)
{
	size_t at = 0;

	buf[0] = '\0';
	for (size_t i = 0; i < t->n && at < size; i++)
		if (!strcmp(t->cmds[i].noun, noun) && t->cmds[i].verb)
			at += snprintf(buf + at, size - at, "%s%s", at ? ", " : "",
				       t->cmds[i].verb);
}

int cli_find(const struct cli_table *t, int argc, char **argv, const struct cli_cmd **ret,
	     int *ret_used, struct gs_error *err)
{
	char verbs[256];

	if (argc < 2)
		return gs_fail(err, -EINVAL, "no verb given: 'gpusched help' lists them");
	if (!cli_find_noun(t, argv[1]))
		return gs_fail(err, -EINVAL, "unknown verb '%s': %s", argv[1],
			       near_command(t, NULL, argv[1], verbs, sizeof(verbs))
				       ? verbs
				       : "'gpusched help' lists them");
	for (size_t i = 0; i < t->n; i++) {
		const struct cli_cmd *cmd = &t->cmds[i];

		if (strcmp(cmd->noun, argv[1]))
			continue;
		if (cmd->verb && (argc < 3 || strcmp(cmd->verb, argv[2])))
			continue;
		*ret = cmd;
		*ret_used = cmd->verb ? 2 : 1;
		return 0;
	}
	if (argc > 2 && near_command(t, argv[1], argv[2], verbs, sizeof(verbs)))
		return gs_fail(err, -EINVAL, "%s has no verb '%s': %s", argv[1], argv[2], verbs);
	verbs_of(t, argv[1], verbs, sizeof(verbs));
	if (argc < 3 || argv[2][0] == '-')
		return gs_fail(err, -EINVAL, "%s needs a verb: one of %s", argv[1], verbs);
	return gs_fail(err, -EINVAL, "%s has no verb '%s': one of %s", argv[1], argv[2], verbs);
}
