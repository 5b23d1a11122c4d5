#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 240
# needs: root bpf fuse
# Budgets: a program that has used up its GPU time runs only while no other waits, or not at all.
# A restart keeps the sums.
. "$(dirname "$0")/lib.sh"
enter_sim --gpus 2
chmod 755 "$scratch"
budgets() { config "[Budgets]
$(printf 'Budget=%s\n' "$@")"; }
exits 1 "a budget without a period is refused" "$gpuschedd" --check-config --config \
	<(printf '[Budgets]\nBudget=uid=4001 gpu_seconds=2\n')
like "$out" "needs user=, uid= or cgroup=, gpu_seconds=, and per=" "the message says what is missing"
user_load() { # UID: a program that never rests; $LOAD_PID
	setpriv --reuid "$1" --regid "$1" --clear-groups "$gsload" be --iterations-per-us 27.777 --seconds 200 --warmup 0 \
		>"$scratch/load.$1" 2>&1 &
	LOAD_PID=$!
	at_end+=($!)
	wait_for 20 works "$LOAD_PID" # before another program may be started: a switch between the two is needed
}
budget() { # UID FILTER
	"$gpusched" budget --json | jq -cs "flatten | map(select(.uid == $1))[0] | $2"
}
another_one() { # runs for a moment: time is read from switches, so that a lone program shows none
	"$gsload" be --iterations-per-us 27.777 --count 50 --warmup 0 --seconds 0 >/dev/null
}
works() { # PID: it makes progress within half a second
	local before
	before=$(sim_work "$1")
	sleep 0.5
	[ "$(sim_work "$1")" != "$before" ]
}
suspended() { [ "$(compute "$1" .suspended_by)" = budget ]; }
runs() { [ "$(compute "$1" .suspended_by)" = null ] && works "$1"; }

like "$("$gpusched" budget)" "no daemon runs" "without a daemon, budget says that none runs"
budgets 'uid=4001 gpu_seconds=3 per=month' 'uid=4003 gpu_seconds=1 per=month over=stop'
start_daemon || exit 1
check "the daemon has read the past from its history" wait_for 10 eval '[ "$(budget 4001 .complete)" = true ]'
is "$(budget 4001 '[.used_s, .left_s, .used_up, .complete, .per]')" '[0,3,false,true,"month"]' "at first nothing is used"
"$gpusched" monitor --json --for 200s >"$scratch/events" 2>&1 &
at_end+=($!)
as 4002 "$gpusched" monitor --json --for 200s >"$scratch/others" 2>&1 &
at_end+=($!)
wait_for 10 watchers 2

# ---- used up ----------------------------------------------------------------------------------------

user_load 4001
spender=$LOAD_PID
another_one
check "GPU time is counted" wait_for 20 eval '[ "$(budget 4001 ".used_s > 0.5")" = true ]'
check "the budget is used up" wait_for 60 eval '[ "$(budget 4001 .used_up)" = true ]'
check "the log says that the budget is used up" wait_for 10 grep -q "budget: user 4001 has used up its 3 s of GPU time a month: .*runs only where nobody else waits" "$scratch/daemon.log"
findings() { # UID: levels of the findings about budgets that this user sees
	as "$1" "$gpusched" status --json | jq -cs '.[0].findings | map(select(.finding == "budget-used-up") | .level)'
}
like "$(status_lines)" "user 4001 has used up its 3 s of GPU time a month: until .* it runs only where nobody else waits" "status says that the budget is used up"
is "$(findings 4001)" '["note"]' "status says so to the user of the budget"
is "$(findings 4002)" '[]' "status says nothing of it to another user"
like "$(curl -s --unix-socket "$GPUSCHED_SIM/run/api" http://x/metrics)" 'gpusched_findings\{finding="budget-used-up",level="note"\} 1' "metrics count this finding"
check "a program over its budget runs on while it is alone" runs $spender
is "$(budget 4001 .left_s)" 0 "nothing is left of the budget"
user_load 4002
other=$LOAD_PID
check "it is suspended while another user's program works" wait_for 20 suspended $spender
is "$(budget 4001 .suspended)" 1 "budget shows the suspension"
like "$("$gpusched" list "pid:$spender")" "paused: budget used up" "list shows the suspension"
like "$(compute $spender .reason)" "its GPU time is used up" "list has the reason"
ge "$(counter spent)" 1 "a counter has this suspension"
check "the other user's program runs" runs $other
as 4001 "$gpusched" resume "pid:$spender" >/dev/null
sleep 1
check "its owner cannot resume it" suspended $spender
kill -STOP $other
check "it runs again once no other program works" wait_for 20 runs $spender
kill -CONT $other
check "it is suspended again when the other program goes on" wait_for 20 suspended $spender

# ---- who sees what ----------------------------------------------------------------------------------

is "$(as 4001 "$gpusched" budget --json | jq -cs 'flatten | map(.uid)')" "[4001]" "a user sees the user's own budget"
is "$(as 4002 "$gpusched" budget)" "no budget concerns you" "a user without a budget sees none"
like "$(as 4001 "$gpusched" budget)" "used up: runs where nobody else waits, now suspended" "the table says it in words"
is "$("$gpusched" budget --json | jq -cs 'flatten | map(.uid) | sort')" "[4001,4003]" "root sees all"
is "$(jq -c 'select(.event == "budget") | [.what, .uid, .per]' "$scratch/events" | head -1)" '["used-up",4001,"month"]' "the use-up of a budget is an event"
is "$(grep -c '"budget"' "$scratch/others")" 0 "another user gets no event about it"

# ---- a restart, a death -----------------------------------------------------------------------------

used=$(budget 4001 .used_s)
stop_daemon
is "$(sim_disabled $spender)" 0 "nothing stays suspended after the daemon's end"
start_daemon || exit 1
check "a restart keeps the used time" wait_for 20 eval '[ "$(budget 4001 ".used_s >= $used - 0.1 and .complete")" = true ]'
check "after a restart it is suspended again" wait_for 20 suspended $spender
kill_daemon
check "a daemon that is killed leaves nothing suspended" wait_for 10 eval '[ "$(sim_disabled $spender)" = 0 ]'
start_daemon || exit 1
check "after the daemon was killed it is suspended again, too" wait_for 20 suspended $spender
end_load $other

# ---- over=stop; changes of the configuration ------------------------------------------------------

end_load $spender
user_load 4003
stopped=$LOAD_PID
another_one
check "a program over a budget of over=stop is suspended though no other works" wait_for 60 suspended $stopped
"$gpusched" resume "pid:$stopped" >/dev/null
budgets 'uid=4003 gpu_seconds=1000 per=month over=stop'
kill -HUP $DAEMON_PID
check "the program runs once its budget is larger" wait_for 20 runs $stopped
ge "$(budget 4003 .used_s)" 1 "what was used before still counts"
budgets 'uid=4003 gpu_seconds=1 per=month over=stop'
kill -HUP $DAEMON_PID
check "the program is suspended once its budget is smaller" wait_for 20 suspended $stopped
config '[Daemon]'
kill -HUP $DAEMON_PID
check "the program runs once there are no budgets" wait_for 20 runs $stopped

# ---- a job on two GPUs ------------------------------------------------------------------------------

budgets 'uid=4005 gpu_seconds=1 per=month'
kill -HUP $DAEMON_PID
kill -STOP $stopped
setpriv --reuid 4005 --regid 4005 --clear-groups bash -c 'for gpu in 0 1; do
	"$0" be --gpu $gpu --iterations-per-us 27.777 --seconds 200 --warmup 0 &
	echo $!
done; wait' "$gsload" >"$scratch/job" 2>/dev/null &
at_end+=($!)
wait_for 20 eval '[ "$(grep -cE "^[0-9]+$" "$scratch/job")" = 2 ]'
mapfile -t job < <(grep -E '^[0-9]+$' "$scratch/job")
at_end+=("${job[@]}")
another_one
check "the job's budget is used up" wait_for 60 eval '[ "$(budget 4005 .used_up)" = true ]'
check "both its parts run while nobody else waits" wait_for 20 eval 'runs ${job[0]} && runs ${job[1]}'
user_load 4002
check "a job is suspended where another program works" wait_for 20 suspended "${job[0]}"
check "it is suspended on its other GPU, too, where none does" wait_for 5 suspended "${job[1]}"
kill -STOP "$LOAD_PID"
check "both parts go on together" wait_for 20 eval 'runs ${job[0]} && runs ${job[1]}'
end_load "$LOAD_PID" KILL
kill "${job[@]}"
kill -CONT $stopped

# ---- a history that is lost -------------------------------------------------------------------------

stop_daemon
budgets 'uid=4003 gpu_seconds=1 per=month over=stop'
rm -f "$GPUSCHED_SIM"/state/history.db{,-wal,-shm} # not the mark that there was a file
start_daemon || exit 1
is "$(budget 4003 '.used_s < 1')" true "after its history is lost, the daemon counts from zero"
check "it says that this is not all, and why" wait_for 10 eval \
	'[ "$(budget 4003 .complete)" = false ] && "$gpusched" budget | grep -q "the history has lost records of before 2"'
another_one
check "the new count uses up the budget" wait_for 60 suspended $stopped
stop_daemon
done_testing
