/* SPDX-License-Identifier: MIT */
/*
 * probed_x86.h - the two instructions of a launch function's entry
 */
#ifndef GPUSCHED_SIM_CUDA_PROBED_X86_H
#define GPUSCHED_SIM_CUDA_PROBED_X86_H

#define PROBED_NOP ".byte 0x0f,0x1f,0x44,0x00,0x00" /* five bytes, as a call has */
#define PROBED_JUMP "jmp"

#endif /* GPUSCHED_SIM_CUDA_PROBED_X86_H */
