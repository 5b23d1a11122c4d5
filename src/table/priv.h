/* SPDX-License-Identifier: MIT */
/*
 * priv.h - declares the open table; private to the rooms table, gate, taps and launch
 */
#ifndef GPUSCHED_TABLE_PRIV_H
#define GPUSCHED_TABLE_PRIV_H

#include "table/table.h"
#include "table/change.h"
#include "table/events.h"

struct ring_buffer;

/* Names of the pinned maps, programs and links. Each is also a symbol in enum gs_pin. */
#define GS_PIN_MAPS(X) \
	X(gs_tsgs) \
	X(gs_chans) \
	X(gs_makers) \
	X(gs_chantsg) \
	X(gs_devices) \
	X(gs_clients) \
	X(gs_files) \
	X(gs_past) \
	X(gs_users) \
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
	X(change_table) \
	X(change_proc) \
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
		GS_PIN_OPENED, /* gs_table_open() opens the pins above this line */
};

struct gs_table {
	int fd[GS_PIN_OPENED];
	int facts_fd, runlists_fd, gpus_fd; /* -1: the maps of facts.h do not exist */
	int jobs_fd;                        /* -1: the map of jobs does not exist */
	unsigned int cpus;
	unsigned int sweeps;
	unsigned int handled;     /* events handled so far by the current dispatch */
	uint64_t handle_until_ns; /* the current dispatch stops at this time */
	struct ring_buffer *ring;
	gs_event_fn fn;
	void *user;
};

/*
 * Opens a table of this version in @dir, even if the table in the usual place has another version.
 */
int gs_table_open_at(const char *dir, struct gs_table **ret, struct gs_error *err);
/* Runs a BPF program of type syscall. The program reads and writes @arg. */
int gs_table_run_prog(int prog_fd, void *arg, size_t size);
int gs_table_change(struct gs_table *t, struct gs_table_arg *arg);
/* Like gs_table_insert(), but the record comes from an older table and keeps its id and class. */
int gs_table_take(struct gs_table *t, const struct gpusched_tsg *rec,
		  const struct gpusched_channels *ch);
int gs_table_device(struct gs_table *t, const struct gpusched_key *key,
		    const struct gpusched_device *device, uint64_t start_ns);

#endif /* GPUSCHED_TABLE_PRIV_H */
