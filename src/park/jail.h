/* SPDX-License-Identifier: MIT */
/* jail.h - confines the park helper before libcuda is loaded; libcuda's threads inherit this */
#ifndef GPUSCHED_PARK_JAIL_H
#define GPUSCHED_PARK_JAIL_H

/*
 * Confines this process: it can no longer execute programs, open network sockets, change settings
 * of the kernel, dump core, or open more than 4096 files. Closes descriptors above @keep. Returns 0
 * or -errno.
 */
int gs_park_jail(int keep);
/*
 * After that, for all threads: no unix sockets either. Driver 580's cuInit() needs one and returns
 * 304 without it, its checkpoint calls do not. Returns 0 or -errno.
 */
int gs_park_jail_sockets(void);

#endif /* GPUSCHED_PARK_JAIL_H */
