#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 120
# needs: root bpf fuse
# Programs without a class that wait for each other: status notes it, and advise says what they lose.
. "$(dirname "$0")/lib.sh"
enter_sim
config ''
start_daemon

load be --seconds 600 --iterations-per-us 27.78
one=$LOAD_PID
wait_tsgs "pid:$one" 4
note() { # its text and remedy
	"$gpusched" status --json | jq -r '.findings[] | select(.finding == "classless-wait") | "\(.text) \(.do)"'
}
exits 0 "status succeeds beside one program" "$gpusched" status
is "$(note)" "" "one program alone gives no note"
load be --seconds 600 --iterations-per-us 27.78
two=$LOAD_PID
wait_tsgs "pid:$two" 4
check "a second one without a class gives a note" wait_for 20 eval '[ -n "$(note)" ]'
like "$(note)" "programs without a class share GPU 0, and process ($one|$two) .gsload. waits [0-9]+ % .*'gpusched advise'" \
	"it says who waits, and points to advise"
counted() { # FINDING: the metric has one
	grep -q "^gpusched_findings{finding=\"$1\",level=\"note\"} 1" <<<"$(api /metrics)"
}
check "the metric has it, too" wait_for 20 counted classless-wait
ge "$("$gpusched" status --json | jq '.findings[] | select(.finding == "classless-wait") | .since_ns')" 1 "since when is known"
exits 0 "nothing is wrong for that" "$gpusched" status
like "$out" "note: programs without a class share GPU 0" "status prints the note"

# ---- a program that is suspended for most of the time
row() { # FILTER
	jq -r ".programs[] | select(.pid == $one) | $1" <<<"$advice"
}
suspended() { # one is suspended for 4 of 6 s; with JSON, or as the rest of the arguments say
	"$gpusched" suspend "pid:$one" --for 4s >/dev/null &
	advice=$("$gpusched" advise --for 6s --why "$@")
	wait $!
}
suspended --json
ge "$(row .suspended_pct)" 30 "advise knows how long a program was suspended"
suspended
loses=$(grep -E "^ *0 +$one " <<<"$advice" | grep -oE '[0-9]+ % of its time' | cut -d' ' -f1)
ge "${loses:-0}" 30 "advise counts that time as lost" || diag "$advice"

"$gpusched" suspend "pid:$one" >/dev/null
check "the metric has a program that a person suspended" wait_for 20 counted suspended
"$gpusched" resume "pid:$one" >/dev/null
check "until it is let go" wait_for 20 eval '! counted suspended'
"$gpusched" class set "pid:$one" be >/dev/null
"$gpusched" class set "pid:$two" be >/dev/null
check "status has no such note of programs with classes" wait_for 20 eval '[ -z "$(note)" ]'
done_testing
