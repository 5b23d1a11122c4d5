/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * arch.bpf.h - includes the file for this processor: numbers and registers of system calls
 *
 * Each arch_NAME.bpf.h defines struct pt_regs, gs_syscall_*() for the exit of a system call,
 * gs_is_*() for system call numbers, and GS_PROBE_* for uprobes.
 */
#ifndef GPUSCHED_TABLE_ARCH_BPF_H
#define GPUSCHED_TABLE_ARCH_BPF_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "gpusched/abi.h"

#if defined(__TARGET_ARCH_x86)
#include "table/arch_x86.bpf.h"
#elif defined(__TARGET_ARCH_arm64)
#include "table/arch_arm64.bpf.h"
#else
#error "no arch_NAME.bpf.h for this processor"
#endif

#endif /* GPUSCHED_TABLE_ARCH_BPF_H */
