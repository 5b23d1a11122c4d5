/* SPDX-License-Identifier: MIT */
/* quarantine.h - tells which TSGs no policy may suspend, and after which calls */
#ifndef GPUSCHED_ENGINE_QUARANTINE_H
#define GPUSCHED_ENGINE_QUARANTINE_H

#include <stdbool.h>

#include "rm/way.h"

struct gpusched_key;
struct gs_engine;

/*
 * @on: the TSG's program is in quarantine. No policy suspends the TSG or takes it out of CILP. The
 * engine forgets this when it ends.
 */
int gs_engine_quarantine(struct gs_engine *e, const struct gpusched_key *key, bool on);
/*
 * True if RM itself failed a suspension, a resume or a mode. After that the policy's wishes for the
 * TSG do not count for a minute, and twice as long if it happens again within an hour, up to an
 * hour.
 */
bool gs_core_call_failed(enum gs_rm_op op, const struct gs_rm_result *res);

#endif /* GPUSCHED_ENGINE_QUARANTINE_H */
