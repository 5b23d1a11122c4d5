/* SPDX-License-Identifier: MIT */
/*
 * preload.h - tells where a library that nobody asked for may go by LD_PRELOAD
 */
#ifndef GPUSCHED_PROCESS_PRELOAD_H
#define GPUSCHED_PROCESS_PRELOAD_H

#include <stdbool.h>
#include <stddef.h>

/*
 * True if a preloaded library fits into the command and this process's environment. If not, fills
 * in @why; "" if the command cannot be executed at all.
 */
bool gs_preload_fits(char *const argv[], char *why, size_t size);

#endif /* GPUSCHED_PROCESS_PRELOAD_H */
