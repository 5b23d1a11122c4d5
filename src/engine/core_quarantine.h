/* SPDX-License-Identifier: MIT */
/* core_quarantine.h - keeps policies away from TSGs that did not bear what was done to them */
#ifndef GPUSCHED_ENGINE_CORE_QUARANTINE_H
#define GPUSCHED_ENGINE_CORE_QUARANTINE_H

#include "engine/core_priv.h"

/* Notes failed calls. */
void gs_quarantine_results(struct gs_core *c, struct gs_node *n, const struct gs_plan *plan,
			   uint64_t now);
/* True if no policy may suspend the node. */
bool gs_quarantine_keeps(const struct gs_node *n, uint64_t now);
/* Takes back the policy's wishes that the node must not get. */
void gs_quarantine_obey(struct gs_core *c, struct gs_node *n, const struct gpusched_tsg *rec,
			uint64_t now, struct gs_goal *t);
/* Reasons as 1 << enum gs_overrule. */
uint32_t gs_quarantine_overrules(const struct gs_node *n);

#endif /* GPUSCHED_ENGINE_CORE_QUARANTINE_H */
