/* SPDX-License-Identifier: MIT */
/*
 * oddities.h - what is odd on the GPUs, while somebody watches
 */
#ifndef GPUSCHED_SERVICE_ODDITIES_H
#define GPUSCHED_SERVICE_ODDITIES_H

struct gs_end;
struct gs_service;

void gs_oddities_begin(struct gs_service *s);
void gs_oddities_end(struct gs_service *s);
void gs_oddities_ended(struct gs_service *s, const struct gs_end *end);

#endif /* GPUSCHED_SERVICE_ODDITIES_H */
