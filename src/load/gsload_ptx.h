/* SPDX-License-Identifier: MIT */
/*
 * gsload_ptx.h - the load generator's kernels, as PTX that every GPU since 2014 compiles
 *
 * gs_work does a fixed amount of arithmetic: @n rounds of four multiply-adds a thread. A kernel
 * that watched a clock would count the time in which it is preempted as work.
 * gs_stream, in a module of its own, reads and writes each of @n words at @at once.
 * gs_hold waits until the word at @flag is not 0, or for @limit clocks.
 */
#ifndef GPUSCHED_LOAD_GSLOAD_PTX_H
#define GPUSCHED_LOAD_GSLOAD_PTX_H

static const char gsload_ptx[] =
	".version 6.0\n"
	".target sm_50\n"
	".address_size 64\n"
	".visible .entry gs_work(.param .u64 out, .param .u32 n)\n"
	"{\n"
	"	.reg .pred %more, %never;\n"
	"	.reg .u32 %i, %limit, %thread;\n"
	"	.reg .f32 %a, %b, %c, %d, %sum;\n"
	"	.reg .u64 %to;\n"
	"	ld.param.u64 %to, [out];\n"
	"	ld.param.u32 %limit, [n];\n"
	"	mov.u32 %thread, %tid.x;\n"
	"	cvt.rn.f32.u32 %a, %thread;\n"
	"	mov.f32 %b, 0f3F800000;\n"
	"	mov.f32 %c, 0f40000000;\n"
	"	mov.f32 %d, 0f40400000;\n"
	"	mov.u32 %i, 0;\n"
	"ROUND:\n"
	"	setp.lt.u32 %more, %i, %limit;\n"
	"	@!%more bra DONE;\n"
	"	fma.rn.f32 %a, %a, 0f3F800347, 0f3F000000;\n"
	"	fma.rn.f32 %b, %b, 0f3F7FF972, 0f3E800000;\n"
	"	fma.rn.f32 %c, %c, 0f3F80068E, 0f3E000000;\n"
	"	fma.rn.f32 %d, %d, 0f3F7FF2E5, 0f3DCCCCCD;\n"
	"	add.u32 %i, %i, 1;\n"
	"	bra ROUND;\n"
	"DONE:\n"
	"	add.f32 %sum, %a, %b;\n"
	"	add.f32 %sum, %sum, %c;\n"
	"	add.f32 %sum, %sum, %d;\n"
	"	setp.eq.f32 %never, %sum, 0fBF800000;\n" /* keeps the arithmetic from being dropped
							  */
	"	@%never st.global.f32 [%to], %sum;\n"
	"	ret;\n"
	"}\n"
	".visible .entry gs_hold(.param .u64 flag, .param .u64 limit)\n"
	"{\n"
	"	.reg .pred %go;\n"
	"	.reg .u32 %word;\n"
	"	.reg .u64 %at, %from, %now, %most;\n"
	"	ld.param.u64 %at, [flag];\n"
	"	ld.param.u64 %most, [limit];\n"
	"	mov.u64 %from, %clock64;\n"
	"LOOK:\n"
	"	ld.volatile.global.u32 %word, [%at];\n"
	"	setp.ne.u32 %go, %word, 0;\n"
	"	@%go bra OUT;\n"
	"	mov.u64 %now, %clock64;\n"
	"	sub.u64 %now, %now, %from;\n"
	"	setp.lt.u64 %go, %now, %most;\n"
	"	@%go bra LOOK;\n"
	"OUT:\n"
	"	ret;\n"
	"}\n";

static const char gsload_stream_ptx[] = ".version 6.0\n"
					".target sm_50\n"
					".address_size 64\n"
					".visible .entry gs_stream(.param .u64 at, .param .u64 n)\n"
					"{\n"
					"	.reg .pred %done;\n"
					"	.reg .u32 %block, %threads, %thread, %blocks;\n"
					"	.reg .f32 %value;\n"
					"	.reg .u64 %base, %limit, %i, %step, %word;\n"
					"	ld.param.u64 %base, [at];\n"
					"	ld.param.u64 %limit, [n];\n"
					"	mov.u32 %block, %ctaid.x;\n"
					"	mov.u32 %threads, %ntid.x;\n"
					"	mov.u32 %thread, %tid.x;\n"
					"	mov.u32 %blocks, %nctaid.x;\n"
					"	cvt.u64.u32 %word, %thread;\n"
					"	mad.wide.u32 %i, %block, %threads, %word;\n"
					"	mul.wide.u32 %step, %blocks, %threads;\n"
					"NEXT:\n"
					"	setp.ge.u64 %done, %i, %limit;\n"
					"	@%done bra END;\n"
					"	shl.b64 %word, %i, 2;\n"
					"	add.u64 %word, %base, %word;\n"
					"	ld.global.f32 %value, [%word];\n"
					"	add.f32 %value, %value, 0f3F800000;\n"
					"	st.global.f32 [%word], %value;\n"
					"	add.u64 %i, %i, %step;\n"
					"	bra NEXT;\n"
					"END:\n"
					"	ret;\n"
					"}\n";

#endif /* GPUSCHED_LOAD_GSLOAD_PTX_H */
