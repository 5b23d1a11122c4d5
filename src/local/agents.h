/* SPDX-License-Identifier: MIT */
#ifndef GPUSCHED_LOCAL_AGENTS_H
#define GPUSCHED_LOCAL_AGENTS_H

#include <jansson.h>
#include <stdbool.h>

#include "basic/error.h"

/* True if there are sockets of agents in this user's programs; some programs may have crashed. */
bool agents_are_there(void);
/*
 * Carries out the verbs list, set, preempt, suspend and resume through the agents in the user's own
 * programs.
 */
int agents_request(const char *verb, const json_t *args, json_t **ret, struct gs_error *err);

#endif /* GPUSCHED_LOCAL_AGENTS_H */
