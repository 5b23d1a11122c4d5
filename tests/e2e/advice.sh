#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 150
# needs: root bpf fuse
# What messages tell people to type or to read works for them: users are told what root has to do, and
# no message names a file of the source tree.
. "$(dirname "$0")/lib.sh"
enter_sim --dilate 3
user() { as 65534 "$@"; }
sources() { # PROGRAM: files of the source tree that its texts name
	grep -ao 'docs/[a-z_-]*\.md' "$1" | sort -u
}
for program in "$gpusched" "$gpuschedd" "$gsload"; do
	is "$(sources "$program")" "" "no message of $(basename "$program") names a page of the source tree"
done
like "$(sources <(echo 'see docs/launches.md'))" docs/launches.md "this test would find one"

config ''
trusting
start_daemon
like "$(user "$gpusched" observe launches)" "'sudo gpusched observe launches on'" "a user is told that root turns counting on"
user "$gpusched" history >"$scratch/none"
is "$(head -1 "$scratch/none")" "none of your own programs is known there: others' are root's to see" \
	"a user is told that the history has more than that"

for words in "list nonsense" "set a_very_long_name_of_a_program timeslice=1ms" "history nonsense" "class get group:root"; do
	exits 2 "an unknown target is refused: $words" "$gpusched" $words
	is "$(wc -l <<<"$out")" 1 "its message is one line"
	le ${#out} 99 "the line is short"
	like "$out" "pid[|].*[|]comm[|].*[|]class[|]" "the line names the forms"
done

# ---- a user's own programs
by_user() { # gsload's arguments: as the user; its pid in $LOAD_PID
	setpriv --reuid 65534 --regid 65534 --clear-groups "$gsload" "$@" --seconds 600 --warmup 0 --iterations-per-us 27.78 >/dev/null &
	LOAD_PID=$!
	at_end+=($!)
	wait_tsgs "pid:$LOAD_PID" 4
}
by_user be --kernel-us 4000
one=$LOAD_PID
by_user lc --arrivals closed
two=$LOAD_PID
"$gpusched" observe launches on >/dev/null
advice=$(user "$gpusched" advise --for 4s)
like "$advice" "  sudo gpusched class set pid:$two lc"$'\n' "a user is told that root raises"
like "$advice" "  gpusched class set pid:$one be"$'\n' "a user may lower"
like "$advice" "  sudo gpusched policy start auto"$'\n' "a user is told that root starts policies"
"$gpusched" class set "pid:$two" lc >/dev/null
like "$(user "$gpusched" status)" "do: start a policy: 'sudo gpusched policy start auto'" "so does status"
done_testing
