#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 90
# needs: root bpf fuse cgroup2
# The kernel has no inotify instance left: pods have their names all the same, and words of a bundle
# count. The bundle has a limit of 2^64 - 1, as containerd writes for RLIMIT_MEMLOCK.
. "$(dirname "$0")/lib.sh"
enter_cgroups
enter_sim --dilate 2
chmod 711 "$scratch"
at=$scratch/node
web=6f7d3c5e-0a1b-4c2d-8e9f-0123456789ab
bank=7a7d3c5e-0a1b-4c2d-8e9f-0123456789ab
mkdir -p "$at"/{bundles,pods/"web_server-0_$web"}
config "[Kubernetes]
PodCeiling = web lc request=20
PodLogs = $at/pods
ContainerLogs =
Fractions =
Claims =
Bundles = $at/bundles"
cat >"$scratch/none.c" <<'END'
#include <errno.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

int inotify_init1(int flags)
{
	if (!access(HERE "/some", F_OK))
		return (int)syscall(SYS_inotify_init1, flags);
	errno = EMFILE;
	return -1;
}

int inotify_add_watch(int fd, const char *path, uint32_t mask)
{
	if (access(HERE "/no_watch", F_OK))
		return (int)syscall(SYS_inotify_add_watch, fd, path, mask);
	errno = ENOSPC;
	return -1;
}
END
cc -shared -fPIC "-DHERE=\"$scratch\"" -o "$scratch/none.so" "$scratch/none.c" || not_ok "the stand-in is built"
id_of() {
	printf '%064d' "$1"
}
pod_load() { # UID N: gsload in that container; $LOAD_PID
	local group
	group=$tree/$name.$$/kubepods/pod$1/$(id_of "$2")
	mkdir -p "$group"
	bash -c 'echo $$ >"$1/cgroup.procs" && exec "${@:2}"' - "$group" "$gsload" be \
		--iterations-per-us 27.777 --seconds 100 --warmup 0 >"$scratch/load.$2" 2>&1 &
	LOAD_PID=$!
	at_end+=("$LOAD_PID")
	wait_tsgs "pid:$LOAD_PID" 1
}
of() { # PID KEY
	"$gpusched" list "pid:$1" --wide --json | jq -rs "flatten | .[] | select(.kind == \"compute\") | .$2"
}

mkdir "$at/bundles/$(id_of 1)"
cat >"$at/bundles/$(id_of 1)/config.json" <<END
{"process": {"rlimits": [{"type": "RLIMIT_MEMLOCK", "hard": 18446744073709551615, "soft": 18446744073709551615}],
 "env": ["CUDA_DEVICE_SM_LIMIT=30"]},
 "annotations": {"io.kubernetes.cri.sandbox-uid": "$web", "io.kubernetes.cri.sandbox-namespace": "web",
 "io.kubernetes.cri.sandbox-name": "server-0", "io.kubernetes.cri.container-name": "app"}}
END
LD_PRELOAD=$scratch/none.so start_daemon || not_ok "a daemon starts"
check "the log says that the folders are not watched" grep -q "cannot be watched: Too many open files" "$scratch/daemon.log"
pod_load $web 1
check "a pod has its name without a watch" wait_for 10 eval '[ "$(of $LOAD_PID pod)" = server-0 ]'
is "$(of "$LOAD_PID" container)" app "the bundle's names count"
check "so does its limit" wait_for 10 eval '[ "$(of $LOAD_PID limit_pct)" = 30 ]'
mkdir "$at/pods/bank_vault_$bank"
pod_load $bank 2
check "so does a pod that comes later" wait_for 10 eval '[ "$(of $LOAD_PID pod)" = vault ]'
is "$("$gpusched" stats --json | jq .service.pod_entries_left)" 0 "every entry could be read"
finding() { # its text
	"$gpusched" status --json | jq -r '.findings[] | select(.finding == "pods-unwatched") | .text'
}
like "$(finding)" "^2 folders that name pods cannot be watched" "status says so"
touch "$scratch/some" # the kernel has instances again
kill -HUP "$DAEMON_PID"
check "a reload tries again" wait_for 20 eval '[ -z "$(finding)" ]'
touch "$scratch/no_watch"
stop_daemon
LD_PRELOAD=$scratch/none.so start_daemon || not_ok "a daemon starts"
check "the log names a folder for which there is no watch" grep -q "$at/pods cannot be watched: No space left" "$scratch/daemon.log"
like "$(finding)" "^2 folders" "... and status has it"
rm "$scratch/no_watch"
kill -HUP "$DAEMON_PID"
check "a reload tries that again, too" wait_for 20 eval '[ -z "$(finding)" ]'
done_testing
