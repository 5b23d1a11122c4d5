/* SPDX-License-Identifier: MIT */
/*
 * probed_x86.h - defines the two instructions at the entry of a launch function
 */
#ifndef GPUSCHED_SIM_CUDA_PROBED_X86_H
#define GPUSCHED_SIM_CUDA_PROBED_X86_H

/* a 5-byte nop: as long as a call instruction */
#define PROBED_NOP ".byte 0x0f,0x1f,0x44,0x00,0x00"
#define PROBED_JUMP "jmp"

#endif /* GPUSCHED_SIM_CUDA_PROBED_X86_H */
