/* SPDX-License-Identifier: MIT */
/* jail.h - what the helper gives up before libcuda is loaded; threads of libcuda inherit it */
#ifndef GPUSCHED_PARK_JAIL_H
#define GPUSCHED_PARK_JAIL_H

/*
 * No program is executed, and neither network nor settings of the kernel are touched. No cores, few
 * files. Descriptors above @keep are closed. 0 or -errno.
 */
int gs_park_jail(int keep);

#endif /* GPUSCHED_PARK_JAIL_H */
