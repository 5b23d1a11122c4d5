/* SPDX-License-Identifier: MIT */
/*
 * hush.h - libbpf's messages into a buffer while this thread links or loads a policy
 *
 * The library never prints; a policy that is refused is an ordinary answer, not an error of ours.
 */
#ifndef GPUSCHED_POLICY_HUSH_H
#define GPUSCHED_POLICY_HUSH_H

#include <bpf/libbpf.h>
#include <stddef.h>

struct gs_hush {
	libbpf_print_fn_t old;
};
/* @buf (may be NULL) collects warnings; other threads' messages meanwhile are dropped. */
void gs_hush_begin(struct gs_hush *h, char *buf, size_t size);
void gs_hush_end(struct gs_hush *h);

#endif /* GPUSCHED_POLICY_HUSH_H */
