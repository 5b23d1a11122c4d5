#!/bin/bash
# SPDX-License-Identifier: MIT
# Settings that DRA, KAI, Run:ai and HAMi leave in files and annotations give a pod its class,
# weight, limit, request and slice, within the ceiling of its namespace. Hostile files are counted.
# timeout: 120
# needs: root bpf fuse cgroup2
. "$(dirname "$0")/lib.sh"
enter_cgroups
enter_sim --dilate 2
chmod 711 "$scratch"
at=$scratch/node
mkdir -p "$at"/{bundles,claims,pods}
config "[Kubernetes]
PodCeiling = web lc request=20
PodLogs = $at/pods
ContainerLogs =
Fractions =
Claims = $at/claims
Bundles = $at/bundles"
web=6f7d3c5e-0a1b-4c2d-8e9f-0123456789ab
bank=7a7d3c5e-0a1b-4c2d-8e9f-0123456789ab
train=8b7d3c5e-0a1b-4c2d-8e9f-0123456789ab
kai=9c7d3c5e-0a1b-4c2d-8e9f-0123456789ab
id_of() {
	printf '%064d' "$1"
}
bundle() { # N UID NAMESPACE POD VARIABLE=VALUE...: the bundle that containerd writes before a start
	local dir
	dir=$at/bundles/$(id_of "$1")
	mkdir -p "$dir"
	jq -n --arg uid "$2" --arg ns "$3" --arg pod "$4" '{process: {env: (["PATH=/bin"] + $ARGS.positional)}, annotations: {
		"io.kubernetes.cri.sandbox-uid": $uid, "io.kubernetes.cri.sandbox-namespace": $ns,
		"io.kubernetes.cri.sandbox-name": $pod, "io.kubernetes.cri.container-name": "app"}}' --args "${@:5}" >"$dir/config.json"
}
pod_load() { # UID N USER ARGUMENTS...: gsload in that container; $LOAD_PID
	local group
	group=$tree/$name.$$/kubepods/pod$1/$(id_of "$2")
	mkdir -p "$group"
	bash -c 'echo $$ >"$1/cgroup.procs" && exec setpriv --reuid "$2" --regid "$2" --clear-groups "${@:3}"' - \
		"$group" "$3" "$gsload" "${@:4}" --iterations-per-us 27.777 --seconds 100 --warmup 0 >"$scratch/load.$3" 2>&1 &
	LOAD_PID=$!
	at_end+=("$LOAD_PID")
	wait_tsgs "pid:$LOAD_PID" 1
}
of() { # PID FILTER
	"$gpusched" list "pid:$1" --wide --json | jq -rs "flatten | .[] | select(.kind == \"compute\") | $2"
}
slice() { # PID
	of "$1" .is.timeslice_us
}
not_believed() {
	"$gpusched" stats --json | jq .service.pod_entries_left
}
claim() { # SOURCE INTERVAL: writes the DRA driver's checkpoint with the training pod's claim
	cat >"$at/claims/new" <<-JSON
		{"checksum":1,"v1":{},"v2":{"checksum":2,"preparedClaims":{"c":{"checkpointState":"PrepareCompleted","namespace":"ml",
		"status":{"allocation":{"devices":{"config":[{"source":"$1","opaque":{"driver":"gpu.nvidia.com","parameters":{"sharing":{
		"strategy":"TimeSlicing","timeSlicingConfig":{"interval":"$2"}}}}}]}},
		"reservedFor":[{"resource":"pods","name":"train-7","uid":"$train"}]}}}}}
	JSON
	mv "$at/claims/new" "$at/claims/checkpoint.json"
}
classified_as() { # CLASS: sets it for the training pod; waits until the engine would have acted
	"$gpusched" class set pid:$trainer "$1" >/dev/null
	check "the training pod is of class $1" wait_for 10 eval '[ "$(of $trainer .class)" = '"$1"' ]'
	sleep 1
}
start_daemon

# ---- DRA: the slice --------------------------------------------------------------------------------
claim FromClaim Short
pod_load $train 3 4715 be
trainer=$LOAD_PID
is "$(of $trainer '[.pod, .sharing] | join(" ")')" "train-7 TimeSlicing Short" "the checkpoint names the pod and its claim's sharing"
check "Short is a slice of 1 ms" wait_for 10 eval '[ "$(slice $trainer)" = 1000 ]'
is "$(of $trainer '.asked.timeslice_us')" 2048 "the record keeps the slice that CUDA asked for"
claim FromClaim Medium
check "another interval is in force at once" wait_for 10 eval '[ "$(slice $trainer)" = 2000 ]'
is "$(of $trainer .sharing)" "TimeSlicing Medium" "sharing follows the changed checkpoint"
claim FromClaim Long
check "a pod's own claim gets no slice that is longer than CUDA's" wait_for 10 eval '[ "$(slice $trainer)" = 2048 ]'
like "$("$gpusched" class explain pid:$trainer)" "timeslice 8000 us is over its ceiling" "class explain says that the slice is over its ceiling"
claim FromClass Long
check "a device class of the administrator may give a longer slice" wait_for 10 eval '[ "$(slice $trainer)" = 8000 ]'
before=$(not_believed)
claim FromClaim Forever
check "an unknown interval is counted" wait_for 5 eval '[ "$(not_believed)" -gt '"$before"' ]'
check "an unknown interval gives no slice" wait_for 10 eval '[ "$(slice $trainer)" = 2048 ]'
claim FromClaim Short
check "a known interval gives a slice again" wait_for 10 eval '[ "$(slice $trainer)" = 1000 ]'
exits 0 "a policy starts" "$gpusched" policy start lcbe
"$gpusched" class set pid:$trainer be >/dev/null
check "the policy's slice comes before the claim's" wait_for 10 eval '[ "$(slice $trainer)" -lt 1000 ]'
exits 0 "the policy stops" "$gpusched" policy stop
check "without the policy the claim's slice is in force again" wait_for 10 eval '[ "$(slice $trainer)" = 1000 ]'
sed -i 's/^PodCeiling.*/&\nPodCeiling = ml be timeslice=8ms/' "$GPUSCHED_CONFIG"
claim FromClaim Long
kill -HUP "$DAEMON_PID"
check "a ceiling may allow a pod's claim a longer slice" wait_for 10 eval '[ "$(slice $trainer)" = 8000 ]'
exits 0 "a person restores everything" "$gpusched" restore
classified_as normal
is "$(slice $trainer)" 2048 "after a restore no slice of a claim is set"
kill -HUP "$DAEMON_PID"
check "a reload sets the claim's slice again" wait_for 10 eval '[ "$(slice $trainer)" = 8000 ]'
kill_daemon
start_daemon
check "the next daemon sets the claim's slice, too" wait_for 10 eval '[ "$(slice $trainer)" = 8000 ]'
kill_daemon
start_daemon
classified_as be
is "$(slice $trainer)" 2048 "after two crashes no slice of a claim is set"

# ---- HAMi and Run:ai: the container's environment --------------------------------------------------
exits 0 "a policy that keeps limits and requests starts" "$gpusched" policy start fair
bundle 1 $web web server-0 CUDA_DEVICE_SM_LIMIT=80 CUDA_TASK_PRIORITY=0 RUNAI_GPU_COMPUTE_REQUEST=0.2
bundle 2 $bank bank clerk-1 CUDA_DEVICE_SM_LIMIT=40 CUDA_TASK_PRIORITY=0 RUNAI_GPU_COMPUTE_REQUEST=0.2
pod_load $web 1 4711 lc
server=$LOAD_PID
is "$(of $server '.class + " " + .class_source')" "lc rule" "priority 0 gives class lc if a ceiling allows it"
is "$(of $server '[.namespace, .pod, .container] | join(" ")')" "web server-0 app" "the bundle names the pod, too"
check "the core limit is its limit, and the compute request is its request" \
	wait_for 5 eval '[ "$(of $server "[.limit_pct, .request_pct] | join(\" \")")" = "80 20" ]'
like "$("$gpusched" class explain pid:$server)" "asks for it in its environment" "class explain says why"
like "$("$gpusched" class explain pid:$server)" "limit in the environment of container app of pod web/server-0" "class explain says where the limit comes from"
pod_load $bank 2 4712 be
clerk=$LOAD_PID
is "$(of $clerk .class)" be "without a ceiling the pod is of class be"
check "without a ceiling its limit is in force, and its request is not" \
	wait_for 5 eval '[ "$(of $clerk "[.limit_pct, .request_pct // 0] | join(\" \")")" = "40 0" ]'
like "$("$gpusched" class explain pid:$clerk)" "class lc is over its ceiling" "class explain says what was left out"

# ---- hostile files ---------------------------------------------------------------------------------
before=$(not_believed)
bundle 5 $bank bank clerk-5 CUDA_DEVICE_SM_LIMIT=4000 CUDA_TASK_PRIORITY=0
bundle 6 $web web server-6 CUDA_TASK_PRIORITY=0
bundle 7 $bank bank clerk-7 CUDA_TASK_PRIORITY=0
head -c 150 "$at/bundles/$(id_of 6)/config.json" >"$at/cut" && mv "$at/cut" "$at/bundles/$(id_of 6)/config.json"
truncate -s 3M "$at/bundles/$(id_of 7)/config.json"
reasons=([5]="a name or value in it" [6]="it is incomplete" [7]="it is too large")
for n in 5 6 7; do
	uid=${bank/7a7d/7a7$n}
	[ $n = 5 ] && uid=$bank
	pod_load "$uid" $n 472$n be
	is "$(of $LOAD_PID '[.limit_pct // 0, .class == "lc"] | map(tostring) | join(" ")')" "0 false" "hostile file $n gives nothing"
	like "$("$gpusched" class explain pid:$LOAD_PID | tr -s ' \n' ' ')" "$at/bundles/$(id_of $n) is not read: ${reasons[n]}" \
		"class explain says that file $n is not read, and why"
	is "$(grep -c "bundles/$(id_of $n) is not read: ${reasons[n]}" "$scratch/daemon.log")" 1 "the log says so once"
	end_load $LOAD_PID
done
is "$(not_believed)" $((before + 3)) "each of these files is counted once"
like "$("$gpusched" doctor --kubernetes --json | jq -r '.checks[] | select(.name == "pods") | .detail')" \
	"; 3 entries are not read: first $at/bundles/0*[567]: " "doctor --kubernetes says how many are not read, and names one"
mv "$at/bundles/$(id_of 7)" "$at/gone"
bundle 7 $bank bank clerk-7
pod_load ${bank/7a7d/7a77} 7 4727 be
is "$("$gpusched" class explain pid:$LOAD_PID | grep -c "is not read")" 0 "a file that was mended is read"
end_load $LOAD_PID
rm -r "$at/gone" "$at/bundles/$(id_of 7)"
bundle 8 $web web server-0 CUDA_TASK_PRIORITY=0
pod_load $bank 8 4728 be
is "$(of $LOAD_PID "[.pod // \"-\", .class == \"lc\"] | join(\" \")")" "- false" "the bundle of another pod's container gives no class"
end_load $LOAD_PID
rm -r "$at/bundles/$(id_of 1)"
check "the settings of a removed bundle do not count any more" wait_for 10 eval '"$gpusched" set pid:$server weight=100 >/dev/null; kill -HUP $DAEMON_PID
	[ "$(of $server ".limit_pct // 0")" = 0 ]'

# ---- KAI: annotations, by the runtime's plugin -----------------------------------------------------
coproc RUNTIME { exec "$helper" runtime "$scratch/nri.sock"; }
RUNTIME_IN=${RUNTIME[1]} RUNTIME_OUT=${RUNTIME[0]}
at_end+=("$RUNTIME_PID")
"$build/gpusched-nri" --runtime "$scratch/nri.sock" 2>"$scratch/nri.log" &
at_end+=($!)
tell() {
	echo "$*" >&"$RUNTIME_IN"
	read -r -t 30 said <&"$RUNTIME_OUT" || said=nothing
}
pods() {
	curl -sf --max-time 5 --unix-socket "$GPUSCHED_SIM/run/api" -d '{}' http://gpusched/v1/pod_list | jq -rc "$1"
}
tell accept
tell sync
tell run $kai web kai-0 gpu-fraction=0.5 nvidia.com/container.app.gpu-compute.request=0.15
like "$said" "answered" "the plugin answers the start of a KAI pod"
is "$(pods '.pods[0] | [.weight, .request_pct, .left]')" '[50,15,null]' "its fraction is its weight, its compute request is its request"
tell run $bank bank clerk-1 gpu-fraction=0.5 gpusched.io/weight=30 nvidia.com/container.app.gpu-compute.request=0.9
is "$(pods '.pods | map(select(.pod == "clerk-1"))[0] | [.weight, .left]')" '[30,"request 90 is over its ceiling"]' \
	"the pod's own annotation comes before KAI's, within the ceiling"
pod_load $kai 9 4719 be
is "$(of $LOAD_PID '.class + " " + (.weight | tostring)')" "be 50" "its processes have that weight, and class be"
done_testing
