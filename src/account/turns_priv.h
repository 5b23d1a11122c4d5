/* SPDX-License-Identifier: MIT */
/*
 * turns_priv.h - declares the state of turns.c, which turns_known.c reads too
 */
#ifndef GPUSCHED_ACCOUNT_TURNS_PRIV_H
#define GPUSCHED_ACCOUNT_TURNS_PRIV_H

#include <uthash.h>
#include <utlist.h>

#include "account/slice.h"
#include "account/turns.h"

struct node {
	UT_hash_handle hh;
	uint64_t id;
	struct gs_turn_sums sums;
	struct gs_turn last; /* its last turn; why it ended is not settled while @pending */
	bool pending;        /* the TSG is in the list gs_turns.pending */
	struct node *prev, *next;
	uint64_t switches;      /* the runlist's switches at its last END */
	uint64_t waiting_since; /* since when it has waited; 0: not known to wait */
	bool one_slice;         /* its last turn took one slice, plus the drain */
	uint64_t slices;        /* slices in its last turn; 0: no slice ended it */
	struct gs_slice slice;  /* the TSG's present settings */
	/* the length to expect of its last turn if its slice ended that turn */
	struct gs_cut cut;
	bool mixed; /* settings changed during its last turn */
	/*
	 * Even if the TSG returns in its place, it is unknown whether the slice ended its last
	 * turn.
	 */
	bool unknown;
	uint64_t usual_ns; /* usual length of its turns; 0: none yet */
	/* its slice in its last turn, us; 0: not to be used for calibration */
	uint64_t turn_us;
	struct gs_assumed assumed; /* contended part of its last turn if the slice ended it */
	/* Part of its last turn that may be contended; counted in sums.contended_off_ns. */
	uint64_t doubt_ns;
	bool cilp;      /* its last turn was in CILP, the only mode with a known save */
	bool suspended; /* it is suspended, so it does not wait for its turn */
	bool calm;      /* in the list gs_turns.calm */
	struct node *qprev, *qnext;
	bool changed; /* in the list gs_turns.changed */
	struct node *cprev, *cnext;
	uint64_t launch_ns; /* a launch not used yet (in the list gs_turns.launched); 0: none */
	struct node *lprev, *lnext;
};

/* A change of a setting, which applies once the records reach @ns. */
struct setting {
	uint64_t ns, id;
	enum { SETS_SLICE, SETS_MODE, SUSPENDS, RESUMES } what;
	uint64_t value;
};

struct gs_turns {
	gs_turn_fn fn;
	void *user;
	struct gs_calibration *calibration;
	struct node *nodes;
	unsigned int nnodes; /* those with at least one record */
	/*
	 * TSGs with a last turn that is not known to be contended throughout, earliest END first;
	 * linked by qprev and qnext.
	 */
	struct node *calm;
	struct setting *settings;
	size_t nsettings, settings_at, settings_cap;
	struct node *pending; /* turns with an unsettled end, the earliest END first */
	struct node *changed;
	struct node *launched; /* launches at times that the records have not reached */
	struct gs_runlist_sums sums;
	struct node *cur;   /* the loaded TSG; NULL with @loaded: an unknown one */
	bool loaded, blind; /* blind: records were lost, so that the loaded TSG is unknown */
	uint64_t start_ns;  /* START of the turn under way; between turns, the last END */
	uint64_t slice_ns;  /* longest possible slice of the turn under way */
	uint64_t alone_ns;  /* if the turn is still under way then, no other TSG waits */
	/* since when another TSG has waited in this turn; 0: none is known to */
	uint64_t contended_from;
	uint64_t contended_ns; /* contended time earlier in this turn */
	uint64_t doubt_ns;     /* possibly contended time in this turn */
	uint64_t waited_ns;    /* wait before this turn */
	uint64_t last_ns;      /* time up to which the sums are right */
	uint64_t record_ns;    /* time of the last record */
	struct node *left;     /* the TSG loaded before; NULL: unknown */
	bool idle;             /* no TSG was loaded for longer than a switch takes */
	unsigned int nwaiting;
};

static inline struct node *turns_find(const struct gs_turns *t, uint64_t id)
{
	struct node *n = NULL;

	HASH_FIND(hh, t->nodes, &id, sizeof(id), n);
	return n;
}

/* Contended time in the turn under way. */
static inline uint64_t contended_so_far(const struct gs_turns *t)
{
	bool now = t->contended_from && t->last_ns > t->contended_from;

	return t->contended_ns + (now ? t->last_ns - t->contended_from : 0);
}

#endif /* GPUSCHED_ACCOUNT_TURNS_PRIV_H */
