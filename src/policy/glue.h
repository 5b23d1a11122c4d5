/* SPDX-License-Identifier: MIT */
/*
 * glue.h - embeds the glue, the BPF objects of the host with which every policy is linked
 */
#ifndef GPUSCHED_POLICY_GLUE_H
#define GPUSCHED_POLICY_GLUE_H

#include <stddef.h>

extern const unsigned char gs_glue_default[], gs_glue_stock[];
extern const size_t gs_glue_default_len, gs_glue_stock_len;

#endif /* GPUSCHED_POLICY_GLUE_H */
