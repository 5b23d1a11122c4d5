/* SPDX-License-Identifier: MIT */
/*
 * report.h - results of scenarios as tables, JSON lines and a gnuplot timeline
 */
#ifndef GPUSCHED_SIM_REPORT_H
#define GPUSCHED_SIM_REPORT_H

#include <jansson.h>
#include <stdio.h>

#include "sim/scenario.h"

/* Makes a JSON object of the result; json_decref() it. NULL: out of memory. */
json_t *sim_report_json(const struct sim_result *r);
/* Prints the processes and checks of one scenario as tables. */
int sim_report_table(const struct sim_result *r, FILE *out);
/* Prints one line per check: the expected value, the model's value and the deviation. */
int sim_report_checks(const struct sim_result *r, FILE *out);
/* Writes a gnuplot program with its data: one row per process, one bar per turn. */
int sim_report_timeline(const struct sim_result *r, FILE *out);

#endif /* GPUSCHED_SIM_REPORT_H */
