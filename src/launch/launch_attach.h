/* SPDX-License-Identifier: MIT */
/*
 * launch_attach.h - loads the launch probes' programs and attaches them to one library
 *
 * Private to the launch probes. The programs that are attached (enter.bpf.c) only call the programs
 * that count (launch.bpf.c), through slots in a map.
 */
#ifndef GPUSCHED_LAUNCH_LAUNCH_ATTACH_H
#define GPUSCHED_LAUNCH_LAUNCH_ATTACH_H

#include <stdint.h>

#include "basic/error.h"
#include "launch/launch.bpf.h"
/* these need the types above */
#include "enter.skel.h"
#include "launch.skel.h"
#include "table/table.h"

struct gs_launches;

/* Loads the programs that count with @t's maps. -EPERM, or -ENOTSUP with the reason. */
int gs_launch_load(struct gs_table *t, struct launch_bpf **ret, struct gs_error *err);

/* Loads the programs to attach, which use the slots @slots_fd; -1: makes new slots. */
int gs_launch_load_entries(int slots_fd, struct enter_bpf **ret, struct gs_error *err);

/*
 * Attaches to the functions of the library @fd, with cookies for library number @lib. Pins the
 * links in the folder @pins. Returns the number of probes. On failure some links may be pinned.
 * -ENOEXEC: the library has none of the functions.
 */
int gs_probes_attach(const struct enter_bpf *skel, const char *pins, uint32_t lib, int fd);

/* Returns the programs that count, which still belong to @l. */
const struct launch_bpf *gs_launches_programs(const struct gs_launches *l);

#endif /* GPUSCHED_LAUNCH_LAUNCH_ATTACH_H */
