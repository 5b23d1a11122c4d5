#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 300
# needs: root bpf fuse
# The wall clock jumps ahead by 120 days and comes back, as with a bad time server. No row of the
# history is deleted for its age, and a budget that was used up stays so. So does it if the daemon
# starts meanwhile.
. "$(dirname "$0")/lib.sh"
enter_sim
echo 0 >"$scratch/ahead"
config '[Budgets]
Budget=uid=4001 gpu_seconds=2 per=day over=stop'
before_daemon=(env CLOCK_AHEAD="$scratch/ahead" LD_PRELOAD="$build/tests/e2e/clock_ahead.so" nice -n -5)
start_daemon || exit 1
"$gpusched" monitor --json --for 250s >"$scratch/events" 2>&1 &
at_end+=($!)
chmod 711 "$scratch"
# shellcheck disable=SC2086 # two words
work_as() { # UID SECONDS: that user's program; its pid in $WORKER
	setpriv --reuid "$1" --regid "$1" --clear-groups "$gsload" be --seconds "$2" --warmup 0 $steady >/dev/null 2>&1 &
	WORKER=$!
	at_end+=("$WORKER")
}
work_as 4002 5
ended=$WORKER
work_as 4001 0
spender=$WORKER
used_up() { # "true" or "false"
	"$gpusched" budget --json | jq -s 'flatten | map(select(.uid == 4001))[0].used_up'
}
rows() { # of programs that have ended
	timeout 10 "$gpusched" history --json --since 1d | jq -s 'flatten | map(select(.uid == 4002)) | length'
}
check "a user's budget is used up" wait_for 60 eval '[ "$(used_up)" = true ]'
wait "$ended"
check "the history has the other user's program" wait_for 30 eval '[ "$(rows)" -ge 1 ]'
echo $((120 * 86400)) >"$scratch/ahead"
check "the jump is an event" wait_for 30 grep -q '"clock"' "$scratch/events"
sleep 5
is "$(used_up)" true "ahead, the budget is used up still"
echo 0 >"$scratch/ahead"
sleep 5
is "$(used_up)" true "back again, the budget is used up"
ge "$(rows)" 1 "back again, the history has its rows"
check "the spender is suspended" eval '[ "$(sim_disabled '"$spender"')" != 0 ]'

# A daemon that starts while the clock is wrong, as after a boot without a battery. When the clock is
# right again, all is as it was.
complete() {
	"$gpusched" budget --json | jq -s 'flatten | map(select(.uid == 4001))[0].complete'
}
year=$((365 * 86400))
for years in 5 -10; do
	stop_daemon
	echo $((years * year)) >"$scratch/ahead"
	start_daemon || not_ok "a daemon starts $years years ahead"
	wait_tsgs "pid:$spender" 4 || not_ok "the spender is listed"
	if ((years < 0)); then
		check "budgets say that the clock is before the last record" wait_for 20 eval '[ "$(complete)" = false ]'
	fi
	sleep 8
	echo 0 >"$scratch/ahead"
	check "started $years years ahead and right again, the budget is used up" wait_for 30 eval '[ "$(used_up)" = true ]'
	check "the spender is suspended again ($years years)" wait_for 30 eval '[ "$(sim_disabled '"$spender"')" != 0 ]'
	ge "$(rows)" 1 "the history has its rows ($years years)"
done
own_turn "jumps of the clock"
done_testing
