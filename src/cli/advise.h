/* SPDX-License-Identifier: MIT */
/*
 * advise.h - finds what would help the programs of a GPU, from the kind of each program
 *
 * Pure.
 */
#ifndef GPUSCHED_CLI_ADVISE_H
#define GPUSCHED_CLI_ADVISE_H

#include <stdbool.h>

#include "means/kind.h"

/* All programs of one GPU, counted by kind. */
struct advise_crowd {
	unsigned int n[GS_PROGRAM_KIND_MAX];
	bool short_blocks;        /* a batch program stays in CTA mode: its blocks are short */
	bool has_auto;            /* policy auto is installed; otherwise lcbe and rr are used */
	bool has_pool, has_share; /* `gpusched run` has --pool, --share */
};

/* The remedies that `gpusched advise` can give, declared once: symbol, name, text. */
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

/* The cases, declared once: symbol, what fits; a row is one of docs/choosing.md. */
#define ADVISE_LINES(X) \
	X(ALONE, "nothing competes: the driver's default will do") \
	X(TURNS, "a service and batch work (row A): class lc, class be, policy auto; run --share " \
		 "for all (row C) if it takes a fifth of the GPU, or if the thread blocks of the " \
		 "batch work take 100 us or less") \
	X(SHORT_BLOCKS, \
	  "a service beside batch work with short thread blocks (row A): run --share for all") \
	X(LAUNCHES, \
	  "a service of many small kernels beside batch work (row C): run --share for all, or " \
	  "CUDA graphs and row A") \
	X(BATCHES, "batch work alone (row E): the driver's default, or policy fair for shares") \
	X(SERVICES, "services alone: the driver's default") \
	X(UNKNOWN, "not known: too little was seen to choose")

enum advise_line {
#define X(sym, text) ADVISE_LINE_##sym,
	ADVISE_LINES(X)
#undef X
};
const char *advise_line_text(enum advise_line l);

/* Finds the case of this crowd. */
enum advise_line advise_line(const struct advise_crowd *c);
/* Chooses the remedy for a program of kind @k in this crowd. */
enum advise_means advise_means(enum gs_program_kind k, const struct advise_crowd *c);
/* The policy that fits the crowd; NULL: none is needed. */
const char *advise_policy(const struct advise_crowd *c);

#endif /* GPUSCHED_CLI_ADVISE_H */
