#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 300
# needs: root bpf fuse cgroup2
# Checks classes by annotation for pods of a real containerd 1.7 (Debian 13's, unpacked), which starts the
# containers by runc, on the simulated GPU. curl and protoc make the CRI calls. MIRROR: the mirror of Debian's
# packages.
. "$(dirname "$0")/../e2e/lib.sh"
tree=/sys/fs/cgroup
if [ -z "${GPUSCHED_SIM:-}" ] && [ -z "${ALONE:-}" ]; then
	rmdir "$scratch"
	ALONE=yes exec unshare --mount --pid --fork --mount-proc --propagation private bash "$self"
fi
if [ -z "${GPUSCHED_SIM:-}" ]; then
	mount -t cgroup2 none $tree || exit 1
fi
enter_sim --dilate 2
mirror=${MIRROR:-http://deb.debian.org/debian}
web=6f7d3c5e-0a1b-4c2d-8e9f-0123456789ab
bank=7a7d3c5e-0a1b-4c2d-8e9f-0123456789ab
for tool in runc protoc curl jq; do
	command -v $tool >/dev/null || { skip "containerd" "no $tool"; done_testing; }
done

# ---- containerd ------------------------------------------------------------------------------------
fetch() { # downloads the package that the mirror's list names, and checks its checksum
	local file sum
	curl -fsS --max-time 120 "$mirror/dists/trixie/main/binary-amd64/Packages.xz" | xz -d |
		awk 'BEGIN { RS = ""; FS = "\n" } $1 == "Package: containerd"' >"$scratch/about"
	file=$(sed -n 's/^Filename: //p' "$scratch/about")
	sum=$(sed -n 's/^SHA256: //p' "$scratch/about")
	curl -fsS --max-time 120 -o "$scratch/containerd.deb" "$mirror/$file" &&
		echo "$sum  $scratch/containerd.deb" | sha256sum -c --quiet && dpkg -x "$scratch/containerd.deb" "$scratch/containerd"
}
exits 0 "containerd of Debian 13 is unpacked" fetch || done_testing
PATH=$scratch/containerd/usr/bin:$PATH
diag "$(containerd --version), $(runc --version | head -1)"
# If the machine's controllers are in cgroup v1, cgroup2 has none for limits: a wrapper of runc drops the limits.
cat >"$scratch/runc" <<'END'
#!/bin/bash
before=
for word in "$@"; do
	[ "$before" != --bundle ] || { jq 'del(.linux.resources)' "$word/config.json" >"$word/new" && mv "$word/new" "$word/config.json"; }
	before=$word
done
exec runc "$@"
END
chmod 755 "$scratch/runc"
cat >"$scratch/containerd.toml" <<END
version = 2
root = "$scratch/root"
state = "$scratch/state"
[grpc]
  address = "$scratch/cri.sock"
[ttrpc]
  address = "$scratch/ttrpc.sock"
[plugins."io.containerd.nri.v1.nri"]
  disable = false
  socket_path = "$scratch/nri.sock"
  plugin_path = "$scratch/none"
  plugin_config_path = "$scratch/none"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "localhost/pause:1"
  disable_apparmor = true
  restrict_oom_score_adj = true
  [plugins."io.containerd.grpc.v1.cri".containerd]
    snapshotter = "native"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
      runtime_type = "io.containerd.runc.v2"
      [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
        BinaryName = "$scratch/runc"
END
# Makes an image from scratch, with one program that waits.
pause_image() {
	mkdir -p "$scratch/image/layer"
	echo 'int pause(void); int main(void) { for (;;) pause(); }' >"$scratch/image/pause.c"
	(cd "$scratch/image" && gcc -static -o layer/pause pause.c && tar -C layer -cf layer.tar . &&
		printf '{"architecture":"amd64","os":"linux","config":{"Entrypoint":["/pause"]},"rootfs":{"type":"layers","diff_ids":["sha256:%s"]}}' \
			"$(sha256sum layer.tar | cut -d' ' -f1)" >config.json &&
		echo '[{"Config":"config.json","RepoTags":["localhost/pause:1"],"Layers":["layer.tar"]}]' >manifest.json &&
		tar -cf "$scratch/pause.tar" manifest.json config.json layer.tar)
}
start_containerd() {
	containerd -c "$scratch/containerd.toml" >>"$scratch/containerd.log" 2>&1 &
	CONTAINERD=$!
	at_end+=("$CONTAINERD")
}
containerd_answers() {
	wait_for 30 ctr -a "$scratch/cri.sock" version
}
start_plugin() {
	"$build/gpusched-nri" --runtime "$scratch/nri.sock" 2>>"$scratch/nri.log" &
	PLUGIN=$!
	at_end+=("$PLUGIN")
}
cri() { # METHOD TYPE TEXT: makes a CRI call; prints the id in its answer
	printf '%s' "$3" | protoc --encode="$2" -I "$top/tests/release" containerd.proto >"$scratch/message" || return 1
	{
		printf '\0%b' "$(printf '%08x' "$(stat -c %s "$scratch/message")" | sed 's/../\\x&/g')"
		cat "$scratch/message"
	} >"$scratch/request"
	curl -s --max-time 30 --http2-prior-knowledge --unix-socket "$scratch/cri.sock" -D "$scratch/head" -o "$scratch/answer" \
		-H 'content-type: application/grpc' -H 'te: trailers' --data-binary "@$scratch/request" \
		"http://localhost/runtime.v1.RuntimeService/$1"
	grep -q "^grpc-status: 0" "$scratch/head" || {
		grep -i "^grpc-message" "$scratch/head" >&2
		return 1
	}
	tail -c +6 "$scratch/answer" | protoc --decode=Id -I "$top/tests/release" containerd.proto 2>/dev/null | sed -n 's/^id: "\(.*\)"/\1/p'
}
pod_text() { # UID NAMESPACE NAME CLASS
	echo "metadata { name: \"$3\" uid: \"$1\" namespace: \"$2\" } annotations { key: \"gpusched.io/class\" value: \"$4\" }
		log_directory: \"$scratch/logs/$2_$3_$1\"
		linux { cgroup_parent: \"/kubepods/pod$1\" security { namespaces { network: 2 } } }"
}
run_pod() { # UID NAMESPACE NAME CLASS: starts a pod; prints its id
	cri RunPodSandbox RunPod "config { $(pod_text "$@") }"
}
# Starts gsload in a container that sees this machine's programs and the simulated GPU; prints the container's id.
run_load() { # POD UID NAMESPACE NAME CLASS ARGUMENTS...
	local pod=$1 text=$(pod_text "${@:2:4}") path words='' mounts='' id
	for path in "$gsload" "${@:6}" --iterations-per-us 27.777 --seconds 200 --warmup 0; do
		words+=" command: \"$path\""
	done
	for path in /usr /bin /lib /lib64 "$build" "$GPUSCHED_SIM" /dev/nvidia*; do
		mounts+=" mounts { container_path: \"$path\" host_path: \"$path\" }"
	done
	for path in GPUSCHED_SIM GPUSCHED_DILATE LD_LIBRARY_PATH CUDA_DEVICE_SM_LIMIT; do
		words+=" envs { key: \"$path\" value: \"${!path}\" }"
	done
	id=$(cri CreateContainer Create "pod: \"$pod\" pod_config { $text } config { metadata { name: \"app\" } log_path: \"app.log\"
		image { image: \"localhost/pause:1\" } $words $mounts }") &&
		cri StartContainer Id "id: \"$id\"" && echo "$id"
}
# Also ends the shims, which outlive containerd.
end_pods() {
	kill -9 "${CONTAINERD:-}" 2>/dev/null
	echo 1 >"$tree/kubepods/cgroup.kill" 2>/dev/null
	pkill -9 -f "containerd-shim-runc-v2.*$scratch" 2>/dev/null
	wait_for 5 eval '! pgrep -f "containerd-shim-runc-v2.*$scratch"'
	find "$tree/kubepods" -depth -type d -exec rmdir {} + 2>/dev/null
	awk -v at="$scratch/" 'index($2, at) == 1 { print $2 }' /proc/mounts | tac | xargs -r umount -l 2>/dev/null
	finish
}
trap '[ "$BASHPID" != $$ ] || end_pods' EXIT

of() { # TARGET FILTER
	"$gpusched" list "$1" --wide --json | jq -rs "flatten | map(select(.kind == \"compute\")) | .[0] | $2"
}
pods() {
	curl -sf --max-time 5 --unix-socket "$GPUSCHED_SIM/run/api" -d '{}' http://gpusched/v1/pod_list | jq -rc "$1"
}

config "[Kubernetes]
PodCeiling = web lc
PodLogs = $scratch/logs
ContainerLogs =
Bundles = $scratch/state/io.containerd.runtime.v2.task/k8s.io"
export CUDA_DEVICE_SM_LIMIT=40 # a variable that HAMi sets in containers
mkdir -p "$scratch/logs/web_server-0_$web" "$scratch/logs/bank_train-0_$bank"
exits 0 "an image is made from nothing" pause_image || done_testing
start_daemon
start_plugin
start_containerd
check "containerd starts" containerd_answers || { diag "$(tail -5 "$scratch/containerd.log")"; done_testing; }
exits 0 "it takes the image" ctr -a "$scratch/cri.sock" -n k8s.io images import --snapshotter native "$scratch/pause.tar" || done_testing
check "the plugin is connected" wait_for 10 grep -q "connected to the runtime" "$scratch/nri.log"

# ---- two pods --------------------------------------------------------------------------------------
server=$(run_pod $web web server-0 lc) || diag "$(tail -3 "$scratch/containerd.log")"
like "$server" "^[0-9a-f]{64}$" "a pod starts" || done_testing
is "$(pods '.pods | map([.namespace, .pod, .class])')" '[["web","server-0","lc"]]' "before a container of it is made, the daemon knows its class"
train=$(run_pod $bank bank train-0 lc)
"$gpusched" monitor --json >"$scratch/events" 2>/dev/null &
at_end+=($!)
check "events are watched" wait_for 5 watchers 1
like "$(run_load "$server" $web web server-0 lc lc)" "^[0-9a-f]{64}$" "a container starts that serves"
like "$(run_load "$train" $bank bank train-0 lc be)" "^[0-9a-f]{64}$" "a container starts that trains" || done_testing
check "both are on the GPU" wait_for 20 eval '[ "$(of pod:web/server-0 .pid)" != null ] && [ "$(of pod:bank/train-0 .pid)" != null ]' || {
	diag "$(cat "$scratch"/logs/*/app.log)"
	done_testing
}
is "$(of pod:web/server-0 '.class')" lc "the ceiling of its namespace allows class lc"
is "$(of pod:bank/train-0 '.class')" be "the other pod asked for lc, too, and is be"
like "$("$gpusched" class explain "pid:$(of pod:bank/train-0 .pid)")" "40 %: limit in the environment of container app of pod bank/train-0" \
	"HAMi's word is read from the container's bundle"
is "$(jq -sc --argjson pid "$(of pod:web/server-0 .pid)" 'map(select(.pid == $pid and .kind == "compute") | .event) |
	[index("schedule") != null, (.[index("schedule") // 0:] | index("class"))]' "$scratch/events")" "[true,null]" \
	"its class did not change once its first TSG was scheduled"
check "names are in the metrics" wait_for 5 eval 'curl -sf --unix-socket "$GPUSCHED_SIM/run/api" http://gpusched/metrics |
	grep "^gpusched_gpu_seconds_total{" | grep -F namespace=\"web\" | grep -qF pod=\"server-0\"'

cri StopPodSandbox Id "id: \"$train\"" >/dev/null
cri RemovePodSandbox Id "id: \"$train\"" >/dev/null
check "a pod that is removed is forgotten" wait_for 10 eval '[ "$(pods ".pods | map(.pod)")" = "[\"server-0\"]" ]'
like "$(run_pod ${bank/7/8} bank clerk-0 be)" "^[0-9a-f]{64}$" "another one starts"

# ---- containerd, plugin or daemon are killed --------------------------------------------------------
kill -9 "$CONTAINERD"
wait "$CONTAINERD" 2>/dev/null
check "the plugin misses it" wait_for 5 grep -q "calls, of which" "$scratch/nri.log"
is "$(sed -n 's/.* \([0-9]*\) were not understood/\1/p' "$scratch/nri.log")" 0 "each call of containerd was understood"
kill -9 "$PLUGIN"
wait "$PLUGIN" 2>/dev/null
is "$(of pod:web/server-0 .class)" lc "plugin and containerd are killed: nothing changes"
start_containerd
check "containerd starts again" containerd_answers
start_plugin
check "the plugin is connected again" wait_for 10 eval '[ "$(grep -c "connected to the runtime" "$scratch/nri.log")" = 2 ]'
sleep 1
is "$(pods '.pods | map(.pod) | sort')" '["clerk-0","server-0"]' "nothing is lost"
is "$(of pod:web/server-0 .class)" lc "the class is in force"
done_testing
