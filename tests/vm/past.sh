#!/bin/bash
# SPDX-License-Identifier: MIT
# kernels: 6.12 6.1 trixie
# kernels on arm64: 6.12
# kernels in CI: 6.1
# timeout: 600
# modules: fuse
# Checks the gate for a program that is past its share of the table. Its further TSGs have no record, so
# nobody could set them: the gate stops the program before the driver sees the call that schedules such
# a TSG. HoldLimit= and the daemon's death let the program go on.
. "$(dirname "$0")/../e2e/lib.sh"
enter_sim --dilate 5
exec 2>"$scratch/stderr" # the shell reports each killed program
config '[Policy]
Policy = rr
HoldLimit = 20s
[Classes]
Rule = comm=gsload -> be'

# hoarding NAME: starts a program that uses more TSGs than its share; its PID is in the variable NAME
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
"$helper" share "$GPUSCHED_SIM/bpf/gpusched" 30 # lowers the share: 30 TSGs are made faster on this slow machine
hoarding first
check "what is past its share is stopped" wait_for 60 stopped $first
is "$(sim_state "[.tsgs[] | select(.pid == $first and .scheduled)] | length")" 30 "the driver has scheduled none past the share"
is "$(taps gate_past)" 1 "the stop is counted"
ge "$(list_json pid:$first '[.[].past_share] | max')" 1 "list shows how far the process is past its share"
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
