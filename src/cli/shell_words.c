// SPDX-License-Identifier: MIT
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/shell.h"
#include "requests/target.h"

struct found {
	char (*all)[CLI_CANDIDATE_LEN];
	size_t n;
	const char *prefix;
};

static void add(struct found *f, const char *dashes, const char *word)
{
	char text[CLI_CANDIDATE_LEN];

	snprintf(text, sizeof(text), "%s%s", dashes, word);
	if (strncmp(text, f->prefix, strlen(f->prefix)) || f->n == CLI_CANDIDATES)
		return;
	for (size_t i = 0; i < f->n; i++)
		if (!strcmp(f->all[i], text))
			return;
	memcpy(f->all[f->n++], text, sizeof(text));
}

/* The command that the first words name; NULL: none. */
static const struct cli_cmd *command(const struct cli_table *t, size_t n, const char *const *words)
{
	for (size_t i = 0; n && i < t->n; i++) {
		const struct cli_cmd *cmd = &t->cmds[i];

		if (!strcmp(cmd->noun, words[0]) &&
		    (!cmd->verb || (n > 1 && !strcmp(cmd->verb, words[1]))))
			return cmd;
	}
	return NULL;
}

static void add_options(struct found *f, const struct cli_cmd *cmd)
{
	for (const struct cli_opt *o = cmd->opts; o && o->name; o++)
		add(f, "--", o->name);
	if (cmd->flags & CLI_JSON)
		add(f, "--", "json");
	add(f, "--", "help");
}

/* Adds the beginnings of targets. */
static void add_targets(struct found *f)
{
	static const char *const kinds[] = { GS_TARGET_WORDS };

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		add(f, "", kinds[i]);
}

static void add_nouns(const struct cli_table *t, struct found *f)
{
	for (size_t i = 0; i < t->n; i++)
		if (strcmp(t->cmds[i].noun, "shell"))
			add(f, "", t->cmds[i].noun);
	add(f, "", "quit");
}

size_t cli_shell_candidates(const struct cli_table *t, size_t n, const char *const *words,
			    char ret[CLI_CANDIDATES][CLI_CANDIDATE_LEN])
{
	struct found f = { .all = ret, .prefix = n ? words[n - 1] : "" };
	const struct cli_cmd *cmd = n > 1 ? command(t, n - 1, words) : NULL;
	size_t help = n > 1 && !strcmp(words[0], "help");

	if (n <= 1 || (help && n == 2))
		add_nouns(t, &f);
	else if (cmd && f.prefix[0] == '-')
		add_options(&f, cmd);
	else if (cmd && cmd->flags & CLI_TARGET)
		add_targets(&f);
	for (size_t i = 0; n == 2 + help && i < t->n; i++)
		if (t->cmds[i].verb && !strcmp(t->cmds[i].noun, words[help]))
			add(&f, "", t->cmds[i].verb);
	return f.n;
}
