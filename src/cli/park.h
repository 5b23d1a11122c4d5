/* SPDX-License-Identifier: MIT */
/* park.h - declares the verbs park, unpark and parked, and helpers for other commands */
#ifndef GPUSCHED_CLI_PARK_H
#define GPUSCHED_CLI_PARK_H

#include <jansson.h>
#include <stdbool.h>

struct cli;

int cli_park(struct cli *c);
int cli_unpark(struct cli *c);
int cli_parked(struct cli *c);

/* Prints one note for each parked program, below a table. */
void cli_print_parked(const struct cli *c, const json_t *parked);
/* True if any program is parked. Without the daemon, only root can see that. */
bool cli_anybody_parked(void);
/*
 * Brings back the programs that fit, in the order of parking, and names the others. @keep: only
 * unlocks programs that are locked and not parked.
 */
int cli_unpark_all(const struct cli *c, bool keep);
/*
 * Parks other programs until the memory that --needs asks for is free. If that is impossible,
 * changes nothing. 0, or an enum gs_exit.
 */
int cli_park_make_room(const struct cli *c);

#endif /* GPUSCHED_CLI_PARK_H */
