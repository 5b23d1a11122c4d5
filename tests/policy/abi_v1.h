/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * abi_v1.h - the layout that policies of ABI version 1 are compiled against
 *
 * X(struct, field, offset, size), X(struct, size), X(name, value). For version 1 lines are added
 * and never edited: a policy object built yesterday has to find its fields tomorrow. A field that
 * moves makes the check fail, a new version gets a new file.
 */
#ifndef GPUSCHED_TESTS_ABI_V1_H
#define GPUSCHED_TESTS_ABI_V1_H

/* clang-format off */
#define GPUSCHED_ABI_V1(X) \
	X(gpusched_settings, valid, 0, 4) \
	X(gpusched_settings, timeslice_us, 4, 4) \
	X(gpusched_settings, interleave, 8, 1) \
	X(gpusched_settings, preempt_mode, 9, 1) \
	X(gpusched_settings, runnable, 10, 1) \
	X(gpusched_settings, pad, 11, 5) \
	X(gpusched_settings, hold, 11, 1) \
	X(gpusched_task, id, 0, 8) \
	X(gpusched_task, gpu, 8, 4) \
	X(gpusched_task, kind, 12, 2) \
	X(gpusched_task, engine, 14, 2) \
	X(gpusched_task, pid, 16, 4) \
	X(gpusched_task, uid, 20, 4) \
	X(gpusched_task, cgroup_id, 24, 8) \
	X(gpusched_task, class_id, 32, 4) \
	X(gpusched_task, weight, 36, 4) \
	X(gpusched_task, deadline_us, 40, 8) \
	X(gpusched_task, created_ns, 48, 8) \
	X(gpusched_task, known, 56, 4) \
	X(gpusched_task, assumed, 60, 4) \
	X(gpusched_task, launches, 64, 8) \
	X(gpusched_task, launches_since_ns, 72, 8) \
	X(gpusched_task, last_launch_ns, 80, 8) \
	X(gpusched_task, launch_rate_mhz, 88, 8) \
	X(gpusched_task, gpu_time_ns, 96, 8) \
	X(gpusched_task, wait_time_ns, 104, 8) \
	X(gpusched_task, switches, 112, 8) \
	X(gpusched_task, last_run_ns, 120, 8) \
	X(gpusched_task, block_time_ns, 128, 8) \
	X(gpusched_task, asked, 136, 16) \
	X(gpusched_task, is, 152, 16) \
	X(gpusched_task, want, 168, 16) \
	X(gpusched_task, priv, 184, 64) \
	X(gpusched_task, comm, 248, 16) \
	X(gpusched_key, file, 0, 8) \
	X(gpusched_key, client, 8, 4) \
	X(gpusched_key, handle, 12, 4) \
	X(gpusched_work, now_ns, 0, 8) \
	X(gpusched_work, count, 8, 4) \
	X(gpusched_work, kind, 12, 4) \
	X(gpusched_round, now_ns, 0, 8) \
	X(gpusched_round, seq, 8, 8) \
	X(gpusched_round, pass, 16, 4) \
	X(gpusched_round, passes, 20, 4) \
	X(gpusched_round, period_us, 24, 4) \
	X(gpusched_round, pad, 28, 4) \
	X(gpusched_text, s, 0, 64) \
	X(gpusched_filter, match, 0, 4) \
	X(gpusched_filter, gpu, 4, 4) \
	X(gpusched_filter, kind, 8, 2) \
	X(gpusched_filter, engine, 10, 2) \
	X(gpusched_filter, class_id, 12, 4) \
	X(gpusched_filter, cgroup_id, 16, 8) \
	X(gpusched_filter, pid, 24, 4) \
	X(gpusched_filter, pad, 28, 4) \
	X(gpusched_policy_desc, magic, 0, 4) \
	X(gpusched_policy_desc, abi, 4, 4) \
	X(gpusched_policy_desc, tick_us, 8, 4) \
	X(gpusched_policy_desc, timeout_ms, 12, 4) \
	X(gpusched_policy_desc, flags, 16, 4) \
	X(gpusched_policy_desc, pad, 20, 4) \
	X(gpusched_policy_desc, name, 24, 32) \
	X(gpusched_option_desc, name, 0, 32) \
	X(gpusched_option_desc, type, 32, 16) \
	X(gpusched_option_desc, help, 48, 120) \
	X(gpusched_option_desc, size, 168, 4) \
	X(gpusched_option_desc, is_signed, 172, 4) \
	X(gpusched_option_desc, def, 176, 8) \
	X(gpusched_option_desc, min, 184, 8) \
	X(gpusched_option_desc, max, 192, 8) \
	X(gpusched_facts, id, 0, 8) \
	X(gpusched_facts, known, 8, 4) \
	X(gpusched_facts, state, 12, 4) \
	X(gpusched_facts, runlist, 16, 4) \
	X(gpusched_facts, pad, 20, 4) \
	X(gpusched_facts, as_of_ns, 24, 8) \
	X(gpusched_facts, since_ns, 32, 8) \
	X(gpusched_facts, held_ns, 40, 8) \
	X(gpusched_facts, contended_ns, 48, 8) \
	X(gpusched_facts, turns, 56, 8) \
	X(gpusched_facts, slice_ended, 64, 8) \
	X(gpusched_facts, drained, 72, 8) \
	X(gpusched_facts, unsure, 80, 8) \
	X(gpusched_facts, returns, 88, 8) \
	X(gpusched_facts, last_turn_ns, 96, 8) \
	X(gpusched_facts, last_run_ns, 104, 8) \
	X(gpusched_facts, last_work_ns, 112, 8) \
	X(gpusched_facts, loaded_since_ns, 120, 8) \
	X(gpusched_facts, waiting_since_ns, 128, 8) \
	X(gpusched_facts, wait_ns, 136, 8) \
	X(gpusched_facts, waits, 144, 8) \
	X(gpusched_facts, drain_ns, 152, 8) \
	X(gpusched_facts, drains, 160, 8) \
	X(gpusched_facts, work_ns, 168, 8) \
	X(gpusched_facts, block_ns, 176, 8) \
	X(gpusched_runlist_facts, as_of_ns, 0, 8) \
	X(gpusched_runlist_facts, since_ns, 8, 8) \
	X(gpusched_runlist_facts, held_ns, 16, 8) \
	X(gpusched_runlist_facts, unattributed_ns, 24, 8) \
	X(gpusched_runlist_facts, lost_ns, 32, 8) \
	X(gpusched_runlist_facts, open_ns, 40, 8) \
	X(gpusched_runlist_facts, unknown_ns, 48, 8) \
	X(gpusched_runlist_facts, switches, 56, 8) \
	X(gpusched_runlist_facts, waiting, 64, 4) \
	X(gpusched_runlist_facts, pad, 68, 4) \
	X(gpusched_gpu, known, 0, 4) \
	X(gpusched_gpu, switch_us, 4, 4) \
	X(gpusched_gpu, save_us, 8, 4) \
	X(gpusched_gpu, restore_us, 12, 4) \
	X(gpusched_gpu, idle_turn_us, 16, 4) \
	X(gpusched_gpu, busy_x100, 20, 4) \
	X(gpusched_gpu, idle_ms, 24, 4) \
	X(gpusched_gpu, pad, 28, 4)

#define GPUSCHED_ABI_V1_SIZES(X) \
	X(gpusched_settings, 16) \
	X(gpusched_task, 264) \
	X(gpusched_key, 16) \
	X(gpusched_work, 16) \
	X(gpusched_round, 32) \
	X(gpusched_text, 64) \
	X(gpusched_filter, 32) \
	X(gpusched_policy_desc, 56) \
	X(gpusched_option_desc, 200) \
	X(gpusched_facts, 184) \
	X(gpusched_runlist_facts, 72) \
	X(gpusched_gpu, 32)

/* Numbers that a policy is compiled with. */
#define GPUSCHED_ABI_V1_VALUES(X) \
	X(GPUSCHED_ADMIT, 0) \
	X(GPUSCHED_HOLD, 1) \
	X(GPUSCHED_DENY, 2) \
	X(GPUSCHED_MAX_PASSES, 4) \
	X(GPUSCHED_REST_MAX_MS, 30000) \
	X(GPUSCHED_F_DENY, 1) \
	X(GPUSCHED_F_ASSUMED, 2) \
	X(GPUSCHED_F_WORK, 4) \
	X(GPUSCHED_F_FACTS, 8) \
	X(GPUSCHED_FACT_HELD, 1) \
	X(GPUSCHED_FACT_STATE, 2) \
	X(GPUSCHED_FACT_LAST_RUN, 4) \
	X(GPUSCHED_FACT_WAIT, 8) \
	X(GPUSCHED_FACT_DRAIN, 16) \
	X(GPUSCHED_FACT_WORK, 32) \
	X(GPUSCHED_FACT_BLOCK, 64) \
	X(GPUSCHED_FACT_EXACT, 128) \
	X(GPUSCHED_STATE_LOADED, 1) \
	X(GPUSCHED_STATE_CONTENDED, 2) \
	X(GPUSCHED_STATE_WAITING, 4) \
	X(GPUSCHED_STATE_TRIAL, 8) \
	X(GPUSCHED_ALL_SETTINGS, 15) \
	X(GPUSCHED_POLICY_WORDS, 8)
/* clang-format on */

#endif /* GPUSCHED_TESTS_ABI_V1_H */
