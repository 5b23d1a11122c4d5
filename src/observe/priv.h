/* SPDX-License-Identifier: MIT */
/*
 * priv.h - private to the observe room
 */
#ifndef GPUSCHED_OBSERVE_PRIV_H
#define GPUSCHED_OBSERVE_PRIV_H

#include "observe/observe.h"
#include "observe/run.h"

struct bpf_object;
struct ring_buffer;

/* Pinned maps, programs and links: symbol in the enum, name of map, program or link. */
#define GS_PIN_MAPS(X) \
	X(gs_tsgs) \
	X(gs_chans) \
	X(gs_chantsg) \
	X(gs_devs) \
	X(gs_procs) \
	X(gs_classes) \
	X(gs_cfg) \
	X(gs_gpus) \
	X(gs_simfiles) \
	X(gs_selves) \
	X(gs_counters) \
	X(gs_events) \
	X(gs_slot) \
	X(gs_call) \
	X(gs_work_slot) \
	X(gs_threads) \
	X(gs_gate_slot) \
	X(gs_gate_calls) \
	X(gs_stopped)
#define GS_PIN_PROGS(X) \
	X(poke) \
	X(run_table) \
	X(run_proc) \
	X(iter_holders)
#define GS_PIN_LINKS(X) \
	X(tap_sys_exit) \
	X(tap_fork) \
	X(tap_exec) \
	X(tap_exit)

enum gs_pin {
#define X(name) GS_PIN_##name,
	GS_PIN_MAPS(X) GS_PIN_PROGS(X)
#undef X
		GS_PIN_OPENED, /* those above are opened by gs_observe_open() */
};

struct gs_observe {
	int fd[GS_PIN_OPENED];
	unsigned int cpus;
	unsigned int sweeps;
	unsigned int handled; /* events in this dispatch */
	struct ring_buffer *ring;
	gs_event_fn fn;
	void *user;
};

/* Runs a syscall program on @arg, which is read and written. */
int gs_prog_run(int prog_fd, void *arg, size_t size);
/* Like gs_holders_read(), of one process; pid 0: of all. */
int gs_holders_of(struct gs_observe *o, pid_t pid, struct gs_holder **ret, size_t *ret_n,
		  struct gs_error *err);
/* Several lists as one, for gs_holder_find(). */
void gs_holders_sort(struct gs_holder *all, size_t n);
/* In a sorted list; @pid 0: the first of the file. NULL: there is none. */
const struct gs_holder *gs_holder_find(const struct gs_holder *all, size_t n, uint64_t file,
				       pid_t pid);
/* Of the unified hierarchy, as bpf_get_current_cgroup_id() has it; 0: not known. */
uint64_t gs_cgroup_of(pid_t pid);
int gs_run_table(struct gs_observe *o, struct gs_table_arg *arg);
int gs_table_device(struct gs_observe *o, const struct gpusched_key *key,
		    const struct gpusched_device *dev, uint64_t start_ns);

/* Loads the gate on the maps of @taps and pins it into @dir. */
int gs_gate_on(const struct bpf_object *taps, const char *dir, struct gs_error *err);
/* Takes it out of @dir; no call reaches it any more. */
void gs_gate_off(const char *dir);

#endif /* GPUSCHED_OBSERVE_PRIV_H */
