/* SPDX-License-Identifier: MIT */
/* jail.h - what the helper gives up before libcuda is loaded; threads of libcuda inherit it */
#ifndef GPUSCHED_PARK_JAIL_H
#define GPUSCHED_PARK_JAIL_H

/*
 * Confines this process: it can execute no program, open no network socket, change no setting of
 * the kernel, and leaves no core; few files may be open. Closes descriptors above @keep. Returns 0
 * or -errno.
 */
int gs_park_jail(int keep);

#endif /* GPUSCHED_PARK_JAIL_H */
