#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 90
# needs: root bpf fuse
# kind= of rules: it matches once a TSG shows what its program is, and raises nothing by itself.
. "$(dirname "$0")/lib.sh"
enter_sim
chmod 711 "$scratch"
config "[Classes]
Rule=kind=graphics -> lc
Rule=kind=graphics uid=4713 -> lc
Rule=kind=compute -> be
Rule=kind=graphics comm=sleep -> be"
class_of() { list_json "pid:$1" 'map(.class | tostring) | unique | join(" ")'; } # of all its TSGs
painter() { # NAME UID: a program with a copy TSG, and one that will draw; its pid in the variable NAME
	mkfifo "$scratch/$1.in"
	setpriv --reuid "$2" --regid "$2" --clear-groups "$helper" draw <"$scratch/$1.in" >"$scratch/$1.out" 2>&1 &
	declare -g "$1=$!"
	at_end+=($!)
	exec {fd[$2]}>"$scratch/$1.in"
	check "$1 has a TSG" wait_for 10 grep -q made "$scratch/$1.out"
}
draw() { # NAME UID
	echo >&"${fd[$2]}"
	check "$1 draws" wait_for 10 grep -q draws "$scratch/$1.out"
}
declare -A fd
painter earlier 4713
draw earlier 4713
start_daemon
check "a program that drew before the daemon is graphics" wait_for 10 eval '[ "$(class_of "$earlier")" = lc ]'
like "$("$gpusched" class explain "pid:$earlier")" "rule 2: kind=graphics uid=4713 -> lc" "class explain names the rule with its user"
painter desktop 4713
painter anybody 4714
for pid in "$desktop" "$anybody"; do
	check "a program that does not draw is compute" wait_for 10 eval '[ "$(class_of "$pid")" = be ]'
done
draw desktop 4713
draw anybody 4714
check "a rule with its user raises a program that draws" wait_for 10 eval '[ "$(class_of "$desktop")" = lc ]'
check "compute is over for one that draws" wait_for 10 eval '[ "$(class_of "$anybody")" = null ]'
like "$("$gpusched" class explain "pid:$anybody")" \
	"rule 'kind=graphics -> lc' passed over: what its owner chooses cannot raise it" "drawing alone does not raise it"
sleep 600 &
at_end+=($!)
like "$("$gpusched" class explain "pid:$!")" "rule 4 does not match, since its kind is unknown here" \
	"a program without a TSG has no kind"
stop_daemon
config "[Classes]
Rule=kind=copy -> be"
exits 1 "--check-config refuses another kind" "$gpuschedd" --check-config
like "$out" "^gpuschedd: [^ ]*gpusched.conf:2: 'kind=copy' is neither graphics nor compute$" "it says so in one line"
config "[Classes]
Rule=kind=graphics -> be"
exits 0 "--check-config takes kind=graphics" "$gpuschedd" --check-config
done_testing
