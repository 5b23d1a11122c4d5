/* SPDX-License-Identifier: MIT */
/*
 * launch_attach.h - private to the launch probes: their programs, and attaching them to one library
 */
#ifndef GPUSCHED_LAUNCH_LAUNCH_ATTACH_H
#define GPUSCHED_LAUNCH_LAUNCH_ATTACH_H

#include <stdint.h>

#include "basic/error.h"
#include "launch/launch.bpf.h"
/* need the types above */
#include "enter.skel.h"
#include "launch.skel.h"
#include "table/table.h"

/* Loads the programs that count on @t's maps. -EPERM, or -ENOTSUP with the reason. */
int gs_launch_load(struct gs_table *t, struct launch_bpf **ret, struct gs_error *err);

/* Loads those that are attached, in front of the slots @slots_fd; -1: of slots of their own. */
int gs_entries_load(int slots_fd, struct enter_bpf **ret, struct gs_error *err);

/*
 * Attaches to the functions of the library @fd, with cookies of library number @lib, and pins the
 * links in the folder @pins. Returns how many functions, or -errno: then some may be pinned.
 * -ENOEXEC: none of them is in it.
 */
int gs_probes_attach(const struct enter_bpf *skel, const char *pins, uint32_t lib, int fd);

#endif /* GPUSCHED_LAUNCH_LAUNCH_ATTACH_H */
