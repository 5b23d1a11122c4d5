/* SPDX-License-Identifier: MIT */
/*
 * history.h - keeps the GPUs' work on disk: time held, waits, and changes
 *
 * One SQLite file, which a thread writes; nobody waits for it. A full disk, a damaged or newer
 * file, or a clock that was set stops nothing: each is logged and counted. A series is a GPU, or a
 * process on a GPU in one class, cgroup and policy. Each series has running totals, one point a
 * minute. So a range needs two look-ups per series, and points between can be dropped without loss.
 */
#ifndef GPUSCHED_HISTORY_HISTORY_H
#define GPUSCHED_HISTORY_HISTORY_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "account/turns.h"
#include "basic/error.h"
#include "gpusched/abi.h"
#include "process/batch.h"
#include "process/cgroup.h"
#include "process/pod_names.h"

/* Counters of the history: symbol, name, help text. */
#define GS_HISTORY_COUNTERS(X) \
	X(WRITTEN, "written", "records written to the history") \
	X(LOST, "lost", "records lost to the history: the queue was full, or a write failed") \
	X(FAILED, "failed", "times that the history could not be written") \
	X(RENEWED, "renewed", "times that a damaged history was put aside") \
	X(STEPS, "clock_steps", "times that the clock was set while the history was kept") \
	X(TRIMMED, "trimmed", "processes dropped from the history to stay in its limits") \
	X(FOLDED, "folded", "short programs of a user with very many, added up as one process")

enum gs_history_counter {
#define X(sym, name, text) GS_HIST_##sym,
	GS_HISTORY_COUNTERS(X)
#undef X
		GS_HIST_MAX
};

/* The sums: symbol, column. Sums of several spans or series may be added. */
#define GS_HISTORY_SUMS(X) \
	X(HELD, held_ns) \
	X(CONTENDED, contended_ns) \
	X(WAIT, wait_ns) \
	X(WAITS, waits) \
	X(TURNS, turns) \
	X(CUT, slice_ended) \
	X(LOST, lost_ns) \
	X(OPEN, open_ns) \
	X(UNKNOWN, unknown_ns) \
	X(LAUNCHES, launches) \
	X(CALLS, calls) \
	X(ALONE, alone_ns) \
	X(WORKED, worked_ns) \
	X(REQUEST, request_wait_ns) \
	X(SUSPENDED, suspended_ns) /* for any reason, also for others' requests */ \
	X(TOLD, requests)          /* requests that the program told of, with their time */ \
	X(TOLD_TOOK, requests_ns)  /* what they took: the four parts together */ \
	X(TOLD_ITSELF, requests_itself_ns) \
	X(TOLD_OTHERS, requests_others_ns) \
	X(TOLD_NEITHER, requests_neither_ns) \
	X(TOLD_UNKNOWN, requests_unknown_ns) \
	X(SLO, slo_requests) /* those for which the class had slo= */ \
	X(SLO_MISSED, slo_missed) \
	X(SLO_ITSELF, slo_missed_itself) \
	X(SLO_OTHERS, slo_missed_others) \
	X(SEEN, seen)                  /* records with known times */ \
	X(BLIND, blind)                /* records with unknown times */ \
	X(COUNTED, counted)            /* records with known launches */ \
	X(FLAWED, flawed)              /* records during which the log lost entries */ \
	X(MEMORY, memory_mib_s)        /* MiB times s held, also by idle processes */ \
	X(MEMORY_KNOWN, memory_known)  /* readings of the memory */ \
	X(REQUESTS, deadline_requests) /* requests with deadline, known begin and end */ \
	X(MISSED, deadline_missed) \
	X(USED, used_ns)            /* GPU time used, by gs_turn_used() */ \
	X(UNPRICED, unpriced_turns) /* turns with unknown costs, which USED includes */ \
	X(PARKED, parked_ns)        /* time parked, on each GPU that had the process's memory */

enum gs_history_sum {
#define X(sym, column) GS_SUM_##sym,
	GS_HISTORY_SUMS(X)
#undef X
		GS_SUM_MAX
};

struct gs_history_sums {
	uint64_t v[GS_SUM_MAX];
	uint64_t wait_bucket[GS_WAIT_BUCKETS]; /* as in struct gs_turn_sums */
	/* the greatest lateness among GS_SUM_MISSED, which is not a sum; 0: unknown */
	uint64_t worst_late_ns;
};

/* True if there was no work, and no time in which work is unknown. */
bool gs_history_sums_is_nothing(const struct gs_history_sums *s);
void gs_history_sums_add(struct gs_history_sums *inout, const struct gs_history_sums *s);
/* Subtracts sums; none goes below 0. The worst lateness stays. */
void gs_history_sums_sub(struct gs_history_sums *inout, const struct gs_history_sums *s);

/* Figures that are computed from sums, declared once. */
#define GS_FIGURE_PROCESS (1u << 0) /* for processes, and for sums over processes */
#define GS_FIGURE_GPU (1u << 1)     /* for GPUs as a whole */
struct gs_history_figure {
	enum gs_history_sum sum;
	const char *key; /* key in JSON; a time ends in _ms */
	const char *is;  /* how it was obtained: exact, estimated, told (by the program) */
	unsigned int of; /* GS_FIGURE_* */
	/* The figure is known if this sum is not 0; GS_SUM_MAX: always. */
	enum gs_history_sum known;
	/* Name in OpenMetrics, without gpusched_ and _total; NULL: none. */
	const char *metric, *help;
	/* true: unknown while GS_SUM_UNPRICED is not 0, since it includes unknown costs */
	bool priced;
};
extern const struct gs_history_figure gs_history_figures[];
extern const size_t gs_history_nfigures;
/* Adds all figures, with percentiles of the waits and how reliable they are; @of: GS_FIGURE_*. */
void gs_history_put_figures(json_t *o, const struct gs_history_sums *s, unsigned int of, bool pool);
/* How each figure is obtained, by the figure's key. Once for all rows of an answer. */
json_t *gs_history_figures_json(void);

/* Names the owner of sums. */
struct gs_history_who {
	int32_t pid;       /* 0: the GPU itself */
	uint64_t start_ns; /* start of the process */
	uint32_t uid;
	char comm[GPUSCHED_COMM_LEN + 1];
	uint32_t gpu;
	char gpu_uuid[48];
	uint16_t engine; /* as gpusched_task.engine, for its partition; 0: in none, or unknown */
	char class[32];  /* "": none */
	char policy[64]; /* the policy in force; "": none */
	char cgroup[GS_CGROUP_PATH_LEN];
	struct gs_pod_names pod;
	char job[GS_BATCH_JOB_LEN]; /* job of a batch system; "": none */
	/* the process is an MPS server: its figures are those of the work of its clients */
	bool pool;
};

/*
 * An event of a TSG or a process, or a change made by user @by_uid (if @by is set). Texts may be
 * NULL.
 */
struct gs_history_event {
	int32_t pid; /* 0: the event is about no process */
	uint64_t start_ns;
	uint64_t tsg;    /* 0: about no TSG */
	uint64_t ago_ns; /* time since it happened */
	const char *what, *target, *detail, *result;
	bool by;
	uint32_t by_uid;
	int32_t by_pid;
};

struct gs_history_opts {
	size_t size; /* sizeof(struct gs_history_opts) */
	/* Folder of the file DIR/history.db (mode 0600). Made with mode 0700 if it is missing. */
	const char *dir;
	uint32_t days;           /* older records are removed */
	uint64_t bytes;          /* while the file is larger, the oldest records are removed */
	const char *boot;        /* id of the machine's boot; NULL: the present one */
	uint64_t (*clock)(void); /* milliseconds since 1970; NULL: the machine's clock */
	/* CLOCK_BOOTTIME in s; NULL: the machine's, and with @clock one that agrees with it */
	uint64_t (*boottime)(void);
};

struct gs_history;
/* -ENOMEM, or the error of pthread_create(). A file that cannot be used is reported later. */
int gs_history_new(const struct gs_history_opts *opts, struct gs_history **ret);
/* Writes what is in the queue, for 3 s at most, and frees. @h may be NULL. */
void gs_history_free(struct gs_history *h);
/* Returns 0, or -ENOTSUP with the reason if nothing can be kept. For any thread. */
int gs_history_state(struct gs_history *h, struct gs_error *err);

/*
 * The next functions are for any thread, and do not wait. -ENOBUFS: the queue is full; that is
 * counted.
 */

/* Adds @sums: the work of the last @span_s. */
int gs_history_add(struct gs_history *h, const struct gs_history_who *who, uint64_t span_s,
		   const struct gs_history_sums *sums);
/* The process has no TSG any more. */
int gs_history_ended(struct gs_history *h, int32_t pid, uint64_t start_ns);
int gs_history_event(struct gs_history *h, const struct gs_history_event *ev);
/*
 * The clock was set. Records keep the times that they have: the new time may be wrong as well. They
 * are not removed for their age until CLOCK_BOOTTIME has agreed with the clock for hours.
 */
void gs_history_stepped(struct gs_history *h);

/* Waits until all that was given before is written, or lost. */
void gs_history_flush(struct gs_history *h);

uint64_t gs_history_counter(const struct gs_history *h, enum gs_history_counter c);

/* ---- asking ---------------------------------------------------------------------------------- */

enum gs_history_by {
	GS_BY_PROCESS,
	GS_BY_USER,
	GS_BY_CGROUP,
	GS_BY_CLASS,
	GS_BY_GPU,
	GS_BY_POD,
	GS_BY_NAMESPACE,
	GS_BY_JOB,
	GS_BY_PARTITION,
	GS_BY_MAX
};
/* -EINVAL */
int gs_history_query_parse_by(const char *text, enum gs_history_by *ret);

struct gs_history_query {
	uint64_t since_s, until_s; /* seconds since 1970; @until_s 0: no end */
	enum gs_history_by by;
	int32_t pid;                      /* 0: all */
	char comm[GPUSCHED_COMM_LEN + 1]; /* a pattern; "": all */
	int64_t of_uid;                   /* rows of one owner; valid with @has_uid */
	bool has_uid;
	bool has_class; /* with @class; "": processes without a class */
	char class[GPUSCHED_CLASS_NAME_LEN];
	/* This cgroup, and those below it; "": all. */
	char cgroup[256];
	char gpu[64]; /* index or UUID, with "/GI" or "/GI/CI": in that partition; "": all */
	char namespace[GS_NAMESPACE_LEN];                 /* "": all */
	char pod[GS_NAMESPACE_LEN + GS_POD_NAME_LEN + 1]; /* "NAMESPACE/NAME"; "": all */
	char job[32];                                     /* "": all */
	uint64_t tsg; /* 0: all; otherwise the answer is the TSG's events */
	bool changes; /* answer with changes and their authors instead of sums */
	bool calm;    /* add each process's calm minutes */
	/* Rights of the user who asks: @uid sees its own rows, and sums by class and GPU. */
	uint32_t uid;
	bool times; /* sees others' times too, but not their launches, cgroups or events */
	bool root;  /* sees everything */
};

/* True if rows of other users may be left out of the answer. */
bool gs_history_query_hides(const struct gs_history_query *q);
/* Gets a row as in docs/history.md. Returns non-zero to stop, as when out of memory. */
typedef int (*gs_history_row_fn)(json_t *row, void *user);
/*
 * Calls @fn for each row; the one with the most GPU time comes first. Reads the file itself, so any
 * thread may call this, in any process that may read the file. Returns -ENOTSUP if there is no
 * history or a newer version's, and -EUCLEAN if it is damaged.
 */
int gs_history_query_ask(const char *dir, const struct gs_history_query *q, gs_history_row_fn fn,
			 void *user, struct gs_error *err);
/*
 * Gets when the last program began that did not begin from @from_s to @to_s; in s since 1970, 0: none.
 * Errors as gs_history_query_ask().
 */
int gs_history_newest(const char *dir, int64_t from_s, int64_t to_s, int64_t *ret_s,
		      struct gs_error *err);
/*
 * Gets the time before which records may be lost: the file was begun anew, or has dropped some to
 * stay in its limits. In s since 1970, 0: none are. Errors as gs_history_query_ask().
 */
int gs_history_newest_loss(const char *dir, int64_t *ret_s, struct gs_error *err);
/* A reader found the file damaged: the writer renames it. */
void gs_history_damaged(struct gs_history *h);

#endif /* GPUSCHED_HISTORY_HISTORY_H */
