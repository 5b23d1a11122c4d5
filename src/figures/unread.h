/* SPDX-License-Identifier: MIT */
/* unread.h - says whether a GPU's log is read, and if not, why */
#ifndef GPUSCHED_FIGURES_UNREAD_H
#define GPUSCHED_FIGURES_UNREAD_H

#include "account/account.h"
#include "hub/hub.h"

/* Fills in the GPU's account, or the reason why there is none. @gpu: its index in the hub. */
void gs_unread_gpu(const struct gs_hub *hub, size_t gpu, struct gs_account_gpu *ret);

#endif /* GPUSCHED_FIGURES_UNREAD_H */
