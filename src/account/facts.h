/* SPDX-License-Identifier: MIT */
/*
 * facts.h - converts turns to the facts that policies see; pure
 */
#ifndef GPUSCHED_ACCOUNT_FACTS_H
#define GPUSCHED_ACCOUNT_FACTS_H

#include "account/turns.h"
#include "account/usage.h"
#include "gpusched/policy_types.h"

/* Converts a time of the GPU's clock to the policies' clock. */
typedef uint64_t (*gs_facts_clock)(const void *user, uint64_t gpu_ns);

/*
 * The facts of TSG @id, as far as @t knows its turns. -ENOENT with *ret zeroed: there is no record
 * of the runlist yet. The caller fills runlist, work_ns and block_ns. @clock NULL: both clocks are
 * the same.
 */
int gs_facts_of(const struct gs_turns *t, uint64_t id, gs_facts_clock clock, const void *user,
		struct gpusched_facts *ret);
/* Facts of the whole runlist. -ENOENT: there is no record of it yet. */
int gs_facts_of_runlist(const struct gs_turns *t, gs_facts_clock clock, const void *user,
			struct gpusched_runlist_facts *ret);
/* Costs of switches, and how busy the GPU was. -ENOENT with *ret zeroed: nothing is known. */
int gs_facts_of_gpu(const struct gs_turns *t, const struct gs_usage_told *usage,
		    struct gpusched_gpu *ret);

#endif /* GPUSCHED_ACCOUNT_FACTS_H */
