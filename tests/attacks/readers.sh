#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 240
# needs: root bpf fuse
# Many users send requests about their own processes, which hold the lock of their memory. Root's
# programs must still get their class.
. "$(dirname "$0")/lib.sh"
enter_sim
mount -t tmpfs -o mode=755 none /mnt
words_open
config '[Classes]
Rule = arg=tsgs uid=0 -> lc'
start_daemon || exit 1
honest() { # starts a program as root; sets $MS to the time until it has its class
	"$helper" tsgs 1 <&9 9<&- >/dev/null 2>&1 &
	honest=$!
	at_end+=($honest)
	wait_tsgs pid:$honest 1
	took wait_for 20 eval '[ "$(list_json pid:$honest ".[0].class")" = lc ]'
}
honest
diag "without an attack: $MS ms"
allowed=$((3000 + 4 * MS)) # MS is large on a busy machine
watch_loop
many=40
programs=()
for ((i = 0; i < many; i++)); do
	mkdir /mnt/$i
	"$helper" lock /mnt/$i $((100000 + i)) x 9<&- >"$scratch/lock.$i" 2>&1 &
	programs+=($!)
done
at_end+=("${programs[@]}")
check "they hold their locks" wait_for 60 eval '[ "$(cat "$scratch"/lock.* | grep -c ^ready)" = '$many' ]'
mapfile -t servers < <(sed -n 's/^ready //p' "$scratch"/lock.*)
at_end+=("${servers[@]}")
keep_asking() {
	local p
	while :; do
		for p in "${programs[@]}"; do
			"${as_attacker[@]}" curl -s --max-time 5 -o /dev/null --unix-socket "$GPUSCHED_SIM/run/api" \
				-d "{\"target\": \"pid:$p\"}" http://gpusched/v1/class_explain &
		done
		wait
	done
}
keep_asking &
asking=$!
at_end+=($!)
sleep 1
for ((round = 0; round < $(size 3 6); round++)); do
	honest
	le $MS $allowed "root's program has its class, in ms"
done
pings "beside locked memory"
loop_turned "locked memory"
kill -9 $asking; wait $asking 2>/dev/null; sleep 1
set_obeyed "beside them" $honest 300
kill_restores "locked memory" $honest
done_testing
