/* SPDX-License-Identifier: MIT */
/* aside.h - TSGs of a process that is parked: the engine leaves them alone, and looks for their end */
#ifndef GPUSCHED_ENGINE_ASIDE_H
#define GPUSCHED_ENGINE_ASIDE_H

#include <stdbool.h>

struct gpusched_key;
struct gs_engine;

/*
 * It is about to be parked, or no more: until then it runs as its owner asked, against all wishes.
 */
int gs_engine_aside(struct gs_engine *e, const struct gpusched_key *key, bool aside);
/* RM is asked whether it is there: it may have gone with its address space, which no tap sees. */
int gs_engine_check(struct gs_engine *e, const struct gpusched_key *key);

#endif /* GPUSCHED_ENGINE_ASIDE_H */
