/* SPDX-License-Identifier: MIT */
/* Only for spatch, never compiled: RM's macros that stand where C has a statement. */
#define SLI_LOOP_START(flags) {
#define SLI_LOOP_END }
#define NV_API_CALL
