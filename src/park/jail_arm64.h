/* SPDX-License-Identifier: MIT */
/* jail_arm64.h - the part of jail.c's filter that only arm64 has */
#ifndef GPUSCHED_PARK_JAIL_ARM64_H
#define GPUSCHED_PARK_JAIL_ARM64_H

#define JAIL_ARCH AUDIT_ARCH_AARCH64
#define JAIL_ARCH_REFUSES REFUSE(nfsservctl) /* arm64 has no I/O ports */

#endif /* GPUSCHED_PARK_JAIL_ARM64_H */
