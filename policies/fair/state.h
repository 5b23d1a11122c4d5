/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * fair/state.h - defines the state of fair, in maps that `gpusched policy map` shows
 */
#ifndef FAIR_STATE_H
#define FAIR_STATE_H

/* How a runlist is shared. */
enum mode {
	SLICES, /* all TSGs run, with slices by weight */
	TURNS,  /* one TSG runs at a time, because some TSG would fall behind with slices */
};

/* Reasons that `gpusched list` and `status` show; 0: nothing. */
enum means { NO_MEANS, BY_SLICES, BY_TURNS, PAUSED };
enum why { NO_WHY, NOBODY_FALLS_BEHIND, SOMEBODY_FALLS_BEHIND, PARTS_FAR_APART, AT_ITS_LIMIT };
struct says {
	enum means means;
	enum why why;
	gs_u64 due_permille;
};

/* A compute TSG. A look is a period in which all TSGs run; its sums begin with it. */
struct tsg {
	struct gpusched_facts now;
	/* the facts of the last round */
	gs_u64 last_since, last_work, last_turns, last_cut, last_drained;
	gs_u64 look, look_ns; /* number and begin of the look to which the sums below belong */
	gs_u64 work, turns, cut, drained; /* sums of this look */
	gs_u64 cost_ns;                   /* cost of a turn with which @last_work was computed */
	gs_u64 last_held, held; /* time for which it held the GPU: in total; since the last round */
	gs_u64 due_ppm;         /* part of its runlist that it is due now */
	gs_u64 factor;          /* correction of its slice in 1/1024; 1024: none */
	gs_u64 turn, began_ns;  /* number and begin of its last turn */
	gs_u64 off_ns;          /* since when it has been suspended; 0: it is not */
	gs_u64 asleep_ns;       /* when it was seen to sleep through that turn; 0: it was not */
	/* when somebody else's suspension was first seen; 0: there is none */
	gs_u64 absent_ns;
	gs_u32 sighted;      /* 1: @now is valid */
	gs_u32 active;       /* 1: it wants the GPU */
	gs_u32 light;        /* 1: it wants less than half of its due */
	gs_u32 lagged;       /* number of looks in a row in which it lagged, at most LAGS_ENOUGH */
	gs_u32 looked;       /* 1: a look has judged it */
	gs_u64 done;         /* its work since the last round, in ns */
	gs_u32 runlist, pid; /* runlist and process for which it is counted: see members.h */
	gs_u64 user, job;    /* user and job for which it is counted; 0: none yet */
	struct gpusched_job_key whole; /* its job on all GPUs; here since a stack is too small */
	struct limited limited;
	struct work works;    /* whether it always has work */
	gs_u64 promise_group; /* group of its promise; 0: no promise */
	gs_u32 promise_runlist, pad;
	struct says says;
	struct gpusched_account account;
};
GPUSCHED_MAP(fair_tsgs, HASH, gs_u64, struct tsg, GPUSCHED_MAX_TSGS);

/* A user, a job or a process on a runlist. */
struct member {
	struct gpusched_account account; /* used while turns are taken */
	/* era of @account: accounts of earlier eras, before turns last began, count as zero */
	gs_u64 era;
	struct gpusched_weighing weighs;
	gs_u64 tsgs;    /* number of its TSGs; the entry is removed with the last one */
	gs_u64 busy_ns; /* when one of its TSGs last got a turn */
};
GPUSCHED_MAP(fair_users, HASH, struct gpusched_user_key, struct member, 8192);
GPUSCHED_MAP(fair_jobs, HASH, struct gpusched_job_key, struct member, 16384);
GPUSCHED_MAP(fair_processes, HASH, struct gpusched_process_key, struct member, 16384);

/* A group with a request, on one runlist. */
struct promise {
	gs_u64 seq, tsgs; /* number of the last round; number of its TSGs */
	gs_u64 ppm;       /* promised part */
	/* part by weight: summed so far in this round; in the last round */
	gs_u64 g_due_ppm, due_ppm;
	gs_u64 lifted;    /* 1: the promise is larger than the part by weight */
	gs_u64 now_ns;    /* time of its last round */
	gs_s64 credit_ns; /* credit in ns of turns; may be negative */
	struct gpusched_rotation line;
};
GPUSCHED_MAP(fair_promises, HASH, struct group_key, struct promise, 4096);

struct runlist {
	struct gpusched_rotation line;
	/* buffer to build a place, since callbacks have little stack */
	struct gpusched_place place;
	/* the round that sums up now; the last round that decided */
	gs_u64 seq, settled;
	/*
	 * Gathered in this round (g_...): weights of users; TSGs that want turns; TSGs without
	 * facts. Work in the look; most turns of a TSG in the look, and all turns; smallest and largest part. 1:
	 * the TSG that has the turn still wants it; time up to which the log is known; TSGs for
	 * which slices must stay short.
	 */
	gs_u64 g_users, g_ready, g_unknown, g_work, g_turns, g_all_turns, g_least_ppm, g_most_ppm,
		g_alive, g_as_of, g_rest;
	/*
	 * lifted groups: sum of promises; sum of parts by weight; the group with the largest credit
	 */
	gs_u64 g_lifted_ppm, g_lifted_due_ppm, g_promise;
	gs_s64 g_credit_ns;      /* credit of that group */
	struct gpusched_gpu gpu; /* what is known about the cost of switches */
	gs_u64 cost_ns;          /* part of a turn without work */
	gs_u64 lost_ppm;         /* part of the time that switches took in the last look */
	gs_u64 scale_ppm;        /* factor for the parts of groups that are not lifted */
	struct limits limits;
	gs_u64 ready, least_ppm, most_ppm, rest; /* counts of the last complete round */
	gs_u64 mode, era;                        /* enum mode; number of times that turns began */
	gs_u64 look, look_ns;                    /* number and begin of the present look */
	gs_u64 free_ns;        /* time in the look that ended in which the GPU had nothing to do */
	gs_u64 began;          /* the last look in which sums began */
	gs_u64 shared_ns;      /* since when all TSGs run for a look; 0: they do not */
	gs_u64 judging;        /* the round in which TSGs are judged; 0: not yet */
	enum why why;          /* why turns are taken */
	gs_u32 far_apart;      /* 1: parts differ too much for slices */
	gs_u64 behind;         /* number of TSGs that fell behind in the look */
	gs_u64 seen;           /* 1: the look had enough turns to judge */
	gs_u64 joined;         /* 1: a TSG has come or gone since the last look */
	gs_u64 blind_ns, told; /* since when nothing is known of its TSGs; 1: that is logged */
	/* the present turn: its first TSG, begin, epoch and number; the job that has it as a whole */
	gs_u64 turn_id, turn_ns, epoch, number;
	gs_u64 turn_user, turn_job;
	/*
	 * looks while turns are taken: when the next one is due, the interval, when the last one
	 * ended
	 */
	gs_u64 probe_ns, probe_every_ns, probed_ns;
};
GPUSCHED_MAP(fair_runlists, HASH, gs_u32, struct runlist, 256);

struct whole {
	gs_u64 sleep_ms; /* time until the next round, in ms */
};
GPUSCHED_MAP(fair_whole, ARRAY, gs_u32, struct whole, 1);

/* Zeroes from which new entries are copied, since a callback's stack is too small for them. */
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

/* Slices are chosen so that each TSG gets one within this time. */
GPUSCHED_INLINE gs_u64 cycle_us(void)
{
	return 4ull * max_slice_us;
}

/* Makes the next round come after @ms at the latest. */
GPUSCHED_INLINE void sleep_at_most(gs_u64 ms)
{
	gs_u32 zero = 0;
	struct whole *w = gpusched_lookup(fair_whole, &zero);

	if (w && ms < w->sleep_ms)
		w->sleep_ms = ms;
}

#endif /* FAIR_STATE_H */
