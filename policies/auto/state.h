/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * auto/state.h - what auto remembers: all of it is in these maps, for `gpusched policy map` to show
 */
#ifndef AUTO_STATE_H
#define AUTO_STATE_H

#include "guess.h"
#include "probe.h"
#include "slice.h"

/* Are its requests worth a hold? */
enum verdict {
	UNKNOWN,
	WORTH,
	FEW_TURNS, /* the calls and the rest at the end would cost more than its turns */
	WASTE,     /* the GPU would idle for too long in holds */
};

/* Shown by `gpusched status` for an LC, and for one that is paused; 0 is not shown. */
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
};

/* Requests of an LC: @window is about those since it began. */
struct requests {
	gs_u64 began_ns;  /* the open one; 0: there is none */
	gs_u64 window_ns; /* 0: it has had none */
	gs_u64 window_turns, window_progress;
	gs_u64 open_ns; /* how long those lasted that have ended */
	gs_u32 ended, quiet_us;
	gs_u64 turns;         /* that a request is expected to have */
	gs_u64 idle_permille; /* that the GPU would idle in holds */
	gs_u64 length_ns;     /* of requests in holds; 0: not known yet */
	gs_u64 again_ns;      /* not looked at without a hold before that */
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
	gs_u64 user, job; /* that it is counted for, */
	gs_u32 runlist;   /* and where */
	gs_u32 counted;   /* 0: not yet */
	gs_u64 absent_ns; /* seen so since; 0: it is not */
	gs_u64 last_since, last_held, last_turns, last_returns;
	gs_u64 share_ns, share_progress, share_permille; /* of the GPU, lately */
	struct guess guess;                              /* no class: what it is taken for */
	/* progress, ns of GPU time; before something was done without a class, and since the last look */
	gs_u64 progress, base_permille, check_ns, check_progress, check_drained, check_cut;
	struct probe probe;          /* BE: of CTA mode */
	gs_u64 off_ns, off_permille; /* BE: how often it is off the GPU, without waiting */
	gs_u64 ended_ns;             /* BE: when its turn was over; 0: it may run */
	gs_u32 part;                 /* BE: so often that turns would be wasted on it */
	gs_u32 waited;               /* LC: its present wait is counted as an inversion */
	gs_u64 turns;                /* a sum as @progress */
	gs_u64 done;                 /* of @progress, since the last round */
	struct limited limited;
	struct requests requests;
	struct says says;     /* LC */
	gs_u64 wait_progress; /* LC: its runlist's be_progress before its present wait */
};
GPUSCHED_MAP(auto_tsgs, HASH, gs_u64, struct tsg, GPUSCHED_MAX_TSGS);

/* A BE that may be the next: the lowest place is. Its process's and TSG's v: their last turns. */
struct candidate {
	struct gpusched_place place; /* who[GPUSCHED_LEVEL_TSG] == 0: there is no candidate */
	gs_u64 weight;
};

struct runlist {
	struct gpusched_runlist_facts now; /* what the GPU's log said when it was last looked at */
	gs_u64 seq, settled;               /* rounds: of the gathering, and that has decided */
	/* gathered: by class; by what they are taken for; that run; that keep the GPU busy */
	gs_u32 g_lc, g_be, g_guessed_lc, g_guessed_be, g_running_lc, g_busy;
	gs_u32 g_ready, g_part, g_alive, g_tsgs, g_lc_permille, pad3;
	/* of those of no class and no verdict: their part of the GPU, and how many look like BE so far */
	gs_u32 g_unclear_permille, g_leaning;
	gs_u32 g_held, pad6; /* TSGs that are held, or hold */
	/* the part of all that count as neither LC nor BE; BEs of no class that want turns */
	gs_u32 g_busy_permille, g_ready_guessed;
	gs_u64 users,
		g_users;   /* with BEs that want turns, by weight: of the last round, of this one */
	gs_u64 g_asked_us; /* longest slice that a BE's owner asked for */
	/*
	 * The first TSG of jobs with work on this GPU alone, of jobs that are led from here, of jobs
	 * that are led from elsewhere, and of the job that has the turn on all its GPUs now.
	 */
	struct candidate local, leads, guest, called;
	struct candidate next;      /* had the turn last */
	struct candidate candidate; /* that is being looked at */
	/* of the last complete round: how many count as what, and BEs that want turns */
	gs_u32 lc, be, running_lc, busy, ready, part, tsgs, ready_guessed;
	gs_u32 lc_permille, pad5; /* of the GPU, that LC has */
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
	gs_u64 unrest_ns;       /* when the first of such changes came that followed each other */
	gs_u64 owed_ns;         /* to BEs, of their floor */
	gs_u32 paying;          /* that, by LC */
	gs_u32 acting;          /* on TSGs of no class, too */
	gs_u32 classed;         /* LCs and BEs with a class when @acting began */
	gs_u32 told_blind;      /* that its log is not known */
	gs_u64 blind_ns;        /* since when it is not */
	gs_u64 acting_ns, leave_until_ns;
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

/* Turns on a runlist of a user, or of one's job. */
struct account {
	struct gpusched_account turns;
	gs_u64 epoch; /* the last that is on its account */
	gs_u64 tsgs;  /* that it is kept for */
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
	gs_u64 found_crowd; /* on the GPU of this round that would lead it */
	gs_u32 lead, found_lead;
	gs_u32 waits, pad; /* it was to be called, and could not be */
	gs_u64 epoch;      /* that it is called for */
	gs_u64 tsgs;       /* that it is kept for */
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
