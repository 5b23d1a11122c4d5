/* SPDX-License-Identifier: MIT */
/* detail.h - adds the facts of `monitor --verbose` to events, and makes cells of them */
#ifndef GPUSCHED_CLI_DETAIL_H
#define GPUSCHED_CLI_DETAIL_H

#include <jansson.h>
#include <stdbool.h>

struct cli_detail;

/*
 * Prepares to look up facts about TSGs. On failure prints the reason and returns a negative errno.
 */
int cli_detail_new(struct cli_detail **ret);
void cli_detail_free(struct cli_detail *d);
/* Adds time_unix_ns to the event, and runlist, hw_tsg, channel_list of its TSG. @d may be NULL. */
void cli_detail_add(struct cli_detail *d, json_t *event);

/* Cells of time_unix_ns, and of channel_list (the context ids). */
char *cli_detail_clock(const json_t *row);
char *cli_detail_channels(const json_t *row);
/* Appends to @rows what processes that have ended left; for a table, comm says so. */
void cli_detail_add_ended(json_t *rows, const json_t *ended, bool table);

static inline void cli_detail_freep(struct cli_detail **d)
{
	cli_detail_free(*d);
}

#endif /* GPUSCHED_CLI_DETAIL_H */
