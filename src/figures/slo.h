/* SPDX-License-Identifier: MIT */
/*
 * slo.h - counts requests that missed the time of their class (slo=), and why
 *
 * A request is missed because of others if it would have been in time without their part. It is
 * missed by itself if it would have been late without their part and the unknown one. Otherwise it
 * is not known.
 *
 * Example: the class has slo=50ms, and a request took 70 ms. If others were loaded for 30 ms of it,
 * it is missed because of others; if for 10 ms, by itself. If others were loaded for 10 ms, and
 * 15 ms are unknown, nobody can tell.
 *
 * Pure: no clock, no I/O.
 */
#ifndef GPUSCHED_FIGURES_SLO_H
#define GPUSCHED_FIGURES_SLO_H

#include <stdint.h>
#include <stdio.h>

struct gs_request_parts;

/* @missed: @itself, @others, and those for which nobody can tell. */
struct gs_slo_counts {
	uint64_t requests, missed, itself, others;
};

/* Counts of requests that were all judged by the time @slo_ns; 0: none was judged. */
struct gs_slo_of_time {
	struct gs_slo_counts counts;
	uint64_t slo_ns;
};

/* Counts a request of a class with that time. */
void gs_slo_count(struct gs_slo_counts *c, const struct gs_request_parts *p, uint64_t slo_ns);
/* The same; begins anew if the time is another one than before. */
void gs_slo_count_anew(struct gs_slo_of_time *c, const struct gs_request_parts *p, uint64_t slo_ns);
void gs_slo_join(struct gs_slo_counts *inout, const struct gs_slo_counts *from);
/* Prints the lines of a metric; none if no request was counted. */
void gs_slo_metric(const struct gs_slo_counts *c, const char *labels, FILE *f);

/*
 * The last minute. A window of it is as long as is needed for GS_SLO_ENOUGH requests, at least the
 * last ten seconds: so that services with few requests are judged, too.
 */
#define GS_SLO_ENOUGH 20u
#define GS_SLO_PIECES 13u
struct gs_slo_recent {
	struct gs_slo_counts pieces[GS_SLO_PIECES]; /* of 5 s each, by its number */
	uint64_t last;                              /* number of the last piece with requests */
	uint64_t slo_ns;                            /* by which all of these were judged */
};
/* @now_ns does not fall from call to call. Begins anew if @slo_ns is another one than before. */
void gs_slo_recent_count(struct gs_slo_recent *r, const struct gs_request_parts *p, uint64_t slo_ns,
			 uint64_t now_ns);
struct gs_slo_counts gs_slo_recent_sum(const struct gs_slo_recent *r, uint64_t now_ns);

#endif /* GPUSCHED_FIGURES_SLO_H */
