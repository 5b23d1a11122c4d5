/* SPDX-License-Identifier: MIT */
/*
 * launch_pins.h - keeps the launch probes pinned in the kernel when the daemon has ended
 *
 * Private to the launch probes. All pins are in a folder next to the table's. "slots" is a map of
 * the counting programs, which the attached programs call. "forget" is a program that makes all
 * counts unknown. Each library has a folder of links. Unlinking a link detaches its probe, which
 * may stall fork() on the whole machine: check gs_launches_allowed() first.
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

/* Returns a descriptor of the slots; -ENOENT: there are none. */
int gs_pinned_slots(void);
/* Makes the folder with @skel's slots in it. */
int gs_pinned_begin(const struct enter_bpf *skel);
/* Puts @skel's programs into the slots, so that the attached programs call them from now on. */
int gs_pinned_fill(int slots_fd, const struct launch_bpf *skel);
/*
 * Empties the slots, and waits until no program that was in them still runs. From then on the
 * attached programs do nothing.
 */
void gs_pinned_empty(int slots_fd);
/* Makes all counts unknown. Call this while the slots are empty, so that no program counts. */
int gs_pinned_forget(void);

/* Calls fn for each library, until it returns non-zero. */
int gs_pinned_libs(int (*fn)(const struct gs_pinned_lib *lib, void *user), void *user);
/*
 * Attaches to all functions or to none, since counts would be wrong with half of them. Fills
 * lib->probes.
 */
int gs_pinned_attach(const struct enter_bpf *skel, struct gs_pinned_lib *lib, int fd);
void gs_pinned_detach(const struct gs_pinned_lib *lib);
/* Removes all pins. */
void gs_pinned_remove(void);

#endif /* GPUSCHED_LAUNCH_LAUNCH_PINS_H */
