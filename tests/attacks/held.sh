#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 1200
# needs: root bpf fuse
# Runs several attacks at once that gpusched has always withstood. The daemon is killed at random
# points: by SIGKILL, by the OOM killer, together with its guardian, with a pin deleted. Meanwhile a
# user's processes come and go, send hostile requests, and ask about processes that hidepid hides.
. "$(dirname "$0")/lib.sh"
enter_sim
RANDOM=11
rounds=$(size 4 30)
requests=$(size 1000 15000)
processes=$(size 200 10000)
mount -t proc -o hidepid=invisible proc /proc || not_ok "a /proc with hidepid"
config '[Policy]
Policy = lcbe
[Classes]
Rule = comm=gsload -> be'
victim
api=$GPUSCHED_SIM/run/api
memory=/sys/fs/cgroup/memory/$name.$$
oom=0
mkdir "$memory" 2>/dev/null && echo $((256 << 20)) >"$memory/memory.limit_in_bytes" && oom=1

"${as_attacker[@]}" "$helper" churn "$processes" 4 >"$scratch/churn" 2>&1 &
churn=$!
at_end+=($churn)
garbage() { # sends garbage requests; prints how many got an answer, a refusal, no answer
	local i
	for ((i = 0; i < requests; i += 100)); do
		"${as_attacker[@]}" "$helper" garbage "$api" 100 "$i" || echo bad
	done
}
garbage >"$scratch/garbage" 2>&1 &
garbage=$!
at_end+=($garbage)

same_words=0
differ=
oracle() { # checks that the attacker gets the same answer about the victim as about a process that does not exist
	local verb ask none=4000001
	for verb in list set suspend preempt class_get class_set class_explain history; do
		ask() {
			"${as_attacker[@]}" curl -s --max-time 5 --unix-socket "$api" -d "{\"target\":\"pid:$1\"$2}" \
				"http://gpusched/v1/$verb" | sed "s/$1/PID/g"
		}
		local more=
		[ $verb = set ] && more=',"timeslice_us":500'
		[ $verb = class_set ] && more=',"class":"lc"'
		local of_victim of_none
		of_victim=$(ask "$VICTIM" "$more")
		of_none=$(ask $none "$more")
		[ -n "$of_victim" ] || continue
		if [ "$of_victim" = "$of_none" ]; then
			same_words=$((same_words + 1))
		else
			differ+="$verb: $of_victim | $of_none; "
		fi
	done
}

killed_by_oom() {
	echo 1000 >"/proc/$DAEMON_PID/oom_score_adj"
	echo "$DAEMON_PID" >"$memory/cgroup.procs"
	bash -c 'echo $$ >"$1/cgroup.procs"; a=$(head -c 300000000 /dev/zero | tr "\0" x)' _ "$memory" 2>/dev/null
	wait_for 10 gone "$DAEMON_PID"
}

bad=0 worst=0 changed=0
declare -A how_often
for ((i = 0; i < rounds; i++)); do
	start_daemon || {
		not_ok "the daemon starts in round $i"
		break
	}
	wait_for 20 eval '[ "$(sim_slice $VICTIM)" != 2048 ]'
	oracle
	case $((RANDOM % 3)) in
	1) "$gpusched" suspend pid:$VICTIM >/dev/null 2>&1 & ;;
	2) "$gpusched" set pid:$VICTIM timeslice=77us >/dev/null 2>&1 & ;;
	esac
	sleep "0.$(printf '%02d' $((RANDOM % 25)))"
	all_restored $VICTIM || changed=$((changed + 1))
	how=$((i % 4))
	[ $how = 3 ] && [ $oom = 0 ] && how=0
	guardian=$(pgrep -P "$DAEMON_PID" -x gpusched-guard)
	case $how in
	0) kill -9 "$DAEMON_PID" ;;
	1)
		kill -9 "$guardian" "$DAEMON_PID"
		from=$(now_ms)
		timeout 20 "$gpusched" restore >/dev/null 2>&1 ;;
	2)
		pins=("$GPUSCHED_SIM"/bpf/gpusched/gs_*_slot)
		rm -f "${pins[RANDOM % ${#pins[@]}]}"
		kill -9 "$DAEMON_PID" ;;
	3) killed_by_oom ;;
	esac
	[ $how = 1 ] || from=$(now_ms)
	wait "$DAEMON_PID" 2>/dev/null
	DAEMON_PID=
	how_often[$how]=$((${how_often[$how]:-0} + 1))
	wait_for 5 all_restored $VICTIM || bad=$((bad + 1))
	took=$(($(now_ms) - from))
	[ $took -le $worst ] || worst=$took
	[ $how != 2 ] || "$gpusched" observe off >/dev/null 2>&1
done
diag "kills: ${how_often[0]:-0} by SIGKILL, ${how_often[1]:-0} with the guardian, ${how_often[2]:-0} with a pin deleted, ${how_often[3]:-0} by the OOM killer"
is $bad 0 "$rounds deaths of the daemon: everything is put back"
le $worst 4000 "restored at the latest, in ms"
ge $changed $((rounds / 2)) "deaths that found something changed"
is "$differ" "" "hidepid: $same_words answers about a hidden process are those about none"
ge $same_words $((rounds * 4)) "hidepid: answers compared"
start_daemon || not_ok "the daemon starts at the end"
check "the processes came and went" wait_for 600 gone $churn
check "the hostile requests are through" wait_for 600 gone $garbage
is "$(grep -c bad "$scratch/garbage")" 0 "hostile requests: none gets an internal error"
read -r answered refused silent < <(awk '{ a += $1; r += $2; s += $3 } END { print a, r, s }' "$scratch/garbage")
ge $((answered + refused)) 100 "hostile requests that got an answer"
diag "hostile requests: $answered answered, $refused refused, $silent without an answer: the daemon was killed, or they were cut off"
diag "processes: $processes, $oom: the OOM killer was at hand"
is "$(list_json pid:$VICTIM 'map(.class) | unique | @json')" '["be"]' "the victim has its class"
check "the policy acts on the victim" wait_for 20 eval '[ "$(sim_slice $VICTIM)" != 2048 ]'
check "nothing of the processes is left in the table" wait_for 60 eval \
	'[ "$("$gpusched" list --json | jq -s "flatten | map(select(.comm == \"helper\")) | length")" = 0 ]'
pings "after all that"
loop_turned_so_far() {
	"$gpusched" stats --json | jq .service.longest_turn_us
}
le "$(loop_turned_so_far)" 1000000 "every turn of the last daemon's loop was short, in us"
kill_restores "after all that" $VICTIM
[ $oom = 0 ] || rmdir "$memory"
done_testing
