/* SPDX-License-Identifier: MIT */
/*
 * launch_find.h - finds libcudas and their exported functions, and recognizes FUSE mounts
 */
#ifndef GPUSCHED_LAUNCH_LAUNCH_FIND_H
#define GPUSCHED_LAUNCH_LAUNCH_FIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Finds the file offsets of exported functions; 0: the library lacks the function. If a function
 * has several names, only one name gets the offset: otherwise its calls would count twice.
 */
int gs_launch_find_offsets(int fd, const char *const *names, size_t n, uint64_t *ret_offsets);

/*
 * Reads a line of mountinfo. Returns true for a FUSE file system that is served by a user other
 * than root, or that other users may enter. Also returns its device and mount point.
 */
bool gs_launch_mount_serves_users(const char *line, dev_t *ret_dev, char ret_place[256]);

/* Calls fn for each libcuda.so.1 in the library path and the usual places. */
void gs_launch_find_usual(void (*fn)(const char *path, void *user), void *user);

#endif /* GPUSCHED_LAUNCH_LAUNCH_FIND_H */
