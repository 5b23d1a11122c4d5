/* SPDX-License-Identifier: MIT */
/* park.h - the verbs park, unpark, parked, and parked programs for other commands */
#ifndef GPUSCHED_CLI_PARK_H
#define GPUSCHED_CLI_PARK_H

#include <jansson.h>
#include <stdbool.h>

struct cli;

int cli_park(struct cli *c);
int cli_unpark(struct cli *c);
int cli_parked(struct cli *c);

/* A line for each, below a table. */
void cli_print_parked(const json_t *parked);
/* As far as root can see without asking. */
bool cli_anybody_parked(void);
/* Brings back what fits, in the order of parking, and names the rest; @keep: only what is locked. */
int cli_unpark_all(const struct cli *c, bool keep);
/* The room that run's --needs asks for is there, or nothing has changed; 0, or an enum gs_exit. */
int cli_run_room(const struct cli *c);

#endif /* GPUSCHED_CLI_PARK_H */
