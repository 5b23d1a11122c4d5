/* SPDX-License-Identifier: MIT */
/*
 * advise.h - what a program is, by its turns, and what would help it
 *
 * Pure. It judges by the GPU's context-switch log alone, so it says nothing about a program that
 * had the GPU for itself.
 */
#ifndef GPUSCHED_CLI_ADVISE_H
#define GPUSCHED_CLI_ADVISE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The figures of one compute TSG between two looks. */
struct advise_seen {
	bool known;  /* the log has reports of it at both times */
	bool hidden; /* this viewer may not see its times */
	bool server; /* an MPS server: many programs that look like one */
	bool suspended;
	double span_s, held_s; /* held: the time it was loaded */
	double turns, slice_ended, drained, returns;
	double launches;    /* NAN: launches were not counted */
	double waited_s;    /* after turns that its slice ended */
	double turn_cost_s; /* part of each turn that is no work; NAN: unknown */
	uint32_t timeslice_us;
	uint32_t beside_us; /* the longest slice of the other TSGs; 0: there are none */
};

/* Declared once: symbol, name, text. */
#define ADVISE_KINDS(X) \
	X(UNSEEN, "not enough seen", "nobody competed with it, or too few of its turns are known") \
	X(UNCLEAR, "not enough seen", \
	  "launches were not counted, and its turns alone do not say whether it is launch-bound") \
	X(HIDDEN, "not yours to see", \
	  "its times are for its user, root and whom AllowTrace= names") \
	X(IDLE, "idle", "it had no turn") \
	X(WHOLE, "whole turns", "its requests are done in one turn each, or a few") \
	X(LAUNCH_BOUND, "launch-bound", \
	  "it launches little at a time: its turns end, and it is back at once") \
	X(BATCH, "batch", "it has work all the time, and its slice ends its turns") \
	X(SERVER, "MPS server", "its clients share its turns")

enum advise_kind {
#define X(sym, name, text) ADVISE_##sym,
	ADVISE_KINDS(X)
#undef X
		ADVISE_KIND_MAX
};
const char *advise_kind_name(enum advise_kind k);
const char *advise_kind_text(enum advise_kind k);

enum advise_kind advise_kind(const struct advise_seen *s);
/* True if something can be said about it. */
static inline bool advise_is_known(enum advise_kind k)
{
	return k != ADVISE_UNSEEN && k != ADVISE_UNCLEAR && k != ADVISE_HIDDEN;
}

/* One GPU's programs together. */
struct advise_crowd {
	unsigned int n[ADVISE_KIND_MAX];
	bool short_blocks;        /* a batch program runs in CTA mode */
	bool has_auto;            /* there is a policy auto; otherwise lcbe and rr are used */
	bool has_pool, has_share; /* options of gpusched run */
};

/* Declared once: symbol, name, text. */
#define ADVISE_MEANS(X) \
	X(NOTHING, "nothing", "nothing has to be done") \
	X(UNKNOWN, "unknown", "too little was seen to say") \
	X(LC, "class lc", "say that it is latency-critical, and start a policy") \
	X(BE, "class be", "say that it is best-effort") \
	X(POOL, "pool", \
	  "start the batch programs in a pool: they no longer switch between each other") \
	X(SHARE, "share", "start it and the batch programs in one server, or use CUDA graphs") \
	X(GRAPHS, "CUDA graphs", \
	  "let it launch more at a time (CUDA graphs), or start all in an MPS server, the batch " \
	  "programs at client priority 1")

enum advise_means {
#define X(sym, name, text) ADVISE_DO_##sym,
	ADVISE_MEANS(X)
#undef X
		ADVISE_MEANS_MAX
};
const char *advise_means_name(enum advise_means m);
const char *advise_means_text(enum advise_means m);

/* Declared once: symbol, the line of docs/choosing.md. */
#define ADVISE_LINES(X) \
	X(ALONE, "nothing competes: the driver's default will do") \
	X(TURNS, "classes and policy auto, if the batch's thread blocks take about 1 ms; if they " \
		 "take 100 " \
		 "us or less, MPS with client priority is better (run --share)") \
	X(SHORT_BLOCKS, \
	  "MPS with client priority (run --share): the batch's thread blocks are short") \
	X(LAUNCHES, \
	  "MPS with client priority (run --share), or CUDA graphs, classes and policy auto") \
	X(BATCHES, "the driver's default, or policy fair for shares: no service competes") \
	X(SERVICES, "the driver's default: no batch program competes") \
	X(UNKNOWN, "not known: too little was seen to choose")

enum advise_line {
#define X(sym, text) ADVISE_LINE_##sym,
	ADVISE_LINES(X)
#undef X
};
const char *advise_line_text(enum advise_line l);

/* Finds the line of docs/choosing.md for this crowd. */
enum advise_line advise_line(const struct advise_crowd *c);
/* The means for a program of kind @k in that crowd. */
enum advise_means advise_means(enum advise_kind k, const struct advise_crowd *c);
/* The policy that fits; NULL: none is needed. */
const char *advise_policy(const struct advise_crowd *c);

#endif /* GPUSCHED_CLI_ADVISE_H */
