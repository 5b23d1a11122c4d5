/* SPDX-License-Identifier: MIT */
/*
 * jail_arm64.h - what is arm64's alone in the filter of jail.c
 */
#ifndef GPUSCHED_PARK_JAIL_ARM64_H
#define GPUSCHED_PARK_JAIL_ARM64_H

#define JAIL_ARCH AUDIT_ARCH_AARCH64
#define JAIL_ARCH_REFUSES REFUSE(nfsservctl) /* there are no ports */

#endif /* GPUSCHED_PARK_JAIL_ARM64_H */
