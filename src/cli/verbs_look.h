/* SPDX-License-Identifier: MIT */
/*
 * verbs_look.h - declares the verbs that show or measure
 *
 * commands.c sets them as callbacks in cli_table. Each returns an enum gs_exit.
 */
#ifndef GPUSCHED_CLI_VERBS_LOOK_H
#define GPUSCHED_CLI_VERBS_LOOK_H

#include <jansson.h>
#include <stdbool.h>

#include "cli/screen.h"

struct cli;

int cli_doctor(struct cli *c);
int cli_gpus(struct cli *c);
int cli_history(struct cli *c);
int cli_list(struct cli *c);
int cli_monitor(struct cli *c);
int cli_budget(struct cli *c);
int cli_stats(struct cli *c);
int cli_status(struct cli *c);
int cli_top(struct cli *c);
int cli_trace_record(struct cli *c);
int cli_trace_export(struct cli *c);
int cli_trace_plot(struct cli *c);
int cli_advise(struct cli *c);
int cli_bench(struct cli *c);
int cli_qualify(struct cli *c);
int cli_help_cmd(struct cli *c);

/*
 * True if the policy holds no other TSG for this TSG's requests, since nobody reports them. @says:
 * the policy's report on the TSG.
 */
bool cli_status_is_untold(const json_t *says);
/* Returns why nothing was done after an answer; NULL: all was done. Not a verb. */
const char *cli_client_not_done(const json_t *answer);

/* ---- screens ---------------------------------------------------------------------------------- */

/* These print a verb's answer. */
int cli_print_list(const struct cli *c, const char *target, const json_t *answer);
int cli_print_status(const struct cli *c, const json_t *answer);
int cli_print_history(const struct cli *c, const char *by, bool of_events, const json_t *answer);

/* Add the words that may follow an option, as keys of @words. */
void cli_history_by(json_t *words);
void cli_history_stats_by(json_t *words);
void cli_top_sorts(json_t *words);

#endif /* GPUSCHED_CLI_VERBS_LOOK_H */
