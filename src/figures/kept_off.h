/* SPDX-License-Identifier: MIT */
/*
 * kept_off.h - finds the program that a policy keeps off an idle GPU
 */
#ifndef GPUSCHED_FIGURES_KEPT_OFF_H
#define GPUSCHED_FIGURES_KEPT_OFF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gpusched_tsg;
struct gs_figures;
struct gs_findings;

/* The TSG of a GPU that a policy has kept off for the longest time; all 0 at first. */
struct gs_kept_off {
	uint64_t since_ns, tsg; /* 0: none */
	uint32_t pid, uid;
	char comm[64];
	bool held;
};

/*
 * Takes a TSG of the GPU. It counts if the policy has suspended it or not admitted it, and it is
 * not known that it had no work when that began.
 */
void gs_kept_off_take(struct gs_kept_off *k, const struct gs_figures *fig,
		      const struct gpusched_tsg *rec);
/* Adds a finding if GPU @gpu of the hub is idle meanwhile. */
void gs_kept_off_judge(const struct gs_kept_off *k, const struct gs_figures *fig, size_t gpu,
		       struct gs_findings *ret);
/* The same for the TSGs that the ledger has. */
void gs_kept_off_look(const struct gs_figures *fig, size_t gpu, struct gs_findings *ret);

#endif /* GPUSCHED_FIGURES_KEPT_OFF_H */
