/* SPDX-License-Identifier: MIT */
/* shell.h - declares the verbs shell and sim, and completes a command line that is being typed */
#ifndef GPUSCHED_CLI_SHELL_H
#define GPUSCHED_CLI_SHELL_H

#include <stddef.h>

#define CLI_CANDIDATES 64
#define CLI_CANDIDATE_LEN 40

struct cli;
struct cli_table;

int cli_shell(struct cli *c);
int cli_sim_shell(struct cli *c);
int cli_sim_run(struct cli *c);
int cli_sim_list(struct cli *c);

/*
 * Finds the words that can complete the last of @words ("": the line ends with a blank). Each word
 * comes once, in the order of the table of commands. Returns their number.
 */
size_t cli_shell_candidates(const struct cli_table *t, size_t n, const char *const *words,
			    char ret[CLI_CANDIDATES][CLI_CANDIDATE_LEN]);

#endif /* GPUSCHED_CLI_SHELL_H */
