/* SPDX-License-Identifier: MIT */
/*
 * verbs_act.h - declares the verbs that act or choose
 *
 * commands.c sets them as callbacks in cli_table. Each returns an enum gs_exit.
 */
#ifndef GPUSCHED_CLI_VERBS_ACT_H
#define GPUSCHED_CLI_VERBS_ACT_H

#include <jansson.h>

struct cli;

int cli_set(struct cli *c);
int cli_set_preempt(struct cli *c);
int cli_set_suspend(struct cli *c);
int cli_set_resume(struct cli *c);
int cli_set_restore(struct cli *c);
int cli_run(struct cli *c);
int cli_class_get(struct cli *c);
int cli_class_set(struct cli *c);
int cli_class_clear(struct cli *c);
/* Prints how many processes @answer has changed. This is not a verb. */
int cli_class_told(const struct cli *c, const char *what, const json_t *answer);
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

#endif /* GPUSCHED_CLI_VERBS_ACT_H */
