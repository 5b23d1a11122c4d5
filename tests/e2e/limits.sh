#!/bin/bash
# SPDX-License-Identifier: MIT
# needs: root bpf fuse
# Limits on GPU time by each way to give one, kept by fair on the simulated GPU in real time: a class of
# the configuration, `run --limit`, `class set --limit`; who may give and take them.
. "$(dirname "$0")/lib.sh"
enter_sim --gpus 2
exec 2>"$scratch/stderr"

printf '[Classes]\nClass=capped weight=100 limit=30\n' >"$scratch/conf"
start_daemon --config "$scratch/conf"

# held PID: what its TSG works, in percent of what one does alone; over 4 s
held() {
	local before
	before=$(sim_work "$1")
	sleep 4
	echo $((($(sim_work "$1") - before) / WORK_PER_PCT / 4))
}
limit_of() {
	list_json "pid:$1" 'map(select(.kind == "compute")) | .[0].limit_pct'
}
busy() { # GPU NAME OPTIONS...: a program that is always busy; its pid in NAME
	local gpu=$1 name=$2
	shift 2
	CUDA_VISIBLE_DEVICES=$gpu "$gpusched" run "$@" -- "$gsload" be --seconds 0 --iterations-per-us 27.78 >/dev/null 2>&1 &
	at_end+=($!)
	declare -g "$name=$!"
	wait_tsgs "pid:$!" 1
}

busy 0 a --class be
busy 1 b --class capped
WORK_PER_PCT=1
free=$(held $a)
WORK_PER_PCT=$((free / 100 > 0 ? free / 100 : 1))
diag "work a second, free: $free"
is "$(limit_of $a)" null "no limit unless one is given"
is "$(limit_of $b)" 30 "a class's limit is its members'"
is "$("$gpusched" class list --json | jq -c 'select(.name == "capped").limit_pct')" 30 "class list shows it"
ge "$(held $b)" 80 "a limit needs a policy that keeps it"

exits 0 "policy start fair" "$gpusched" policy start fair
check "it is kept" wait_for 20 eval '[ "$(held $b)" -le 40 ]'
got=$(held $b)
ge "$got" 20 "a limit of 30 % leaves 30: $got"
ge "$(held $a)" 80 "another GPU has its own"

exits 0 "class set --limit" "$gpusched" class set "pid:$a" be --limit 50
is "$(limit_of $a)" 50 "list shows it"
check "it is kept at once" wait_for 20 eval '[ "$(held $a)" -le 60 ]'
ge "$(held $a)" 35 "it keeps its own part of the GPU"
exits 0 "class set without one takes it back" "$gpusched" class set "pid:$a" be
is "$(limit_of $a)" null "list shows none"
check "the program is free again" wait_for 20 eval '[ "$(held $a)" -ge 80 ]'

exits 0 "set limit=" "$gpusched" set "pid:$a" limit=40
is "$out" "set limit: 1 process" "set says how many programs have it"
is "$(limit_of $a) $(list_json "pid:$a" '.[0].class')" "40 be" "list shows it, and the class of before"
check "a limit that was set is kept" wait_for 20 eval '[ "$(held $a)" -le 50 ]'
exits 0 "set limit=none" "$gpusched" set "pid:$a" limit=none
is "$(limit_of $a)" null "set limit=none takes it back"
exits 2 "a limit beside a setting is refused" "$gpusched" set "pid:$a" limit=40 timeslice=1ms
like "$out" "say it by itself" "the message says why"
exits 2 "set limit=0 is refused" "$gpusched" set "pid:$a" limit=0
"$gpusched" class clear "pid:$a" >/dev/null
exits 2 "a program without a class gets no limit" "$gpusched" set "pid:$a" limit=40
like "$out" "has no class, and limits are kept of classes" "the message says what to do"
"$gpusched" class set "pid:$a" be >/dev/null

busy 1 c --class be --limit 20
is "$(limit_of $c)" 20 "run --limit"
check "beside another it is kept as well" wait_for 20 eval '[ "$(held $c)" -le 30 ]'
end_load $c

exits 2 "no percentage" "$gpusched" class set "pid:$a" be --limit 101
exits 2 "not even nothing" "$gpusched" run --class be --limit 0 -- true
exits 2 "a limit goes with a class" "$gpusched" run --limit 10 -- true
like "$out" "run: --limit needs --class" "the message says so"
printf '[Classes]\nClass=x limit=0\n' >"$scratch/bad"
check "a wrong one in the configuration is refused" eval '! "$gpuschedd" --check-config --config "$scratch/bad"'

# rights: as a user's own
u=65534
setpriv --reuid $u --regid $u --clear-groups "$gsload" be --seconds 0 --iterations-per-us 27.78 >/dev/null 2>&1 &
d=$!
at_end+=($d)
wait_tsgs "pid:$d" 1
check "a user may limit an own program" as $u "$gpusched" class set "pid:$d" be --limit 40
check "the user may take that limit back" as $u "$gpusched" class set "pid:$d" be
exits 0 "root limits it" "$gpusched" class set "pid:$d" be --limit 40
check "its owner may not raise that" eval '! as $u "$gpusched" class set "pid:$d" be --limit 60'
check "nor take it back" eval '! as $u "$gpusched" class clear "pid:$d"'
check "but lower it" as $u "$gpusched" class set "pid:$d" be --limit 10
is "$(limit_of $d)" 10 "list shows the lower limit"
exits 0 "root sets a limit" "$gpusched" set "pid:$d" limit=30
check "its owner may lower that" as $u "$gpusched" set "pid:$d" limit=20
exits 3 "its owner may not raise it by set" as $u "$gpusched" set "pid:$d" limit=50
exits 3 "its owner may not take it back by set" as $u "$gpusched" set "pid:$d" limit=none
exits 3 "a user may not limit another's program" as $u "$gpusched" set "pid:$a" limit=50

exits 0 "policy stop" "$gpusched" policy stop
check "nothing stays suspended" wait_for 5 eval '[ "$(sim_state "[.tsgs[] | select(.enabled == false)] | length")" = 0 ]'
done_testing
