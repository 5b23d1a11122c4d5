/* SPDX-License-Identifier: MIT */
/*
 * figures.h - who used the GPUs, as OpenMetrics: by class, or by class and cgroup
 *
 * Labels are spelled as dcgm-exporter has them. No label is a process: their number has no bound.
 */
#ifndef GPUSCHED_SERVICE_FIGURES_H
#define GPUSCHED_SERVICE_FIGURES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct gs_service;
struct gs_figures;

/* As the ledger has them now. */
int gs_figures_new(struct gs_service *s, bool by_cgroup, struct gs_figures **ret);
void gs_figures_free(struct gs_figures *w);
/* Writes on; false: there is more to do after @until_ns. */
bool gs_figures_text(struct gs_figures *w, FILE *f, uint64_t until_ns);
/* The GPUs' own. */
void gs_figures_gpus_text(struct gs_service *s, FILE *f);

#endif /* GPUSCHED_SERVICE_FIGURES_H */
