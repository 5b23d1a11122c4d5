/* SPDX-License-Identifier: MIT */
/* jail_x86.h - defines the part of jail.c's system call filter that is specific to x86 */
#ifndef GPUSCHED_PARK_JAIL_X86_H
#define GPUSCHED_PARK_JAIL_X86_H

#define JAIL_ARCH AUDIT_ARCH_X86_64
#define JAIL_ARCH_REFUSES REFUSE(iopl), REFUSE(ioperm) /* access to I/O ports */

#endif /* GPUSCHED_PARK_JAIL_X86_H */
