/* SPDX-License-Identifier: MIT */
/*
 * turns_priv.h - what turns.c keeps, for the file that answers questions about it
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
	struct gs_turn last; /* its last turn; its end is pending while @pending */
	bool pending;        /* in gs_turns.pending */
	struct node *prev, *next;
	uint64_t switches;      /* of all, at its last END */
	uint64_t waiting_since; /* 0: not known to wait */
	bool one_slice;         /* its last turn is as long as one slice, or longer by its drain */
	struct gs_slice slice;  /* that is set */
	struct gs_cut cut;      /* how long its last turn is if its slice ended it */
	bool mixed;             /* something was set of it in its last turn */
	bool unknown;           /* nobody knows whether its slice ended that, if it returns */
	uint64_t usual_ns;      /* its turns last; 0: it had none */
	uint64_t turn_us;       /* its slice in its last turn; 0: that is no sample of anything */
	struct gs_assumed assumed; /* of that, contended if its slice ended it */
	uint64_t doubt_ns;         /* of it, maybe contended; in what the sums may be off by */
	bool suspended;            /* it cannot run: it does not wait for its turn */
	bool calm;                 /* in gs_turns.calm */
	struct node *qprev, *qnext;
	bool changed; /* in gs_turns.changed */
	struct node *cprev, *cnext;
	uint64_t launch_ns; /* in gs_turns.launched; 0: not there */
	struct node *lprev, *lnext;
};

/* A change that counts from @ns on; the records may not have come to it. */
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
		*calm; /* nobody is known to have waited in all of their last turn; as pending */
	struct setting *settings;
	size_t nsettings, settings_at, settings_cap;
	struct node *pending; /* the earliest END first */
	struct node *changed;
	struct node *launched; /* at times that the records have not come to */
	struct gs_runlist_sums sums;
	struct node *cur;        /* its context is loaded; NULL with @loaded: of nobody known */
	bool loaded, blind;      /* blind: records were lost, and with them what is loaded */
	uint64_t start_ns;       /* of the turn under way */
	uint64_t slice_ns;       /* of it, at most */
	uint64_t alone_ns;       /* if it goes on until then nobody waits */
	uint64_t contended_from; /* in it; 0: nobody is known to wait */
	uint64_t contended_ns;   /* in it before, while somebody did */
	uint64_t doubt_ns;       /* in it, maybe contended */
	uint64_t waited_ns;      /* for it */
	uint64_t last_ns;        /* of what the sums have */
	uint64_t record_ns;      /* of the last record */
	struct node *left;       /* it was loaded before; NULL: unknown */
	bool idle;               /* nobody was loaded for so long that it is no switch */
	unsigned int nwaiting;
};

static inline struct node *turns_find(const struct gs_turns *t, uint64_t id)
{
	struct node *n = NULL;

	HASH_FIND(hh, t->nodes, &id, sizeof(id), n);
	return n;
}

/* In the turn under way. */
static inline uint64_t contended_so_far(const struct gs_turns *t)
{
	bool now = t->contended_from && t->last_ns > t->contended_from;

	return t->contended_ns + (now ? t->last_ns - t->contended_from : 0);
}

#endif /* GPUSCHED_ACCOUNT_TURNS_PRIV_H */
