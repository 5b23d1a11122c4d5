#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 120
# needs: root bpf fuse
# gpusched top in a real terminal (tmux), driven by keys. Numbers are masked for comparing a screen.
. "$(dirname "$0")/lib.sh"
enter_sim
fixed="--iterations-per-us 27.777 --seconds 200 --warmup 0"
start_daemon || exit 1
load be $fixed
be=$LOAD_PID
load lc $fixed
lc=$LOAD_PID
check "two programs are listed" wait_for 20 eval 'wait_tsgs pid:$be 4 && wait_tsgs pid:$lc 4'
"$gpusched" class set "pid:$be" be >/dev/null
"$gpusched" class set "pid:$lc" lc >/dev/null

servers=0 # a tmux server for each screen: at the socket of a server that is ending it would end, too
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
masked() { # the screen with times, shares and rates replaced; names and columns stay
	screen | sed -E 's/[0-9]+:[0-9:]+/TIME/; s/\[[A-Z#%.]*\]/[BAR]/; s/\|[a-z#.+]*\|/|STRIP|/; s/[0-9]+(\.[0-9]+)?/N/g; s/ +/ /g; s/ $//'
}
bar_of() {
	screen | sed -n 's/^GPU 0 \[\([^]]*\)\].*/\1/p'
}

# ---- the screen ------------------------------------------------------------------------------------
open_top 80x24
check "top shows the GPU's figures" shows '^GPU 0 \[.*used [1-9]'
check "top shows a strip of turns" shows '[|][a-z#.]*a[a-z#.]*[|] the last second'
check "the strip fills with turns of the BE" wait_for 5 eval '[ "$(screen | grep -o "|[a-z#.+]*|" | tr -cd a | wc -c)" -ge 10 ]'
check "top shows the LC" shows " $lc gsload .* lc .*runs"
is "$(masked | sed '/^ *$/d' | sed 's/ waits$/ runs/; s/ < N %/ N %/; s/ N MiB / M /; s/ < M / M /')" "top TIME, last N s no policy N programs by used: N waiting, N paused
GPU N [BAR] used N, switching N, free N %
 |STRIP| the last second
 PID NAME CLASS USED WAITED MEMORY STATE
a N gsload be N % N % M runs
b N gsload lc N % - M runs
(too narrow for USER)
q quit s sort w wide g group / filter c class z pause r resume ? help" "the whole screen of 80 x 24 is as it should be"
is "$(screen | wc -l)" 24 "the screen has 24 lines"
like "$(bar_of)" '^B{30,}L{0,3}#?%*\.*$' "the bar has the classes' shares"
ge "$(screen | grep -o '|[a-z#.+]*|' | tr -cd a | wc -c)" 10 "the strip has at least 10 turns of the BE"
check "the strip has a turn of the LC" shows '\|[a-z#.+]*b[a-z#.+]*\|'

# ---- keys ------------------------------------------------------------------------------------------
keys s
check "s sorts by waiting" shows 'programs by waited'
keys s s
check "two more s sort by pid" shows 'programs by pid'
keys g
check "g shows TSGs" shows '2 TSGs by pid.*'
keys g s
keys / "$lc"
check "/ shows the filter as it is typed" shows "filter: $lc"
check "the filter leaves one program" eval 'screen | grep -q "^a .* $lc " && ! screen | grep -qE "^. +[0-9]+ +$be "'
keys Enter z
check "z asks before it suspends" shows "suspend pid:[0-9]+ \(gsload\)\? y or n"
keys n
check "n cancels" shows "nothing was done"
is "$(sim_disabled $lc)" 0 "the cancelled suspension was not made"
keys z y
check "y confirms the suspension" wait_for 10 eval '[ "$(sim_disabled $lc)" -gt 0 ]'
check "top shows the suspension" shows " $lc gsload .*paused by a person"
keys r y
check "r resumes the program" wait_for 10 eval '[ "$(sim_disabled $lc)" = 0 ]'
keys c be Enter
check "c asks before it sets the class" shows "pid:$lc becomes be\? y or n"
keys y
check "c sets the class" wait_for 10 eval '[ "$("$gpusched" class get "pid:$lc" --json | jq -rs "flatten[0].class")" = be ]'
keys c nonsense Enter y
check "top shows the refusal of an unknown class" shows "nonsense"
keys / Escape
check "Escape removes the filter" shows " $be gsload"
keys '?'
check "? explains the keys" shows "pause the chosen row, let it run again"
keys x
check "any key leads back to the rows" shows '^ +PID +NAME'
keys Down
check "the cursor is on a program's row" eval 'sleep 1; mux capture-pane -pe | grep -a $'"'\\033\\[7m'"' | grep -q gsload'

# ---- sizes, colours --------------------------------------------------------------------------------
mux resize-window -x 120 -y 30
check "a larger window has users" shows 'PID USER +NAME'
keys w
check "w shows more columns" shows 'TURNS/S +TURN +WHOLE SLICES +MEMORY STATE'
mux resize-window -x 30 -y 5
check "in a window that is too small top says so" shows '30 x 5 is too small'
mux resize-window -x 80 -y 24
check "the screen comes back" shows '^GPU 0'
# Looks at the escape sequences: a colour pair that was never set shows as black on black.
check "no heading or row has a black foreground or background" eval '! mux capture-pane -pe | grep -qaE $'"'\033\[([0-9;]*;)?(30|40)[m;]'"
mux resize-window -x 220 -y 24
check "a wide window has user, cgroup and command" shows "root +gsload +(be|lc) .* gsload (be|lc) --(iter|kernel)"
mux resize-window -x 80 -y 24
check "the screen has colours" eval 'mux capture-pane -pe | grep -qaE $'"'\\033\\[[0-9;]*3[1-6]m'"
check "no text is yellow: that is not to be read on white" eval '! mux capture-pane -pe | grep -qaE $'"'\033\[([0-9;]*;)?(33|93)[m;]'"
keys q
check "q ends top, and the terminal works as before" shows '^ended 0'
mux kill-server
open_top 80x24 NO_COLOR=1
check "top starts with NO_COLOR" shows '^GPU 0 \['
check "NO_COLOR has no colours" eval '! mux capture-pane -pe | grep -qaE $'"'\\033\\[[0-9;]*3[1-6]m'"
keys C-c
check "SIGINT ends top with success" shows '^ended 0'
mux kill-server

open_top 100x24 TERM=nonsense
check "top says that it does not know this kind of terminal" shows "top: TERM=nonsense is not known here: set "
check "top in such a terminal exits with 2" shows '^ended 2'
mux kill-server

# ---- without a terminal ----------------------------------------------------------------------------
exits 2 "top fails without a terminal" "$gpusched" top
like "$out" "--batch" "the error mentions --batch"
"$gpusched" top --batch -n 2 -d 0.3 >"$scratch/batch" </dev/null
is "$(grep -c '^top ' "$scratch/batch") $(grep -cE " $be [a-z]+ +gsload" "$scratch/batch")" "2 2" "--batch prints as often as asked"
is "$("$gpusched" top --batch --json -n 2 -d 0.3 | jq -c '[.gpus[0].tsgs | length, (.[0].held_pct != null)]' | uniq)" "[2,true]" \
	"--batch --json prints as often, with figures"
out=$(setpriv --reuid 65534 --clear-groups "$gpusched" top --batch --sort pid)
like "$out" "$be [a-z]+ +gsload +be +- +- " "other users see no times"
like "$out" "used [0-9]+, switching" "other users see the GPU's sums"
exits 2 "--sort refuses an unknown key" "$gpusched" top --batch --sort nonsense
stop_daemon
done_testing
