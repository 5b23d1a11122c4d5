/* SPDX-License-Identifier: MIT */
/*
 * jail_x86.h - what is x86's alone in the filter of jail.c
 */
#ifndef GPUSCHED_PARK_JAIL_X86_H
#define GPUSCHED_PARK_JAIL_X86_H

#define JAIL_ARCH AUDIT_ARCH_X86_64
#define JAIL_ARCH_REFUSES REFUSE(iopl), REFUSE(ioperm) /* the ports */

#endif /* GPUSCHED_PARK_JAIL_X86_H */
