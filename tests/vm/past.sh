#!/bin/bash
# SPDX-License-Identifier: MIT
# kernels: 6.12 6.1 trixie
# kernels on arm64: 6.12
# kernels in CI: 6.1
# timeout: 600
# modules: fuse
# A program that is past its share of the table: the gate stops it before the driver sees that a TSG is
# to be scheduled which nobody could set; HoldLimit= and the daemon's death let it go on.
. "$(dirname "$0")/../e2e/lib.sh"
enter_sim --dilate 5
exec 2>"$scratch/stderr" # the shell tells of each program that was killed
config '[Policy]
Policy = rr
HoldLimit = 20s
[Classes]
Rule = comm=gsload -> be'

# hoarding NAME: a program with more used TSGs than its share; its pid in the variable NAME
hoarding() {
	HOARD=used HOARD_N=40 LD_PRELOAD=$build/tests/e2e/hoarder.so "$gsload" be --seconds 0 --warmup 0 \
		--kernel-us 10000 --iterations-per-us 27.78 >"$scratch/$1.out" 2>&1 &
	at_end+=($!)
	declare -g "$1=$!"
}
stopped() { # PID
	[[ $(<"/proc/$1/status") == *$'\nState:\tT'* ]]
}
taps() { # COUNTER
	"$gpusched" observe status --json | jq ".counters.$1"
}

start_daemon || exit 1
is "$("$gpusched" observe status --json | jq .gate)" true "the gate is there"
"$helper" share "$GPUSCHED_SIM/bpf/gpusched" 30 # for the machine is slow
hoarding first
check "what is past its share is stopped" wait_for 60 stopped $first
is "$(sim_state "[.tsgs[] | select(.pid == $first and .scheduled)] | length")" 30 "the driver has scheduled none past the share"
is "$(taps gate_past)" 1 "the stop is counted"
ge "$(list_json pid:$first '[.[].past_share] | max')" 1 "list tells it at the process"
like "$(list_json pid:$first '.[0].reason')" "past its share" "the list has the reason"
kill -CONT $first
sleep 2
check "somebody else's SIGCONT lets nobody in" wait_for 10 stopped $first
check "after HoldLimit= it goes on, and works" wait_for 120 eval '! stopped $first && [ "$(sim_work $first)" -gt 0 ]'
end_load $first KILL
hoarding second
check "another one is stopped" wait_for 60 stopped $second
kill_daemon
check "when the daemon has died it goes on" wait_for 30 eval '! stopped $second'
check "the second program works" wait_for 60 eval '[ "$(sim_work $second)" -gt 0 ]'
done_testing
