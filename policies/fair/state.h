/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * fair/state.h - all that fair remembers, in maps that `gpusched policy map` shows
 */
#ifndef FAIR_STATE_H
#define FAIR_STATE_H

/* How a runlist is shared. */
enum mode {
	SLICES, /* all run, with slices by weight */
	TURNS,  /* one runs at a time, because a TSG would fall behind with slices */
};

/* Shown by `gpusched list` and `status`; 0 is not shown. */
enum means { NO_MEANS, BY_SLICES, BY_TURNS, PAUSED };
enum why { NO_WHY, NOBODY_FALLS_BEHIND, SOMEBODY_FALLS_BEHIND, PARTS_FAR_APART, AT_ITS_LIMIT };
struct says {
	enum means means;
	enum why why;
	gs_u64 due_permille;
};

/* One compute TSG. A look is a stretch of time in which all run; its sums begin with the look. */
struct tsg {
	struct gpusched_facts now;
	/* the facts of the last round */
	gs_u64 last_since, last_work, last_turns, last_cut, last_drained;
	gs_u64 look, look_ns; /* the look of the sums below: its number, and its begin */
	gs_u64 work, turns, cut, drained; /* sums of that look */
	gs_u64 cost_ns;                   /* the cost of a turn that @last_work was counted with */
	gs_u64 last_held, held; /* time that it held the GPU: in all; since the last round */
	gs_u64 due_ppm;         /* the part of its runlist that is due to it now */
	gs_u64 factor;          /* the correction of its slice; 1024: none */
	gs_u64 turn, began_ns;  /* its last turn: number, and begin */
	gs_u64 asleep_ns;       /* when it was seen asleep in that turn; 0: it was not */
	gs_u64 absent_ns;       /* since when somebody else has suspended it; 0: nobody has */
	gs_u32 sighted;         /* 1: @now is known */
	gs_u32 active;          /* 1: it ran lately */
	gs_u32 light;           /* 1: it wants less than half of its due */
	gs_u32 looked;          /* 1: it has been judged in a look */
	gs_u64 done;            /* its work since the last round, ns */
	gs_u32 runlist, pid;    /* where it is counted: see members.h */
	gs_u64 user, job;       /* the same; 0: not counted yet */
	struct limited limited;
	gs_u64 promise_group; /* the group of its promise; 0: it has none */
	gs_u32 promise_runlist, pad;
	struct says says;
	struct gpusched_account account;
};
GPUSCHED_MAP(fair_tsgs, HASH, gs_u64, struct tsg, GPUSCHED_MAX_TSGS);

/* A user, a job or a process on a runlist. */
struct member {
	struct gpusched_account account; /* used while turns are taken */
	gs_u64 era; /* the era of @account: when turns begin anew, old accounts count for nothing */
	struct gpusched_weighing weighs;
	gs_u64 tsgs;    /* number of its TSGs; it is removed with the last one */
	gs_u64 busy_ns; /* when one of its TSGs was last given a turn */
};
GPUSCHED_MAP(fair_users, HASH, struct gpusched_user_key, struct member, 8192);
GPUSCHED_MAP(fair_jobs, HASH, struct gpusched_job_key, struct member, 16384);
GPUSCHED_MAP(fair_processes, HASH, struct gpusched_process_key, struct member, 16384);

/* A group with a request, on a runlist. */
struct promise {
	gs_u64 seq, tsgs;          /* the round; number of its TSGs */
	gs_u64 ppm;                /* the part that it is promised */
	gs_u64 g_due_ppm, due_ppm; /* its part by weight: so far in this round; in the last round */
	gs_u64 lifted;             /* 1: the promise is larger than the part by weight */
	gs_u64 now_ns;             /* time of its last round */
	gs_s64 credit_ns;          /* time of turns that it has to its credit */
	struct gpusched_rotation line;
};
GPUSCHED_MAP(fair_promises, HASH, struct group_key, struct promise, 4096);

struct runlist {
	struct gpusched_rotation line;
	struct gpusched_place place; /* room to put a place together: callbacks have little stack */
	gs_u64 seq, settled;         /* the round that gathers; the last one that decided */
	/*
	 * Gathered in this round (g_...): weights of users; TSGs that want turns; TSGs without
	 * facts. Then: work of the look; most turns of a TSG in the look; smallest and largest
	 * part. Then: 1 if the TSG that has the turn still wants it; time to which the log reaches.
	 */
	gs_u64 g_users, g_ready, g_unknown, g_work, g_turns, g_least_ppm, g_most_ppm, g_alive,
		g_as_of;
	/* of lifted groups: their promises; their parts by weight; the one with the most credit */
	gs_u64 g_lifted_ppm, g_lifted_due_ppm, g_promise;
	gs_s64 g_credit_ns;      /* the credit of that group */
	struct gpusched_gpu gpu; /* the costs of switches */
	gs_u64 cost_ns;          /* the part of a turn without work */
	gs_u64 lost_ppm;         /* the part of the last look that went into switches */
	gs_u64 scale_ppm;        /* the factor for parts of groups that are not lifted */
	struct limits limits;
	gs_u64 ready, least_ppm, most_ppm; /* counts of the last round */
	gs_u64 mode, era;                  /* enum mode; how often turns began */
	gs_u64 look, look_ns;              /* the look under way: its number, and its begin */
	gs_u64 shared_ns;                  /* since when all run, for a look; 0: they do not */
	gs_u64 judging;                    /* the round in which TSGs are judged; 0: none yet */
	enum why why;                      /* why turns are taken */
	gs_u32 far_apart;                  /* 1: parts are too far apart for slices */
	gs_u64 behind;                     /* how many TSGs fell behind in the look */
	gs_u64 seen;                       /* 1: the look had enough turns to judge by */
	gs_u64 joined;                     /* 1: a TSG has come or gone since the last look */
	gs_u64 blind_ns, told; /* since when nothing is known of its TSGs; 1: that was logged */
	gs_u64 turn_id, turn_ns, epoch, number; /* the turn: TSG, begin, epoch, number */
	/* looks while turns are taken: when the next is due, how often, when the last one ended */
	gs_u64 probe_ns, probe_every_ns, probed_ns;
};
GPUSCHED_MAP(fair_runlists, HASH, gs_u32, struct runlist, 256);

struct whole {
	gs_u64 sleep_ms; /* how long the next round may stay away */
};
GPUSCHED_MAP(fair_whole, ARRAY, gs_u32, struct whole, 1);

/* Zeroes, from which new entries are copied; a callback's stack has no room for them. */
union blank {
	struct tsg tsg;
	struct runlist runlist;
	struct member member;
	struct promise promise;
};
GPUSCHED_MAP(fair_blank, ARRAY, gs_u32, union blank, 1);

GPUSCHED_INLINE const union blank *blank_of(void)
{
	gs_u32 zero = 0;

	return gpusched_lookup(fair_blank, &zero);
}

GPUSCHED_INLINE struct runlist *runlist_of(const struct gpusched_task *t)
{
	const union blank *blank = blank_of();
	gs_u32 key = gpusched_runlist(t);

	if (t->kind != GPUSCHED_KIND_COMPUTE || !blank)
		return 0;
	return gpusched_lookup_or_add(fair_runlists, &key, &blank->runlist);
}

GPUSCHED_INLINE struct tsg *tsg_of(const struct gpusched_task *t)
{
	const union blank *blank = blank_of();
	gs_u64 id = t->id;

	return blank ? gpusched_lookup_or_add(fair_tsgs, &id, &blank->tsg) : 0;
}

/* Slices are such that each TSG gets one within this time. */
GPUSCHED_INLINE gs_u64 cycle_us(void)
{
	return 4ull * max_slice_us;
}

/* Shortens the rest after this round to @ms. */
GPUSCHED_INLINE void sleep_at_most(gs_u64 ms)
{
	gs_u32 zero = 0;
	struct whole *w = gpusched_lookup(fair_whole, &zero);

	if (w && ms < w->sleep_ms)
		w->sleep_ms = ms;
}

#endif /* FAIR_STATE_H */
