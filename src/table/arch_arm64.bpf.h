/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * arch_arm64.bpf.h - reads system calls and registers of arm64 and 32-bit arm programs
 *
 * At the exit of a system call, x0 already holds the result. So the first argument is read from
 * orig_x0, where the kernel keeps it for a restart.
 */
#ifndef GPUSCHED_TABLE_ARCH_ARM64_BPF_H
#define GPUSCHED_TABLE_ARCH_ARM64_BPF_H

#define PSR_MODE32_BIT 0x10u
#define NR_IOCTL 29
#define NR_OPENAT 56
#define NR_OPEN_BY_HANDLE 265
#define NR_OPENAT2 437 /* the same in 64-bit and 32-bit programs */
#define NR_OPEN_32 5
#define NR_IOCTL_32 54
#define NR_OPENAT_32 322
#define NR_OPEN_BY_HANDLE_32 371

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct pt_regs {
	unsigned long long regs[31];
	unsigned long long pstate;
	unsigned long long orig_x0;
	int syscallno;
};

#pragma clang attribute pop

/* In a uprobe: the function's first argument; in a uretprobe: its result. */
#define GS_PROBE_ARG0(ctx) ((ctx)->regs[0])
#define GS_PROBE_RESULT(ctx) ((ctx)->regs[0])

static __always_inline gs_u32 gs_syscall_nr(const struct pt_regs *regs)
{
	return regs->syscallno;
}

/* True for all system calls that the taps read, in any kind of program. Most calls end here. */
static __always_inline int gs_syscall_matters(gs_u32 nr)
{
	switch (nr) {
	case NR_IOCTL:
	case NR_IOCTL_32:
	case NR_OPEN_32:
	case NR_OPENAT:
	case NR_OPENAT_32:
	case NR_OPENAT2:
	case NR_OPEN_BY_HANDLE:
	case NR_OPEN_BY_HANDLE_32:
		return 1;
	default:
		return 0;
	}
}

/* True for a call of a 32-bit program, which uses different numbers. */
static __always_inline int gs_syscall_compat(const struct pt_regs *regs)
{
	return regs->pstate & PSR_MODE32_BIT;
}

static __always_inline int gs_is_ioctl(gs_u32 nr, int compat)
{
	return nr == (compat ? NR_IOCTL_32 : NR_IOCTL);
}

static __always_inline int gs_is_open(gs_u32 nr, int compat)
{
	if (compat)
		return nr == NR_OPEN_32 || nr == NR_OPENAT_32 || nr == NR_OPENAT2 ||
		       nr == NR_OPEN_BY_HANDLE_32;
	return nr == NR_OPENAT || nr == NR_OPENAT2 || nr == NR_OPEN_BY_HANDLE;
}

static __always_inline gs_u32 gs_syscall_arg0(const struct pt_regs *regs, int compat)
{
	return regs->orig_x0;
}

static __always_inline gs_u32 gs_syscall_arg1(const struct pt_regs *regs, int compat)
{
	return regs->regs[1];
}

static __always_inline gs_u64 gs_syscall_arg2(const struct pt_regs *regs, int compat)
{
	return compat ? (gs_u32)regs->regs[2] : regs->regs[2];
}

#endif /* GPUSCHED_TABLE_ARCH_ARM64_BPF_H */
