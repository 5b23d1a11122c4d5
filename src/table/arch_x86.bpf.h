/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * arch_x86.bpf.h - reads system calls and registers of x86-64, i386 and x32 programs
 *
 * At the exit of a system call, its arguments are still in the registers.
 */
#ifndef GPUSCHED_TABLE_ARCH_X86_BPF_H
#define GPUSCHED_TABLE_ARCH_X86_BPF_H

#define TS_COMPAT 2u
#define X32_BIT 0x40000000u
#define NR_OPEN_32 5
#define NR_IOCTL 16
#define NR_IOCTL_32 54
#define NR_OPEN 2
#define NR_OPENAT 257
#define NR_OPENAT_32 295
#define NR_OPEN_BY_HANDLE 304
#define NR_OPEN_BY_HANDLE_32 342
#define NR_OPENAT2 437 /* the same in 64-bit and 32-bit programs */
#define NR_IOCTL_X32 514

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct pt_regs {
	unsigned long ax;
	unsigned long bx;
	unsigned long cx;
	unsigned long dx;
	unsigned long si;
	unsigned long di;
	unsigned long orig_ax;
};

struct thread_info {
	unsigned int status;
};

struct task_struct___x86 {
	struct thread_info thread_info;
};

#pragma clang attribute pop

/* In a uprobe: the function's first argument; in a uretprobe: its result. */
#define GS_PROBE_ARG0(regs) ((regs)->di)
#define GS_PROBE_RESULT(regs) ((regs)->ax)

static __always_inline gs_u32 gs_syscall_nr(const struct pt_regs *regs)
{
	return (gs_u32)regs->orig_ax & ~X32_BIT;
}

/* True for all system calls that the taps read, in any kind of program. Most calls end here. */
static __always_inline int gs_syscall_matters(gs_u32 nr)
{
	switch (nr) {
	case NR_IOCTL:
	case NR_IOCTL_32:
	case NR_IOCTL_X32:
	case NR_OPEN:
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

/* True for a 32-bit call, which any process can make. It uses different numbers and registers. */
static __always_inline int gs_syscall_compat(const struct pt_regs *regs)
{
	struct task_struct___x86 *task = (void *)bpf_get_current_task_btf();

	return task->thread_info.status & TS_COMPAT;
}

static __always_inline int gs_is_ioctl(gs_u32 nr, int compat)
{
	return compat ? nr == NR_IOCTL_32 : nr == NR_IOCTL || nr == NR_IOCTL_X32;
}

static __always_inline int gs_is_open(gs_u32 nr, int compat)
{
	if (compat)
		return nr == NR_OPEN_32 || nr == NR_OPENAT_32 || nr == NR_OPENAT2 ||
		       nr == NR_OPEN_BY_HANDLE_32;
	return nr == NR_OPEN || nr == NR_OPENAT || nr == NR_OPENAT2 || nr == NR_OPEN_BY_HANDLE;
}

static __always_inline gs_u32 gs_syscall_arg0(const struct pt_regs *regs, int compat)
{
	return compat ? regs->bx : regs->di;
}

static __always_inline gs_u32 gs_syscall_arg1(const struct pt_regs *regs, int compat)
{
	return compat ? regs->cx : regs->si;
}

static __always_inline gs_u64 gs_syscall_arg2(const struct pt_regs *regs, int compat)
{
	return compat ? (gs_u32)regs->dx : regs->dx;
}

#endif /* GPUSCHED_TABLE_ARCH_X86_BPF_H */
