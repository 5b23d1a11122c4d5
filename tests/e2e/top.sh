#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 120
# needs: root bpf fuse
# gpusched top in a real terminal (tmux), driven by keys; numbers are masked where a screen is compared.
. "$(dirname "$0")/lib.sh"
enter_sim
fixed="--iterations-per-us 27.777 --seconds 200 --warmup 0"
start_daemon || exit 1
load be $fixed
be=$LOAD_PID
load lc $fixed
lc=$LOAD_PID
check "two programs are there" wait_for 20 eval 'wait_tsgs pid:$be 4 && wait_tsgs pid:$lc 4'
"$gpusched" class set "pid:$be" be >/dev/null
"$gpusched" class set "pid:$lc" lc >/dev/null

servers=0 # one for each screen: a new one at the socket of one that is ending would end with it
mux() {
	tmux -L "$name.$$.$servers" -f /dev/null "$@"
}
open_top() { # COLSxROWS [ENVIRONMENT...]
	servers=$((servers + 1))
	mux new-session -d -x "${1%x*}" -y "${1#*x}" "env ${*:2} LC_ALL=C.UTF-8 '$gpusched' top -d 0.3; echo ended \$?; sleep 100"
}
screen() {
	mux capture-pane -p
}
shown() {
	screen | grep -qE -- "$1"
}
shows() { # REGEX
	wait_for 5 shown "$1"
}
keys() {
	mux send-keys "$@"
}
masked() { # times, shares and rates; names and columns stay
	screen | sed -E 's/[0-9]+:[0-9:]+/TIME/; s/\[[A-Z#%.]*\]/[BAR]/; s/\|[a-z#.+]*\|/|STRIP|/; s/[0-9]+(\.[0-9]+)?/N/g; s/ +/ /g; s/ $//'
}
bar_of() {
	screen | sed -n 's/^GPU 0 \[\([^]]*\)\].*/\1/p'
}

# ---- the screen ------------------------------------------------------------------------------------
open_top 80x24
check "figures come" shows '^GPU 0 \[.*[1-9][0-9]*/s'
check "the turns come" shows '[|][a-z#.]*a[a-z#.]*[|] turns of the last second'
check "the strip fills" wait_for 5 eval '[ "$(screen | grep -o "|[a-z#.+]*|" | tr -cd a | wc -c)" -ge 10 ]'
check "both programs are shown" shows " $lc gsload .* lc .*runs"
is "$(masked | sed '/^ *$/d' | sed 's/ waits$/ runs/')" "gpusched top TIME no policy N TSGs by held: N waiting, N suspended
GPU N [BAR] held N lost N open N % N/s
 |STRIP| turns of the last second
 ID PID COMM CLASS GPU HELD% WAIT% TURNS/S STATE
a N N gsload be N N N N runs
b N N gsload lc N N - N runs
q quit s sort g group / filter c class z suspend r resume ? help" "all of it, on 80 x 24"
is "$(screen | wc -l)" 24 "in 24 lines"
like "$(bar_of)" '^B{30,}L{0,3}#?%*\.*$' "the bar has the classes' shares"
ge "$(screen | grep -o '|[a-z#.+]*|' | tr -cd a | wc -c)" 10 "the strip is BE's mostly"
check "LC has a little of the strip" shows '\|[a-z#.+]*b[a-z#.+]*\|'

# ---- keys ------------------------------------------------------------------------------------------
keys s
check "s sorts" shows 'TSGs by waited'
keys s s
check "s sorts by pid next" shows 'TSGs by pid'
keys g
check "g groups" shows '2 processes by pid.*' && check "processes have their number of TSGs" shows '^ +TSGS +PID'
keys g s
keys / "$lc"
check "/ filters while one types" shows "filter: $lc"
check "the filter leaves one" eval 'screen | grep -q "^a .* $lc " && ! screen | grep -qE "^. +[0-9]+ +$be "'
keys Enter z
check "z asks" shows "suspend tsg:[0-9]+ \(gsload\)\? y or n"
keys n
check "n does nothing" shows "nothing was done"
is "$(sim_disabled $lc)" 0 "indeed"
keys z y
check "y suspends" wait_for 10 eval '[ "$(sim_disabled $lc)" -gt 0 ]'
check "top shows the suspension" shows " $lc gsload .*suspended"
keys r y
check "r resumes" wait_for 10 eval '[ "$(sim_disabled $lc)" = 0 ]'
keys c be Enter
check "c asks" shows "pid:$lc becomes be\? y or n"
keys y
check "c sets the class" wait_for 10 eval '[ "$("$gpusched" class get "pid:$lc" --json | jq -rs "flatten[0].class")" = be ]'
keys c nonsense Enter y
check "what is refused is told" shows "nonsense"
keys / Escape
check "Escape takes the filter back" shows " $be gsload"
keys '?'
check "? explains the keys" shows "suspend, resume the chosen row"
keys x
check "any key leads back to the rows" shows '^ +ID +PID'
keys Down
check "the cursor follows its row" eval 'sleep 1; mux capture-pane -pe | grep -a $'"'\\033\\[7m'"' | grep -q gsload'

# ---- sizes, colours --------------------------------------------------------------------------------
mux resize-window -x 120 -y 30
check "a larger window has more columns" shows 'TURN_US CUT% MEM_MIB STATE'
mux resize-window -x 30 -y 5
check "one that is too small says so" shows '30 x 5 is too small'
mux resize-window -x 80 -y 24
check "the screen comes back" shows '^GPU 0'
# The terminal's own bytes: a colour pair that was never set shows as black on black.
check "no heading or row has a black foreground or background" eval '! mux capture-pane -pe | grep -qaE $'"'\033\[([0-9;]*;)?(30|40)[m;]'"
mux resize-window -x 160 -y 24
check "a wide window has user, cgroup and command" shows "root .* gsload (be|lc) --iter"
mux resize-window -x 80 -y 24
check "there are colours" eval 'mux capture-pane -pe | grep -qaE $'"'\\033\\[[0-9;]*3[1-6]m'"
keys q
check "q ends it, and the terminal is as before" shows '^ended 0'
mux kill-server
open_top 80x24 NO_COLOR=1
check "NO_COLOR has no colours" shows '^GPU 0 \['
check "there are none" eval '! mux capture-pane -pe | grep -qaE $'"'\\033\\[[0-9;]*3[1-6]m'"
keys C-c
check "SIGINT ends it well" shows '^ended 0'
mux kill-server

# ---- without a terminal ----------------------------------------------------------------------------
exits 2 "without a terminal it says what to do" "$gpusched" top
like "$out" "--batch" "namely that"
"$gpusched" top --batch -n 2 -d 0.3 >"$scratch/batch" </dev/null
is "$(grep -c '^gpusched top' "$scratch/batch") $(grep -c " $be gsload" "$scratch/batch")" "2 2" "--batch prints as often as asked"
is "$("$gpusched" top --batch --json -n 2 -d 0.3 | jq -c '[.gpus[0].tsgs | length, (.[0].held_pct != null)]' | uniq)" "[2,true]" \
	"as JSON, too"
out=$(setpriv --reuid 65534 --clear-groups "$gpusched" top --batch --sort pid)
like "$out" " $be gsload +be +0 +- +- +- " "other users see no times"
like "$out" "held [0-9]+ lost" "but the sums"
exits 2 "a wrong key is told" "$gpusched" top --batch --sort nonsense
stop_daemon
done_testing
