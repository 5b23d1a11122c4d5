/* SPDX-License-Identifier: MIT */
/* cli.h - declares what all commands use: options, failures, requests, printing */
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
#include "basic/json_sheet.h"
#include "cli/table.h"

struct cli {
	const struct cli_table *table;
	const struct cli_cmd *cmd;
	bool json;
	bool help;
	int argc; /* number of positionals */
	char **argv;
	struct gs_option_text opts[32];
	size_t nopts;
};

/* From now on SIGINT and SIGTERM set cli_stopped, and do not end the process. */
void cli_command_catch_stop(void);
extern volatile sig_atomic_t cli_stopped;

/* The value of an option; "" for a flag that is set; NULL if the option is absent. */
const char *cli_opt(const struct cli *c, const char *name);

/* Prints one line on stderr, "gpusched: TEXT". Returns the exit code that belongs to @code. */
int cli_fail(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));
int cli_fail_err(int code, const struct gs_error *err, const char *fallback);
/*
 * If @code is an error in the value of --@option, prepends the option to its text. Returns @code.
 */
int cli_of_option(const char *option, int code, struct gs_error *err);

/* ---- client.c: libgpusched ---------------------------------------------------------------------- */

struct gpusched;
/* Connects. On failure prints the reason and returns a negative errno. */
int cli_client_open(uint32_t flags, struct gpusched **ret);
/*
 * Sends a request. Takes @args (may be NULL). On failure prints the reason and returns a negative
 * errno.
 */
int cli_client_request(struct gpusched *g, const char *verb, json_t *args, json_t **ret);
/* Sends a request that may fail: prints nothing, and does not take @args. */
int cli_client_try(struct gpusched *g, const char *verb, const json_t *args, json_t **ret);
/* Connects, sends one request, and closes. */
int cli_ask(uint32_t flags, const char *verb, json_t *args, json_t **ret);
/* Prints the findings of one level as `status` has them; returns their number. */
size_t cli_print_status_findings(const json_t *findings, const char *level);
/*
 * A policy's last log line as "12 s ago: TEXT", if it is at most @most_s old; malloc'd, NULL: none.
 */
char *cli_policy_said(const json_t *policy, uint64_t most_s);
#define CLI_WIDTH 80 /* width of output that is the same on every terminal */
/* Prints each line of @text, indented. */
void cli_screen_lines(const char *text);
/* Prints all of @rows (array); returns an enum gs_exit. */
int cli_screen_rows(const struct cli *c, const struct gs_column *cols, size_t n, json_t *rows);
/* cli_screen_rows() with one more member in each row of JSON (@value NULL: without). */
int cli_screen_rows_with(const struct cli *c, const struct gs_column *cols, size_t n, json_t *rows,
			 const char *key, const json_t *value);
/* A user's name, as ps shows it; valid until the next call. For cells of "uid". */
const char *cli_screen_user_name(uid_t uid);
char *cli_screen_user(const json_t *row);
/* Prints one object: JSON, or "key  value" lines. */
int cli_screen_object(const struct cli *c, const json_t *object);
/*
 * Prints the answer of `history` or `stats --by`. @by: by what it is summed, such as "user". @life:
 * with begin and end of each process.
 */
int cli_print_history_sums(const struct cli *c, const char *by, bool life, const json_t *answer);
void cli_client_close_(struct gpusched **g);
#define CLEANUP_GPUSCHED __attribute__((cleanup(cli_client_close_)))

/* ---- the files of `run` ---------------------------------------------------------------------- */
/* Executes CMD. Returns only on failure, with the exit code. */
int cli_run_exec(char **argv);
/* In run_agent.c: true without a daemon and without root: then only the agent gets the class. */
bool cli_run_only_tells(void);
/*
 * Puts an agent into the program that this process executes next; returns an enum gs_exit.
 * @by_itself: nobody asked for it, so it goes only where it fits. If not, says why.
 */
int cli_run_agent(const struct cli *c, const char *class_name, bool by_itself);
/*
 * In run_pool.c. cli_run_join() joins the pool or shared server @name ("": the default one).
 * @sm: value of --sm, or NULL. A negative errno on failure. cli_run_beside() runs CMD as a child,
 * and waits for its end.
 */
int cli_run_join(const char *name, bool share, const char *sm, const char *class_name,
		 int *ret_sock, struct gs_error *err);
int cli_run_beside(const struct cli *c, int sock);

#endif /* GPUSCHED_CLI_CLI_H */
