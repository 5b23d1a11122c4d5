/* SPDX-License-Identifier: MIT */
#ifndef GPUSCHED_TABLE_BPFFS_H
#define GPUSCHED_TABLE_BPFFS_H

#include "basic/error.h"

/*
 * Makes sure that the parent of gs_env()->bpffs is a BPF file system. Mounts one if that is
 * allowed.
 */
int gs_bpffs_ready(struct gs_error *err);
/* Where the maps of the running policy are pinned. */
#define GS_PINS_PATH 300
void gs_pins_of_policy(char ret[GS_PINS_PATH]);
/* Removes a folder of pins and everything in it. */
int gs_pins_remove(const char *dir);

#endif /* GPUSCHED_TABLE_BPFFS_H */
