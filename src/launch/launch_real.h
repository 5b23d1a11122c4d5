/* SPDX-License-Identifier: MIT */
/*
 * launch_real.h - finds the file that the kernel probes when a probe is set on a file of an overlay
 *
 * Containers of one image map the same library, but stat() shows another device for each overlay.
 * The kernel probes the layer's file, for all of them.
 */
#ifndef GPUSCHED_LAUNCH_LAUNCH_REAL_H
#define GPUSCHED_LAUNCH_LAUNCH_REAL_H

#include <stdbool.h>
#include <stdint.h>

/* True if the file is on an overlay. Asks the file system, so it has to be this kernel's own. */
bool gs_real_is_elsewhere(int fd);
/*
 * Gets device (as in makedev()) and inode of the real file. @prog_fd: the program launch_real. @fd:
 * open for reading.
 */
int gs_real_file(int prog_fd, int fd, uint64_t *ret_dev, uint64_t *ret_ino);

#endif /* GPUSCHED_LAUNCH_LAUNCH_REAL_H */
