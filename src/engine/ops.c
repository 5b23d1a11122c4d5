// SPDX-License-Identifier: MIT
/* ops.c - connects the engine to the real table and the real RM */
#include "engine/ops.h"
#include "table/cfg.h"
#include "table/classes.h"
#include "table/started.h"

#include "basic/clock.h"
#include "gate/gate.h"
#include "rm/module.h"
#include "taps/taps.h"

struct gs_engine_ops gs_engine_ops = {
	.open = gs_table_open,
	.close = gs_table_close,
	.get = gs_table_get,
	.all = gs_table_all,
	.channels = gs_table_channels,
	.poke = gs_table_poke,
	.cfg = gs_table_cfg,
	.class_get = gs_procs_class_get,
	.next_epoch = gs_cfg_next_epoch,
	.heartbeat = gs_cfg_heartbeat,
	.policy_active = gs_cfg_policy_active,
	.self_add = gs_cfg_self_add,
	.self_del = gs_cfg_self_del,
	.sweep = gs_sweep,
	.end = gs_sweep_one,
	.find_fd = gs_holders_find_fd,
	.started = gs_started,
	.gate_release = gs_gate_release,
	.launches_forget = gs_launches_forget,
	.way_of = gs_way_of,
	.way_gone = gs_module_gone,
	.restore_way = &gs_way_borrow,
	.stuck_ns = 5 * NS_PER_S,
};
