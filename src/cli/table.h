/* SPDX-License-Identifier: MIT */
/*
 * table.h - describes the command line of gpusched: one static table of commands
 *
 * Parser, --help, manual page and shell completion all follow from a command's entry. The table is
 * in commands.c. Functions that read it get it as an argument, or in struct cli.
 */
#ifndef GPUSCHED_CLI_TABLE_H
#define GPUSCHED_CLI_TABLE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "basic/error.h"

struct cli;

struct cli_opt {
	const char *name; /* long name; NULL ends the list */
	char letter;      /* short form, 0: none */
	/* what follows the option; "=X": X may follow; NULL: the option is a flag */
	const char *arg;
	const char *help;
	void (*words)(json_t *ret); /* adds what may follow, for completions; may be NULL */
};

#define CLI_JSON (1u << 0)    /* the verb prints, so it has --json */
#define CLI_COMMAND (1u << 1) /* the positionals are a command with its own options */
#define CLI_TARGET (1u << 2)  /* --help says what a TARGET is */

#define CLI_ANY 1000 /* stands for no upper limit */

struct cli_cmd {
	const char *noun, *verb;  /* @verb NULL: the noun itself is the verb */
	const char *args;         /* as in the usage line */
	const char *help;         /* one line */
	const char *more;         /* further text for --help and the manual; may be NULL */
	int (*fn)(struct cli *c); /* returns an enum gs_exit */
	const struct cli_opt *opts;
	unsigned int flags;
	int min, max; /* numbers of positionals */
};

struct cli_table {
	const struct cli_cmd *cmds;
	size_t n;
};
extern const struct cli_table cli_table; /* the table of this program */

/* ---- find.c ---------------------------------------------------------------------------------- */

/*
 * Finds the command that argv[1..] names; *ret_used: number of words that name it. -EINVAL with one
 * line.
 */
int cli_find(const struct cli_table *t, int argc, char **argv, const struct cli_cmd **ret,
	     int *ret_used, struct gs_error *err);
bool cli_find_noun(const struct cli_table *t, const char *noun);
/* True if `gpusched run` has this option; @option is without its dashes. */
bool cli_find_run_option(const struct cli_table *t, const char *option);
/* Writes "did you mean 'X' or 'Y'?". False: no option is similar. @word: without its dashes. */
bool cli_find_near_option(const struct cli_cmd *cmd, const char *word, char *buf, size_t size);

/* ---- cli.c ----------------------------------------------------------------------------------- */

/* Parses the words after the command's name; argv[0] is the last word of that name. */
int cli_parse(const struct cli_cmd *cmd, int argc, char **argv, struct cli *ret,
	      struct gs_error *err);
/*
 * In target.c: a target whose users are uids, unless /etc/passwd has them. Valid until the next call;
 * @text itself if nothing changes.
 */
char *cli_target_of(char *text);
/* Moves options that stand before the verb to a place after it. */
void cli_verb_first(const struct cli_table *t, int argc, char **argv);
int cli_main(const struct cli_table *t, int argc, char **argv);

/* ---- help.c ---------------------------------------------------------------------------------- */

void cli_help_usage(const struct cli_table *t, FILE *out);
void cli_help(FILE *out, const struct cli_cmd *cmd);
void cli_help_noun(const struct cli_table *t, FILE *out, const char *noun);

#endif /* GPUSCHED_CLI_TABLE_H */
