/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * auto/state.h - defines the state of auto, in maps that `gpusched policy map` shows
 */
#ifndef AUTO_STATE_H
#define AUTO_STATE_H

#include "guess.h"
#include "slice.h"

/* Whether an LC's requests are worth a hold. */
enum verdict {
	UNKNOWN,
	WORTH,
	FEW_TURNS, /* a hold would cost more than the switches that it saves */
	WASTE,     /* in holds the GPU would idle for too much of the time */
};

/* Reasons in `gpusched status`, for an LC and for a TSG that is paused; 0: none. */
enum kind { NO_KIND, WHOLE_TURNS, MANY_TURNS, LAUNCH_BOUND };
enum means { NO_MEANS, DRIVERS_SLICES, SHORT_SLICES, LONG_SLICES, HOLDS, PAUSED };
enum not_held {
	NO_REASON,
	NO_BE,
	REQUESTS_NOT_TOLD,
	LOOKED_AT,
	TOO_FEW_TURNS,
	GPU_WOULD_IDLE,
	OTHERS_COMPETE,
	BE_IS_OWED,
	CALLS_COST_TOO_MUCH,
};
struct says {
	enum kind kind;
	enum means means;
	enum not_held not_held;
	gs_u32 quiet_us;
	gs_u64 turns_a_request;
	gs_u64 turn_us; /* mean turn, as in struct requests */
};

/* Requests of an LC, measured in windows of at least one second. */
struct requests {
	gs_u64 began_ns;  /* when the request in progress began; 0: none is in progress */
	gs_u64 window_ns; /* when the window began; 0: no request has ever come */
	gs_u64 window_turns, window_progress, window_be; /* the last: r->be_progress then */
	gs_u64 open_ns; /* total length of the requests that ended in this window */
	gs_u32 ended, quiet_us;
	gs_u64 turns;         /* expected number of turns per request */
	gs_u64 turn_us;       /* mean turn in the last window without a hold; 0: not known */
	gs_u64 idle_permille; /* expected part of all time for which the GPU would idle in holds */
	gs_u64 length_ns;     /* mean length of requests in holds; 0: not known yet */
	gs_u64 again_ns;      /* earliest time for another window without holds */
	gs_u64 again_wait_ns;
	gs_u64 put_off_ns; /* when the last request began that got no hold for want of calls */
	gs_u64 slices_until_ns, slices_wait_ns; /* no holds until then, and how long that is */
	gs_u64 ended_ns;   /* when the last request ended; 0: none has, or one is in progress */
	gs_u64 rest_turns; /* TSG's turns in all once the log was past that end, + 1; 0: not yet */
	gs_u32 verdict, pad; /* enum verdict */
};

/*
 * A compute TSG. @now has the present facts from the GPU's log. Fields that begin with last_ have
 * the facts of the last round.
 */
struct tsg {
	struct gpusched_facts now;
	gs_u32 sighted;   /* 1: @now is valid */
	gs_u32 role;      /* enum role */
	gs_u32 idle;      /* 1: a BE without work, which gets no turn */
	gs_u32 absent;    /* 1: suspended by somebody else */
	gs_u64 user, job; /* the accounts to which the TSG belongs */
	gs_u32 runlist;   /* runlist of these accounts */
	gs_u32 counted;   /* 0: the TSG belongs to no account yet */
	gs_u64 absent_ns; /* when somebody else's suspension was first seen; 0: there is none */
	gs_u64 last_since, last_held, last_turns, last_returns;
	/* time and @progress when @share_permille was computed: its recent part of the GPU */
	gs_u64 share_ns, share_progress, share_permille;
	struct guess guess; /* without a class: what the TSG is guessed to be */
	struct work work;   /* whether it always has work */
	gs_u64 mates;       /* BE: TSGs of its job that want turns on its runlist, with itself */
	gs_u64 gang;        /* BE: 1: its job has work on several GPUs */
	/*
	 * @progress: GPU time without switch costs, ns. @base_permille: growth of @progress before
	 * guesses took effect. @check_...: time of the last check for harm, and sums at that time.
	 */
	gs_u64 progress, base_permille, check_ns, check_progress, check_drained, check_cut;
	gs_u64 off_ns,
		off_permille; /* BE: when, and in what part of looks, it was off the GPU: look_part() */
	gs_u64 ended_ns;      /* BE: when its turn ended; 0: it may run */
	gs_u32 part;          /* BE: 1: works in bits, so turns would be wasted on it */
	gs_u32 waited;        /* LC: 1: the present wait is already counted as an inversion */
	gs_u64 turns;         /* number of its turns, over the same time as @progress */
	gs_u64 done;          /* progress since the last round, ns */
	struct limited limited;
	struct requests requests;
	struct says says;     /* reasons for `gpusched status` */
	gs_u64 wait_progress; /* LC: be_progress of its runlist when the present wait began */
};
GPUSCHED_MAP(auto_tsgs, HASH, gs_u64, struct tsg, GPUSCHED_MAX_TSGS);

/*
 * A BE that may get the next turn, for its whole job. The candidate with the lowest place gets it.
 * Jobs have turns as a whole, so on the levels of processes and TSGs all places have the same @v.
 */
struct candidate {
	struct gpusched_place place; /* its TSG's id is 0 if there is no candidate */
	gs_u64 weight;
	gs_u64 works; /* 1: it is known to work all the time */
	gs_u64 mates; /* TSGs of its job that want turns */
};

/* The job that has a turn. @past: TSGs past their quota have turns of their own. */
struct holder {
	gs_u64 user, job;
	gs_u64 past;
	gs_u64 any; /* 0: nobody */
};

struct runlist {
	struct gpusched_runlist_facts now; /* facts from the GPU's log at the last look */
	/* the round that counts now; the last round that decided */
	gs_u64 seq, settled;
	/*
	 * Counts that this round gathers (g_...): TSGs by class; TSGs by guess; LCs that ran
	 * recently; other TSGs with a large part of the GPU.
	 */
	gs_u32 g_lc, g_be, g_guessed_lc, g_guessed_be, g_running_lc, g_busy;
	/*
	 * BEs that want turns; BEs that work in bits; all TSGs; part of the GPU that LCs have.
	 */
	gs_u32 g_ready, g_part, g_tsgs, g_lc_permille;
	/*
	 * TSGs without class and guess: their part of the GPU; number of them that look like BE so
	 * far
	 */
	gs_u32 g_unclear_permille, g_leaning;
	gs_u32 g_held, pad6; /* number of TSGs that are held or cause a hold */
	/* part of the GPU that TSGs other than LC and BE have; BEs by guess that want turns */
	gs_u32 g_busy_permille, g_ready_guessed;
	/* sum of the weights of users with BEs that want turns: in the last round, in this round */
	gs_u64 users, g_users;
	gs_u64 g_asked_us; /* longest slice that a BE's owner asked for */
	/*
	 * The first in line, by kind of job. @local: a job with work on this GPU only. @leads: a
	 * gang that this GPU leads (gangs.h). @guest: a gang that another GPU leads. @called: a
	 * gang that now has its turn on all its GPUs.
	 */
	struct candidate local, leads, guest, called;
	/* the first in line among those that are known to work and do not have the turn */
	struct candidate spare;
	struct candidate next;      /* the candidate that got the last turn */
	struct candidate candidate; /* buffer for the candidate that is being put together */
	/* counts of the last complete round; meanings as above */
	gs_u32 lc, be, running_lc, busy, ready, part, tsgs, ready_guessed;
	gs_u32 lc_permille, pad5; /* part of the GPU that LCs have */
	/* the present turn: its first TSG, begin, epoch and number */
	gs_u64 turn_id, turn_ns, epoch, number;
	gs_u64 end_ns;      /* when that turn is over, without the time that holds took from it */
	struct holder turn; /* the job that has the turn */
	struct holder fill; /* the job that runs beside it while it is not known to work */
	/*
	 * TSGs of that turn, counted in this round: those that want it; those known to work, and
	 * known of late. The same in the last round.
	 */
	gs_u32 g_alive, g_works, g_fresh, alive, works, fresh;
	gs_u64 held_ns;         /* when a hold was last seen on the runlist */
	gs_u64 stood_ns;        /* how long holds have stopped the present turn */
	gs_u64 round_ns;        /* time of the last round */
	gs_u64 unheld_until_ns; /* until then, LCs' requests are measured without holds */
	gs_u64 inner_v;         /* gpusched_rotation.inner_v for users */
	struct limits limits;
	/* sums over the runlist's TSGs; they never decrease */
	gs_u64 be_progress, lc_progress, lc_turns, lc_returns;
	/* when the present look began, and the sums at that time */
	gs_u64 look_ns, look_since, look_lost, look_progress, look_work, look_turns, look_returns;
	struct slice_seen seen; /* the findings of the last look */
	struct slice slice;     /* slice of BEs beside LC */
	/* when a TSG last came or went, or a BE began or stopped wanting turns */
	gs_u64 changed_ns;
	gs_u64 unrest_ns;      /* when the present series of such changes began */
	gs_u64 owed_ns;        /* GPU time that BEs lack to reach their floor */
	gs_u64 credit_ns;      /* GPU time that BEs had beyond their floor, kept as credit */
	gs_u32 paying;         /* 1: LCs have a shorter slice to pay what BEs lack */
	gs_u32 acting;         /* 1: guesses about TSGs without a class are in effect */
	gs_u32 classed;        /* number of LCs and BEs with a class when guesses took effect */
	gs_u32 told_blind;     /* 1: the policy has already logged that the GPU's log is unknown */
	gs_u64 blind_ns;       /* since when the GPU's log has been unknown; 0: it is known */
	gs_u64 acting_ns;      /* when guesses took effect */
	gs_u64 leave_until_ns; /* no guesses take effect before this time */
	gs_u64 leave_ns;       /* how long the last undo keeps guesses off; 0: no recent undo */
	/* counts of inversions and undos; when an inversion was last logged */
	gs_u64 inversions, undone, told_ns;
	struct gpusched_gpu gpu; /* what the host knows about the GPU's costs */
	struct costs costs;      /* costs computed from @gpu */
};
GPUSCHED_MAP(auto_runlists, HASH, gs_u32, struct runlist, 256);

/* One entry, for all GPUs. */
struct whole {
	gs_u64 sleep_ms; /* time until the next round, in ms */
	gs_u64 epoch;    /* number of the present epoch, in which turns do not change */
	gs_u64 end_ns;   /* when it ends */
	gs_u64 calls;    /* TSGs suspended or resumed at its begin, on all GPUs */
	gs_u64 most;     /* the most of these in the last epochs */
	gs_u64 lists;    /* runlists on which a turn began with it */
};
GPUSCHED_MAP(auto_whole, ARRAY, gs_u32, struct whole, 1);

/* The account of a user or job, for turns on one runlist. */
struct account {
	struct gpusched_account turns;
	gs_u64 epoch; /* epoch of the last turn charged */
	/* number of TSGs that belong to the account; it is removed with the last TSG */
	gs_u64 tsgs;
	struct gpusched_weighing weighs;
	/* a job's TSGs that want turns: found in round @seq, in the round before */
	gs_u64 seq, found, ready;
};
GPUSCHED_MAP(auto_users, HASH, struct gpusched_user_key, struct account, 8192);
GPUSCHED_MAP(auto_jobs, HASH, struct gpusched_job_key, struct account, 16384);
/*
 * A job, on any number of GPUs. Decisions use the findings of the last round (@gpus, @lead), since
 * those of the current round (found...) are incomplete.
 */
struct gang {
	gs_u64 seq;         /* the round to which found... belong */
	gs_u64 gpus, found; /* GPUs on which the job has work, one bit each */
	gs_u64 found_crowd; /* weights that share @found_lead: the largest of any runlist so far */
	gs_u32 lead, found_lead; /* the leading runlist: of the last round, of this round */
	gs_u32 waits, pad;       /* 1: the gang was first in line, but one of its GPUs was taken */
	gs_u64 epoch;            /* epoch for which it was last called */
	gs_u64 tsgs;             /* number of its TSGs; the gang is removed with the last TSG */
};

/* Words of priv. */
#define TURN 0  /* number of the TSG's last turn on its runlist */
#define BEGAN 1 /* when that turn began */

/* Zeroes from which new entries are copied, since a callback's stack is too small for them. */
union blank {
	struct tsg tsg;
	struct runlist runlist;
	struct gang gang;
	struct account account;
};
GPUSCHED_MAP(auto_blank, ARRAY, gs_u32, union blank, 1);

GPUSCHED_INLINE const union blank *blank_of(void)
{
	gs_u32 zero = 0;

	return gpusched_lookup(auto_blank, &zero);
}

GPUSCHED_INLINE struct runlist *runlist_of(const struct gpusched_task *t)
{
	const union blank *blank = blank_of();
	gs_u32 key = gpusched_runlist(t);

	if (t->kind != GPUSCHED_KIND_COMPUTE || !blank)
		return 0;
	return gpusched_lookup_or_add(auto_runlists, &key, &blank->runlist);
}

GPUSCHED_INLINE struct tsg *tsg_of(const struct gpusched_task *t)
{
	const union blank *blank = blank_of();
	gs_u64 id = t->id;

	return blank ? gpusched_lookup_or_add(auto_tsgs, &id, &blank->tsg) : 0;
}

/* Makes the next round come after @ms at the latest. */
GPUSCHED_INLINE void sleep_at_most(gs_u64 ms)
{
	gs_u32 zero = 0;
	struct whole *w = gpusched_lookup(auto_whole, &zero);

	if (w && ms < w->sleep_ms)
		w->sleep_ms = ms;
}

#endif /* AUTO_STATE_H */
