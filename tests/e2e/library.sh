#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 120
# needs: root bpf fuse
# libgpusched, as other programs use it: its answers, its rights, and its exported names.
. "$(dirname "$0")/lib.sh"
enter_sim
load be --seconds 600
be=$LOAD_PID
wait_for 10 eval "[ \"\$(sim_tsgs $be)\" -ge 4 ]"

out=$("$helper" user pid:$be 2>&1)
like "$out" "open -111 0 no daemon answers on .*: start gpuschedd" "without a daemon root gets an error with the reason"
out=$(as 4711 "$helper" user pid:$be 2>&1)
like "$out" "open -111 0 no daemon answers" "without a daemon a user gets the same error"
start_daemon || not_ok "the daemon starts"
out=$("$helper" user pid:$be 2>&1)
while read -r line; do
	like "$out" "(^|"$'\n'")$line" "a program gets: $line"
done <<-'LINES'
	daemon 1 version
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
	second-stream -16 0 a handle has one stream
	trace 7 0 -
	request 0 1 -
	bad-request -22 0 there is no verb
	restore 0 1 -
	bad-size -22 0
LINES
is "$(sim_slice $be)" 2048 "the program's calls leave no change"
out=$(as 4711 "$helper" user pid:$be 2>&1)
like "$out" "set -1 0 .*another user" "another user may not set the TSG"
like "$out" "restore -1 0 only root" "another user may not restore"
check "a program gets what a process holds of the GPU's memory" wait_for 20 eval \
	'"$helper" user pid:$be 2>&1 | grep -q "^tsg .* kind compute .* memory [1-9]"'
load be --seconds 600
made=$LOAD_PID
wait_tsgs "pid:$made" 4
handles=$(list_json "pid:$made" 'map(select(.kind == "compute"))[0] | .client[2:] + " " + .tsg[2:]')
like "$("$helper" user pid:$made 2>&1)" "kind compute [^"$'\n'"]* tid $made handles $handles" \
	"root's program sees the thread that made a TSG, and the driver's handles"
like "$(as 4711 "$helper" user pid:$made 2>&1)" "kind compute [^"$'\n'"]* tid $made handles 0 0" \
	"another user's program sees the thread, as in ps, and no handles"
end_load $made
stop_daemon

# A client needs only a socket and JSON. Code that acts without a daemon is in the programs alone.
is "$(ldd "$build/libgpusched.so.1" | grep -oE 'lib(bpf|elf|sqlite3|systemd|inih|smartcols|fuse3|mount)\.so' | xargs)" "" \
	"libgpusched needs no library of the daemon's"
is "$(nm -a "$build/libgpusched.so.1" | grep -cE '_bpf__|bpf_object|gs_service_')" 0 "libgpusched contains no BPF object and no service"
is "$(grep -rlE '^.include "lib/' "$top"/src | grep -vE '/src/(lib|local)/' | xargs)" "" "gpusched's own programs use the public header alone"

# The public header in strict C and in C++; nothing but gpusched_* is exported.
printf '#include <gpusched/gpusched.h>\nint main(void) { return 0; }\n' >"$scratch/h.c"
check "the header is C17 pedantic" cc -std=c17 -pedantic-errors -Wall -Wextra -Werror -I"$top/include" -fsyntax-only "$scratch/h.c"
if command -v g++ >/dev/null; then
	check "the header is C++17 pedantic" g++ -x c++ -std=c++17 -pedantic-errors -Wall -Werror -I"$top/include" -fsyntax-only "$scratch/h.c"
fi
is "$(nm -D --defined-only "$build/libgpusched.so.1" | awk '$2 != "A" { print $3 }' | grep -vc '^gpusched_[a-z_]*@@GPUSCHED_1$')" 0 "every exported name is versioned and ours"
done_testing
