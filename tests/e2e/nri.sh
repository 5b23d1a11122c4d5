#!/bin/bash
# SPDX-License-Identifier: MIT
# gpusched-nri, the plugin of the container runtime, gives pods the class of their annotations
# before their first kernel, within the namespace's ceiling. The loss of a runtime or a daemon
# changes nothing. The plugin drops hostile runtimes.
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

# ---- a container runtime, played by the helper ----------------------------------------------------
start_runtime() {
	coproc RUNTIME { exec "$helper" runtime "$scratch/nri.sock"; }
	RUNTIME_IN=${RUNTIME[1]} RUNTIME_OUT=${RUNTIME[0]} RUNTIME_IS=$RUNTIME_PID
	at_end+=("$RUNTIME_IS")
}
tell() { # LINE: a command to that runtime; its answer in $said
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
pods() { # FILTER: applies the filter to the daemon's list of pods
	curl -sf --max-time 5 --unix-socket "$GPUSCHED_SIM/run/api" -d '{}' http://gpusched/v1/pod_list | jq -rc "$1"
}

chmod 711 "$scratch"
start_plugin
start_daemon
check "without a runtime the plugin waits" wait_for 10 grep -q "no runtime at" "$scratch/nri.log"
is "$(sed -n 's/^CapEff:\t*//p;s/^CapBnd:\t*//p' /proc/$PLUGIN/status | tr -d '0\n')" "" "the plugin has no capability"
start_runtime
tell accept
is "$said" "plugin 90-gpusched events 5" "the plugin registers for pods' starts and ends alone"
tell pod $bank bank clerk-1 gpusched.io/class=lc other=lc
tell sync
like "$said" "answered" "the plugin takes the list of pods"
tell run $web web server-0 gpusched.io/class=lc gpusched.io/weight=200 gpusched.io/limit=80
like "$said" "answered" "the plugin answers a pod's start"
le "${said#* }" 1000 "it answers within 1 s"
is "$(pods '.pods | map(select(.uid == "'$web'")) | .[0] | [.class, .weight, .limit_pct, .left]')" '["lc",200,80,null]' \
	"when the start is answered, the daemon knows what the pod asks for"
pod_load $web 4711 lc
server=$LOAD_PID
is "$(of $server '.class + " " + .class_source')" "lc rule" "the pod's process is of that class"
is "$(of $server .weight)" 200 "the pod's process has that weight"
like "$("$gpusched" class explain pid:$server)" "pod web/server-0 asks for it" "class explain says why"
exits 0 "the policy fair, which asks for limits, starts" "$gpusched" policy start fair
check "the pod has its limit" wait_for 5 eval '[ "$(of $server .limit_pct)" = 80 ]'
pod_load $bank 4712 be
clerk=$LOAD_PID
is "$(of $clerk .class)" be "without a ceiling that allows more, a pod is of class be"
like "$("$gpusched" class explain pid:$clerk)" "class lc is over its ceiling" "class explain says what was left out"
check "the plugin's log says what was left out" wait_for 5 grep -q "pod bank/clerk-1: left out: class lc is over its ceiling" "$scratch/nri.log"
ge "$("$gpusched" stats --json | jq .service.pod_words_left)" 1 "a counter has the words that were left out"
check "users may not read or report pods" eval '! as 4711 curl -sf --unix-socket "$GPUSCHED_SIM/run/api" -d "{}" http://gpusched/v1/pod_list'

sed -i 's/^PodCeiling/#&/' "$GPUSCHED_CONFIG"
kill -HUP "$DAEMON_PID"
check "without the ceiling the pod is of class be" wait_for 5 eval '[ "$(of $server .class)" = be ]'
sed -i 's/^#PodCeiling/PodCeiling/' "$GPUSCHED_CONFIG"
kill -HUP "$DAEMON_PID"
check "a reload of the configuration keeps the pods" wait_for 5 eval '[ "$(of $server .class)" = lc ]'

# ---- calls that the plugin did not register for, and hostile ones ---------------------------------
tell call CreateContainer
like "$said" "answered" "a call that the plugin did not register for is answered"
tell state 1 $late web late-0 gpusched.io/class=normal gpusched.io/weight=many
like "$said" "answered" "the plugin answers the older message of a pod's start"
is "$(pods '.pods | map(select(.uid == "'$late'")) | .[0] | [.class, .left]')" '["normal","weight=many is not known"]' \
	"a weight that is no number is left out"
tell state 3 $late web late-0
check "the plugin takes the older message of a pod's end" wait_for 5 eval '[ "$(pods ".pods | length")" = 2 ]'
tell huge
is "$said" closed "a message that is too long ends the connection"
tell accept
like "$said" "plugin" "the plugin connects again"
is "$(of $server .class)" lc "meanwhile the pod has kept its class"
tell torn
tell accept
like "$said" "plugin" "a message that never ends ends the connection after a while"

# ---- the runtime, the daemon or the plugin dies ---------------------------------------------------
kill -9 "$RUNTIME_IS"
wait "$RUNTIME_IS" 2>/dev/null
sleep 0.5
is "$(of $server .class)" lc "the pod keeps its class after the runtime's death"
kill_daemon
start_daemon
check "the plugin reports the pods to the next daemon" wait_for 10 eval '[ "$(pods ".pods | length")" = 2 ]'
check "the pod has its class and weight again" wait_for 10 eval '[ "$(of $server ".class + \" \" + (.weight | tostring)")" = "lc 200" ]'
kill -9 "$PLUGIN"
wait "$PLUGIN" 2>/dev/null
is "$(of $server .class)" lc "the pod keeps its class after the plugin's death"
start_runtime
start_plugin
tell accept
tell pod $web web server-0 gpusched.io/class=lc gpusched.io/weight=200
tell sync
check "a pod that ended meanwhile is forgotten" wait_for 5 eval '[ "$(pods ".pods | map(.pod)")" = "[\"server-0\"]" ]'
kill -STOP "$DAEMON_PID"
tell run $late web late-0 gpusched.io/class=lc
like "$said" "^answered" "a pod may start while the daemon hangs"
le "${said#answered }" 1000 "the start is answered within 1 s"
kill -CONT "$DAEMON_PID"
check "the daemon learns of that pod later" wait_for 10 eval '[ "$(pods ".pods | length")" = 2 ]'
done_testing
