/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * rr/state.h - defines the state of rr, in maps that `gpusched policy map` shows
 */
#ifndef RR_STATE_H
#define RR_STATE_H

/* A BE. */
struct tsg {
	struct gpusched_facts now;
	struct work work;
	gs_u32 sighted;            /* 1: @now is valid */
	gs_u32 gang;               /* 1: its job has work on several GPUs */
	gs_u64 user, job, runlist; /* the accounts to which it belongs */
	gs_u64 counted;            /* 0: it belongs to none yet */
	gs_u64 mates;              /* TSGs of its job that want turns on its runlist, with itself */
	gs_u64 off_ns;             /* since when it is suspended; 0: it is not */
	gs_u64 share_ns, share_held, share_permille; /* its recent part of the GPU */
};
GPUSCHED_MAP(rr_tsgs, HASH, gs_u64, struct tsg, GPUSCHED_MAX_TSGS);

/* A user or a job, on one runlist. */
struct member {
	struct gpusched_account turns;
	gs_u64 tsgs; /* number of its TSGs; the entry is removed with the last one */
	/* its TSGs that want turns: found in round @seq, in the round before */
	gs_u64 seq, found, ready;
	struct gpusched_weighing weighs;
};
GPUSCHED_MAP(rr_users, HASH, struct gpusched_user_key, struct member, 4096);
GPUSCHED_MAP(rr_jobs, HASH, struct gpusched_job_key, struct member, 16384);

/*
 * A job, on all GPUs: one bit each, of those on which it wants turns. @lead: the runlist with the
 * largest crowd, on which its part is the smallest. Found in round @seq, and in the round before.
 */
struct gang_key {
	gs_u64 user, job;
};
struct gang {
	gs_u64 seq, found, gpus, tsgs;
	gs_u64 found_crowd;
	gs_u32 found_lead, lead;
	gs_u64 epoch; /* epoch for which it was last called */
};
GPUSCHED_MAP(rr_gangs, HASH, struct gang_key, struct gang, 8192);

/* A job that has turns. @past: its TSGs past their quota have turns of their own. */
struct holder {
	gs_u64 user, job;
	gs_u64 past;
	gs_u64 any; /* 0: nobody */
};

/* The first in line of some kind, with what is known of it. */
struct head {
	struct gpusched_place place;
	gs_u64 works, mates;
};

struct runlist {
	struct gpusched_account users; /* only inner_v is used */
	gs_u64 seq, settled;           /* the round that counts now; the last round that decided */
	/*
	 * first in line: all; jobs on this GPU only; gangs that this GPU leads; the called gang;
	 * known to work, without turn
	 */
	struct head first, local, leads, called, spare;
	gs_u64 g_crowd, crowd;    /* weights of the users with TSGs that want turns */
	struct head at;           /* buffer, since callbacks have little stack */
	struct holder turn, fill; /* jobs: of the turn; beside it if it may not work */
	gs_u64 turn_id;           /* the first TSG of the turn */
	gs_u64 number, epoch;     /* of that turn */
	gs_u64 since, end_ns;     /* begin and end of that turn */
	/* TSGs of that turn: that want it, known to work, known of late; in this round, in the last */
	gs_u32 g_alive, g_works, g_fresh, alive, works, fresh;
	gs_u32 g_ready, ready; /* TSGs that want turns */
	gs_u32 g_lc, lc;       /* 1: an lc TSG ran of late */
};
GPUSCHED_MAP(rr_runlists, HASH, gs_u32, struct runlist, 256);

/* One entry, for all GPUs. */
struct whole {
	gs_u64 epoch,
		end_ns;     /* number and end of the present epoch, in which turns do not change */
	gs_u64 calls, most; /* TSGs suspended or resumed at its begin; the most of late */
	gs_u64 lists;       /* runlists on which a turn began with it */
	struct holder bid;  /* a gang that is first in line somewhere */
	gs_u64 bid_seq, bid_epoch; /* the round in which it was; the epoch of its last call */
	struct holder called;      /* the gang that has its turn on all its GPUs in this epoch */
};
GPUSCHED_MAP(rr_whole, ARRAY, gs_u32, struct whole, 1);

/* Zeroes from which new entries are copied, since a callback's stack is too small for them. */
union blank {
	struct tsg tsg;
	struct runlist runlist;
	struct member member;
	struct gang gang;
};
GPUSCHED_MAP(rr_blank, ARRAY, gs_u32, union blank, 1);

GPUSCHED_INLINE const union blank *blank_of(void)
{
	gs_u32 zero = 0;

	return gpusched_lookup(rr_blank, &zero);
}

GPUSCHED_INLINE struct runlist *runlist_of(const struct gpusched_task *t)
{
	const union blank *blank = blank_of();
	gs_u32 key = gpusched_runlist(t);

	return blank ? gpusched_lookup_or_add(rr_runlists, &key, &blank->runlist) : 0;
}

GPUSCHED_INLINE struct tsg *tsg_of(const struct gpusched_task *t)
{
	const union blank *blank = blank_of();
	gs_u64 id = t->id;

	return blank ? gpusched_lookup_or_add(rr_tsgs, &id, &blank->tsg) : 0;
}

GPUSCHED_INLINE struct whole *whole_of(void)
{
	gs_u32 zero = 0;

	return gpusched_lookup(rr_whole, &zero);
}

GPUSCHED_INLINE struct member *user_of(gs_u64 user, gs_u32 runlist)
{
	struct gpusched_user_key key = { user, runlist, 0 };
	const union blank *blank = blank_of();

	return blank ? gpusched_lookup_or_add(rr_users, &key, &blank->member) : 0;
}

GPUSCHED_INLINE struct member *job_of(gs_u64 user, gs_u64 job, gs_u32 runlist)
{
	struct gpusched_job_key key = { user, job, runlist, 0 };
	const union blank *blank = blank_of();

	return blank ? gpusched_lookup_or_add(rr_jobs, &key, &blank->member) : 0;
}

GPUSCHED_INLINE struct gang *gang_of(gs_u64 user, gs_u64 job)
{
	struct gang_key key = { user, job };
	const union blank *blank = blank_of();

	return blank ? gpusched_lookup_or_add(rr_gangs, &key, &blank->gang) : 0;
}

/* Takes the TSG off its accounts, and removes those that have no other TSG. */
GPUSCHED_INLINE void leave(struct tsg *s)
{
	struct gpusched_user_key uk = { s->user, (gs_u32)s->runlist, 0 };
	struct gpusched_job_key jk = { s->user, s->job, (gs_u32)s->runlist, 0 };
	struct gang_key gk = { s->user, s->job };
	struct member *u = gpusched_lookup(rr_users, &uk), *j = gpusched_lookup(rr_jobs, &jk);
	struct gang *g = gpusched_lookup(rr_gangs, &gk);

	if (!s->counted)
		return;
	if (u && u->tsgs > 1)
		gpusched_add(&u->tsgs, (gs_u64)-1);
	else
		gpusched_delete(rr_users, &uk);
	if (j && j->tsgs > 1)
		gpusched_add(&j->tsgs, (gs_u64)-1);
	else
		gpusched_delete(rr_jobs, &jk);
	if (g && g->tsgs > 1)
		gpusched_add(&g->tsgs, (gs_u64)-1);
	else
		gpusched_delete(rr_gangs, &gk);
	s->counted = 0;
}

#endif /* RR_STATE_H */
