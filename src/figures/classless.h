/* SPDX-License-Identifier: MIT */
/*
 * classless.h - finds programs without a class that wait for each other
 *
 * Pure. The caller passes all TSGs of a GPU; gs_verdict_classless() judges what was found.
 */
#ifndef GPUSCHED_FIGURES_CLASSLESS_H
#define GPUSCHED_FIGURES_CLASSLESS_H

#include "figures/rates.h"
#include "figures/verdict.h"
#include "gpusched/abi.h"

/*
 * Takes the TSG into account if it has had the GPU, has no class, and no policy acts on it. @c->last
 * stays the one that waits most, unless another waits 5 points more: a finding's TSG should last.
 */
void gs_classless_take(struct gs_classless_facts *c, const struct gpusched_tsg *rec,
		       const struct gs_tsg_rates *rates);

#endif /* GPUSCHED_FIGURES_CLASSLESS_H */
