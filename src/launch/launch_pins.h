/* SPDX-License-Identifier: MIT */
/*
 * launch_pins.h - private to the launch probes: what the kernel keeps of them when the daemon is gone
 *
 * Beside the table's folder lies another: the slots behind the attached programs, the program that
 * forgets all counts, and for each library a folder of links. Unlinking these lets the kernel
 * detach, so that it is done only where gs_launches_allowed().
 */
#ifndef GPUSCHED_LAUNCH_LAUNCH_PINS_H
#define GPUSCHED_LAUNCH_LAUNCH_PINS_H

#include <stdint.h>

#include "launch/launch_attach.h"

struct gs_pinned_lib {
	uint64_t dev, ino;
	uint32_t number;
	unsigned int probes; /* functions */
};

/* The slots; -ENOENT: there are none. */
int gs_pinned_slots(void);
/* Makes the folder with @skel's slots in it. */
int gs_pinned_begin(const struct enter_bpf *skel);
/* Sets which programs the attached ones enter from here on. */
int gs_pinned_fill(int slots_fd, const struct launch_bpf *skel);
/* From here on they return at once; none that did not runs any more. */
void gs_pinned_empty(int slots_fd);
/* All counts become unknown: for when nothing counts. */
int gs_pinned_forget(void);

/* Calls fn for each library, until it returns non-zero. */
int gs_pinned_libs(int (*fn)(const struct gs_pinned_lib *lib, void *user), void *user);
/* All or none: a library of which half is seen counts wrong. Fills @lib->probes. */
int gs_pinned_attach(const struct enter_bpf *skel, struct gs_pinned_lib *lib, int fd);
void gs_pinned_detach(const struct gs_pinned_lib *lib);
/* Everything. */
void gs_pinned_remove(void);

#endif /* GPUSCHED_LAUNCH_LAUNCH_PINS_H */
