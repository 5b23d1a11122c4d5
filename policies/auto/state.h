/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * auto/state.h - what auto remembers: all of it is in these maps, for `gpusched policy map` to show
 */
#ifndef AUTO_STATE_H
#define AUTO_STATE_H

#include "guess.h"
#include "probe.h"
#include "slice.h"

/* Are an LC's requests worth a hold? */
enum verdict {
	UNKNOWN,
	WORTH,
	FEW_TURNS, /* a hold's calls and the idle GPU at its end would cost more than their turns */
	WASTE,     /* in holds the GPU would idle for too long */
};

/* Shown by `gpusched status` for an LC, and for a TSG that its limit pauses or that is tried; 0: not. */
enum kind { NO_KIND, WHOLE_TURNS, MANY_TURNS, LAUNCH_BOUND };
enum means { NO_MEANS, DRIVERS_SLICES, SHORT_SLICES, LONG_SLICES, HOLDS, PAUSED, CTA_TRIAL };
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
};

/* Requests of an LC. Their needs are measured in windows: stretches of a second or more. */
struct requests {
	gs_u64 began_ns;  /* when the open request began; 0: none is open */
	gs_u64 window_ns; /* when the window began; 0: no request has come yet */
	gs_u64 window_turns, window_progress;
	gs_u64 open_ns; /* total length of the requests that ended in the window */
	gs_u32 ended, quiet_us;
	gs_u64 turns;         /* expected number per request */
	gs_u64 idle_permille; /* expected part of the time that the GPU would idle in holds */
	gs_u64 length_ns;     /* mean length of requests in holds; 0: not known yet */
	gs_u64 again_ns;      /* earliest time for another look without holds */
	gs_u64 again_wait_ns;
	gs_u32 verdict, pad; /* enum verdict */
};

/*
 * One compute TSG. @now is what the GPU's log says of it, and @last what it said at the last round.
 */
struct tsg {
	struct gpusched_facts now;
	gs_u32 sighted;   /* @now is known */
	gs_u32 role;      /* enum role */
	gs_u32 idle;      /* BE: has nothing to do, and no turn */
	gs_u32 absent;    /* suspended by somebody else */
	gs_u64 user, job; /* accounts on which the TSG is counted, */
	gs_u32 runlist;   /* and their runlist */
	gs_u32 counted;   /* 0: on no account yet */
	gs_u64 absent_ns; /* since when somebody else has suspended it; 0: nobody has */
	gs_u64 last_since, last_held, last_turns, last_returns;
	gs_u64 share_ns, share_progress, share_permille; /* of the GPU, lately */
	struct guess guess;                              /* no class: what it is taken for */
	/*
	 * Progress in ns of GPU time. @base_permille: its rate before guesses took effect.
	 * @check_...: time of the last check for harm, and the sums at that time.
	 */
	gs_u64 progress, base_permille, check_ns, check_progress, check_drained, check_cut;
	struct probe probe;          /* BE: of CTA mode */
	gs_u64 off_ns, off_permille; /* BE: how often it is off the GPU, without waiting */
	gs_u64 ended_ns;             /* BE: when its turn was over; 0: it may run */
	gs_u32 part;                 /* BE: is off the GPU so often that it would waste turns */
	gs_u32 waited;               /* LC: its present wait is counted as an inversion */
	gs_u64 turns;                /* a sum as @progress */
	gs_u64 done;                 /* of @progress, since the last round */
	struct limited limited;
	struct requests requests;
	struct says says;     /* LC */
	gs_u64 wait_progress; /* LC: its runlist's be_progress before its present wait */
};
GPUSCHED_MAP(auto_tsgs, HASH, gs_u64, struct tsg, GPUSCHED_MAX_TSGS);

/*
 * A BE that may get the next turn: the lowest place gets it. On the levels of processes and TSGs, v
 * tells when the last turn was: its epoch, and its number on the runlist.
 */
struct candidate {
	struct gpusched_place place; /* who[GPUSCHED_LEVEL_TSG] == 0: there is no candidate */
	gs_u64 weight;
};

struct runlist {
	struct gpusched_runlist_facts now; /* what the GPU's log said when it was last looked at */
	gs_u64 seq, settled;               /* the round that gathers; the last one that decided */
	/*
	 * g_...: gathered in this round. TSGs by class; by guess; LCs that ran lately; other TSGs
	 * with a large part of the GPU.
	 */
	gs_u32 g_lc, g_be, g_guessed_lc, g_guessed_be, g_running_lc, g_busy;
	gs_u32 g_ready, g_part, g_alive, g_tsgs, g_lc_permille, pad3;
	/* TSGs without class and verdict: their part of the GPU; how many look like BE so far */
	gs_u32 g_unclear_permille, g_leaning;
	gs_u32 g_held, pad6; /* TSGs that are held, or hold */
	/* part of the GPU that other TSGs than LCs and BEs have; BEs by guess that want turns */
	gs_u32 g_busy_permille, g_ready_guessed;
	/* sum of the weights of users with BEs that want turns: last round, this round */
	gs_u64 users, g_users;
	gs_u64 g_asked_us; /* longest slice that a BE's owner asked for */
	/*
	 * The first in line, by kind of job. @local has work on this GPU alone. @leads has it on
	 * several GPUs, and this one leads (gangs.h). @guest: the same, but another GPU leads.
	 * @called: a job that has its turn on all its GPUs now.
	 */
	struct candidate local, leads, guest, called;
	struct candidate next;      /* was given the turn last: it has it, or had it */
	struct candidate candidate; /* that is being looked at */
	/* results of the last complete round, as gathered above */
	gs_u32 lc, be, running_lc, busy, ready, part, tsgs, ready_guessed;
	gs_u32 lc_permille, pad5; /* part of the GPU that LCs have */
	/* the turn; number counts them */
	gs_u64 turn_id, turn_ns, epoch, number;
	gs_u64 held_ns;         /* when it was seen held last */
	gs_u64 stood_ns;        /* how long the turn has stood still in holds */
	gs_u64 round_ns;        /* of the last round */
	gs_u64 unheld_until_ns; /* requests of an LC are looked at: no hold */
	gs_u64 inner_v;         /* of the user whose turn it was last */
	struct limits limits;
	/* sums over its TSGs, which never go back */
	gs_u64 be_progress, lc_progress, lc_turns, lc_returns;
	/* a look at what is lost in switches, and at the BEs' part */
	gs_u64 look_ns, look_since, look_lost, look_progress, look_work, look_turns, look_returns;
	struct slice_seen seen; /* that look */
	struct slice slice;     /* BE's beside LC */
	gs_u64 changed_ns;      /* when a TSG came or went last, or a BE got or lost its turns */
	gs_u64 unrest_ns;       /* when the present series of such changes began */
	gs_u64 owed_ns;         /* GPU time that BEs lack to their floor */
	gs_u64 credit_ns;       /* GPU time that they had beyond it, and that counts for later */
	gs_u32 paying;          /* 1: LCs pay it back, with shorter slices */
	gs_u32 acting;          /* 1: guesses about TSGs of no class are in effect */
	gs_u32 classed;         /* LCs and BEs with a class when @acting began */
	gs_u32 told_blind;      /* 1: the policy has reported that the GPU's log is not known */
	gs_u64 blind_ns;        /* since when the log is not known; 0: it is */
	gs_u64 acting_ns, leave_until_ns;
	gs_u64 leave_ns; /* how long the last undo in a row keeps guesses off; 0: none */
	gs_u64 inversions, undone, told_ns;
	struct gpusched_gpu gpu; /* what the host knows of its costs */
	struct costs costs;      /* what follows from that */
};
GPUSCHED_MAP(auto_runlists, HASH, gs_u32, struct runlist, 256);

/* All GPUs together: how long the next round may stay away, and the epoch of the present turns. */
struct whole {
	gs_u64 sleep_ms;
	gs_u64 epoch;
};
GPUSCHED_MAP(auto_whole, ARRAY, gs_u32, struct whole, 1);

/* The account of a user or of a job: turns on one runlist. */
struct account {
	struct gpusched_account turns;
	gs_u64 epoch; /* epoch of the last turn that was charged */
	gs_u64 tsgs;  /* number of TSGs counted on it; 0: it is removed */
	struct gpusched_weighing weighs;
};
GPUSCHED_MAP(auto_users, HASH, struct gpusched_user_key, struct account, 8192);
GPUSCHED_MAP(auto_jobs, HASH, struct gpusched_job_key, struct account, 16384);
/* Epoch of a process's last turn; on all GPUs, so that one with several has it on all at once. */
GPUSCHED_MAP(auto_processes, HASH, gs_u32, gs_u64, 16384);

/* A job, on however many GPUs. The last round's findings count: this one's are not complete. */
struct gang {
	gs_u64 seq;         /* the round that is being gathered */
	gs_u64 gpus, found; /* a bit each: of the last round, of this one */
	gs_u64 found_crowd; /* weights of all with turns on @found_lead: the largest so far */
	gs_u32 lead, found_lead;
	gs_u32 waits, pad; /* it was to be called, and could not be */
	gs_u64 epoch;      /* epoch for which it was called last */
	gs_u64 tsgs;       /* number of its TSGs; 0: it is removed */
};

#define TURN 0  /* priv: number of its last turn on its runlist */
#define BEGAN 1 /* priv: when that began */

/* New entries are copies of this: zeroes, too many of them for the stack. */
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

GPUSCHED_INLINE void sleep_at_most(gs_u64 ms)
{
	gs_u32 zero = 0;
	struct whole *w = gpusched_lookup(auto_whole, &zero);

	if (w && ms < w->sleep_ms)
		w->sleep_ms = ms;
}

#endif /* AUTO_STATE_H */
