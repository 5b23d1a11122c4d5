/* SPDX-License-Identifier: MIT */
/*
 * openmetrics.h - writes the use of the GPUs as OpenMetrics, by class or by class and cgroup
 *
 * Labels are spelled as dcgm-exporter spells them. No label names a process, since the number of
 * processes has no bound.
 */
#ifndef GPUSCHED_FIGURES_OPENMETRICS_H
#define GPUSCHED_FIGURES_OPENMETRICS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/*
 * Begins the metric family "gpusched_" @name. If @name ends in _seconds or _bytes, a UNIT line says
 * so too.
 */
void gs_openmetrics_head(FILE *f, const char *name, const char *type, const char *help);

struct gs_figures;
struct gs_openmetrics;

/*
 * Brings the ledger's sums up to now, writes the lines of whole GPUs, and sets *ret for
 * gs_openmetrics_text(), which writes the rest. If the sums are not up to date at @until_ns, it has
 * written nothing and returns -EINPROGRESS: call it again. If no sums are kept, it writes nothing,
 * returns 0 and leaves *ret alone.
 */
int gs_openmetrics_new(struct gs_figures *fig, bool by_cgroup, FILE *f, uint64_t until_ns,
		       struct gs_openmetrics **ret);
void gs_openmetrics_free(struct gs_openmetrics *w);
/* Writes the next lines. Returns false if there is more to do after @until_ns. */
bool gs_openmetrics_text(struct gs_openmetrics *w, FILE *f, uint64_t until_ns);

#endif /* GPUSCHED_FIGURES_OPENMETRICS_H */
