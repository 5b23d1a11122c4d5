/* SPDX-License-Identifier: MIT */
#ifndef GPUSCHED_TABLE_BPFFS_H
#define GPUSCHED_TABLE_BPFFS_H

#include "basic/error.h"

/*
 * Makes sure that the parent of gs_env()->bpffs is a BPF file system. Mounts one there if gpusched
 * may do that.
 */
int gs_bpffs_ready(struct gs_error *err);
/* The folder in which the running policy's maps are pinned. */
#define GS_PINS_PATH 300
void gs_bpffs_policy_pins(char ret[GS_PINS_PATH]);
/* Removes a folder of pins and everything in it. */
int gs_bpffs_remove(const char *dir);

#endif /* GPUSCHED_TABLE_BPFFS_H */
