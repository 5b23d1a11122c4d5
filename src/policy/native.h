/* SPDX-License-Identifier: MIT */
/*
 * native.h - hosts for scenarios in virtual time: native (ordinary C) and sim (the kernel's BPF)
 *
 * Both run the same policy source through the same code (decide.h) and come to the same decisions.
 * native needs no privilege: NAME.native.so of the search path, or a source that the C compiler
 * builds first. sim needs the rights to load BPF and uses maps of its own.
 */
#ifndef GPUSCHED_POLICY_NATIVE_HOST_H
#define GPUSCHED_POLICY_NATIVE_HOST_H

#include "sim/policy_host.h"

extern const struct sim_policy_host gs_native_host;
extern const struct sim_policy_host gs_sim_host;

#endif /* GPUSCHED_POLICY_NATIVE_HOST_H */
