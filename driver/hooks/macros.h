/* SPDX-License-Identifier: MIT */
/* For spatch only, never compiled: RM macros that stand in places where C has no statement. */
#define SLI_LOOP_START(flags) {
#define SLI_LOOP_END }
#define NV_API_CALL
