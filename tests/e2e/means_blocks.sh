#!/bin/bash
# SPDX-License-Identifier: MIT
# Thread blocks of programs that run by means=auto beside a service. gpusched sets no mode to learn
# their length; a mode that a person sets shows it, and decides about the next start.
# timeout: 200
# needs: root bpf fuse
# paired: yes
. "$(dirname "$0")/lib.sh"
enter_sim
. "$top/tests/e2e/helper/means_lib.sh"
fixed="--seconds 0 --warmup 0 --ready --iterations-per-us 27"

program() { # NAME FIELD: what the daemon knows of the program with that file name
	curl -sf --unix-socket "$GPUSCHED_SIM/run/api" -d '{}' http://gpusched/v1/means_get |
		jq -r ".programs | map(select(.exe | endswith(\"/$1\"))) | first // {} | $2"
}
mkdir "$scratch/bin"
is_by_policy() { # NAME: it has the mode and slice that policy auto gives a BE beside a service
	[ "$(compute "${!1}" '"\(.is.preempt_mode) \(.is.timeslice_us)"')" = "cilp 1" ]
}
show_blocks() { # NAME PROGRAM: a person's CTA mode shows them
	check "$2: a person sets CTA mode" "$gpusched" set "pid:${!1}" preempt_mode=cta timeslice=1ms
	check "$2: its thread blocks are known soon" wait_for 30 eval '[ "$(program '"$2"' .leave_cta_us)" -gt 0 ]'
	check "$2: the person clears it" "$gpusched" set "pid:${!1}" clear
}
for name in short long beside; do cp "$gsload" "$scratch/bin/$name"; done

config "[Policy]
Policy=auto
[Classes]
AllowShare=yes"
start_daemon
start lc --class lc -- "$gsload" lc $fixed --arrivals poisson --period-us 5000

# ---- blocks of 20 us: unknown, and no mode is set to learn them
start first --class be --means auto -- "$scratch/bin/short" be $fixed --block-us 20 --kernel-us 1000
like "$(said first)" "slices: nothing is known of it" "a program that never ran gets slices"
check "the daemon knows the program soon" wait_for 30 eval '[ "$(program short .known)" = true ]'
check "beside the service it has its own mode and the policy's slice" wait_for 10 is_by_policy first
is "$(program short '"\(.means) \(.leave_cta_us) \(.why)"')" "slices null how long its thread blocks are is not known" \
	"its blocks stay unknown, so its next start is by slices"
is "$("$gpusched" stats --json | jq .engine.refused_mode)" 0 "the policy wished no mode"

# ---- a person sets CTA mode: the second start is in the shared server
show_blocks first short
check "it has its own mode and the policy's slice again" wait_for 10 is_by_policy first
is "$(program short '"\(.class) \(.wait_us.share < .wait_us.slices)"')" "be true" "requests would wait less for its blocks than for a switch"
end_load "$first"
start second --class be --means auto -- "$scratch/bin/short" be $fixed --block-us 20 --kernel-us 1000
like "$(said second)" "slices: its thread blocks are short, but a service runs that is not in" \
	"beside a service that is in no shared server its second start is by slices"
end_load "$second"
end_load "$lc"
start second --class be --means auto -- "$scratch/bin/short" be $fixed --block-us 20 --kernel-us 1000
like "$(said second)" "share: its thread blocks are short" "without such a service its second start is in the shared server"
start joins --class lc --means auto -- "$gsload" lc $fixed --arrivals poisson --period-us 5000
like "$(said joins)" "share: its user's shared server runs" "a service that comes at once joins it"
end_load "$joins"
end_load "$second"
start lc --class lc -- "$gsload" lc $fixed --arrivals poisson --period-us 5000

# ---- blocks of 1000 us: slices remain
start third --class be --means auto -- "$scratch/bin/long" be $fixed --block-us 1000 --kernel-us 1000
show_blocks third long
end_load "$third"
start fourth --class be --means auto -- "$scratch/bin/long" be $fixed --block-us 1000 --kernel-us 1000
like "$(said fourth)" "slices: its thread blocks are long" "the second start of a program with long blocks is by slices"
end_load "$fourth"

# ---- a service with long turns: short blocks do not lead to the shared server
start seventh --class be --means auto -- "$scratch/bin/beside" be $fixed --block-us 20 --kernel-us 1000
show_blocks seventh beside
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
stop_daemon
done_testing
