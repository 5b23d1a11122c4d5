/* SPDX-License-Identifier: MIT */
/*
 * probed_arm64.h - the two instructions of a launch function's entry
 */
#ifndef GPUSCHED_SIM_CUDA_PROBED_ARM64_H
#define GPUSCHED_SIM_CUDA_PROBED_ARM64_H

#define PROBED_NOP "nop"
#define PROBED_JUMP "b"

#endif /* GPUSCHED_SIM_CUDA_PROBED_ARM64_H */
