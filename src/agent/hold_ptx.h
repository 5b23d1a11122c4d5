/* SPDX-License-Identifier: MIT */
/*
 * hold_ptx.h - defines the two kernels of the pre-switch, as PTX for every GPU since 2014
 *
 * gpusched_wait waits until the word at @flag is not 0, or for @limit ns by the GPU's own clock.
 * That clock goes on while the kernel is off the GPU. gpusched_behind does nothing.
 */
#ifndef GPUSCHED_AGENT_HOLD_PTX_H
#define GPUSCHED_AGENT_HOLD_PTX_H

static const char hold_ptx[] =
	"// gpusched-sim: gpusched_wait hold flag=0 limit=1\n"
	".version 6.0\n"
	".target sm_50\n"
	".address_size 64\n"
	".visible .entry gpusched_wait(.param .u64 flag, .param .u64 limit)\n"
	"{\n"
	"	.reg .pred %end;\n"
	"	.reg .u32 %word;\n"
	"	.reg .u64 %at, %until, %now;\n"
	"	ld.param.u64 %at, [flag];\n"
	"	ld.param.u64 %until, [limit];\n"
	"	mov.u64 %now, %globaltimer;\n"
	"	add.u64 %until, %until, %now;\n"
	"AGAIN:\n"
	"	ld.volatile.global.u32 %word, [%at];\n"
	"	setp.ne.u32 %end, %word, 0;\n"
	"	@%end bra OUT;\n"
	"	mov.u64 %now, %globaltimer;\n"
	"	setp.lt.u64 %end, %now, %until;\n"
	"	@%end bra AGAIN;\n"
	"OUT:\n"
	"	ret;\n"
	"}\n"
	".visible .entry gpusched_behind(.param .u64 unused)\n"
	"{\n"
	"	ret;\n"
	"}\n";

#endif /* GPUSCHED_AGENT_HOLD_PTX_H */
