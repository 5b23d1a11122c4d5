#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 90
# needs: root bpf fuse
# A user fills the directory that the daemon makes for pools. /run must still have room for others, and
# root's settings must outlive the daemon.
. "$(dirname "$0")/lib.sh"
enter_sim
chmod 755 "$GPUSCHED_SIM"
run=$GPUSCHED_SIM/run
unit=$build/integrations/systemd/run-gpusched-mps-users.mount
mount -t tmpfs -o size=4m,mode=755 none "$run"
if [ -e "$unit" ]; then # mounts what systemd would mount
	mkdir -p "$run/mps/users"
	mount -t tmpfs -o "$(sed -n 's/^Options=//p' "$unit")" none "$run/mps/users"
fi
config '[Policy]
Policy = lcbe
[Classes]
Rule = comm=gsload -> be'
start_daemon || exit 1
victim
pool_dir() { # UID: asks for a pool's directory as that user; prints the daemon's answer
	setpriv --reuid "$1" --regid "$1" --clear-groups bash -c \
		'exec curl -s --unix-socket "$1/api" -d "{\"pid\":$$}" http://g/v1/pool_dir' - "$run"
}
has_dir() {
	pool_dir "$1" | jq -e .dir >/dev/null
}
mine=$(pool_dir $attacker_uid | jq -r .dir)
like "$mine" "^$run/" "a user has a directory of its own"
"${as_attacker[@]}" bash -c 'head -c 100m /dev/zero >"$1/fill"' - "$mine" 2>"$scratch/fill.out"
like "$(cat "$scratch/fill.out")" "No space left" "the user writes until there is no room"
check "another program can write to /run" eval 'head -c 100k /dev/zero >"$run/other.pid"'
check "another user has a directory" has_dir $((attacker_uid - 1))
exits 0 "root sets a slice" "$gpusched" set "pid:$VICTIM" timeslice=333us
kill_daemon
wait_for 10 restored
start_daemon || not_ok "the daemon starts again"
check "what root set is set again" wait_for 10 slice_is $VICTIM 333
"${as_attacker[@]}" bash -c 'cd "$1" && seq 20000 | xargs touch' - "$mine" 2>"$scratch/fill.out"
like "$(cat "$scratch/fill.out")" "No space left" "the user makes files until there is room for no more"
check "another program can make a file in /run" touch "$run/another.pid"
check "root has a directory" has_dir 0
like "$(pool_dir $((attacker_uid - 2)) | jq -r .reason)" "No space left" "a further user is told why it has none"
rm -rf "${mine:?}"/*
check "a further user has a directory once there is room" has_dir $((attacker_uid - 2))
stop_daemon
umount "$run/mps/users" "$run"
done_testing
