/* SPDX-License-Identifier: MIT */
/* jail_arm64.h - defines the part of jail.c's system call filter that is specific to arm64 */
#ifndef GPUSCHED_PARK_JAIL_ARM64_H
#define GPUSCHED_PARK_JAIL_ARM64_H

#define JAIL_ARCH AUDIT_ARCH_AARCH64
#define JAIL_ARCH_REFUSES REFUSE(nfsservctl) /* arm64 has no I/O ports */

#endif /* GPUSCHED_PARK_JAIL_ARM64_H */
