/* SPDX-License-Identifier: MIT */
/*
 * aside.h - leaves alone TSGs that are about to be parked, and checks whether a TSG has ended
 */
#ifndef GPUSCHED_ENGINE_ASIDE_H
#define GPUSCHED_ENGINE_ASIDE_H

#include <stdbool.h>

struct gpusched_key;
struct gs_engine;

/*
 * If @aside is true, the TSG is about to be parked: until then it runs as its owner asked, against
 * all wishes. If false, it is no longer about to be parked.
 */
int gs_engine_aside(struct gs_engine *e, const struct gpusched_key *key, bool aside);
/* Refuses the policy's wish to park the TSG's process, which on_park() had reported. */
int gs_engine_park_refused(struct gs_engine *e, const struct gpusched_key *key);
/* Asks RM whether the TSG exists: it may have ended with its address space, which no tap sees. */
int gs_engine_check(struct gs_engine *e, const struct gpusched_key *key);

#endif /* GPUSCHED_ENGINE_ASIDE_H */
