/* SPDX-License-Identifier: MIT */
/*
 * unread.h - whether a GPU's log is read, or why not
 */
#ifndef GPUSCHED_FIGURES_UNREAD_H
#define GPUSCHED_FIGURES_UNREAD_H

#include "account/account.h"
#include "hub/hub.h"

/* A GPU's account; without one its reason says why. @gpu: its place among the hub's. */
void gs_sight_gpu(const struct gs_hub *hub, size_t gpu, struct gs_account_gpu *ret);

#endif /* GPUSCHED_FIGURES_UNREAD_H */
