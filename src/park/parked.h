/* SPDX-License-Identifier: MIT */
/*
 * parked.h - lists the processes that are parked or about to be, and saves the list in a file
 *
 * The file, RUN_DIR/parked.json (root's, 0600), outlives the daemon. It is written before the first
 * step of parking, the request to libcuda to lock the process, and after each change of the list.
 * The pid, the start time and the boot id identify a process.
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
#include "process/cgroup.h"

#define GS_PARKED_MAX 1024
#define GS_PARKED_TSGS 64 /* most TSGs of a process that can be parked */

/* How far the last request for a process has come. */
enum gs_parked_over {
	GS_PARKED_UNDER_WAY,
	GS_PARKED_IS_OUT, /* parked */
	GS_PARKED_RUNS,
	GS_PARKED_GONE, /* the process has ended */
	GS_PARKED_LOST, /* parked, and cannot be brought back any more */
};

/* A process that is parked or about to be ("it" in the comments). */
struct gs_parked {
	struct gs_parked *prev, *next;
	struct gs_park core;
	unsigned int refs; /* the list holds one, and each waiting request another */
	enum gs_parked_over over;
	int32_t pid;
	uint64_t start_ns;
	uint32_t uid, by; /* its owner's uid; the uid that asked to park it */
	bool by_itself;   /* no user asked: it was idle, or the policy asked */
	bool by_policy;   /* the policy asked: gpusched_park() */
	uint32_t class_id;
	char comm[GPUSCHED_COMM_LEN + 1];
	uint64_t bytes[GS_PARK_GPUS]; /* its GPU memory by GPU; an estimate until it is parked */
	bool exported;                /* it has let others open memory of it */
	uint64_t kept_bytes;          /* while parked: what stays of it; GS_PARK_KEPT_UNKNOWN */
	uint64_t free_bytes;          /* while its restore waits: bytes free on GPU @lacking */
	uint32_t lacking;             /* the GPU that lacks memory for the restore */
	/*
	 * pid of the program for which this one made room: when that program ends, this one is
	 * brought back. 0: none
	 */
	int32_t guest;
	uint64_t guest_start_ns;
	/* when it was parked, and when it is brought back (0: on request only); CLOCK_MONOTONIC */
	uint64_t since_ns, until_ns;
	uint64_t wanted_ns;          /* when somebody asked to bring it back; 0: nobody has */
	uint64_t out_ns, restore_ns; /* how long its copies out and back took; 0: not measured */
	uint64_t told_ns; /* the figures have its parked time up to here; 0: they have none yet */
	/* identifies the process in the figures; pid 0: its parked time does not count yet */
	struct gs_history_who who;
	struct gs_error why; /* the last failure; "": none */
	bool urgent;         /* root wants it back: that is tried before all else, and always */
	bool hangs;          /* its copy was set aside: requests are answered without it */
	/* signs that it wants to work again */
	bool counted;        /* it has an agent, which counts its calls of libcuda */
	bool calls_known;    /* @calls is valid */
	uint64_t calls;      /* the agent's count when the process was locked */
	uint64_t calls_seen; /* the agent's last count */
	bool used;           /* the program has called libcuda since the lock */
	enum gs_park_probe probe;
	uint64_t probe_ns;        /* AWAITED: the lock waits until then; LEFT: try again then */
	uint64_t noted_ns;        /* time of the last call that the probes recorded */
	uint64_t locked_ns;       /* when we asked to lock it; 0: unknown */
	struct gs_error no_probe; /* LEFT: why there are no probes */
	bool alone;           /* it is not one rank of several (ranks.h), or parking is forced */
	uint64_t ranks_by_ns; /* when we stop asking whether it is; 0: not asked yet */
	bool cgroups_known;
	struct gs_cgroup_room cgroups; /* before the lock; no limits until it is known */
	int waiters;                   /* threads that seem to wait, or GS_PARK_WAITERS_UNKNOWN */
	uint64_t waiters_ns;           /* when we last asked for @waiters */
	/* its TSGs; @aside: since @aside_ns, the engine does not schedule them */
	struct gpusched_key tsgs[GS_PARKED_TSGS];
	size_t ntsgs;
	bool aside;
	uint64_t aside_ns;
	int pidfd; /* readable when the process has ended: @ended then fires */
	sd_event_source *ended;
	void *room; /* the struct gs_parking with the list that contains it */
};

struct gs_parked *gs_parked_new(int32_t pid, uint64_t start_ns);
void gs_parked_ref(struct gs_parked *p);
void gs_parked_unref(struct gs_parked *p);
uint64_t gs_parked_bytes(const struct gs_parked *p);

/* Returns the file's text for the list (malloc'd); NULL: out of memory. */
char *gs_parked_text(const struct gs_parked *all, const char *boot);
/*
 * Adds the processes that @text lists, with unknown states. Adds none if @text is from another boot
 * than @boot. -EINVAL, -ENOMEM.
 */
int gs_parked_parse(struct gs_parked **all, const char *text, const char *boot,
		    struct gs_error *err);
int gs_parked_save(const struct gs_parked *all, struct gs_error *err);
/* -ENOENT: there is no file. */
int gs_parked_load(struct gs_parked **all, struct gs_error *err);

#endif /* GPUSCHED_PARK_PARKED_H */
