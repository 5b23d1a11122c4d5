/* SPDX-License-Identifier: MIT */
/*
 * launch_pins.h - what stays pinned in the kernel when the daemon is gone; private to the launch
 * probes
 *
 * A folder beside the table's holds the slots through which the attached programs call, the program
 * that forgets all counts, and for each library a folder of links. When a link is unlinked, the
 * kernel detaches its probe. So that is done only if gs_launches_allowed().
 */
#ifndef GPUSCHED_LAUNCH_LAUNCH_PINS_H
#define GPUSCHED_LAUNCH_LAUNCH_PINS_H

#include <stdint.h>

#include "launch/launch_attach.h"

struct gs_pinned_lib {
	uint64_t dev, ino;
	uint32_t number;
	unsigned int probes; /* functions that are probed */
};

/* A descriptor of the slots; -ENOENT: there are none. */
int gs_pinned_slots(void);
/* Makes the folder with @skel's slots in it. */
int gs_pinned_begin(const struct enter_bpf *skel);
/* Puts @skel's programs into the slots: the attached programs call these from here on. */
int gs_pinned_fill(int slots_fd, const struct launch_bpf *skel);
/*
 * Empties the slots: the attached programs return at once, and none of the others is running any
 * more.
 */
void gs_pinned_empty(int slots_fd);
/* Makes all counts unknown. Call this when nothing counts. */
int gs_pinned_forget(void);

/* Calls fn for each library, until it returns non-zero. */
int gs_pinned_libs(int (*fn)(const struct gs_pinned_lib *lib, void *user), void *user);
/*
 * Attaches to all functions or to none: with half of them, counts would be wrong. Fills
 * @lib->probes.
 */
int gs_pinned_attach(const struct enter_bpf *skel, struct gs_pinned_lib *lib, int fd);
void gs_pinned_detach(const struct gs_pinned_lib *lib);
/* Removes all pins. */
void gs_pinned_remove(void);

#endif /* GPUSCHED_LAUNCH_LAUNCH_PINS_H */
