#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 60
# needs: root bpf fuse
# gpusched shell: verbs from a file, and at a prompt in a real terminal (tmux) with completion and history.
. "$(dirname "$0")/lib.sh"
enter_sim
start_daemon || exit 1
load be --iterations-per-us 27.777 --seconds 100 --warmup 0
be=$LOAD_PID
check "a program is listed" wait_tsgs "pid:$be" 4

feed() { # LINES: runs them in `gpusched shell`; $out, $code
	out=$(printf '%b' "$1" | "$gpusched" shell 2>&1)
	code=$?
}
feed 'policy list\n# nothing\n\nlist "pid:'$be'"\n'
like "$out" "lcbe.*gsload" "the shell runs its input line by line"
is $code 0 "the shell ends with its input"
feed 'set "comm:gs*" timeslice=1ms\nquit\nnonsense\n'
check "quoted words stay together" wait_for 5 slice_is $be 1000
is "$code $(grep -c nonsense <<<"$out")" "0 0" "no line is run after quit"
feed 'nonsense\n'
is $code 2 "the shell's exit status is the last command's"
feed 'list "open\n'
like "$out" "quote is not closed" "an open quote is an error"
feed 'shell\n'
like "$out" "this is one" "the verb shell is refused inside the shell"

mux() {
	tmux -L "$name.$$" -f /dev/null "$@"
}
shown() {
	mux capture-pane -pJ | grep -qE -- "$1"
}
shows() {
	wait_for 10 shown "$1"
}
mux new-session -d -x 100 -y 30 "env HOME='$scratch' LC_ALL=C.UTF-8 '$gpusched' shell; echo ended \$?; sleep 100"
check "the shell prints a prompt" shows '^gpusched> '
mux send-keys poli Tab li Tab Enter
check "Tab completes noun and verb" shows '^gpusched> policy list'
check "the completed line runs" shows '^lcbe '
mux send-keys C-l 'list c' Tab
check "Tab offers several completions" shows 'comm:  cgroup:  class:'
mux send-keys C-c
sleep 0.3 # the terminal discards input that comes right with Ctrl-C
mux send-keys "list pid:$be" Enter
check "Ctrl-C discards the line" shows "^gpusched> list pid:$be"
check "the next line runs" shows "$be .*gsload"
mux send-keys C-l monitor Enter
check "a command that does not end runs" wait_for 10 watchers 1
mux send-keys C-c
check "Ctrl-C ends the command" shows 'events in'
mux send-keys C-l Up Up
check "the Up key shows earlier lines" shows "^gpusched> list pid:$be"
mux send-keys C-c
sleep 0.3
mux send-keys quit Enter
check "quit ends the shell" shows '^ended 0'
check "the history is kept" grep -q "monitor" "$scratch/.gpusched_history"
is "$(stat -c %a "$scratch/.gpusched_history")" 600 "the file of the history is its user's alone"
mux kill-server
done_testing
