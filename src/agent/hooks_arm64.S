/* SPDX-License-Identifier: MIT */
/*
 * hooks_arm64.S - entries of the hooks
 *
 * x16 is the hook. The short way leaves the stack and all argument registers alone, so the real
 * function finds its caller's. The long way copies eight words of stack arguments: no launch
 * function has more than three.
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
	.type gs_hook_common, %function
gs_hook_common:
	.cfi_startproc
	ldr w17, [x16, #HOOK_KIND]
	adrp x9, gs_hook_watch
	ldr w9, [x9, #:lo12:gs_hook_watch]
	tst w17, w9
	b.ne gs_hook_long
	mrs x10, tpidr_el0
	adrp x11, :gottprel:gs_hook_counter
	ldr x11, [x11, #:gottprel_lo12:gs_hook_counter]
	ldr x10, [x10, x11]
	cbz x10, gs_hook_long
	ldr w11, [x16, #HOOK_COUNT]
	add x10, x10, x11
1:	ldxr x12, [x10]
	add x12, x12, #1
	stxr w13, x12, [x10]
	cbnz w13, 1b
	ldr x17, [x16, #HOOK_REAL]
	br x17
	.cfi_endproc
	.size gs_hook_common, . - gs_hook_common

	.set FRAME, 112
	.balign 16
	.type gs_hook_long, %function
gs_hook_long:
	.cfi_startproc
	stp x29, x30, [sp, #-FRAME]!
	.cfi_def_cfa_offset FRAME
	.cfi_offset 29, -FRAME
	.cfi_offset 30, -FRAME + 8
	mov x29, sp
	.cfi_def_cfa_register 29
	stp x0, x1, [x29, #16]
	stp x2, x3, [x29, #32]
	stp x4, x5, [x29, #48]
	stp x6, x7, [x29, #64]
	stp x8, x16, [x29, #80]
	sub sp, sp, #64
	mov x0, x16
	add x1, x29, #16
	bl gs_hook_before
	.set at, 0
	.rept 4
	ldp x9, x10, [x29, #(FRAME + at)]
	stp x9, x10, [sp, #at]
	.set at, at + 16
	.endr
	ldp x0, x1, [x29, #16]
	ldp x2, x3, [x29, #32]
	ldp x4, x5, [x29, #48]
	ldp x6, x7, [x29, #64]
	ldp x8, x16, [x29, #80]
	ldr x17, [x16, #HOOK_REAL]
	blr x17
	str x0, [x29, #96]
	mov w2, w0
	ldr x0, [x29, #88]
	add x1, x29, #16
	bl gs_hook_after
	ldr x0, [x29, #96]
	mov sp, x29
	.cfi_def_cfa_register sp
	ldp x29, x30, [sp], #FRAME
	.cfi_restore 29
	.cfi_restore 30
	.cfi_def_cfa_offset 0
	ret
	.cfi_endproc
	.size gs_hook_long, . - gs_hook_long

/* The place of a name before anybody asked for it. */
	.balign 16
	.hidden gs_hook_lazy
	.globl gs_hook_lazy
	.type gs_hook_lazy, %function
gs_hook_lazy:
	.cfi_startproc
	stp x29, x30, [sp, #-96]!
	.cfi_def_cfa_offset 96
	.cfi_offset 29, -96
	.cfi_offset 30, -88
	mov x29, sp
	stp x0, x1, [sp, #16]
	stp x2, x3, [sp, #32]
	stp x4, x5, [sp, #48]
	stp x6, x7, [sp, #64]
	stp x8, x16, [sp, #80]
	mov x0, x16
	bl gs_hook_resolve
	ldp x0, x1, [sp, #16]
	ldp x2, x3, [sp, #32]
	ldp x4, x5, [sp, #48]
	ldp x6, x7, [sp, #64]
	ldp x8, x16, [sp, #80]
	ldp x29, x30, [sp], #96
	.cfi_restore 29
	.cfi_restore 30
	.cfi_def_cfa_offset 0
	ldr x17, [x16, #HOOK_REAL]
	br x17
	.cfi_endproc
	.size gs_hook_lazy, . - gs_hook_lazy

/* The real one looks at its caller: it is reached by a jump. */
	.balign 16
	.globl dlsym
	.type dlsym, %function
dlsym:
	.cfi_startproc
	stp x29, x30, [sp, #-32]!
	.cfi_def_cfa_offset 32
	.cfi_offset 29, -32
	.cfi_offset 30, -24
	mov x29, sp
	stp x0, x1, [sp, #16]
	bl gs_hook_find
	mov x9, x0
	ldp x0, x1, [sp, #16]
	ldp x29, x30, [sp], #32
	.cfi_restore 29
	.cfi_restore 30
	.cfi_def_cfa_offset 0
	cbz x9, 1f
	cmp x9, #1
	csel x0, xzr, x9, eq
	ret
1:	adrp x17, gs_real_dlsym
	ldr x17, [x17, #:lo12:gs_real_dlsym]
	br x17
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
	.type name, %function; \
	name:; \
	adrp x16, gs_hooks + number * HOOK_SIZE; \
	add x16, x16, #:lo12:gs_hooks + number * HOOK_SIZE; \
	b gs_hook_common; \
	.size name, . - name; \
	.set number, number + 1;
#include "agent/hooks.def"
	.balign 16
	.hidden gs_hook_pool
	.globl gs_hook_pool
gs_hook_pool:
	.rept HOOK_POOL
	.balign 16
	adrp x16, gs_hooks + number * HOOK_SIZE
	add x16, x16, #:lo12:gs_hooks + number * HOOK_SIZE
	b gs_hook_common
	.set number, number + 1
	.endr
	.hidden gs_hook_entries_end
	.globl gs_hook_entries_end
gs_hook_entries_end:
	.section .note.GNU-stack, "", %progbits
