/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * auto - acts on what it sees: short slices, turns or holds for best-effort work, within bounds
 *
 * Does: nothing where nothing competes. Beside a TSG of class lc, a lone be TSG gets a slice of
 * be_slice_us (1), and the lc TSG a long one. If be TSGs of several jobs share a runlist, one job
 * runs at a time, for turn_ms, and the others are suspended. Users take turns (each of root's
 * cgroups counts as a user), and within a user its jobs. A job is a cgroup; else the processes that
 * one `gpusched run` or `class set` began; else a tree of processes. A job has its turn as a whole,
 * with all its processes, on all its GPUs at once, and weights share the turns. Turns last longer
 * than turn_ms where they need many calls to the driver. A be TSG without work gets no turn. A TSG
 * of a process past its quota of the table gets a turn only while no other TSG wants one. A TSG
 * that was without a turn for 1.8 s runs for a moment beside the others.
 *
 * Nobody is suspended for a TSG that is not known to work. While no lc TSG runs, a be TSG that
 * often drains runs beside the job that has the turn. It does so while it has less than an equal
 * part. In the turn of a job that is not known to work, the next in line runs too.
 *
 * Beside an lc TSG with a class, the be slice stays short even where switches cost much: the floor
 * (be_floor_pct) protects be TSGs. A launch-bound service is the exception. It goes on launching
 * while it waits for the GPU, and does more in its next turn, so longer be slices cost it little. A
 * trial of a tenth of a second distinguishes it from a service that waits for the end of each turn.
 * Beside launch-bound services and lc TSGs without a class, the be slice grows where switches would
 * take more than waste_pct of a runlist's time. It grows at most to the slice that the owners asked
 * for. Beside a launch-bound service the be slice is the driver's or a whole fraction of it, so
 * that the service waits for no more rounds than by default. A TSG that works for 650 us or more in
 * a turn, as for a token of a language model, is never taken for launch-bound.
 *
 * Hints, an agent or counted launches may show when an lc TSG has a request. A hold suspends the be
 * TSGs during a request, so that the lc TSG has the GPU alone; their turns stand still. A hold
 * costs two calls to the driver, and an idle GPU at its end. So a request gets a hold only if it
 * has so many turns that their switches would cost more. There is no hold while be TSGs have had
 * less than their floor, nor for requests in which the GPU would idle for more than waste_pct of
 * all time. Holds and turns share a budget for calls. So where be TSGs take turns, a service gets
 * no more holds once two of its requests within a second were refused one for lack of calls. They
 * come back half a minute later, or twice as long after each further attempt.
 *
 * If be TSGs get less than be_floor_pct of the time in which they have work, the lc TSGs lose their
 * long slice until be TSGs have caught up.
 *
 * A class, or a program, with a limit has at most that part of a GPU's time, even while others are
 * idle. It is suspended some seven times a second, and gets no turn while it is suspended. A job
 * that works on several GPUs is suspended on all of them, while it is past the limit on one or
 * waits for its turn there. Its processes may wait for each other.
 *
 * A TSG without a class is taken for lc or be by how its turns end while others wait. It is taken
 * for lc if nearly all of its turns end by draining and it takes less than half of the GPU. It is
 * taken for be if the slice ends nearly all of its turns, or some of them while it takes more than
 * half of the GPU. Such a guess takes effect after several looks in a row, and only beside a TSG of
 * the other kind or several TSGs of class be. There must also be a guess for every TSG that
 * competes. TSGs taken for be have turns process by process, as by default. Beside users of class
 * be, all of them together get the part that the driver would give to as many TSGs.
 *
 * If some TSG then makes more than 10 % less progress for a second, all guesses are undone, and not
 * tried again for a minute. If the next trial fails too, that becomes two minutes, then four, and
 * so on. The second becomes ten seconds if turns of lc work for 650 us or more, since lc first does
 * the work that had piled up. It becomes ten rounds or more if be TSGs take turns. Losses no longer
 * count once another TSG with a class has come, since that TSG takes a part as well. Guesses are
 * also undone if, within ten seconds, a TSG looks like another kind than it was taken for. Programs
 * of class normal and of the configuration's own classes keep their settings; copy engines too.
 *
 * Good for: any machine with services beside training or batch jobs; the one to start with.
 *
 * Known weaknesses:
 *  - The policy needs the daemon's account of GPU time. Without one, as on a GPU divided by MIG, it
 *    works blind, and its log says so. A be TSG then gets blind_slice_us beside lc, all be TSGs
 *    count as busy, and TSGs without a class are left alone.
 *  - The account is up to 67 ms old. For that long, a be TSG that wakes up runs beside the one that
 *    has the turn, with a slice of some seven switch costs (1200 us on an H200).
 *  - A service that is never idle keeps the GPU in its long slice, except for be_floor_pct. Give
 *    such a service class normal.
 *  - If a be TSG is idle half of the time, a client that waits for each answer may see a better
 *    median by default. By default it sends far fewer requests while the GPU is busy, so its median
 *    request finds the GPU free. On the model that request takes 210 us by default, and 301 us with
 *    auto (90th percentile: 2033 and 314). For requests that come at fixed times the median is 403
 *    us by default, and 302 us with auto.
 *  - Each turn of a service with a class costs a switch there and back. Requests of 100 us that
 *    take a fifth of the GPU leave be a tenth of it. Requests that take two fifths are more than
 *    any slices can serve: they pile up, and be gets its floor.
 *  - A service that launches many small kernels with CPU time between them waits for a be slice in
 *    each pause, whatever the slices are. If nothing shows its requests, MPS with priorities serves
 *    it better. On an H100, eager inference was no faster with auto beside inference in a loop, and
 *    that loop lost 10 to 38 % of its work.
 *  - Only without a hold does the log show how many turns a request has. So the first requests of a
 *    service get no hold: two after they are told, if these are clearly worth one, else those of
 *    a second or more. If requests become four times as long, or a quarter, a few of them again
 *    get none, half a minute later at the earliest. Meanwhile no other lc TSG of that runlist has
 *    a hold, for 5 s at most.
 *  - A request that is shorter than the service's other requests still gets a hold.
 *  - The floor makes queues of requests longer. Say that a service gets 90 % of the requests that
 *    it can serve alone. Then its median and 99th percentile are 1.9 times those without be (model,
 *    medians of eleven runs of 300 s). Alone on 95 % of a GPU they would be 1.7 times as long.
 *  - A service without a class may get more requests than it can serve by default. Then each trial
 *    of a guess takes nearly all time from the others for ten seconds, on the model 8 % in five
 *    minutes.
 *  - Where nobody has a class, the bound of 10 % is on progress, not on single requests. On the
 *    model, the 99th percentile of each service did not exceed the default's either (28 loads,
 *    medians of two or three seeds). Steps of a batch program that does not launch ahead sometimes
 *    took longer. Beside a service with pauses, their 99th percentile was 1.6 times the default's;
 *    beside an eager one, it was 1.25 times. For a program that is idle half the time it was 1.1
 *    times.
 *  - A job with several processes on a GPU has all of them there in its turn. A request of lc then
 *    waits for a round of them: for 3 ms where there are three, on the model (default 7 ms).
 *  - Beside an lc TSG that runs, a be TSG that rests for less than 4 ms at a time has whole turns,
 *    and the GPU idles in these rests. So it does in the rests of a job with work on several GPUs.
 *  - Without classes, the policy can only guess from the log which programs compete for the GPU. A
 *    program that starts undoes the guesses for some three seconds. A class is better: until a
 *    batch program is taken for be, an lc program waits for its whole slices.
 *  - A program of class normal competes with be TSGs that take turns, as does one without a class
 *    while no guess is in effect. That program then has one part of the GPU, and the be TSGs
 *    together have another.
 *  - A limit is not kept for a program that the GPU's log does not show. A request (request=) is
 *    not kept: fair does that.
 *  - Counting launches would cost each launch half a microsecond, so this policy does not ask for
 *    it. While launches are not counted (gpusched observe launches on), an inversion (an lc TSG
 *    waits while be TSGs run) is seen only if the slice ended the lc TSG's turn.
 */
#include "gpusched/policy.bpf.h"
#include "gpusched/rotation.h"

GPUSCHED_POLICY(auto, 10000, 500, GPUSCHED_F_FACTS | GPUSCHED_F_ASSUMED);
GPUSCHED_ABOUT("acts on what it sees; the one to start with");
GPUSCHED_CLASSES("lc be none");

GPUSCHED_OPTION_RANGE(
	gs_u32, waste_pct, 0, 0, 90,
	"percent of a runlist's time that may go into switches that longer slices would save; "
	"0: 10, more where they cost more");
GPUSCHED_OPTION_RANGE(gs_u32, be_floor_pct, 5, 0, 50,
		      "percent of the time in which be TSGs have work that they get in all");
GPUSCHED_OPTION_RANGE(gs_u32, turn_ms, 50, 20, 1000, "how long a turn of several be TSGs lasts");
GPUSCHED_OPTION_RANGE(gs_u32, be_slice_us, 1, 1, 100000,
		      "timeslice of a be TSG beside lc TSGs that come in whole turns, us");
GPUSCHED_OPTION_RANGE(gs_u32, blind_slice_us, 1000, 1, 100000,
		      "the same where the GPU's log is not known, us");
GPUSCHED_OPTION_RANGE(gs_u32, lc_slice_us, 200000, 1000, 100000000,
		      "timeslice of an lc TSG that is the only one of its runlist, us");
GPUSCHED_OPTION(gs_bool, guess, 1, "take TSGs of no class for lc or be by what is seen");

#include "common/limits.h"
#include "common/work.h"
#include "auto/state.h"
#include "auto/look.h"
#include "auto/gangs.h"
#include "auto/turns.h"
#include "auto/bounds.h"
#include "auto/requests.h"
#include "auto/decide.h"

/*
 * Called again when class, weight or GPU change. A BE gets the turn if no TSG has it, and waits
 * otherwise.
 */
GPUSCHED_TASK_INIT(t)
{
	struct runlist *r = runlist_of(t);
	struct tsg *s = tsg_of(t);

	if (!r || !s)
		return 0;
	s->role = role_of(t, s);
	if (s->role == BE && !r->turn_id) {
		r->turn.any = 0; /* its job may not be known yet */
		r->turn_id = t->id;
		r->turn_ns = gpusched_now();
	}
	s->idle = 0;
	decide(t, s, r, gpusched_now());
	return 0;
}

GPUSCHED_TASK_DESTROY(t)
{
	gs_u64 id = t->id;
	struct runlist *r = runlist_of(t);
	struct tsg *s = gpusched_lookup(auto_tsgs, &id);

	if (!s)
		return 0;
	if (r)
		leave_costs(s, r);
	if (r && has_turn(t, s, r) && r->alive < 2)
		r->turn.any = r->turn_id = 0;
	leave(s);
	leave_limit(&s->limited);
	gpusched_delete(auto_tsgs, &id);
	gpusched_kick(); /* so that another TSG gets the turn at once */
	return 0;
}

GPUSCHED_REQUEST_BEGIN(t, w)
{
	struct runlist *r = runlist_of(t);
	struct tsg *s = tsg_of(t);

	if (r && s)
		begin_request(t, s, r, w);
	return 0;
}

GPUSCHED_REQUEST_END(t, w)
{
	struct runlist *r = runlist_of(t);
	struct tsg *s = tsg_of(t);

	if (r && s)
		end_request(t, s, r, w);
	return 0;
}

/*
 * Pass 0 looks at all TSGs, and pass 1 decides for each. In pass 1, the first TSG of each runlist
 * triggers the decision for the runlist.
 */
GPUSCHED_TICK_BEGIN(round)
{
	begin_turns(round);
	return 2;
}

GPUSCHED_TICK(t, round)
{
	struct runlist *r = runlist_of(t);
	struct tsg *s = tsg_of(t);
	int paused;

	if (!r || !s)
		return 0;
	if (round->pass == 0) {
		begin_runlist(r, round);
		look(t, s, r, round);
		if (s->role == LC)
			look_requests(s, r, round->now_ns);
		return 0;
	}
	if (r->settled != round->seq) {
		r->settled = round->seq;
		gpusched_gpu(t, &r->gpu);
		learn(r);
		settle(r, gpusched_runlist(t), round->now_ns);
	}
	take_turn(t, s, r, round->now_ns);
	paused = must_pause(&s->limited);
	keep_limit(&s->limited, round->seq, s->sighted, round->now_ns);
	decide(t, s, r, round->now_ns);
	pause_or_not(t, s, round->now_ns, paused);
	return 0;
}

/* Returns the time until the next round, in ms. It is longer if there is less to watch. */
GPUSCHED_TICK_END(round)
{
	gs_u32 zero = 0;
	struct whole *w = gpusched_lookup(auto_whole, &zero);

	return w ? (int)w->sleep_ms : 0;
}
