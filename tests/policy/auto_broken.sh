#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 2400
# beside: yes
# Each scenario of the policy auto fails on an auto without the part that it tests: one with an
# option against its purpose, or a copy with that part taken out. (e2e/scenarios.sh shows that they
# pass.)
. "$(dirname "$0")/../e2e/lib.sh"
copy=$scratch
tried=""

# fails SCENARIO ARGUMENTS...: of sim run
fails() {
	tried+=" $1"
	"$gpusched" sim run "auto-$1" "${@:2}" --json >"$copy/out" 2>"$copy/err"
	is "$? $(jq -s '[.[] | select(.scenario) | .checks[] | select(.ok == false)] | length > 0' "$copy/out")" "1 true" \
		"auto-$1 fails: $what" || diag "$(cat "$copy/err")"
}
# take_out EDIT: a copy with EDIT applied
take_out() {
	rm -rf "$copy"/auto* "$copy/common" "$copy/gpusched"
	cp -r "$top"/policies/{auto,common,auto.bpf.c} "$top/include/gpusched" "$copy"
	sed -i "$1" "$copy"/{auto,common}/*.h "$copy/gpusched/rotation.h"
	check "$what: something is taken out" eval '! { diff -rq "$copy/auto" "$top/policies/auto" &&
			diff -rq "$copy/common" "$top/policies/common" &&
			diff -q "$copy/gpusched/rotation.h" "$top/include/gpusched/rotation.h"; } >/dev/null &&
		cc -std=gnu11 -O0 -fPIC -shared -DGPUSCHED_NATIVE -I"$copy" -x c "$copy/auto.bpf.c" -o "$copy/auto.native.so"'
}
# without WHAT EDIT SCENARIO...: those fail on such a copy
without() {
	what="without $1"
	take_out "$2"
	for scenario in "${@:3}"; do fails "$scenario" --policy "$copy/auto.native.so"; done
}
# with OPTION SCENARIO...
with() {
	what="with $1"
	for scenario in "${@:2}"; do fails "$scenario" --policy auto -o "$1"; done
}

with be_slice_us=800 1be 20x50-1be half-open
with waste_pct=90 launch-bound launch-bound-3be
with be_floor_pct=0 hostile-lc hostile-forks
with be_floor_pct=0 never-quiet llm-floor
with guess=no nobody nobody-3be desktop renderer
without "turns" 's/gpusched_want_runnable(t, 0)/(void)0/' 3be 20x50-8be open be-only
without "their end" 's/if (r->g_alive && .*/if (r->g_alive) {/' 8be
step='s/return n ? .* : us;/return us;/'
without "slices in step with the driver's" "$step" decoder
without "an end of paying" 's/r->paying = 0;/r->paying = 1;/' hostile-flips
without "users" 's/return t->uid ? t->uid :.*/return t->id;/' hostile-be
without "a last turn" 's/gpusched_is_past_share(t)/0/' past-share
without "jobs" 's/return t->cgroup_id ? .*/return t->pid;/' jobs
without "jobs that are no cgroups" 's/return job ? job : /return /' trees
without "weights" 's|ns \* 100 / (weight ? weight : 100)|ns|' weights
without "limits to them" 's/return user & GPUSCHED_USER_CGROUP ? .*/return weight;/' weights-of-users
without "one clock for all GPUs" 's/r->epoch == w->epoch/now < r->turn_ns + (40 + (runlist >> 8) * 25) * GS_MS/' 2gpus
without "turns of whole jobs" 's/return gpusched_job_of(t, .*/return GPUSCHED_JOB_PROCESS | t->pid;/' job-pair job-pair-beside
without "a turn for each TSG of a job" 's/return s->counted .*is_among.*/return r->turn_id == t->id;/' job-pair
without "a look at who works" 's/return s->gang || work_is_known.*/return 1;/' half-idle-2 half-idle-short half-idle-8
without "regard for an lc that runs" 's/if (r->running_lc)/if (0)/' half-idle-lc
without "turns among those that work" 's/w->verdict = WORK_ALWAYS;/(void)0;/' be-only
without "rests beside turns" 's/if (s->work.verdict == WORK_RESTS .*/if (0)/' half-idle-beside
bound='s/else if (now >= s->ended_ns + OFF_MOST_NS .*/else if (0)/'
without "a bound for those without a turn" "$bound" off-bound off-64
without "a bound for those without a turn, with long turns" \
	"$bound"';s/gs_least(w->most \* each, EPOCH_MAX_NS)/w->most * each/;s/, turn_ms \* GS_MS);/, turn_ms * 60 * GS_MS);/' \
	off-2 off-3 off-8 off-32
# The engine, not the policy, leaves TSGs outside CILP alone.
tried+=" cta"
without "a turn on all GPUs at once" 's/g->epoch = epoch;/(void)0;/' gpus-unlike
without "regard for users on the other GPUs" 's/return r->users \* u->weighs.before;/return r->ready;/' gpus-hostile
without "a line for each GPU" 's/{ user, runlist, 0 }/{ user, 0, 0 }/;s/job_in(c), runlist, 0 }/job_in(c), 0, 0 }/' gpus-apart
without "idleness" 's/s->idle = 1;/s->idle = 0;/' idle-be
# of a service that does not come first
second='s/ || (in->lc_classed \&\& !s->launch_bound);/;/'
without "regard for starts" "$second;"'s/now >= r->changed_ns + SETTLE_NS/1/' 8be-starts
without "patience with what passes" "$second;"'s/steady ? 2/steady ? 0/' 8be-passing
without "an end of that regard" 's/ || now >= r->unrest_ns + UNREST_NS//' hostile-comers
without "a look at a turn that is over" 's/(!s->ended_ns || f->last_run_ns <= since)/!s->ended_ns/' launch-bound-idle
without "an end of long ones, by itself or with the service" \
	's/s->us > in->least_us \&\&/& !s->launch_bound \&\&/;s/s->launch_bound = s->serial = 0;/(void)0;/' launch-bound-ends
without "short slices again" 's/s->us = in->least_us;/(void)0;/;s/r->slice.us = be_slice_us;/(void)0;/' calm-again
without "a way to work in bits" 's/s->part = 1;/s->part = 0;/' half-idle
without "equal slices beside it" 's/us = gs_most(us, costs_idle_us(.*));/us = s->part ? 5000 : us;/' half-idle
fails hostile-sleeper --policy "$copy/auto.native.so" --seed 3 # where auto takes the sleeper for one in bits
without "absence, nor idleness instead" 's/s->absent = now >= .*/s->absent = 0;/;s/s->idle = 1;/s->idle = 0;/' manual
without "respect for other classes" 's/(r->busy && !r->paying)/0/' normal
without "a counterpart" 's/(r->g_lc + r->g_guessed_lc || r->g_be > 1) && //' nobody-trainings
without "restraint" '$!N;s/\telse\n\t\tgpusched_want_default(t, GPUSCHED_ALL_SETTINGS)/\telse\n\t\tgpusched_want_runnable(t, 0)/;P;D' alone
regard="$step;s/return returns \* 4 .*/return LC;/"
without "regard for launch-bound services, nor an undo" "$regard;s/r->leave_until_ns = now + .*;/r->leave_until_ns = 0;/" \
	nobody-launch-bound
without "a whole round of turns to judge by" 's/gs_most(window, 10 \* turn \* r->ready)/window/;s/(got + turn)/got/' nobody-8be
without "a mind that stays made up" 's/ || (acting && g->verdict == LC)//' nobody-eager
without "a wait for who is not told apart" 's/int clear = .*/int clear = 1;/' nobody-starts
without "regard for who comes with a class" 's/int same = .*/int same = 1;/' nobody-told
without "shares as by default" 's/? NOBODY :/? gpusched_cgroup_of(t) :/' nobody-starts
# No known load needs the pause after a doubt, since opinions last longer.
tried+=" nobody-doubt"
tried+=" nobody-rests"
without "longer rests after each undo" 's/gs_most(2 \* r->leave_ns, LEAVE_NS)/LEAVE_NS/' nobody-overload
without "a price of turns without a class" 's/ns \* 100 \* told, .* guessed/ns, 1/' some-told
without "regard for what turns of others gave it" 's/r->g_be < 2/1/' only-be-told
without "turns beside BEs of a class" 's/ || r->g_be > 1)/)/' only-be-told
without "a sum of the small ones" '$!N;s/ ||\n.*r->g_busy_permille .*;/;/;P;D' normal-many
without "a service of long turns that comes first" 's/return s->work_us >= costs_long_work_us(c) ||.*/return 0;/' llm
without "a class that comes first" "$second" near
without "a trial of longer slices" 's/s->serial = s->trial_work_us .*/s->serial = 0;/' open-20 open-20-3be open-40 open-60 open-80
without "a bound on a service's part of the GPU, nor an undo" \
	's/if (cut \* 10 >= ended \* 7 .*/if (0)/;s/if (drained \* 10 < ended \* 9 .*/if (0)/;s/leave_until_ns = now + .*;/leave_until_ns = 0;/' game
without "regard for long turns" 's/if (costs_are_long(c, held, drained))/if (0)/' nobody-llm
without "holds" 's/gpusched_hold(t, HOLD_US)/(void)0/' llm-30 llm-60 llm-75 llm-90 llm-floor llm-eager llm-two never-quiet
without "a payment in one turn" 's/gs_u64 us = held_lately(r) ? .*;/gs_u64 us = 0;/' llm-floor
without "a first window of two requests" 's/q->ended < FIRST ||/1 ||/' first
without "a look for turns outside of requests" 's/return s->turns > q->rest_turns;/return 0;/' told-short
without "regard for a GPU that idles in holds" 's/ ? WASTE : WORTH/ ? WORTH : WORTH/' hardly-quiet
without "an end of holds that take the calls of turns" 's/return r->ready > 1 \&\& now < .*/return 0;/' few-calls
without "a bound to that by what be did" 's/return r->ready \&\& r->changed_ns .*/return ~0ull;/' queue
without "turns that count" 's/q->turns < 2 || .*/0)/' one-turn
without "a difference between held and suspended by others" 's/gpusched_hold_state(t) == GPUSCHED_HOLD_HELD/0/' llm-60
without "turns that stand still in holds" 's/r->stood_ns += .*/(void)0;/' llm-in-step
without "limits" 's/s->past = s->paused = .*/s->past = s->paused = 0;/' limit-25 limit-50 limit-75 limit-group limit-cgroups
without "turns that pass by who is paused" 's/s->part || s->limited.past/s->part/' limit-beside
without "a pause on all GPUs of a job" 's/s->paused |= l->throttle.paused;/(void)0;/' limit-gang
without "a wait on all GPUs of a job" 's/x->off = seq;/(void)0;/' limit-gang-beside
what="without the first alone"
take_out "$regard"
exits 0 "what it did is undone, and nobody-launch-bound passes" \
	"$gpusched" sim run auto-nobody-launch-bound --policy "$copy/auto.native.so"

is "$(tr ' ' '\n' <<<"$tried" | sed '/^$/d' | sort -u)" \
	"$("$gpusched" sim list --json | jq -r '.name | select(startswith("auto-")) | ltrimstr("auto-")' | sort)" "every scenario was tried"
done_testing
