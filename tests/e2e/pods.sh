#!/bin/bash
# SPDX-License-Identifier: MIT
# Names of pods come from files, as the kubelet, NVIDIA's GPU fractioning and its DRA driver write
# them.
# timeout: 120
# needs: root bpf fuse cgroup2
. "$(dirname "$0")/lib.sh"
enter_cgroups
enter_sim --dilate 2
chmod 711 "$scratch"
at=$scratch/node
mkdir -p "$at"/{pods,containers,fractions,claims}
config "[Classes]
AllowTrace = uid=4713
Rule = pod=server-* container=app -> lc
Rule = namespace=web container=app -> lc
Rule = namespace=bank -> be
Rule = cgroup=*/made.service -> lc
Rule = comm=gsload uid=0 -> lc
[Kubernetes]
PodLogs = $at/pods
ContainerLogs = $at/containers
Fractions = $at/fractions
Claims = $at/claims
EndedPods = 1s"
fixed="--iterations-per-us 27.777 --seconds 100 --warmup 0"
web=6f7d3c5e-0a1b-4c2d-8e9f-0123456789ab
bank=7a7d3c5e-0a1b-4c2d-8e9f-0123456789ab
train=8b7d3c5e-0a1b-4c2d-8e9f-0123456789ab
id_of() {
	printf '%064d' "$1"
}
cgroup_of() { # UID N
	echo "/$name.$$/kubepods/pod$1/$(id_of "$2")"
}
pod_load() { # CGROUP UID ARGUMENTS...: gsload in it as that user; $LOAD_PID
	mkdir -p "$tree$1"
	bash -c 'echo $$ >"$1" && exec setpriv --reuid "$2" --regid "$2" --clear-groups "${@:3}"' - \
		"$tree$1/cgroup.procs" "$2" "$gsload" "${@:3}" $fixed >"$scratch/load.$2" 2>&1 &
	LOAD_PID=$!
	at_end+=("$LOAD_PID")
	wait_tsgs "pid:$LOAD_PID" 1
}
wide() { # PID FILTER
	"$gpusched" list "pid:$1" --wide --json | jq -rs "flatten | .[] | select(.kind == \"compute\") | $2"
}
metrics() { # UID
	as "$1" curl -sf --max-time 5 --unix-socket "$GPUSCHED_SIM/run/api" http://gpusched/metrics
}
value() { # UID LABEL=VALUE...: the sum of GPU seconds of the series with these labels
	local uid=$1 lines label
	shift
	lines=$(metrics "$uid" | grep '^gpusched_gpu_seconds_total{')
	for label in "$@"; do
		lines=$(grep -F "${label%%=*}=\"${label#*=}\"" <<<"$lines")
	done
	awk 'NF { sum += $NF; n++ } END { print n ? sum : "none" }' <<<"$(grep . <<<"$lines")"
}
not_believed() {
	"$gpusched" stats --json | jq .service.pod_entries_left
}

# ---- the kubelet's folders -------------------------------------------------------------------------
mkdir -p "$at/pods/web_server-0_$web/app"
ln -s "$at/pods/web_server-0_$web/app/0.log" "$at/containers/server-0_web_app-$(id_of 1).log"
mkdir "$at/pods/no pod at all"
start_daemon
is "$(not_believed)" 1 "a folder that names no pod is counted"
pod_load "$(cgroup_of $web 1)" 4711 lc
server=$LOAD_PID
is "$(wide $server '[.namespace, .pod, .container, .pod_uid] | join(" ")')" "web server-0 app $web" \
	"a pod has its names from its first TSG on"
is "$(wide $server '.class + " " + .class_source')" "lc rule" "a rule gives a class by namespace and container"
like "$("$gpusched" class explain pid:$server)" "rule 2" "a pod's name, which its user may choose, gives no higher class by itself"
is "$("$gpusched" list pod:web/server-0 --json | jq -s 'flatten | map(.pid) | unique | .[0]')" $server "a target by pod finds its process"
is "$("$gpusched" list namespace:web --json | jq -s 'flatten | length > 0')" true "a target by namespace finds TSGs"
exits 1 "a target by another namespace finds nothing" "$gpusched" list namespace:we
exits 2 "a target by pod needs NAMESPACE/NAME" "$gpusched" list pod:server-0
like "$("$gpusched" list --wide)" "NAMESPACE.*POD.*CONTAINER" "list --wide has columns for namespace, pod and container"
is "$(as 4712 "$gpusched" list --wide --json | jq -s 'flatten | map(.pod // empty) | length')" 0 \
	"another user sees no names of pods"

# ---- in a pod --------------------------------------------------------------------------------------
doctor() { # NAME
	"${@:2}" "$gpusched" doctor --kubernetes --json | jq -r --arg name "$1" '.checks[] | select(.name == $name) | .ok'
}
is "$(doctor pods)" true "doctor --kubernetes finds the kubelet's folders"
is "$(doctor hostpid unshare --pid --fork)" false "doctor --kubernetes notices another pid namespace"
is "$(doctor cgroups unshare --cgroup)" false "doctor --kubernetes notices another cgroup namespace"
exits 3 "doctor --kubernetes exits with 3 in another cgroup namespace" unshare --cgroup "$gpusched" doctor --kubernetes
is "$("$gpusched" doctor --json | jq '[.checks[].name] | index("hostpid")')" null "doctor without the option has no check for pods"

bundles() { # NAME
	"${@:2}" "$gpusched" doctor --json | jq -r --arg name "$1" '.checks[] | select(.name == $name) | "\(.ok) \(.detail)"'
}
printf '[Kubernetes]\nBundles=%s\n' "$at/claims" >"$scratch/bundles.conf"
like "$(bundles bundles env GPUSCHED_CONFIG="$scratch/bundles.conf")" "^true bundles of containers in $at/claims: empty$" \
	"doctor says that a container runtime's folder is empty"
like "$(bundles k3s env GPUSCHED_CONFIG="$scratch/bundles.conf")" "^true not looked at, since Bundles= names another folder$" \
	"doctor says which folders are not looked at"
# in_run COMMAND...: with another /run, and without a configuration
in_run() {
	GPUSCHED_CONFIG=/dev/null unshare --mount bash -c '
		task=containerd/io.containerd.runtime.v2.task/k8s.io
		mount -t tmpfs -o mode=755 run /run && mkdir -p /run/{k3s,k0s,}/$task /run/k3s/$task/{one,two,none} &&
			touch /run/k3s/$task/{one,two}/config.json && chmod 777 /run/k0s/$task && exec "$@"' in_run "$@"
}
like "$(bundles k3s in_run)" "^true .*/run/k3s/.*: found 2$" "doctor counts the containers of k3s"
like "$(bundles bundles in_run)" "^true .*: empty$" "... says that containerd has none"
like "$(bundles microk8s in_run)" "^true .*: missing$" "... that MicroK8s has no folder"
like "$(bundles k0s in_run)" "^false .*: not read, since others than root can write it$" "... and that a folder cannot be trusted"

# ---- files that come later, and malformed files -------------------------------------
pod_load "$(cgroup_of $bank 2)" 4714 be
clerk=$LOAD_PID
is "$(wide $clerk '[.namespace, .pod, .pod_uid] | map(. // "-") | join(" ")')" "- - $bank" "a pod may have no names yet"
before=$(not_believed)
fraction='{"schemaVersion":1,"pod":"clerk-1","namespace":"bank","podUID":"'$bank'","gpuDevices":[{"index":0}]}'
printf '%s' "${fraction:0:60}" >"$at/fractions/$(id_of 2).json"
check "a truncated file is counted" wait_for 5 eval '[ "$(not_believed)" -gt '"$before"' ]'
is "$(wide $clerk '.pod // "-"')" "-" "a truncated file names no pod"
printf '%s' "$fraction" >"$at/fractions/$(id_of 2).json"
check "the whole file names the pod" wait_for 5 eval '[ "$(wide $clerk .pod)" = clerk-1 ]'
check "the pod gets the class of its namespace" wait_for 5 eval '[ "$(wide $clerk .class)" = be ]'
head -c 300000 /dev/zero >"$at/fractions/huge.json"
mkfifo "$at/fractions/fifo.json"
mkdir "$at/pods/web_other_$bank"
check "a huge file, a FIFO and a second name for a pod are not believed" \
	wait_for 5 eval '[ "$(not_believed)" -ge '$((before + 3))' ] && [ "$(wide $clerk .pod)" = clerk-1 ]'
cat >"$at/claims/new" <<-END
	{"checksum":1,"v2":{"checksum":2,"preparedClaims":{"c":{"checkpointState":"PrepareCompleted","namespace":"ml",
	"status":{"allocation":{"devices":{"config":[{"opaque":{"driver":"gpu.nvidia.com","parameters":{"sharing":{
	"strategy":"TimeSlicing","timeSlicingConfig":{"interval":"Long"}}}}}]}},"reservedFor":[{"resource":"pods","name":"train-7","uid":"$train"}]}}}}}
END
mv "$at/claims/new" "$at/claims/checkpoint.json"
pod_load "$(cgroup_of $train 3)" 4715 be
trainer=$LOAD_PID
is "$(wide $trainer '[.namespace, .pod, .sharing] | join(" ")')" "ml train-7 TimeSlicing Long" \
	"the DRA driver's checkpoint names a pod and its claim's sharing"

# ---- a user's own cgroup ---------------------------------------------------------------------------
fake=/$name.$$/mine/kubepods/pod$web/$(id_of 1)
mkdir -p "$tree$fake"
chown -R 4716 "$tree/$name.$$/mine"
pod_load "$fake" 4716 be
is "$(wide $LOAD_PID '[.pod, .class] | map(. // "-") | join(" ")')" "- -" "a cgroup that a user has made is no pod"
end_load $LOAD_PID

# ---- figures ---------------------------------------------------------------------------------------
check "metrics have GPU time by pod" wait_for 20 eval \
	'[ "$(value 0 namespace=web pod=server-0 container=app pod_uid=$web | cut -c1)" != n ] &&
	awk -v v="$(value 4713 namespace=bank pod=clerk-1)" "BEGIN { exit !(v > 0.05) }"'
is "$(value 4712 namespace=web)" none "another user sees no pod in the metrics"
rows() { # FILTER ARGUMENTS...
	"$gpusched" history --since 1h "${@:2}" --json | jq -rcs "flatten | $1"
}
check "the history has the pods" wait_for 10 eval \
	'[ "$(rows "map(.pod // empty) | sort | join(\" \")" --by pod)" = "clerk-1 server-0 train-7" ]'
is "$(rows 'map(.namespace // empty) | sort' --by namespace)" '["bank","ml","web"]' "the history has sums by namespace"
is "$(rows 'map(.pid)' pod:web/server-0)" "[$server]" "the history of a pod has its process"
is "$(rows 'length' namespace:nowhere)" 0 "the history of another namespace is empty"
end_load $server
rm -r "$at/pods/web_server-0_$web" "$at/containers/"*
total=$(value 4712 class=lc)
rmdir "$tree$(cgroup_of $web 1)" "$tree/$name.$$/kubepods/pod$web"
check "the series of a pod that has ended disappear" wait_for 10 eval '[ "$(value 0 namespace=web)" = none ]'
ge "$(value 4712 class=lc)" "$total" "the sum by class does not go back"
is "$(value 0 class=lc cgroup=/)" none "its time appears in no series by cgroup"
ge "$("$gpusched" stats --by class --json | jq -s 'flatten | map(select(.class == "lc"))[0].gpu_time_ms')" 1 \
	"stats --by class still has its time"
is "$(rows '.[0].pod' pod:web/server-0)" server-0 "the history keeps the pod's name"
mv "$at/pods" "$at/gone"
before=$(not_believed)
mkdir -m 777 "$at/pods"
mkdir "$at/pods/web_evil_$train"
new=9c7d3c5e-0a1b-4c2d-8e9f-0123456789ab
mkdir "$at/pods/ml_new_$new"
pod_load "$(cgroup_of $new 5)" 4717 be
sleep 1.1
is "$(wide $LOAD_PID '.pod // "-"')" "-" "a folder that others may write names no pod"
ge "$(not_believed)" $((before + 1)) "an untrusted folder is counted"
chmod 755 "$at/pods"
check "a folder that can be trusted again names its pod" wait_for 5 eval '[ "$(wide $LOAD_PID .pod)" = new ]'

# ---- root in a container ---------------------------------------------------------------------------
shop=ad7d3c5e-0a1b-4c2d-8e9f-0123456789ab
market=bd7d3c5e-0a1b-4c2d-8e9f-0123456789ab
mkdir "$at/pods/shop_server-1_$shop" "$at/pods/web_market-0_$market"
ln -s "$at/pods/shop_server-1_$shop/app/0.log" "$at/containers/server-1_shop_app-$(id_of 6).log"
ln -s "$at/pods/web_market-0_$market/app/0.log" "$at/containers/market-0_web_app-$(id_of 7).log"
class_of() { # PID
	wide "$1" '.class // "-"'
}
pod_load "$(cgroup_of $shop 6)" 0 lc
is "$(class_of $LOAD_PID)" - "root of a container has no class by the pod's name, the program's name and uid 0"
"$gpusched" class explain pid:$LOAD_PID | tr -s ' \n' ' ' >"$scratch/explained"
like "$(cat "$scratch/explained")" "rule 'pod=server-\* container=app -> lc' passed over: a container's root chose it; use cgroup= or namespace=" \
	"class explain says why the rule does not act"
passed_over() { # its text
	"$gpusched" status --json | jq -r '.findings[] | select(.finding == "passed-over") | .text'
}
like "$(passed_over)" "^1 program has no class, since a rule is passed over: a container's root chose it" "status says so"
end_load $LOAD_PID
check "the note ends with the program" wait_for 10 eval '[ -z "$(passed_over)" ]'
pod_load "$(cgroup_of $shop 6)" 4718 lc
is "$(class_of $LOAD_PID)" - "another user of that container has no class by them either"
like "$("$gpusched" class explain pid:$LOAD_PID | tr -s ' \n' ' ')" "passed over: what its owner chooses cannot raise it" \
	"class explain tells another user's reason"
end_load $LOAD_PID
for uid in 0 4718; do
	pod_load "$(cgroup_of $market 7)" $uid lc
	is "$(class_of $LOAD_PID)" lc "a rule with the pod's namespace acts for uid $uid in the container"
	end_load $LOAD_PID
done
pod_load "/$name.$$/service" 0 lc
is "$(class_of $LOAD_PID)" lc "root of the machine has its class by the program's name and uid 0"
end_load $LOAD_PID
for group in "$(cgroup_of $shop 6)/made.service" "/$name.$$/m.scope/made.service"; do
	in=()
	[ "${group%/m.scope/*}" = "$group" ] || in=(unshare --pid --fork)
	mkdir -p "$tree$group"
	python3 -c 'import os, sys; os.setxattr(sys.argv[1], "user.gpusched.class", b"lc"); os.setxattr(sys.argv[1], "user.gpusched.weight", b"900")
os.setxattr(sys.argv[1], "user.gpusched.request", b"30")' "$tree$group"
	"${in[@]}" bash -c 'echo 0 >"$1" && exec "${@:2}"' - "$tree$group/cgroup.procs" "$gsload" lc $fixed >"$scratch/load.made" 2>&1 &
	at_end+=("$!")
	wait_for 10 eval 'LOAD_PID=$(tail -n 1 "$tree$group/cgroup.procs")
		[ "$LOAD_PID" ] && [ "$(cat "/proc/$LOAD_PID/comm")" = gsload ]' || not_ok "a program starts in $group"
	at_end+=("$LOAD_PID")
	wait_tsgs "pid:$LOAD_PID" 1
	is "$(wide $LOAD_PID '"\(.class // "-") \(.weight < 900)"')" "- true" \
		"a folder that root of a container made there gives no class, by its name and its attributes"
	"$gpusched" class explain pid:$LOAD_PID | tr -s ' \n' ' ' >"$scratch/explained"
	like "$(cat "$scratch/explained")" "user.gpusched.request of cgroup /[^ ]* passed over: only root gives requests" \
		"... and no request"
	end_load $LOAD_PID
done
pod_load "/$name.$$/made.service" 0 lc
is "$(class_of $LOAD_PID)" lc "a folder that root of the machine made gives one by its name"
end_load $LOAD_PID
mkdir -p "$tree$(cgroup_of $shop 8)"
echo "$DAEMON_PID" >"$tree$(cgroup_of $shop 8)/cgroup.procs"
pod_load "/$name.$$/service" 0 lc
is "$(class_of $LOAD_PID)" lc "a daemon in a pod trusts root of the machine"
end_load $LOAD_PID
pod_load "$(cgroup_of $shop 6)" 0 lc
is "$(class_of $LOAD_PID)" - "a daemon in a pod does not trust root in another container of that pod"
end_load $LOAD_PID
echo "$DAEMON_PID" >"$tree$(sed -n 's/^0:://p' /proc/$$/cgroup)/cgroup.procs"
pid_in() { # PID: the only child of that unshare
	cat "/proc/$1/task/$1/children"
}
for kind in pid user; do
	options=(--pid --fork)
	[ $kind = user ] && options=(--user --map-root-user --fork)
	unshare "${options[@]}" "$gsload" lc $fixed >"$scratch/load.$kind" 2>&1 &
	outer=$!
	at_end+=("$outer")
	check "a program starts in another $kind namespace" wait_for 5 eval '[ "$(pid_in $outer)" ]'
	inner=$(pid_in $outer | tr -d ' ')
	at_end+=("$inner")
	wait_tsgs "pid:$inner" 1
	is "$(class_of "$inner")" - "root of another $kind namespace has no class by its program's name"
	end_load "$inner"
done
done_testing
