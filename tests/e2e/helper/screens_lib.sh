# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# screens_lib.sh - prints all screens in one situation, and compares them
#
# same_everywhere fails while any two screens differ, and asks again: figures of a window move while
# the screens are printed one after the other.

shots=$scratch/shots
mkdir -p "$shots"

# The windows are of 10 s. Sums are read before and after all else, since they grow.
print_screens() {
	local top
	"$gpusched" top --batch -d 10 >"$shots/top.txt" &
	top=$!
	"$gpusched" top --json -d 10 >"$shots/top.json" || return 1
	wait "$top" || return 1
	"$gpusched" stats --by process --json >"$shots/before.json"
	"$gpusched" status --json >"$shots/status.json"
	"$gpusched" list --wide --json >"$shots/list.json"
	"$gpusched" status --all >"$shots/status.txt"
	echo $? >"$shots/status.code"
	"$gpusched" list >"$shots/list.txt"
	"$gpusched" status --all --columns pid,held_pct >"$shots/status-columns.txt"
	"$gpusched" list --columns pid,gpu_time_ns >"$shots/list-columns.txt"
	"$gpusched" history --since 1h --columns pid,gpu_time_ms >"$shots/history-columns.txt"
	api /metrics >"$shots/metrics"
	"$gpusched" history --since 1h --json >"$shots/history.json"
	"$gpusched" stats --by process --json >"$shots/after.json"
	"$gpusched" advise --for 1s --json >"$shots/advise.json"
	"$gpusched" advise --for 1s --why >"$shots/advise.txt"
}

all_agree() {
	print_screens && "$top/tests/e2e/helper/screens_agree.py" "$shots" "$@" >"$scratch/differ" 2>&1
}

# same_everywhere SITUATION WORD...: the situation is what it should be, as status has these words
# (findings, or KEY=VALUE of a program), and all screens agree
same_everywhere() {
	if wait_for 60 all_agree "${@:2}"; then
		ok "$1: all screens agree ($(cat "$scratch/differ"))"
	else
		not_ok "$1: all screens agree" "$(cat "$scratch/differ")"
	fi
}
