/* SPDX-License-Identifier: MIT */
/*
 * turns_priv.h - the state of turns.c, for the file that answers queries about it
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
	struct gs_turn last; /* its last turn; its end is not settled while @pending */
	bool pending;        /* the TSG is in the list gs_turns.pending */
	struct node *prev, *next;
	uint64_t switches;      /* the runlist's switches at its last END */
	uint64_t waiting_since; /* 0: not known to wait */
	bool one_slice;         /* its last turn is as long as one slice, or longer by its drain */
	uint64_t slices;        /* slices in its last turn; 0: no slice ended it */
	struct gs_slice slice;  /* the present settings */
	struct gs_cut cut;      /* how long its last turn would be if its slice ended it */
	bool mixed;             /* settings changed during its last turn */
	/* If it returns in its place, it is unknown whether the slice ended its last turn. */
	bool unknown;
	uint64_t usual_ns;         /* usual length of its turns; 0: none yet */
	uint64_t turn_us;          /* its slice in its last turn; 0: that turn is no sample */
	struct gs_assumed assumed; /* contended part of that turn, if its slice ended it */
	/* Part of that turn that may be contended; part of the sums that may be. */
	uint64_t doubt_ns;
	bool cilp;      /* the mode of its last turn: what a save costs is known of CILP alone */
	bool suspended; /* it is suspended, so it does not wait for its turn */
	bool calm;      /* in the list gs_turns.calm */
	struct node *qprev, *qnext;
	bool changed; /* in the list gs_turns.changed */
	struct node *cprev, *cnext;
	uint64_t launch_ns; /* in the list gs_turns.launched with this launch; 0: not in it */
	struct node *lprev, *lnext;
};

/* A change that is in force from @ns on, a time that the records may not have reached. */
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
	unsigned int nnodes; /* that have had a turn */
	struct node
		/*
		 * Calm: no TSG is known to have waited during their last turn; linked like pending.
		 */
		*calm;
	struct setting *settings;
	size_t nsettings, settings_at, settings_cap;
	struct node *pending; /* the earliest END first */
	struct node *changed;
	struct node *launched; /* launches at times that the records have not reached */
	struct gs_runlist_sums sums;
	struct node *cur;        /* the loaded TSG; NULL with @loaded: an unknown one */
	bool loaded, blind;      /* blind: records were lost, so that the loaded TSG is unknown */
	uint64_t start_ns;       /* of the turn under way */
	uint64_t slice_ns;       /* longest possible slice of the turn under way */
	uint64_t alone_ns;       /* if the turn goes on until then, no TSG waits */
	uint64_t contended_from; /* since when in this turn; 0: no TSG is known to wait */
	uint64_t contended_ns;   /* contended time earlier in this turn */
	uint64_t doubt_ns;       /* possibly contended time in this turn */
	uint64_t waited_ns;      /* wait before this turn */
	uint64_t last_ns;        /* time up to which the sums are right */
	uint64_t record_ns;      /* of the last record */
	struct node *left;       /* the TSG loaded before; NULL: unknown */
	bool idle;               /* no TSG was loaded for so long that it is no switch */
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
