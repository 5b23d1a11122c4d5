#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 150
# needs: root bpf fuse
# Policy "fair" keeps limits and requests (parts of GPU time) on the simulated GPU in real time.
# They are given by the configuration's classes, `run`, `class set` and `set`; also, which users may
# give and remove them.
. "$(dirname "$0")/lib.sh"
enter_sim --gpus 2
exec 2>"$scratch/stderr"

printf '[Classes]\nClass=capped weight=100 limit=30\nClass=team request=60\n' >"$scratch/conf"
start_daemon --config "$scratch/conf"

# worked PID: work of its TSG in the next 4 s, in percent of that of a TSG alone on a GPU
worked() {
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
free=$(worked $a)
WORK_PER_PCT=$((free / 100 > 0 ? free / 100 : 1))
diag "work a second, free: $free"
is "$(limit_of $a)" null "a program has no limit by default"
is "$(limit_of $b)" 30 "a program has its class's limit"
is "$("$gpusched" class list --json | jq -c 'select(.name == "capped").limit_pct')" 30 "class list shows the limit"
ge "$(worked $b)" 80 "without a policy a limit has no effect"

exits 0 "the policy fair starts" "$gpusched" policy start fair
check "fair keeps the limit" wait_for 20 eval '[ "$(worked $b)" -le 40 ]'
got=$(worked $b)
ge "$got" 20 "a limit of 30 % leaves at least 20 %: $got"
ge "$(worked $a)" 80 "a program on another GPU is not limited"

exits 0 "class set --limit succeeds" "$gpusched" class set "pid:$a" be --limit 50
is "$(limit_of $a)" 50 "list shows the limit"
check "the new limit is kept at once" wait_for 20 eval '[ "$(worked $a)" -le 60 ]'
ge "$(worked $a)" 35 "the program still has its limited part of the GPU"
exits 0 "class set without a limit succeeds" "$gpusched" class set "pid:$a" be
is "$(limit_of $a)" null "list shows no limit"
check "the program is free again" wait_for 20 eval '[ "$(worked $a)" -ge 80 ]'

exits 0 "set limit= succeeds" "$gpusched" set "pid:$a" limit=40
is "$out" "set limit: 1 process" "set says how many programs have it"
is "$(limit_of $a) $(list_json "pid:$a" '.[0].class')" "40 be" "list shows the limit and the class, which is unchanged"
check "a limit that was set is kept" wait_for 20 eval '[ "$(worked $a)" -le 50 ]'
exits 0 "set limit=none succeeds" "$gpusched" set "pid:$a" limit=none
is "$(limit_of $a)" null "set limit=none removes the limit"
exits 2 "set refuses a limit together with another setting" "$gpusched" set "pid:$a" limit=40 timeslice=1ms
like "$out" "say it by itself" "the error says to set it by itself"
exits 2 "set limit=0 is refused" "$gpusched" set "pid:$a" limit=0
"$gpusched" class clear "pid:$a" >/dev/null
exits 2 "set limit= is refused for a program without a class" "$gpusched" set "pid:$a" limit=40
like "$out" "has no class, and weights, limits and requests are kept of classes" "the error says that limits need a class"
"$gpusched" class set "pid:$a" be >/dev/null

busy 1 c --class be --limit 20
is "$(limit_of $c)" 20 "run --limit gives a limit"
check "the limit is kept while another program runs" wait_for 20 eval '[ "$(worked $c)" -le 30 ]'
end_load $c

exits 2 "a limit of 101 % is refused" "$gpusched" class set "pid:$a" be --limit 101
exits 2 "a limit of 0 % is refused" "$gpusched" run --class be --limit 0 -- true
exits 2 "run refuses a limit without a class" "$gpusched" run --limit 10 -- true
like "$out" "run: --limit needs --class: 'gpusched run --class be --limit 10 -- true'" "the error has the line to type"
printf '[Classes]\nClass=x limit=0\n' >"$scratch/bad"
check "a limit of 0 in the configuration is refused" eval '! "$gpuschedd" --check-config --config "$scratch/bad"'

# Rights: users may limit their own programs and lower root's limits, but not raise or remove them.
u=65534
setpriv --reuid $u --regid $u --clear-groups "$gsload" be --seconds 0 --iterations-per-us 27.78 >/dev/null 2>&1 &
d=$!
at_end+=($d)
wait_tsgs "pid:$d" 1
check "a user may limit an own program" as $u "$gpusched" class set "pid:$d" be --limit 40
check "the user may take that limit back" as $u "$gpusched" class set "pid:$d" be
exits 0 "root limits the program" "$gpusched" class set "pid:$d" be --limit 40
check "its owner may not raise root's limit" eval '! as $u "$gpusched" class set "pid:$d" be --limit 60'
check "its owner may not remove root's limit" eval '! as $u "$gpusched" class clear "pid:$d"'
check "its owner may lower root's limit" as $u "$gpusched" class set "pid:$d" be --limit 10
is "$(limit_of $d)" 10 "list shows the lower limit"
exits 0 "root sets a limit" "$gpusched" set "pid:$d" limit=30
check "its owner may lower the limit by set" as $u "$gpusched" set "pid:$d" limit=20
exits 3 "its owner may not raise it by set" as $u "$gpusched" set "pid:$d" limit=50
exits 3 "its owner may not take it back by set" as $u "$gpusched" set "pid:$d" limit=none
exits 3 "a user may not limit another's program" as $u "$gpusched" set "pid:$a" limit=50

# ---- requests: the part of GPU time that a program has at least -----------------------------------
requested() { # PID: its granted request in percent; if none, the sum that its request would make
	list_json "pid:$1" 'map(select(.kind == "compute")) | .[0] | "\(.request_pct) \(.request_over_pct)"'
}
"$gpusched" class set "pid:$d" be >/dev/null
"$gpusched" monitor --json >"$scratch/events" &
at_end+=($!)
sleep 0.5
exits 0 "set request= succeeds" "$gpusched" set "pid:$a" request=70
is "$out" "set request: 1 process" "set says how many programs have a request"
is "$(requested $a)" "70 null" "list shows a request"
check "the program with a request of 70 % gets at least 60 %" \
	wait_for 30 eval '[ "$(worked $a)" -ge 60 ]'
says=$("$gpusched" list --json --wide "pid:$a" | jq -cs 'flatten | map(select(.kind == "compute")) | .[0].policy_says')
like "$says" '"means":"BY_(SLICES|TURNS)","why":"[A-Z_]+"' "list --wide has the means and why: $says"
ge "$(echo "$says" | jq .due_permille)" 700 "list --wide has the part that is due to the program"
busy 0 e --class team
is "$(requested $e)" "null 130" "a request past 100 % in all is not given, with the sum"
check "a refused request is an event" wait_for 5 grep -q '"request-over"' "$scratch/events"
is "$(jq -c 'select(.event == "request-over") | [.pid, .request_pct, .request_over_pct]' "$scratch/events")" \
	"[$e,60,130]" "the event has the program, its request and the sum"
is "$("$gpusched" stats --json | jq .service.requests_over)" 1 "stats counts the refused request"
exits 0 "the other request is lowered" "$gpusched" set "pid:$a" request=40
is "$(requested $a) $(requested $e)" "40 null 60 null" "the refused request is then granted"
exits 0 "the other request is raised again" "$gpusched" set "pid:$a" request=41
is "$(requested $a) $(requested $e)" "null 101 60 null" "the raised request is refused, and takes nothing from others"
stop_daemon
start_daemon --config "$scratch/conf"
check "after a restart the older process comes first" \
	wait_for 5 eval '[ "$(requested $a) $(requested $e)" = "41 null null 101" ]'
exits 0 "set request=none succeeds" "$gpusched" set "pid:$a" request=none
is "$(requested $a) $(requested $e)" "null null 60 null" "set request=none removes the request"
busy 1 f --class be --request 20
is "$(requested $f)" "20 null" "run --request gives a request"
exits 0 "class set takes a request and a limit" "$gpusched" class set "pid:$f" be --request 30 --limit 50
is "$(requested $f) $(limit_of $f)" "30 null 50" "a program may have a request and a limit"
exits 2 "a request above the limit is refused" "$gpusched" class set "pid:$f" be --request 60 --limit 50
is "$("$gpusched" class list --json | jq -c 'select(.name == "team").request_pct')" 60 "class list shows a request"
exits 3 "a user may not set a request" as $u "$gpusched" set "pid:$d" request=10
exits 3 "a user may not give a request by class set" as $u "$gpusched" class set "pid:$d" be --request 10
exits 3 "a user may not enter a class with a request" as $u "$gpusched" class set "pid:$d" team
printf '[Classes]\nClass=x request=60 limit=50\n' >"$scratch/bad"
check "a class that requests more than its limit is refused" \
	eval '! "$gpuschedd" --check-config --config "$scratch/bad"'

exits 0 "the policy auto starts" "$gpusched" policy start auto
check "a class's limit is kept under auto" wait_for 20 eval '[ "$(worked $b)" -le 40 ]'
got=$(worked $b)
ge "$got" 15 "auto leaves the limited part to the program: $got"

exits 0 "the policy stops" "$gpusched" policy stop
check "nothing stays suspended" wait_for 5 eval '[ "$(sim_state "[.tsgs[] | select(.enabled == false)] | length")" = 0 ]'
done_testing
