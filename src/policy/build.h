/* SPDX-License-Identifier: MIT */
/* build.h - a policy's source: its skeleton, and its compilation */
#ifndef GPUSCHED_POLICY_BUILD_H
#define GPUSCHED_POLICY_BUILD_H

#include <stdbool.h>

#include "basic/error.h"

/*
 * clang -target bpf over FILE.bpf.c into FILE.bpf.o. -ETIME: it does not end, and was killed;
 * -ENOEXEC: it does not compile.
 */
int gs_policy_build(const char *source, const char *output, struct gs_error *err);
/* On: kills the compiler that another thread waits for, and builds fail with -EINTR. */
void gs_policy_build_forbid(bool on);
/* Writes a commented skeleton NAME.bpf.c into the current folder. -EEXIST. */
int gs_policy_new(const char *name, struct gs_error *err);

#endif /* GPUSCHED_POLICY_BUILD_H */
