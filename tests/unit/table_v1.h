/* SPDX-License-Identifier: MIT */
/*
 * table_v1.h - version 1 of the pinned table, as it was; never edited
 *
 * So that later versions can be tried on a table of that version. Sizes and offsets are the x86-64
 * kernel's and need no attributes.
 */
#ifndef GPUSCHED_TESTS_TABLE_V1_H
#define GPUSCHED_TESTS_TABLE_V1_H

#include <linux/bpf.h>
#include <stdint.h>

#define V1_MAX_TSGS 16384
#define V1_MAX_CHANNELS 128
#define V1_CLIENT_MIG 1u

struct v1_settings {
	uint32_t valid, timeslice_us;
	uint8_t interleave, preempt_mode, runnable, pad[5];
};

struct v1_key {
	uint64_t file;
	uint32_t client, handle;
};

struct v1_task {
	uint64_t id;
	uint32_t gpu;
	uint16_t kind, engine;
	uint32_t pid, uid;
	uint64_t cgroup_id;
	uint32_t class_id, weight;
	uint64_t deadline_us, created_ns;
	uint32_t known, assumed;
	uint64_t launches, launches_since_ns, last_launch_ns, launch_rate_mhz;
	uint64_t gpu_time_ns, wait_time_ns, switches, last_run_ns, block_time_ns;
	struct v1_settings asked, is, want;
	uint64_t priv[8];
	char comm[16];
};

struct v1_tsg {
	struct v1_key key;
	uint64_t owner_start_ns;
	uint32_t owner_fd, flags, h_device, h_subdevice, dev_instance, nchannels, changed;
	uint32_t suspend_by;
	uint64_t suspended_ns, suspend_until_ns;
	uint32_t errors, last_status;
	struct v1_settings manual;
	struct v1_task task;
};
_Static_assert(sizeof(struct v1_tsg) == 360, "v1_tsg");

struct v1_channels {
	uint32_t n, dropped;
	struct {
		uint32_t handle, cid;
	} ch[V1_MAX_CHANNELS];
};

struct v1_channel_ref {
	uint32_t tsg, owner;
};

/* A device's; a client's (handle == client); an open file's (client and handle 0). */
struct v1_device {
	uint32_t dev_instance; /* client: V1_CLIENT_MIG; file: the process of its TSGs */
	uint32_t h_subdevice;  /* client: number of its TSGs; file: 1 the sweep is asked for */
	uint32_t owner, made;
};

struct v1_proc {
	uint64_t start_ns;
	uint32_t class_id, source, weight, tsgs;
	uint64_t deadline_us;
	uint32_t devices, channels, told, mps;
};
_Static_assert(sizeof(struct v1_proc) == 48, "v1_proc");

struct v1_class {
	char name[32];
	uint32_t weight, suspend_limit_ms, starve_limit_ms, pad;
	uint64_t deadline_us;
};

struct v1_cfg {
	uint32_t abi, sim, branch, max_tsgs_per_proc;
	uint64_t next_id, heartbeat_ns;
	uint32_t policy_active, default_class;
	uint64_t pidns_dev, pidns_ino;
	uint32_t gate, pad;
};
_Static_assert(sizeof(struct v1_cfg) == 64, "v1_cfg");

struct v1_stopped_key {
	uint64_t id;
	uint32_t tgid, pad;
};
struct v1_stopped {
	uint64_t start_ns, since_ns;
	struct v1_key key;
	uint32_t stops, pad;
};

/* Name, type, sizes of key and value, entries, flags. */
#define V1_MAPS(X) \
	X(gs_tsgs, HASH, 16, sizeof(struct v1_tsg), V1_MAX_TSGS, 0) \
	X(gs_chans, HASH, 16, sizeof(struct v1_channels), V1_MAX_TSGS, BPF_F_NO_PREALLOC) \
	X(gs_chantsg, HASH, 16, sizeof(struct v1_channel_ref), 131072, BPF_F_NO_PREALLOC) \
	X(gs_devs, HASH, 16, sizeof(struct v1_device), 16384, BPF_F_NO_PREALLOC) \
	X(gs_procs, HASH, 4, sizeof(struct v1_proc), 65536, BPF_F_NO_PREALLOC) \
	X(gs_classes, ARRAY, 4, sizeof(struct v1_class), 64, 0) \
	X(gs_cfg, ARRAY, 4, sizeof(struct v1_cfg), 1, 0) \
	X(gs_gpus, ARRAY, 4, 4, 64, 0) \
	X(gs_simfiles, HASH, 16, 4, 256, BPF_F_NO_PREALLOC) \
	X(gs_selves, HASH, 4, 4, 1024, BPF_F_NO_PREALLOC) \
	X(gs_counters, PERCPU_ARRAY, 4, 8, 19, 0) \
	X(gs_events, RINGBUF, 0, 0, 1 << 20, 0) \
	X(gs_slot, PROG_ARRAY, 4, 4, 1, 0) \
	X(gs_call, PERCPU_ARRAY, 4, 104, 1, 0) \
	X(gs_work_slot, PROG_ARRAY, 4, 4, 1, 0) \
	X(gs_gate_slot, PROG_ARRAY, 4, 4, 1, 0) \
	X(gs_stopped, HASH, 16, sizeof(struct v1_stopped), 4096, BPF_F_NO_PREALLOC)

/* Beside these two maps of task storage, gs_threads and gs_gate_calls. */
#define V1_LINKS(X) X(tap_sys_exit) X(tap_fork) X(tap_exec) X(tap_exit)

#endif /* GPUSCHED_TESTS_TABLE_V1_H */
