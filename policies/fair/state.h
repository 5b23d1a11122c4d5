/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * fair/state.h - what fair remembers: all of it is in these maps, for `gpusched policy map` to show
 */
#ifndef FAIR_STATE_H
#define FAIR_STATE_H

/* How a runlist is shared. */
enum mode {
	SLICES, /* all run, with slices by weight */
	TURNS,  /* one at a time: with slices somebody falls behind */
};

/* Shown by `gpusched list` and `status`; 0 is not shown. */
enum means { NO_MEANS, BY_SLICES, BY_TURNS, PAUSED };
enum why { NO_WHY, NOBODY_FALLS_BEHIND, SOMEBODY_FALLS_BEHIND, PARTS_FAR_APART, AT_ITS_LIMIT };
struct says {
	enum means means;
	enum why why;
	gs_u64 due_permille;
};

/* One compute TSG. A look is a stretch of time in which all run; sums in it begin with it. */
struct tsg {
	struct gpusched_facts now;
	gs_u64 last_since, last_work, last_turns, last_cut, last_drained;
	gs_u64 look, look_ns; /* number of the look that these sums are of, and since when */
	gs_u64 work, turns, cut, drained;
	gs_u64 cost_ns;         /* of a turn, by which @last_work was counted */
	gs_u64 last_held, held; /* the GPU, in all and since the last round */
	gs_u64 due_ppm;         /* of its runlist, by weight, among those that want it */
	gs_u64 factor;          /* correction of its slice, 1024 is none */
	gs_u64 turn, began_ns;  /* its last turn: its number, and when it began */
	gs_u64 asleep_ns;       /* it slept through that turn, seen then; 0: it did not */
	gs_u64 absent_ns;       /* somebody else has suspended it, seen since; 0: nobody has */
	gs_u32 sighted, active; /* @now is known; it ran lately */
	gs_u32 light, looked;   /* it wants less than half of its due; somebody has looked */
	gs_u64 done;            /* worked since the last round, ns */
	gs_u32 runlist, pid;    /* that it is counted for */
	gs_u64 user, job;       /* the same; 0: not yet */
	struct limited limited;
	gs_u64 promise_group; /* 0: it has none */
	gs_u32 promise_runlist, pad;
	struct says says;
	struct gpusched_account account;
};
GPUSCHED_MAP(fair_tsgs, HASH, gs_u64, struct tsg, GPUSCHED_MAX_TSGS);

/* A user, a job or a process on a runlist. */
struct member {
	struct gpusched_account account; /* while turns are taken */
	gs_u64 era;                      /* of turns: accounts of an earlier one say nothing */
	struct gpusched_weighing weighs;
	gs_u64 tsgs;    /* that it is kept for */
	gs_u64 busy_ns; /* when one of its TSGs was last given a turn */
};
GPUSCHED_MAP(fair_users, HASH, struct gpusched_user_key, struct member, 8192);
GPUSCHED_MAP(fair_jobs, HASH, struct gpusched_job_key, struct member, 16384);
GPUSCHED_MAP(fair_processes, HASH, struct gpusched_process_key, struct member, 16384);

/* A group with a request, on a runlist. */
struct promise {
	gs_u64 seq, tsgs;          /* the round; that it is kept for */
	gs_u64 ppm;                /* that it is promised */
	gs_u64 g_due_ppm, due_ppm; /* by weight: gathered, and of the last round */
	gs_u64 lifted;             /* 1: that is less */
	gs_u64 now_ns;             /* of its last round */
	gs_s64 credit_ns;          /* of turns */
	struct gpusched_rotation line;
};
GPUSCHED_MAP(fair_promises, HASH, struct group_key, struct promise, 4096);

struct runlist {
	struct gpusched_rotation line;
	struct gpusched_place place; /* that is being put together: callbacks have little stack */
	gs_u64 seq, settled;         /* rounds: of the gathering, and that has decided */
	/* gathered: weights of users; TSGs that want turns; sums of the look */
	gs_u64 g_users, g_ready, g_unknown, g_work, g_turns, g_least_ppm, g_most_ppm, g_alive,
		g_as_of;
	/* of lifted groups: promises, parts by weight; the group with the most credit */
	gs_u64 g_lifted_ppm, g_lifted_due_ppm, g_promise;
	gs_s64 g_credit_ns;
	struct gpusched_gpu gpu; /* what switches cost */
	gs_u64 cost_ns;          /* of a turn that does not work */
	gs_u64 lost_ppm;         /* to switches, in the last look */
	gs_u64 scale_ppm;        /* what weights give, for those that are not lifted */
	struct limits limits;
	gs_u64 ready, least_ppm, most_ppm; /* of the last round */
	gs_u64 mode, era;                  /* enum mode; how often turns began */
	gs_u64 look, look_ns;              /* the look under way: its number, and when it began */
	gs_u64 shared_ns;                  /* all run since; 0: they do not */
	gs_u64 judging;                    /* round in which TSGs are judged; 0: none yet */
	enum why why;                      /* turns are taken */
	gs_u32 far_apart;
	gs_u64 behind, seen;   /* found in it: how many, and whether there was enough to see */
	gs_u64 joined;         /* somebody has come since */
	gs_u64 blind_ns, told; /* nothing is known of its TSGs, since; 0: something is */
	gs_u64 turn_id, turn_ns, epoch, number;
	gs_u64 probe_ns, probe_every_ns, probed_ns; /* looks in which all run: next, and last */
};
GPUSCHED_MAP(fair_runlists, HASH, gs_u32, struct runlist, 256);

struct whole {
	gs_u64 sleep_ms; /* how long the next round may stay away */
};
GPUSCHED_MAP(fair_whole, ARRAY, gs_u32, struct whole, 1);

/* New entries are copies of this: zeroes, too many of them for the stack. */
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

/* All have a slice within so long. */
GPUSCHED_INLINE gs_u64 cycle_us(void)
{
	return 4ull * max_slice_us;
}

GPUSCHED_INLINE void sleep_at_most(gs_u64 ms)
{
	gs_u32 zero = 0;
	struct whole *w = gpusched_lookup(fair_whole, &zero);

	if (w && ms < w->sleep_ms)
		w->sleep_ms = ms;
}

#endif /* FAIR_STATE_H */
