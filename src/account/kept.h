/* SPDX-License-Identifier: MIT */
/*
 * kept.h - keeps the costs of switches in STATE_DIR/costs.json for the daemon's next start
 *
 * A GPU's kept costs are used only while its UUID, driver and VBIOS are the same. Costs that its
 * log contradicts are dropped. If one entry makes no sense, the whole file is ignored.
 */
#ifndef GPUSCHED_ACCOUNT_KEPT_H
#define GPUSCHED_ACCOUNT_KEPT_H

#include "basic/error.h"
#include "rm/costs.h"
#include "rm/rm.h"

#define GS_KEPT_MAX 64u /* GPUs; a further one replaces the one measured longest ago */

struct gs_kept_gpu {
	char uuid[48], driver[64], vbios[20]; /* vbios "": unknown */
	struct gs_costs costs;                /* @basis is GS_COST_KEPT or GS_COST_QUALIFIED */
};

struct gs_kept {
	struct gs_kept_gpu gpus[GS_KEPT_MAX];
	unsigned int n;
};

/*
 * 0, or a negative errno with *ret empty: -ENOENT: there is no file; -EINVAL: it cannot be parsed.
 */
int gs_kept_load(struct gs_kept *ret, struct gs_error *err);
/* Replaces the file in one step. */
int gs_kept_save(const struct gs_kept *kept, struct gs_error *err);
int gs_kept_parse(const char *text, struct gs_kept *ret, struct gs_error *err);
/* NULL: out of memory. The caller frees the text. */
char *gs_kept_text(const struct gs_kept *kept);

/* Returns the GPU's entry, even if another driver or VBIOS was in use then. NULL: there is none. */
const struct gs_kept_gpu *gs_kept_find(const struct gs_kept *kept, const struct gs_gpu *gpu);
/* True if the costs in @k (may be NULL) were measured with this GPU's VBIOS and with @driver. */
bool gs_kept_counts(const struct gs_kept_gpu *k, const struct gs_gpu *gpu, const char *driver);
/* Returns the costs to start a log with: those of the product, overridden by those in @k. */
struct gs_costs gs_kept_begin(const struct gs_kept_gpu *k, const struct gs_costs *product);
/* Returns @below, overridden by each cost that is known in @c. */
struct gs_costs gs_kept_above(const struct gs_costs *below, const struct gs_costs *c);

/* True if the log's costs differ from the kept ones by more than a twentieth. */
bool gs_kept_differs(const struct gs_kept_gpu *k, const struct gs_costs *costs);
/* True if the save or the switch in @costs was measured later than in @k. */
bool gs_kept_is_older(const struct gs_kept_gpu *k, const struct gs_costs *costs);
/*
 * Replaces the GPU's entry by @costs. Calibrated costs are dated @now_s (seconds since 1970); costs
 * known only from the product are left out. Returns false if nothing changed, as for a GPU without
 * a UUID.
 */
bool gs_kept_put(struct gs_kept *kept, const struct gs_gpu *gpu, const char *driver,
		 const struct gs_costs *costs, uint64_t now_s);

#endif /* GPUSCHED_ACCOUNT_KEPT_H */
