#!/bin/bash
# SPDX-License-Identifier: MIT
# Pods' annotations, by the runtime's plugin: a pod has its class, within the ceiling, before its
# first kernel. The loss of a runtime or a daemon changes nothing. Hostile runtimes are dropped.
# timeout: 120
# needs: root bpf fuse cgroup2
. "$(dirname "$0")/lib.sh"
enter_cgroups
enter_sim --dilate 2
nri=$build/gpusched-nri
web=6f7d3c5e-0a1b-4c2d-8e9f-0123456789ab
bank=7a7d3c5e-0a1b-4c2d-8e9f-0123456789ab
late=8b7d3c5e-0a1b-4c2d-8e9f-0123456789ab
config "[Kubernetes]
PodCeiling = web lc weight=300
PodLogs =
ContainerLogs ="

# ---- a runtime -------------------------------------------------------------------------------------
start_runtime() {
	coproc RUNTIME { exec "$helper" runtime "$scratch/nri.sock"; }
	RUNTIME_IN=${RUNTIME[1]} RUNTIME_OUT=${RUNTIME[0]} RUNTIME_IS=$RUNTIME_PID
	at_end+=("$RUNTIME_IS")
}
tell() { # LINE: to the runtime; its answer in $said
	echo "$*" >&"$RUNTIME_IN"
	case $1 in pod | torn | close) return ;; esac
	read -r -t 30 said <&"$RUNTIME_OUT" || said=nothing
}
start_plugin() {
	"$nri" --runtime "$scratch/nri.sock" 2>>"$scratch/nri.log" &
	PLUGIN=$!
	at_end+=("$PLUGIN")
}
pod_load() { # UID USER ARGUMENTS...: gsload in a container of that pod; $LOAD_PID
	local at=$tree/$name.$$/kubepods/pod$1/$(printf '%064d' 1)
	mkdir -p "$at"
	bash -c 'echo $$ >"$1/cgroup.procs" && exec setpriv --reuid "$2" --regid "$2" --clear-groups "${@:3}"' - \
		"$at" "$2" "$gsload" "${@:3}" --iterations-per-us 27.777 --seconds 100 --warmup 0 >"$scratch/load.$2" 2>&1 &
	LOAD_PID=$!
	at_end+=("$LOAD_PID")
	wait_tsgs "pid:$LOAD_PID" 1
}
of() { # PID FILTER
	"$gpusched" list "pid:$1" --json | jq -rs "flatten | .[] | select(.kind == \"compute\") | $2"
}
pods() { # FILTER: what the daemon knows of them
	curl -sf --max-time 5 --unix-socket "$GPUSCHED_SIM/run/api" -d '{}' http://gpusched/v1/pod_list | jq -rc "$1"
}

chmod 711 "$scratch"
start_plugin
start_daemon
check "without a runtime the plugin waits" wait_for 10 grep -q "no runtime at" "$scratch/nri.log"
is "$(sed -n 's/^CapEff:\t*//p;s/^CapBnd:\t*//p' /proc/$PLUGIN/status | tr -d '0\n')" "" "it has no capability"
start_runtime
tell accept
is "$said" "plugin 90-gpusched events 5" "it registers, and wants to hear of pods' starts and ends alone"
tell pod $bank bank clerk-1 gpusched.io/class=lc other=lc
tell sync
like "$said" "answered" "it takes the list of pods"
tell run $web web server-0 gpusched.io/class=lc gpusched.io/weight=200 gpusched.io/limit=80
like "$said" "answered" "a pod may start"
le "${said#* }" 1000 "it is answered at once"
is "$(pods '.pods | map(select(.uid == "'$web'")) | .[0] | [.class, .weight, .limit_pct, .left]')" '["lc",200,80,null]' \
	"when the start is answered, the daemon knows what the pod asks for"
pod_load $web 4711 lc
server=$LOAD_PID
is "$(of $server '.class + " " + .class_source')" "lc rule" "its process is of that class"
is "$(of $server .weight)" 200 "it has that weight"
like "$("$gpusched" class explain pid:$server)" "pod web/server-0 asks for it" "class explain says why"
exits 0 "the policy fair, which asks for limits, starts" "$gpusched" policy start fair
check "the pod has its limit" wait_for 5 eval '[ "$(of $server .limit_pct)" = 80 ]'
pod_load $bank 4712 be
clerk=$LOAD_PID
is "$(of $clerk .class)" be "where no ceiling allows more, a pod is of class be"
like "$("$gpusched" class explain pid:$clerk)" "class lc is over its ceiling" "class explain says what was left out"
check "the plugin's log says it" wait_for 5 grep -q "pod bank/clerk-1: left out: class lc is over its ceiling" "$scratch/nri.log"
ge "$("$gpusched" stats --json | jq .service.pod_words_left)" 1 "it is counted"
check "users may not tell of pods" eval '! as 4711 curl -sf --unix-socket "$GPUSCHED_SIM/run/api" -d "{}" http://gpusched/v1/pod_list'

sed -i 's/^PodCeiling/#&/' "$GPUSCHED_CONFIG"
kill -HUP "$DAEMON_PID"
check "without the ceiling it is be" wait_for 5 eval '[ "$(of $server .class)" = be ]'
sed -i 's/^#PodCeiling/PodCeiling/' "$GPUSCHED_CONFIG"
kill -HUP "$DAEMON_PID"
check "a reload forgets no pod" wait_for 5 eval '[ "$(of $server .class)" = lc ]'

# ---- what was not asked for, and what is hostile ---------------------------------------------------
tell call CreateContainer
like "$said" "answered" "a call that it did not ask for is no error"
tell state 1 $late web late-0 gpusched.io/class=normal gpusched.io/weight=many
like "$said" "answered" "the older way to tell of a start"
is "$(pods '.pods | map(select(.uid == "'$late'")) | .[0] | [.class, .left]')" '["normal","weight=many is not known"]' \
	"what is no number is left out"
tell state 3 $late web late-0
check "the older way to tell of an end" wait_for 5 eval '[ "$(pods ".pods | length")" = 2 ]'
tell huge
is "$said" closed "a message that is longer than any may be ends the connection"
tell accept
like "$said" "plugin" "it connects again"
is "$(of $server .class)" lc "meanwhile nothing has changed"
tell torn
tell accept
like "$said" "plugin" "a message that never ends does so too, after a while"

# ---- those that are lost ---------------------------------------------------------------------------
kill -9 "$RUNTIME_IS"
wait "$RUNTIME_IS" 2>/dev/null
sleep 0.5
is "$(of $server .class)" lc "the runtime is killed: nothing changes"
kill_daemon
start_daemon
check "another daemon hears of the pods" wait_for 10 eval '[ "$(pods ".pods | length")" = 2 ]'
check "the class is in force again after that" wait_for 10 eval '[ "$(of $server ".class + \" \" + (.weight | tostring)")" = "lc 200" ]'
kill -9 "$PLUGIN"
wait "$PLUGIN" 2>/dev/null
is "$(of $server .class)" lc "the plugin is killed: nothing changes"
start_runtime
start_plugin
tell accept
tell pod $web web server-0 gpusched.io/class=lc gpusched.io/weight=200
tell sync
check "a pod that ended meanwhile is forgotten" wait_for 5 eval '[ "$(pods ".pods | map(.pod)")" = "[\"server-0\"]" ]'
kill -STOP "$DAEMON_PID"
tell run $late web late-0 gpusched.io/class=lc
like "$said" "^answered" "a daemon that hangs keeps no pod from starting"
le "${said#answered }" 1000 "nor for long"
kill -CONT "$DAEMON_PID"
check "it hears of it later" wait_for 10 eval '[ "$(pods ".pods | length")" = 2 ]'
done_testing
