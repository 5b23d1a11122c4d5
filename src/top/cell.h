/* SPDX-License-Identifier: MIT */
/*
 * cell.h - says what a row's figures mean, in the same words on every screen
 *
 * A row is a TSG's object in the JSON of `gpusched status` or `list`, or several merged into their
 * process's.
 */
#ifndef GPUSCHED_TOP_CELL_H
#define GPUSCHED_TOP_CELL_H

#include <jansson.h>
#include <stdbool.h>

/* Merges the rows of each process on a GPU; the caller owns the reference. NULL: out of memory. */
json_t *gs_cell_processes(const json_t *rows);
/* Adds a TSG's figures to those of its process. */
void gs_cell_merge(json_t *to, const json_t *from);

/*
 * The part of the GPU's time that it used, in percent: what it held, less the time in which the
 * driver's samples show that it idled. Negative: unknown.
 */
double gs_cell_used(const json_t *row);
/*
 * The span of time of a GPU's figures and of its programs': "last 10 s". malloc'd; NULL: it has no
 * figures.
 */
char *gs_cell_span(const json_t *gpu);
/* True if the GPU has such samples. Without them, used time is all the time that it held. */
bool gs_cell_has_samples(const json_t *gpu);
/* The part of the time in which it waited, in percent. Negative: unknown. */
double gs_cell_waited(const json_t *row);
/* True if it waited longer than that, since not all of its waits are seen. */
bool gs_cell_waited_more(const json_t *row);

/*
 * Finds services that come first: a policy gives every other program of their GPU shorter turns, or
 * keeps it off the GPU. gs_cell_state() says so then.
 */
void gs_cell_put_order(json_t *rows);

bool gs_cell_is_paused(const json_t *row);
/*
 * Says in a word what it does now: "runs", "waits", "paused by the policy". malloc'd; NULL: unknown.
 * @person: name of the user that paused it, or NULL.
 */
char *gs_cell_state(const json_t *row, const char *person);
/* Its name, or NAMESPACE/POD/CONTAINER; malloc'd, NULL: unknown. */
char *gs_cell_name(const json_t *row);

#endif /* GPUSCHED_TOP_CELL_H */
