/* SPDX-License-Identifier: MIT */
/*
 * cli.h - the command line of gpusched: one static table of commands
 *
 * A command's parser, its --help, its part of the manual page and the shell completion all follow
 * from its entry in cli_commands[]. Control verbs go through src/lib and nothing else.
 */
#ifndef GPUSCHED_CLI_CLI_H
#define GPUSCHED_CLI_CLI_H

#include <jansson.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "basic/error.h"
#include "basic/parse.h"
#include "basic/sheet.h"

struct cli;

struct cli_opt {
	const char *name; /* long name, NULL ends the list */
	char letter;      /* short form, 0: none */
	const char *arg;  /* what follows; "=X": may follow; NULL: a flag */
	const char *help;
};

#define CLI_JSON (1u << 0)    /* prints: has --json */
#define CLI_COMMAND (1u << 1) /* positionals are a command with options of its own */
#define CLI_TARGET (1u << 2)  /* --help says what a TARGET is */

#define CLI_ANY 1000 /* no upper limit */

struct cli_cmd {
	const char *noun, *verb;  /* verb NULL: the noun is the verb */
	const char *args;         /* as in the usage line */
	const char *help;         /* one line */
	const char *more;         /* for --help and the manual, or NULL */
	int (*fn)(struct cli *c); /* returns an enum gs_exit */
	const struct cli_opt *opts;
	unsigned int flags;
	int min, max; /* positionals */
};
extern const struct cli_cmd cli_commands[];
extern const size_t cli_ncommands;

struct cli {
	const struct cli_cmd *cmd;
	bool json;
	bool help;
	int argc; /* positionals */
	char **argv;
	struct gs_option_text opts[32];
	size_t nopts;
};

/* Finds the command of argv[1..]; *ret_used: words that named it. -EINVAL with one line. */
int cli_find(int argc, char **argv, const struct cli_cmd **ret, int *ret_used,
	     struct gs_error *err);
/* Parses what follows the command's name: argv[0] is its last word. */
int cli_parse(const struct cli_cmd *cmd, int argc, char **argv, struct cli *ret,
	      struct gs_error *err);
/* Moves options that stand before the verb behind it. */
void cli_verb_first(int argc, char **argv);
int cli_main(int argc, char **argv);

/* From here on SIGINT and SIGTERM set cli_stopped instead of ending the process. */
void cli_catch_stop(void);
extern volatile sig_atomic_t cli_stopped;

/* `gpusched run` has this option, named without its dashes. */
bool cli_run_has(const char *option);
/* Value of an option, "" for a flag that was given, NULL when absent. */
const char *cli_opt(const struct cli *c, const char *name);
bool cli_known_noun(const char *noun);
/* near.c: "did you mean 'X' or 'Y'?"; false: nothing is near. @noun NULL: @word stands first. */
bool cli_near_command(const char *noun, const char *word, char *buf, size_t size);
/* @word: without its dashes. */
bool cli_near_option(const struct cli_cmd *cmd, const char *word, char *buf, size_t size);

/* One line on stderr, "gpusched: TEXT"; returns the exit code that belongs to @code. */
int cli_fail(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));
int cli_fail_err(int code, const struct gs_error *err, const char *fallback);
/* @code is of the value of --@option: where it is an error, its text says of which. Returns @code. */
int cli_of_option(const char *option, int code, struct gs_error *err);

/* ---- help.c ---------------------------------------------------------------------------------- */
void cli_usage(FILE *out);
void cli_help(FILE *out, const struct cli_cmd *cmd);
void cli_help_noun(FILE *out, const char *noun);
int cli_help_cmd(struct cli *c);

/* ---- client.c: src/lib ---------------------------------------------------------------------- */

struct gpusched;
/* Opens; on failure prints the reason and returns a negative errno. */
int cli_open(uint32_t flags, struct gpusched **ret);
/* Takes @args (may be NULL). On failure prints the reason and returns a negative errno. */
int cli_request(struct gpusched *g, const char *verb, json_t *args, json_t **ret);
/* The same for what is not needed: says nothing, takes nothing. */
int cli_try(struct gpusched *g, const char *verb, const json_t *args, json_t **ret);
/* Opens, asks, closes. */
int cli_ask(uint32_t flags, const char *verb, json_t *args, json_t **ret);
/* Those of one level as `status` has them; returns how many. */
size_t cli_print_findings(const json_t *findings, const char *level);
/* The command that starts the daemon here, for messages that say what to do. */
const char *cli_start_daemon(void);
/* "12 s ago: TEXT": a policy's last word if it is at most so old; malloc'd, NULL: none. */
char *cli_policy_said(const json_t *policy, uint64_t most_s);
#define CLI_DRY_RUN "DryRun=yes: nothing is done to any TSG"
#define CLI_WIDTH 80 /* of what is the same on every terminal */
/* Each line of @text, further in. */
void cli_print_lines(const char *text);
/* Prints all of @rows (array); returns an enum gs_exit. */
int cli_print_rows(const struct cli *c, const struct gs_column *cols, size_t n, json_t *rows);
/* The same; of JSON each row has this member, too (@value NULL: none). */
int cli_print_rows_with(const struct cli *c, const struct gs_column *cols, size_t n, json_t *rows,
			const char *key, const json_t *value);
/* By name, as ps tells it: valid until the next call. A cell of "uid". */
const char *cli_user_name(uid_t uid);
char *cli_user(const json_t *row);
/* Prints one object: JSON, or "key  value" lines. */
int cli_print_object(const struct cli *c, const json_t *object);
/* Sums by @by, as `history` and `stats --by` have them; @life: with when each process began and ended. */
int cli_print_sums(const struct cli *c, const char *by, bool life, const json_t *answer);
void cli_close_(struct gpusched **g);
#define CLEANUP_GPUSCHED __attribute__((cleanup(cli_close_)))

/* ---- verbs, one file per noun ---------------------------------------------------------------- */
int cli_doctor(struct cli *c);
int cli_history(struct cli *c);
int cli_list(struct cli *c);
int cli_monitor(struct cli *c);
int cli_stats(struct cli *c);
int cli_status(struct cli *c);
int cli_set(struct cli *c);
int cli_preempt(struct cli *c);
int cli_suspend(struct cli *c);
int cli_resume(struct cli *c);
int cli_restore(struct cli *c);
int cli_run(struct cli *c);
/* Only returns when it cannot: the exit code. */
int cli_run_exec(char **argv);
/* run_agent.c: is a class the agent's word alone (no daemon, not root)? */
bool cli_run_only_tells(void);
/* Brings an agent into what this process runs next; an enum gs_exit. */
int cli_run_agent(const struct cli *c, const char *class_name);
/* run_pool.c: into a pool or shared use; a negative errno. Then runs CMD, and stays. */
int cli_run_join(const struct cli *c, const char *class_name, int *ret_sock, struct gs_error *err);
int cli_run_beside(const struct cli *c, int sock);
int cli_class_get(struct cli *c);
int cli_class_set(struct cli *c);
int cli_class_clear(struct cli *c);
int cli_class_list(struct cli *c);
int cli_class_explain(struct cli *c);
int cli_policy_get(struct cli *c);
int cli_policy_map(struct cli *c);
int cli_policy_list(struct cli *c);
int cli_policy_start(struct cli *c);
int cli_policy_show(struct cli *c);
int cli_policy_stop(struct cli *c);
int cli_policy_check(struct cli *c);
int cli_policy_new(struct cli *c);
int cli_policy_build(struct cli *c);
int cli_observe_on(struct cli *c);
int cli_observe_off(struct cli *c);
int cli_observe_status(struct cli *c);
int cli_observe_launches(struct cli *c);
int cli_shell(struct cli *c);
int cli_top(struct cli *c);
int cli_trace_record(struct cli *c);
int cli_trace_export(struct cli *c);
int cli_trace_plot(struct cli *c);
int cli_sim_shell(struct cli *c);
int cli_sim_run(struct cli *c);
int cli_sim_list(struct cli *c);
int cli_demo(struct cli *c);
int cli_advise(struct cli *c);
int cli_bench(struct cli *c);

#endif /* GPUSCHED_CLI_CLI_H */
