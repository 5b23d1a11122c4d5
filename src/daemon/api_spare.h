/* SPDX-License-Identifier: MIT */
/* api_spare.h - declares what is done with the descriptor that refuses connections */
#ifndef GPUSCHED_DAEMON_API_SPARE_H
#define GPUSCHED_DAEMON_API_SPARE_H

struct api;

/* Opens it, if it is not open. Below zero: no descriptor is free; errno says why. */
int api_spare_open(struct api *a);
/* It was used up: accepts nothing until api_spare_back(). */
void api_spare_lack(struct api *a);
/* A descriptor is free again: opens it and, if nothing was accepted, listens again. */
void api_spare_back(struct api *a);

#endif /* GPUSCHED_DAEMON_API_SPARE_H */
