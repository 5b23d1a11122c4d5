#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 150
# needs: root bpf fuse
# What messages tell people to type or to read works for them: users are told what root has to do, and
# no message names a file of the source tree.
. "$(dirname "$0")/lib.sh"
enter_sim --dilate 3
user() { as 65534 "$@"; }
sources() { # FILE: pages that it names by anything but their installed path
	grep -aoE '[a-zA-Z0-9._/-]+[.]md' "$1" | sed 's/^_//' | grep -vE '^/usr/share/doc/gpusched/|^bench/' | sort -u
}
for program in "$gpusched" "$gpuschedd" "$gsload" "$top/integrations/gpusched.conf" "$top"/man/*.scd; do
	is "$(sources "$program")" "" "$(basename "$program") names no page of the source tree"
done
while read -r page; do
	check "there is $page" test -f "$top/docs/$page"
done < <(grep -ohE '/usr/share/doc/gpusched/[a-z/-]+[.]md' "$top"/man/*.scd "$top/integrations/gpusched.conf" |
	sed 's,^/usr/share/doc/gpusched/,,' | sort -u)
for page in docs/launches.md choosing.md _agent.md_; do
	like "$(sources <(echo "see $page"))" "^[a-z/]*.md$" "this test would find $page"
done

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
