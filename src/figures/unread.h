/* SPDX-License-Identifier: MIT */
/* unread.h - says what is not read: a GPU's log, launches; and why */
#ifndef GPUSCHED_FIGURES_UNREAD_H
#define GPUSCHED_FIGURES_UNREAD_H

#include "account/account.h"
#include "figures/verdict.h"
#include "hub/hub.h"

/* Fills in the GPU's account, or the reason why there is none. @gpu: its index in the hub. */
void gs_unread_gpu(const struct gs_hub *hub, size_t gpu, struct gs_account_gpu *ret);

/*
 * Fills in *@inout if it is GS_COUNTING_UNKNOWN. To see whether counting is refused takes reads of
 * the mounts, so callers ask once for many programs.
 */
void gs_unread_launches(const struct gs_hub *hub, enum gs_counting *inout);

#endif /* GPUSCHED_FIGURES_UNREAD_H */
