#!/bin/bash
# SPDX-License-Identifier: MIT
# Trials of CTA mode: a program that runs by means=auto is tried in CTA mode at its first run beside
# a service, once and briefly, which measures its thread blocks. Even if blocks are long, the
# service waits little longer meanwhile.
# timeout: 200
# needs: root bpf fuse
# paired: yes
. "$(dirname "$0")/lib.sh"
enter_sim
. "$top/tests/e2e/helper/means_lib.sh"
fixed="--seconds 0 --warmup 0 --ready --iterations-per-us 27"

counter() { "$gpusched" stats --json | jq ".service.$1"; }
program() { # NAME FIELD: what the daemon knows of the program with that file name
	curl -sf --unix-socket "$GPUSCHED_SIM/run/api" -d '{}' http://gpusched/v1/means_get |
		jq -r ".programs | map(select(.exe | endswith(\"/$1\"))) | first // {} | $2"
}
allow() { # yes|no
	config "[Policy]
Policy=auto
[Classes]
AllowShare=$1"
}
mkdir "$scratch/bin"
is_as_before() { # NAME: it has the mode and slice that policy auto gives a BE beside a service
	[ "$(compute "${!1}" '"\(.is.preempt_mode) \(.is.timeslice_us)"')" = "cilp 1" ]
}
restart_daemon() {
	stop_daemon
	start_daemon
}
for name in short long other another; do cp "$gsload" "$scratch/bin/$name"; done

allow yes
start_daemon
start lc --class lc -- "$gsload" lc $fixed --arrivals poisson --period-us 5000

# ---- blocks of 20 us: the first run shows them, the second start is in the shared server
start first --class be --means auto -- "$scratch/bin/short" be $fixed --block-us 20 --kernel-us 1000
like "$(said first)" "slices: nothing is known of it" "a program that never ran gets slices"
like "$(cat "$scratch/first")" "may try it in CTA mode beside a service, for 2 seconds" "run says what will be tried"
check "its thread blocks are known soon" wait_for 30 eval '[ "$(program short .leave_cta_us)" -gt 0 ]'
is "$(program short '"\(.class) \(.wait_us.share < .wait_us.slices) \(.cta_trials)"')" "be true 1" "one trial was enough to know them"
check "after the trial it has its own mode and the short slice again" wait_for 10 is_as_before first
check "leaving the GPU by slices takes longer than in CTA mode" wait_for 20 eval \
	'[ "$(program short ".leave_cilp_us > .leave_cta_us")" = true ]'
sleep 3
is "$(counter cta_trials) $(counter cta_trials_vain)" "1 0" "a program whose blocks are known is not tried again"
end_load "$first"
start second --class be --means auto -- "$scratch/bin/short" be $fixed --block-us 20 --kernel-us 1000
like "$(said second)" "slices: its thread blocks are short, but a service runs that is not in" \
	"beside a service that is in no shared server its second start is by slices"
end_load "$second"
end_load "$lc"
start second --class be --means auto -- "$scratch/bin/short" be $fixed --block-us 20 --kernel-us 1000
like "$(said second)" "share: its thread blocks are short" "without such a service its second start is in the shared server"
is "$(grep -c "may try it" "$scratch/second")" 0 "run announces no trial for it"
start joins --class lc --means auto -- "$gsload" lc $fixed --arrivals poisson --period-us 5000
like "$(said joins)" "share: its user's shared server runs" "a service that comes at once joins it"
end_load "$joins"
end_load "$second"
start lc --class lc -- "$gsload" lc $fixed --arrivals poisson --period-us 5000 --lines

# ---- many processes and programs of one user: one trial a minute
restart_daemon
for name in other another; do
	for i in 1 2; do start "$name$i" --class be --means auto -- "$scratch/bin/$name" be $fixed --block-us 20; done
done
check "one of four processes is tried" wait_for 30 eval '[ "$(counter cta_trials)" = 1 ]'
sleep 5
is "$(counter cta_trials)" 1 "the others have no trial in the same minute"
for name in other1 other2 another1 another2; do end_load "${!name}"; done

# ---- blocks of 1000 us: slices remain, and the trial is over soon
restart_daemon
start third --class be --means auto -- "$scratch/bin/long" be $fixed --block-us 1000 --kernel-us 1000
before=$(wc -l <"$scratch/lc")
check "long blocks are known soon" wait_for 30 eval '[ "$(program long .leave_cta_us)" -gt 0 ]'
is "$(program long '"\(.means) \(.cta_trials)"')" "slices 1" "requests would wait longer for its blocks, so slices remain"
check "after the trial it is out of CTA mode" wait_for 10 is_as_before third
sleep 3
ge "$(tail -n "+$before" "$scratch/lc" | grep -c '^{"t".*}$')" 100 "the service made at least 100 requests beside the third program"
slow=$(jq -cs 'map(select(.t)) | group_by(.t | floor) | map(sort_by(.us)[length / 2 | floor].us) | map(select(. > 1000)) | length' \
	<(tail -n "+$before" "$scratch/lc" | grep '^{"t".*}$'))
check "the median wait was above 1 ms in at most three of the seconds: $slow" test "$slow" -le 3
end_load "$third"
start fourth --class be --means auto -- "$scratch/bin/long" be $fixed --block-us 1000 --kernel-us 1000
like "$(said fourth)" "slices: its thread blocks are long" "the second start of a program with long blocks is by slices"
end_load "$fourth"

# ---- a service with long turns: short blocks do not lead to the shared server. At its start, when trials
# happen, a service has short turns.
restart_daemon
cp "$gsload" "$scratch/bin/beside"
start seventh --class be --means auto -- "$scratch/bin/beside" be $fixed --block-us 20 --kernel-us 1000
check "short blocks beside short turns are known soon" wait_for 30 eval '[ "$(program beside .leave_cta_us)" -gt 0 ]'
end_load "$lc"
start lc --class lc -- "$gsload" lc $fixed --kernel-us 1500 --arrivals poisson --period-us 10000
check "the service's turns are noted: 1200 us at least" wait_for 30 eval '[ "$(program beside .lc_turn_us)" -ge 1200 ]'
end_load "$seventh"
end_load "$lc"
start eighth --class be --means auto -- "$scratch/bin/beside" be $fixed --block-us 20 --kernel-us 1000
like "$(said eighth)" "slices: its thread blocks are short, but the services beside it had long turns" "short blocks start by slices beside a service with long turns"
end_load "$eighth"

# ---- a service that launches CUDA graphs of short turns: only its agent knows
graphs="$gsload lc $fixed --graph --kernels 4 --kernel-us 20 --arrivals poisson --period-us 5000"
start lc --class lc --agent -- $graphs
start ninth --class be --means auto -- "$scratch/bin/beside" be $fixed --block-us 20 --kernel-us 1000
check "the agent's counts show that the service launches graphs" wait_for 40 eval '[ "$(program beside .lc_graphs)" = true ]'
end_load "$ninth"
end_load "$lc"
start tenth --class be --means auto -- "$scratch/bin/beside" be $fixed --block-us 20 --kernel-us 1000
like "$(said tenth)" "slices: its thread blocks are short, but the services beside it launch CUDA graphs" \
	"the batch's next start beside graphs is by slices"
end_load "$tenth"
start lc --class lc -- "$gsload" lc $fixed --arrivals poisson --period-us 5000

# ---- programs that get no trial
restart_daemon
cp "$gsload" "$scratch/bin/plain"
start fifth --class be -- "$scratch/bin/plain" be $fixed --block-us 20
sleep 5
is "$(counter cta_trials)" 0 "a program without means=auto gets no trial"
end_load "$fifth"
allow no
kill -HUP "$DAEMON_PID"
start sixth --class be --means auto -- "$scratch/bin/plain" be $fixed --block-us 20
is "$(grep -c "may try it" "$scratch/sixth")" 0 "no trial is announced where shared servers are not allowed"
sleep 5
is "$(counter cta_trials)" 0 "no trial is made where shared servers are not allowed"

done_testing
