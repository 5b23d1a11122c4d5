#!/bin/bash
# SPDX-License-Identifier: MIT
# The socket for pods: a pod sees only its own programs, by their pids inside, and root in a pod has
# no root rights. The pods of this test are cgroups with pid and mount namespaces.
# timeout: 120
# needs: root bpf fuse cgroup2
. "$(dirname "$0")/lib.sh"
enter_cgroups
enter_sim --dilate 2
chmod 711 "$scratch"
web=6f7d3c5e-0a1b-4c2d-8e9f-0123456789ab
bank=7a7d3c5e-0a1b-4c2d-8e9f-0123456789ab
folder_of() { # UID
	echo "$tree/$name.$$/kubepods/pod$1/$(printf '%064d' 1)"
}
fixed="--iterations-per-us 27.777 --seconds 100 --warmup 0"
# A pod that has the folder of the pods' socket in place of the daemon's; gsload is its pid 1.
# $LEADER: its pid outside
start_pod() { # UID USER ARGUMENTS...
	local at
	at=$(folder_of "$1")
	mkdir -p "$at"
	bash -c 'echo $$ >"$1/cgroup.procs" && exec unshare --mount --pid --fork --mount-proc --propagation private \
		bash -c "mount --bind $GPUSCHED_SIM/run/pods $GPUSCHED_SIM/run && exec setpriv --reuid $2 --regid $2 --clear-groups $3"' - \
		"$at" "$2" "$gsload ${*:3} $fixed" >"$scratch/load.$2" 2>&1 &
	at_end+=($!)
	wait_for 20 pgrep -P $!
	LEADER=$(pgrep -P $!)
	wait_tsgs "pid:$LEADER" 1
}
in_pod() { # UID LEADER USER COMMAND...
	bash -c 'echo $$ >"$1/cgroup.procs" && exec nsenter -t "$2" -m -p setpriv --reuid "$3" --regid "$3" --clear-groups "${@:4}"' - \
		"$(folder_of "$1")" "${@:2}"
}
start_daemon
start_pod $web 0 lc
server=$LEADER
start_pod $bank 4712 be
clerk=$LEADER
ge "$("$gpusched" list --json | jq -s 'flatten | map(.pid) | unique | length')" 2 "both pods' programs are on the GPU"

list() { # UID LEADER USER FILTER
	in_pod "$1" "$2" "$3" "$gpusched" list --json | jq -rsc "flatten | map(select(.kind == \"compute\")) | $4"
}
is "$(list $web "$server" 0 'map([.pid, .uid])')" '[[1,0]]' "a pod sees its own program alone, by the pid inside"
is "$(list $bank "$clerk" 4712 'map([.pid, .uid])')" '[[1,4712]]' "another pod sees its own program"
is "$(list $web "$server" 4799 'length')" 1 "another user in the pod sees the pod's program, too"
is "$(list $web "$server" 0 'map(.client, .cgroup_id) | unique')" '[null]' "a pod sees no handles and no cgroup ids of the node"
in_pod $web "$server" 0 "$gsload" be $fixed >/dev/null 2>&1 &
at_end+=($!)
check "a second program of the pod appears" wait_for 20 eval '[ "$(list $web "$server" 0 length)" = 2 ]'
is "$(list $web "$server" 0 'map(.pid > 0 and .pid < 1000) | all')" true "it has its pid inside the pod"
top_rows() {
	in_pod $web "$server" 0 "$gpusched" status --json | jq -c '[.gpus[].tsgs[].pid] | length'
}
is "$(top_rows)" 2 "status, which top shows, has the same programs"
is "$(in_pod $web "$server" 0 "$gpusched" top --batch | awk '/gsload/ { n++ } END { print n }')" 2 "top shows both programs"
is "$(in_pod $web "$server" 0 "$gpusched" status --json | jq -c .findings)" "[]" "status has no findings, which might name other programs"

# ---- root in a pod has no root rights -------------------------------------------------------------
ask() { # VERB JSON: as root in the pod
	in_pod $web "$server" 0 curl -s --max-time 5 --unix-socket "$GPUSCHED_SIM/run/api" -d "$2" "http://gpusched/v1/$1" | jq -r 'if type == "object" then .error // "done" | tostring else . end'
}
for verb in stats gpus history policy_get class_list parked means_get; do
	like "$(ask $verb '{}')" "not from a pod" "$verb is refused to a pod"
done
like "$(ask policy_stop '{}')" "root|not from a pod" "policy_stop is refused to a pod"
like "$(ask class_set '{"target":"all","class":"lc"}')" "not from a pod" "class_set is refused to a pod"
like "$(ask list "{\"target\":\"pid:$clerk\"}")" "its own programs" "list with a target is refused to a pod"
for path in metrics v1/watch v1/trace; do
	is "$(in_pod $web "$server" 0 curl -s --max-time 5 -o /dev/null -w '%{http_code}' --unix-socket "$GPUSCHED_SIM/run/api" \
		"http://gpusched/$path")" 403 "/$path is refused to a pod"
done
check "a process outside of pods is refused at the pods' socket" eval \
	'! curl -sf --max-time 5 --unix-socket "$GPUSCHED_SIM/run/pods/api" -d "{}" http://gpusched/v1/ping'
is "$(in_pod $web "$server" 0 ls "$GPUSCHED_SIM/run")" api "the pod has no other file of the daemon's"
fake=$tree/$name.$$/mine/kubepods/pod$bank/$(printf '%064d' 1)
mkdir -p "$fake" && chown -R 4716 "$tree/$name.$$/mine"
check "a cgroup that a user has made is no pod" eval '! bash -c "echo \$\$ >$fake/cgroup.procs
	exec setpriv --reuid 4716 --regid 4716 --clear-groups curl -sf --max-time 5 --unix-socket $GPUSCHED_SIM/run/pods/api -d {} http://gpusched/v1/list"'

# ---- the daemon's own socket is no root's in a container or another namespace ----------------------
in_group() { # CGROUP COMMAND...
	bash -c 'mkdir -p "$1" && echo $$ >"$1/cgroup.procs" && shift && exec "$@"' - "$tree/$name.$$/$1" "${@:2}"
}
own() { # VERB JSON [COMMAND...]: what the daemon's own socket answers
	"${@:3}" curl -s --max-time 5 --unix-socket "$GPUSCHED_SIM/run/api" -d "$2" "http://gpusched/v1/$1" | jq -r '.error // "done"'
}
none='{}'
docker=(in_group "docker/$(printf '%064d' 3)")
pod=(in_group "kubepods/pod$web/$(printf '%064d' 2)")
for verb in policy_stop restore pod_list 'class_set {"target":"all","class":"lc"}' "suspend {\"target\":\"pid:$server\"}"; do
	args=${verb#"${verb%% *}"}
	verb=${verb%% *}
	like "$(own "$verb" "${args:-$none}" "${docker[@]}")" "not for root of a container" "$verb is refused to root in a docker container with the host's pids"
	like "$(own "$verb" "${args:-$none}" "${pod[@]}")" "not for root of a container" "... and to root in a pod"
	like "$(own "$verb" "${args:-$none}" unshare --pid --fork)" "not for root of a container" "... and in another pid namespace"
	like "$(own "$verb" "${args:-$none}" unshare --user --map-root-user)" "not for root of a container" "... and in another user namespace"
done
is "$(own list '{}' "${docker[@]}")" done "root in a container may read what any user may"
is "$("${docker[@]}" "$gpusched" list --json | jq -sc 'flatten | map(.client) | unique')" '[null]' "it sees no handles"
is "$(own pod_list '{}' in_group service)" done "root in a service is the machine's"
echo "$DAEMON_PID" >"$(folder_of $bank)/cgroup.procs"
other=(in_group "kubepods/pod$bank/$(printf '%064d' 2)")
is "$(own pod_list '{}' "${other[@]}")" done "root in another container of the daemon's own pod may report pods"
for verb in policy_stop restore; do
	like "$(own $verb '{}' "${other[@]}")" "not for root of a container" "... but $verb is refused there"
done
like "$(own pod_list '{}' "${pod[@]}")" "not for root of a container" "root in another pod may not report pods"
is "$(own pod_list '{}' in_group "kubepods/pod$bank/$(printf '%064d' 1)")" done "root in the daemon's own container is the machine's"
is "$(own class_list '{}')" done "root of the machine is root for a daemon in a pod"
echo "$DAEMON_PID" >"$tree$(sed -n 's/^0:://p' /proc/$$/cgroup)/cgroup.procs"
stop_daemon
is "$(ls "$GPUSCHED_SIM/run/pods")" "" "the socket is removed at the daemon's end"
done_testing
