/* SPDX-License-Identifier: MIT */
/* build.h - writes a skeleton for a policy, and compiles its source */
#ifndef GPUSCHED_POLICY_BUILD_H
#define GPUSCHED_POLICY_BUILD_H

#include <stdbool.h>

#include "basic/error.h"

/*
 * Compiles FILE.bpf.c with clang -target bpf. @output: NULL: FILE.bpf.o. -ETIME: the compiler did
 * not end, and was killed; -ENOEXEC: the source has errors.
 */
int gs_policy_build(const char *source, const char *output, struct gs_error *err);
/* @on: kills the compiler for which another thread waits, and lets all builds fail with -EINTR. */
void gs_policy_build_forbid(bool on);
/* Writes a skeleton NAME.bpf.c with comments into the current folder. -EEXIST. */
int gs_policy_build_skeleton(const char *name, struct gs_error *err);

#endif /* GPUSCHED_POLICY_BUILD_H */
