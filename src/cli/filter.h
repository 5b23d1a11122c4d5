/* SPDX-License-Identifier: MIT */
/* filter.h - decides which events belong to a TARGET */
#ifndef GPUSCHED_CLI_FILTER_H
#define GPUSCHED_CLI_FILTER_H

#include <jansson.h>
#include <stdbool.h>

struct cli_filter;

/*
 * Makes a filter for @target, and has the daemon check it. On failure prints why and returns a
 * negative errno.
 */
int cli_filter_new(const char *target, struct cli_filter **ret);
void cli_filter_free(struct cli_filter *f);
bool cli_filter_match(struct cli_filter *f, const json_t *event);

static inline void cli_filter_freep(struct cli_filter **f)
{
	cli_filter_free(*f);
}

#endif /* GPUSCHED_CLI_FILTER_H */
