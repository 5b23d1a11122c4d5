/* SPDX-License-Identifier: MIT */
/*
 * probed_arm64.h - defines the two instructions at the entry of a launch function
 */
#ifndef GPUSCHED_SIM_CUDA_PROBED_ARM64_H
#define GPUSCHED_SIM_CUDA_PROBED_ARM64_H

#define PROBED_NOP "nop"
#define PROBED_JUMP "b"

#endif /* GPUSCHED_SIM_CUDA_PROBED_ARM64_H */
