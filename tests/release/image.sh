#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 300
# needs: root bpf fuse
# Checks the container image: its size and contents, and its daemon and exporter, which podman runs beside
# a program of this machine on the simulated GPU.
. "$(dirname "$0")/../e2e/lib.sh"
enter_sim --gpus 1
for tool in buildah podman runc; do
	command -v $tool >/dev/null || { skip "image" "no $tool"; done_testing; }
done

out=$(cd "$top" && tools/image.sh "$build" 2>"$scratch/made") || diag "$(cat "$scratch/made")"
is "$?" 0 "the image is made" || done_testing
archive=${out%%:*}
le "$(sed -E 's/.*: ([0-9]+) MiB.*/\1/' <<<"$out")" 150 "MiB unpacked"

# Podman gets limits that it can set even where it may not raise any.
cat >"$scratch/containers.conf" <<'C'
[containers]
default_ulimits = ["nofile=1024:1024", "nproc=1000:1000"]
C
export CONTAINERS_CONF=$scratch/containers.conf
pod() {
	timeout 60 podman --storage-driver vfs --root "$scratch/storage" --runroot "$scratch/storage/run" \
		--cgroup-manager cgroupfs --events-backend file --runtime runc "$@" 2>>"$scratch/podman"
}
is "$(pod load -q -i "$archive" | sed 's/.*: //')" "localhost/gpusched:$(meson introspect "$build" --projectinfo |
	jq -r .version)" "podman loads it"
image=$(pod images -q | head -1)
in_image() {
	pod run --rm --network host "$image" "$@"
}
version=$("$gpusched" --version)
is "$(in_image /usr/bin/gpusched --version)" "$version" "gpusched runs in it"
is "$(in_image /usr/bin/gpusched-exporter --version | sed 's/-exporter//')" "$version" "the exporter runs in it"
is "$(in_image /usr/bin/gpusched sim run a-1be-default | tail -1)" "1 passed, 0 failed" "the model runs in it"
is "$(pod run --rm --network host -v "$top/policies:/p:ro" "$image" /usr/bin/gpusched policy build -O /tmp/x.o /p/none.bpf.c
	echo $?)" 1 "policy build fails where no compiler is"
like "$(tail -1 "$scratch/podman")" "clang" "it names the compiler"

# ---- the daemon in a container, a program outside
on_host() { # NAME COMMAND...: runs a container with the access that the DaemonSets give
	pod run -d --name "$1" --privileged --pid host --network host -v /dev:/dev -v "$GPUSCHED_SIM:$GPUSCHED_SIM:rslave" \
		-v /sys/fs/bpf:/sys/fs/bpf -v /sys/kernel/tracing:/sys/kernel/tracing --env GPUSCHED_SIM="$GPUSCHED_SIM" \
		--read-only "$image" "${@:2}" >/dev/null
}
on_host daemon
check "the daemon answers" wait_for 30 eval '"$gpusched" list >/dev/null 2>&1' || diag "$(pod logs daemon; tail -3 "$scratch/podman")"
run_load be train be --seconds 600
check "it sees a program outside" wait_for 20 wait_tsgs pid:$train 1
exits 0 "gpusched in the container starts a policy" pod exec daemon /usr/bin/gpusched policy start lcbe
check "the policy acts on the program" wait_for 20 eval '! slice_is $train 2048'
pod kill -s KILL daemon >/dev/null
check "after SIGKILL of the daemon everything is put back" wait_for 10 slice_is $train 2048
pod rm -f daemon >/dev/null

# ---- a guardian in a separate container, which survives the deletion of the daemon's container
on_host guardian /usr/sbin/gpuschedd --guardian
on_host daemon
check "another daemon answers" wait_for 30 eval '"$gpusched" list >/dev/null 2>&1'
acts() { # starts the policy unless the new daemon has started it again by itself
	! slice_is $train 2048 || { pod exec daemon /usr/bin/gpusched policy start lcbe >/dev/null; false; }
}
check "the policy acts again" wait_for 20 acts
group=/sys/fs/cgroup$(sed -n 's/^0:://p' "/proc/$(pod inspect -f '{{.State.Pid}}' daemon)/cgroup")
[ -e "$group/cgroup.kill" ] || group=$(findmnt -n -t cgroup2 -o TARGET | head -1)${group#/sys/fs/cgroup}
diag "its cgroup is $group: $(tr '\n' ' ' <"$group/cgroup.procs")"
exits 0 "all of its container are killed at once, its own guardian too" eval 'echo 1 >"$group/cgroup.kill"'
check "the other container's guardian puts everything back" wait_for 10 slice_is $train 2048
pod rm -f daemon guardian >/dev/null
done_testing
