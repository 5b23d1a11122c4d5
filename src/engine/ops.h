/* SPDX-License-Identifier: MIT */
/*
 * ops.h - lists the engine's calls to the outside: the table, RM, time
 *
 * Internal to src/engine and its tests. A test replaces these calls by a fake table and a fake RM
 * before it makes the first engine.
 */
#ifndef GPUSCHED_ENGINE_OPS_H
#define GPUSCHED_ENGINE_OPS_H

#include "table/table.h"
#include "rm/way.h"
#include "gate/gate.h"
#include "launch/launch.h"

struct gs_engine_ops {
	int (*open)(struct gs_table **ret, struct gs_error *err);
	void (*close)(struct gs_table *o);
	int (*get)(struct gs_table *o, const struct gpusched_key *key, struct gpusched_tsg *ret);
	int (*all)(struct gs_table *o, struct gpusched_tsg **ret, size_t *ret_n);
	int (*channels)(struct gs_table *o, const struct gpusched_key *key,
			struct gpusched_channels *ret);
	int (*poke)(struct gs_table *o, struct gpusched_poke *poke);
	int (*cfg)(struct gs_table *o, struct gpusched_cfg *ret);
	int (*class_get)(struct gs_table *o, uint32_t id, struct gpusched_class *ret);
	int (*next_epoch)(struct gs_table *o);
	int (*heartbeat)(struct gs_table *o, uint64_t ns);
	int (*policy_active)(struct gs_table *o, bool active);
	int (*self_add)(struct gs_table *o, pid_t tgid);
	int (*self_del)(struct gs_table *o, pid_t tgid);
	int (*sweep)(struct gs_table *o, void (*fn)(const struct gpusched_tsg *rec, void *user),
		     void *user, struct gs_error *err);
	int (*end)(struct gs_table *o, const struct gpusched_tsg *rec,
		   void (*fn)(const struct gpusched_tsg *rec, void *user), void *user);
	int (*find_fd)(void *table, pid_t pid, uint64_t file);
	int (*started)(pid_t pid, uint64_t *ret_ns);
	int (*gate_release)(struct gs_table *o, bool all, struct gs_released *ret);
	int (*launches_forget)(void);
	const struct gs_way *(*way_of)(const struct gs_rm_tsg *tsg);
	void (*way_gone)(uint32_t client, uint32_t tsg);
	const struct gs_way *restore_way; /* this way needs no other process's help */
	uint64_t stuck_ns;                /* a call that takes longer is stuck */
};

extern struct gs_engine_ops gs_engine_ops;

#endif /* GPUSCHED_ENGINE_OPS_H */
