/* SPDX-License-Identifier: MIT */
/* For spatch only, never compiled: macros of RM that stand where C would have a statement. */
#define SLI_LOOP_START(flags) {
#define SLI_LOOP_END }
#define NV_API_CALL
