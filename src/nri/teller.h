/* SPDX-License-Identifier: MIT */
/* teller.h - reports pods to the daemon, through the public library */
#ifndef GPUSCHED_NRI_TELLER_H
#define GPUSCHED_NRI_TELLER_H

struct gs_nri_pods;

/* The function of a thread; never returns. @pods: a struct gs_nri_pods. */
void *gs_nri_teller(void *pods);

#endif /* GPUSCHED_NRI_TELLER_H */
