/* SPDX-License-Identifier: MIT */
/*
 * parked.h - processes that are parked, or on their way, and the file that outlives the daemon
 *
 * RUN_DIR/parked.json (root's, 0600) is written before a process is locked and whenever one comes
 * or goes. A process is the same one where pid and start are, in the same boot.
 */
#ifndef GPUSCHED_PARK_PARKED_H
#define GPUSCHED_PARK_PARKED_H

#include <systemd/sd-event.h>

#include "basic/error.h"
#include "gpusched/abi.h"
#include "history/history.h"
#include "park/core.h"
#include "park/sign.h"
#include "park/waiters.h"

#define GS_PARKED_MAX 1024
#define GS_PARKED_TSGS 64 /* of one process */

enum gs_parked_over {
	GS_PARKED_UNDER_WAY,
	GS_PARKED_IS_OUT,
	GS_PARKED_RUNS,
	GS_PARKED_GONE, /* it has ended */
	GS_PARKED_LOST,
};

struct gs_parked {
	struct gs_parked *prev, *next;
	struct gs_park core;
	unsigned int refs; /* the list's, and those who wait for it */
	enum gs_parked_over over;
	int32_t pid;
	uint64_t start_ns;
	uint32_t uid, by; /* whose it is; who parked it */
	bool by_itself;   /* ... since it was idle, or as a policy wished: nobody asked */
	bool by_policy;
	uint32_t class_id;
	char comm[GPUSCHED_COMM_LEN + 1];
	uint64_t bytes[GS_PARK_GPUS]; /* taken */
	uint64_t free_bytes;          /* why it waits: of GPU @lacking */
	uint32_t lacking;
	int32_t guest; /* the program that needs its memory: brought back at its end; 0: none */
	uint64_t guest_start_ns;
	uint64_t since_ns, until_ns; /* CLOCK_MONOTONIC; until_ns 0: until unpark */
	uint64_t wanted_ns;          /* it is to run again since then; 0: it is not */
	uint64_t out_ns, restore_ns; /* how long its copies took; 0: none was seen */
	uint64_t told_ns;            /* until then the time parked is in the figures; 0: none is */
	struct gs_history_who who;   /* its names there; pid 0: no time counts yet */
	struct gs_error why;         /* what failed last; "": nothing */
	/* the signs that it wants to work again */
	bool counted; /* its agent counts its calls of libcuda */
	bool calls_known;
	uint64_t calls;      /* ... so many before it was locked */
	uint64_t calls_seen; /* at the last look since then */
	bool used;           /* one came since then */
	enum gs_park_probe probe;
	uint64_t probe_ns;        /* AWAITED: until then; LEFT: tried again then */
	uint64_t noted_ns;        /* the last call that the probes have noted */
	uint64_t locked_ns;       /* when it was asked to be locked; 0: not known */
	struct gs_error no_probe; /* with LEFT */
	int waiters;              /* threads that seem to wait, or GS_PARK_WAITERS_UNKNOWN */
	uint64_t waiters_ns;      /* when that was asked last */
	/* on its way out */
	struct gpusched_key tsgs[GS_PARKED_TSGS];
	size_t ntsgs;
	bool aside;
	uint64_t aside_ns;
	int pidfd;
	sd_event_source *ended;
	void *room;
};

struct gs_parked *gs_parked_new(int32_t pid, uint64_t start_ns);
void gs_parked_ref(struct gs_parked *p);
void gs_parked_unref(struct gs_parked *p);
uint64_t gs_parked_bytes(const struct gs_parked *p);

/* malloc'd; NULL: out of memory */
char *gs_parked_text(const struct gs_parked *all, const char *boot);
/* Adds what @text says, if it is of the boot @boot; nothing is known of their states. -EINVAL. */
int gs_parked_parse(struct gs_parked **all, const char *text, const char *boot,
		    struct gs_error *err);
int gs_parked_save(const struct gs_parked *all, struct gs_error *err);
/* -ENOENT: there is none. */
int gs_parked_load(struct gs_parked **all, struct gs_error *err);

#endif /* GPUSCHED_PARK_PARKED_H */
