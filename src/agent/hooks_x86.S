/* SPDX-License-Identifier: MIT */
/*
 * hooks_x86.S - entries of the hooks
 *
 * %r11 is the hook. The short way leaves the stack and all argument registers alone, so the real
 * function finds its caller's. The long way copies eight words of stack arguments: no launch
 * function has more than five.
 */
#include "agent/hooks.h"

	.hidden gs_hooks
	.hidden gs_hook_watch
	.hidden gs_hook_counter
	.hidden gs_hook_find
	.hidden gs_hook_resolve
	.hidden gs_hook_before
	.hidden gs_hook_after
	.hidden gs_real_dlsym

	.text
	.balign 16
	.hidden gs_hook_common
	.globl gs_hook_common
	.type gs_hook_common, @function
gs_hook_common:
	.cfi_startproc
	movl HOOK_KIND(%r11), %eax
	testl %eax, gs_hook_watch(%rip)
	jnz gs_hook_long
	movq gs_hook_counter@gottpoff(%rip), %r10
	movq %fs:(%r10), %r10
	testq %r10, %r10
	jz gs_hook_long
	movl HOOK_COUNT(%r11), %eax
	lock incq (%r10, %rax)
	jmp *HOOK_REAL(%r11)
	.cfi_endproc
	.size gs_hook_common, . - gs_hook_common

	.balign 16
	.type gs_hook_long, @function
gs_hook_long:
	.cfi_startproc
	pushq %rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	movq %rsp, %rbp
	.cfi_def_cfa_register %rbp
	subq $128, %rsp
	movq %r11, -8(%rbp)
	movq %rdi, -64(%rbp)
	movq %rsi, -56(%rbp)
	movq %rdx, -48(%rbp)
	movq %rcx, -40(%rbp)
	movq %r8, -32(%rbp)
	movq %r9, -24(%rbp)
	movq %r11, %rdi
	leaq -64(%rbp), %rsi
	call gs_hook_before
	.set at, 0
	.rept 8
	movq (16 + at)(%rbp), %rax
	movq %rax, at(%rsp)
	.set at, at + 8
	.endr
	movq -64(%rbp), %rdi
	movq -56(%rbp), %rsi
	movq -48(%rbp), %rdx
	movq -40(%rbp), %rcx
	movq -32(%rbp), %r8
	movq -24(%rbp), %r9
	movq -8(%rbp), %r11
	call *HOOK_REAL(%r11)
	movq %rax, -16(%rbp)
	movq -8(%rbp), %rdi
	leaq -64(%rbp), %rsi
	movl %eax, %edx
	call gs_hook_after
	movq -16(%rbp), %rax
	leave
	.cfi_def_cfa %rsp, 8
	ret
	.cfi_endproc
	.size gs_hook_long, . - gs_hook_long

/* The place of a name before anybody asked for it. */
	.balign 16
	.hidden gs_hook_lazy
	.globl gs_hook_lazy
	.type gs_hook_lazy, @function
gs_hook_lazy:
	.cfi_startproc
	endbr64
	pushq %rdi
	pushq %rsi
	pushq %rdx
	pushq %rcx
	pushq %r8
	pushq %r9
	pushq %r11
	.cfi_def_cfa_offset 64
	movq %r11, %rdi
	call gs_hook_resolve
	popq %r11
	popq %r9
	popq %r8
	popq %rcx
	popq %rdx
	popq %rsi
	popq %rdi
	.cfi_def_cfa_offset 8
	jmp *HOOK_REAL(%r11)
	.cfi_endproc
	.size gs_hook_lazy, . - gs_hook_lazy

/* The real one looks at its caller: it is reached by a jump. */
	.balign 16
	.globl dlsym
	.type dlsym, @function
dlsym:
	.cfi_startproc
	endbr64
	pushq %rdi
	pushq %rsi
	subq $8, %rsp
	.cfi_def_cfa_offset 32
	call gs_hook_find
	addq $8, %rsp
	popq %rsi
	popq %rdi
	.cfi_def_cfa_offset 8
	testq %rax, %rax
	jz 1f
	cmpq $1, %rax
	jne 2f
	xorl %eax, %eax
2:	ret
1:	jmp *gs_real_dlsym(%rip)
	.cfi_endproc
	.size dlsym, . - dlsym

	.set number, 0
	.balign 16
	.hidden gs_hook_entries
	.globl gs_hook_entries
gs_hook_entries:
#define HOOK(name, kind) \
	.balign 16; \
	.globl name; \
	.type name, @function; \
	name:; \
	endbr64; \
	leaq gs_hooks + number * HOOK_SIZE(%rip), %r11; \
	jmp gs_hook_common; \
	.size name, . - name; \
	.set number, number + 1;
#include "agent/hooks.def"
	.balign 16
	.hidden gs_hook_pool
	.globl gs_hook_pool
gs_hook_pool:
	.rept HOOK_POOL
	.balign 16
	endbr64
	leaq gs_hooks + number * HOOK_SIZE(%rip), %r11
	jmp gs_hook_common
	.set number, number + 1
	.endr
	.hidden gs_hook_entries_end
	.globl gs_hook_entries_end
gs_hook_entries_end:
	.section .note.GNU-stack, "", @progbits
