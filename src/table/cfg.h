/* SPDX-License-Identifier: MIT */
/*
 * cfg.h - sets the taps' configuration: limits, GPUs, our own processes
 */
#ifndef GPUSCHED_TABLE_CFG_H
#define GPUSCHED_TABLE_CFG_H

#include "rm/rm.h"
#include "table/table.h"

int gs_table_cfg(struct gs_table *t, struct gpusched_cfg *ret);
/* Writes @ns, the present time, as the daemon's heartbeat; 0: no daemon runs. */
int gs_cfg_heartbeat(struct gs_table *t, uint64_t ns);
int gs_cfg_default_class(struct gs_table *t, uint32_t class_id);
int gs_cfg_policy_active(struct gs_table *t, bool active);
/*
 * Tells the taps the index of each GPU, so that they know a new TSG's GPU at once. Switching the
 * taps on does this as well.
 */
int gs_cfg_gpus(struct gs_table *t, const struct gs_gpu *gpus, size_t n);
/* The most TSGs that one process may have in the table (default 1024); 0: no limit. */
int gs_cfg_max_tsgs(struct gs_table *t, uint32_t max);
int gs_cfg_next_epoch(struct gs_table *t);
/* @on false: the gate lets every call pass. The daemon then holds a TSG by suspending it. */
int gs_cfg_gate(struct gs_table *t, bool on);
/*
 * Processes that started after @started_ns wait at the gate until @until_ns. 0: no process waits.
 */
int gs_cfg_newcomers(struct gs_table *t, uint64_t started_ns, uint64_t until_ns);
/*
 * Registers one of our own processes: its calls do not count as settings that an owner asked for.
 */
int gs_cfg_self_add(struct gs_table *t, pid_t tgid);
int gs_cfg_self_del(struct gs_table *t, pid_t tgid);

#endif /* GPUSCHED_TABLE_CFG_H */
