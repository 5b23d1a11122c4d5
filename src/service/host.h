/* SPDX-License-Identifier: MIT */
/*
 * host.h - where the running policy's calls go: by borrowing, or through gpusched.ko
 */
#ifndef GPUSCHED_SERVICE_HOST_H
#define GPUSCHED_SERVICE_HOST_H

#include "basic/error.h"

struct gs_service;

enum gs_host_word { GS_HOST_STOCK, GS_HOST_MODULE };

const char *gs_host_name(enum gs_host_word host);
/* @word: NULL or "" is stock. -EINVAL unknown; -ENOTSUP, with the reason: cannot be here. */
int gs_host_vet(const char *word, enum gs_host_word *ret, struct gs_error *err);
/* Before a policy of that host acts; afterwards, or when none does any more, settle. */
int gs_host_use(struct gs_service *s, enum gs_host_word host, struct gs_error *err);
void gs_host_settle(struct gs_service *s);
/* At each heartbeat. */
void gs_host_beat(struct gs_service *s);

#endif /* GPUSCHED_SERVICE_HOST_H */
