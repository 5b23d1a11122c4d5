/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * auto - acts on what it sees: short slices, turns or holds for best-effort work, within bounds
 *
 * Does: where nothing competes it does nothing. Beside a TSG of class lc, which gets a long slice,
 * a lone be TSG gets a slice of be_slice_us (1). Where a runlist has several be TSGs, one runs at a
 * time, for turn_ms, and the others are suspended. Turns go round the users (root's cgroups count
 * as users), within a user round the jobs, within a job round its processes. A job is a cgroup,
 * else what one `gpusched run` or `class set` began, else a tree of processes. The turn of a job is
 * the same on all its GPUs, weights share the turns, and a be TSG that has nothing to do has none.
 * One whose process is past its share of the table has a turn only while nobody else wants it.
 *
 * Beside an lc TSG with a class the be slice stays short whatever switches cost: be has its floor.
 * A launch-bound one is the exception. It launches on while it waits for the GPU, and does the more
 * in its next turn, so longer slices cost it little. A trial of a tenth of a second tells such
 * services from those that wait for each turn's end. Beside it, and beside lc TSGs of no class, the
 * be slice grows before more than waste_pct of a runlist's time goes into switches. It grows at
 * most to what the owners asked for. Beside a launch-bound service it is the driver's or a whole
 * part of it, so that the service waits for no more rounds than by default. A TSG whose turns work
 * for 650 us or more, as a token of a language model does, is never taken for launch-bound. Hints
 * or an agent may tell of an lc TSG's requests. Where a request has so many turns that two calls
 * and the rest at its end cost less, be TSGs are suspended while one runs: the lc TSG has the GPU
 * alone. Turns stand still meanwhile. There is no hold while be TSGs are owed their floor, nor for
 * requests in which the GPU would idle for more than waste_pct of all time. Where be TSGs get less
 * than be_floor_pct of the time in which they have work, the lc TSGs lose their long slice until
 * that is paid. A be TSG is tried in CTA mode, for 150 ms a minute, and stays in it if it then
 * leaves the GPU sooner.
 *
 * A class, or a program, with a limit has at most that part of a GPU's time, even while others rest.
 * It is suspended now and then, some seven times a second, and has no turn meanwhile.
 *
 * A TSG of no class is taken for lc or be by how its turns end while others wait. It is taken for
 * lc when nearly all are drained and it takes less than half of the GPU. It is taken for be when
 * nearly all are cut off by the slice, or some are and it takes more than half. That counts after
 * several looks, only beside its counterpart or several TSGs of class be, and while nobody competes
 * who is not told apart yet. Turns of such be TSGs go round their processes, as by default; beside
 * users of class be all of them get what the driver would give to so many. When some TSG then makes
 * more than 10 % less progress for a second, it is undone, and not tried again for a minute. That
 * second is ten where turns of lc are that long, since lc first does what had piled up. It is ten
 * rounds or more where turns of be are taken. Losses no longer count once a TSG with a class has
 * come, which takes its part. All is undone as well when, within ten seconds, a TSG seems to be
 * something else than it was taken for. Class normal and the configuration's own classes keep their
 * settings; copy engines too.
 *
 * Good for: any machine with services beside training or batch jobs; the one to start with.
 *
 * Known weaknesses:
 *  - It needs the daemon's account of GPU time. Where there is none, as on a GPU divided by MIG, it
 *    works blind, and its log says so. A be TSG gets blind_slice_us beside lc, all be TSGs count as
 *    busy, and TSGs of no class are left alone.
 *  - The account is up to 67 ms old. For that long a be TSG that wakes up runs beside the one that
 *    has its turn, with a slice of 1200 us.
 *  - A service that never rests keeps the GPU, but for be_floor_pct: its slice is long. Give it
 *    class normal.
 *  - Beside a be TSG that rests for half of its time, half of all requests find the GPU free. A
 *    client that waits for each answer sends fewer of them while the GPU is busy, by default far
 *    fewer, so there its median is one that finds it free: on the model 210 us, 301 with auto (90
 *    %: 2033 and 314). For requests that come at fixed times it is 403, 302 with auto.
 *  - Each turn of a service with a class costs a switch there and back. Requests of 100 us that
 *    take a fifth of the GPU leave be a tenth of it. Two fifths are more than any slices can serve:
 *    then they pile up, and be has its floor.
 *  - A service that launches many small kernels with CPU time between them pays a be slice for each
 *    pause, under any slices. Where nobody tells of its requests, MPS with priorities serves it
 *    better. On an H100, eager inference was no faster with auto beside inference in a loop, which
 *    lost 10 to 38 % of its work.
 *  - How many turns a request has shows only without a hold. So the first requests of a service
 *    have none, for a second or more. Half a minute later or more, a few have none again when
 *    requests take four times or a quarter as long as before. Meanwhile no other lc TSG of that
 *    runlist has a hold, for 5 s at most.
 *  - A request that is shorter than the service's others is held for all the same.
 *  - A job's processes on one GPU have turns one by one. If they wait for each other, each waits
 *    for the others' turns, and on several GPUs their turns may not fit together.
 *  - Without a class it is a guess from the log which programs want the GPU at the same moment. A
 *    program that starts ends what is done by it, for some three seconds. A class is better: while
 *    the guess does not take a batch program for be, an lc program waits for its whole slices.
 *  - Beside a program of class normal, or of no class while nothing is done about it, be TSGs that
 *    take turns have one part of the GPU in all. That program has another.
 *  - A limit is not kept while the GPU's log says nothing of a program. A request (request=) is not
 *    kept: fair does that.
 *  - Counting launches would cost each launch half a microsecond, so this policy does not ask for
 *    it. Where nobody counts them (gpusched observe launches on), an inversion is seen only for an
 *    lc TSG that was cut off. CTA is tried only where the GPU's log shows how long a be TSG takes
 *    to leave: where the next one waits already when its turn begins.
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
GPUSCHED_OPTION(gs_bool, cta, 1, "try CTA mode on be TSGs, for 150 ms a minute");

#include "common/limits.h"
#include "auto/state.h"
#include "auto/look.h"
#include "auto/gangs.h"
#include "auto/turns.h"
#include "auto/bounds.h"
#include "auto/requests.h"
#include "auto/decide.h"

/* Comes again when class, weight or GPU change. A new be TSG waits for its turn from the start. */
GPUSCHED_TASK_INIT(t)
{
	struct runlist *r = runlist_of(t);
	struct tsg *s = tsg_of(t);

	if (!r || !s)
		return 0;
	s->role = role_of(t, s);
	if (s->role == BE && !r->turn_id) {
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
	gs_u32 pid = t->pid;
	struct runlist *r = runlist_of(t);
	struct tsg *s = gpusched_lookup(auto_tsgs, &id);

	if (r && r->turn_id == id)
		r->turn_id = 0;
	if (!s)
		return 0;
	if (r)
		leave_costs(s, r);
	leave(s);
	leave_limit(&s->limited);
	gpusched_delete(auto_processes, &pid);
	gpusched_delete(auto_tsgs, &id);
	gpusched_kick(); /* its turn is somebody else's now */
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

/* Pass 0 looks at all TSGs, pass 1 decides: the first TSG of a runlist for the runlist as well. */
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
		look(t, s, r, round->now_ns);
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
	paused = s->limited.paused;
	keep_limit(&s->limited, &r->limits, s->sighted, round->now_ns);
	decide(t, s, r, round->now_ns);
	pause_or_not(t, s, round->now_ns, paused);
	return 0;
}

/* How long a round may stay away depends on what there is to watch. */
GPUSCHED_TICK_END(round)
{
	gs_u32 zero = 0;
	struct whole *w = gpusched_lookup(auto_whole, &zero);

	return w ? (int)w->sleep_ms : 0;
}
