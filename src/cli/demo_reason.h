/* SPDX-License-Identifier: MIT */
/* demo_reason.h - what the daemon says of itself during a demo */
#ifndef GPUSCHED_CLI_DEMO_REASON_H
#define GPUSCHED_CLI_DEMO_REASON_H

#include <stdbool.h>
#include <sys/types.h>

#include "cli/demo.h"

/* True when the daemon with this pid answers. */
bool demo_daemon_ready(pid_t pid);
/* Compares what the policy wants of the BE with what is; fills d->reason when they differ. */
void demo_reason(struct demo *d);

#endif /* GPUSCHED_CLI_DEMO_REASON_H */
