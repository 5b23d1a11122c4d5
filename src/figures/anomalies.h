/* SPDX-License-Identifier: MIT */
/*
 * anomalies.h - reports anomalies of the GPUs to clients that watch
 */
#ifndef GPUSCHED_FIGURES_ANOMALIES_H
#define GPUSCHED_FIGURES_ANOMALIES_H

struct gs_end;
struct gs_figures;

void gs_anomalies_begin(struct gs_figures *fig);
void gs_anomalies_end(struct gs_figures *fig);
void gs_anomalies_ended(void *self, const struct gs_end *end);

#endif /* GPUSCHED_FIGURES_ANOMALIES_H */
