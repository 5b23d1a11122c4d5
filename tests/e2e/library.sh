#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 120
# needs: root bpf fuse
# libgpusched as another program uses it: beside a daemon, and without one in its own process.
. "$(dirname "$0")/lib.sh"
enter_sim
load be --seconds 600
be=$LOAD_PID
wait_for 10 eval "[ \"\$(sim_tsgs $be)\" -ge 4 ]"

expect() { # WHERE OUTPUT
	local line
	while read -r line; do
		like "$2" "(^|"$'\n'")$line" "$1: $line"
	done <<-'LINES'
		tsg [0-9]+ pid [0-9]+ kind compute slice 2048/2048
		list 0 4 -
		set 0 4 -
		bad-set -34 0 .*1 to 100000000
		preempt 0 4 -
		suspend 0 4 -
		resume 0 4 -
		unset 0 4 -
		no-target -2 0 there is no process 999999
		class 0 0 -
		no-class -22 0 there is no class 'nobody'
		class-clear 0 0 -
		watch-idle -110 0
		watch 7 4 -
		request 0 1 -
		bad-request -22 0 there is no verb
		restore 0 1 -
		bad-size -22 0
	LINES
}

out=$("$helper" user pid:$be 2>&1)
like "$out" "daemon 0 version" "without a daemon"
expect alone "$out"
is "$(sim_slice $be)" 2048 "nothing is left changed"
start_daemon || not_ok "the daemon starts"
out=$("$helper" user pid:$be 2>&1)
like "$out" "daemon 1 version" "with a daemon"
expect daemon "$out"
is "$(sim_slice $be)" 2048 "nothing is left changed"
out=$(as 4711 "$helper" user pid:$be 2>&1)
like "$out" "set -1 0 .*another user" "a foreign user is refused"
like "$out" "restore -1 0 only root" "and may not restore"
stop_daemon
out=$(as 4711 "$helper" user pid:$be 2>&1)
like "$out" "open -1 0 no daemon answers.*only root" "a user without a daemon gets the reason"

# The public header in strict C and in C++; nothing but gpusched_* is exported.
printf '#include <gpusched/gpusched.h>\nint main(void) { return 0; }\n' >"$scratch/h.c"
check "the header is C17 pedantic" cc -std=c17 -pedantic-errors -Wall -Wextra -Werror -I"$top/include" -fsyntax-only "$scratch/h.c"
if command -v g++ >/dev/null; then
	check "and C++" g++ -x c++ -std=c++17 -pedantic-errors -Wall -Werror -I"$top/include" -fsyntax-only "$scratch/h.c"
fi
is "$(nm -D --defined-only "$build/libgpusched.so.0" | awk '$2 != "A" { print $3 }' | grep -vc '^gpusched_[a-z_]*@@GPUSCHED_1$')" 0 "every exported name is versioned and ours"
done_testing
