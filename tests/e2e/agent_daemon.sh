#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 90
# needs: root bpf fuse
# asan: release
# An agent beside a daemon: the memory page in which the agent reports to the daemon, and reports
# that the daemon does not believe.
. "$(dirname "$0")/lib.sh"
enter_sim
. "$(dirname "$0")/helper/agent_lib.sh"
agent_begin
agents=$GPUSCHED_SIM/run/agents
mkdir -p "${agents%/*}"

# An agent uses no page that is not sealed, or too short, or not a daemon's.
cat >"$scratch/false.py" <<'EOF'
import array, fcntl, os, socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
s.bind(sys.argv[1])
os.chmod(sys.argv[1], 0o666)
s.listen(8)
pages = []
for size, seals in ((4096, 0), (0, 7), (0, 0), (4096, 7)):
    fd = os.memfd_create("false", os.MFD_ALLOW_SEALING)
    os.ftruncate(fd, size)
    if seals:
        fcntl.fcntl(fd, 1033, seals)  # F_ADD_SEALS
    pages.append(fd)
print("ready", flush=True)
for fd in pages:
    c, _ = s.accept()
    c.sendmsg([b"1GAS"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [fd]))])
    c.close()
c, _ = s.accept()
c.close()
print("done", [sum(os.pread(fd, 4096, 0)) for fd in pages], flush=True)
EOF
/usr/bin/python3 "$scratch/false.py" "$agents" >"$scratch/false.out" 2>&1 &
at_end+=($!)
wait_for 10 grep -q ready "$scratch/false.out"
mkfifo "$scratch/in"
exec 7<>"$scratch/in"
agent_load wait --class lc -- "$guest" wait <&7
check "an agent asks for a page five times" wait_for 30 grep -q done "$scratch/false.out"
is "$(tail -n 1 "$scratch/false.out")" "done [0, 0, 0, 0]" "an agent writes into no page that is not a daemon's"
check "the program of that agent goes on" mine_has $agent_pid
echo >&7
wait_for 10 gone $agent_pid
rm -f "$agents"

start_daemon || not_ok "a daemon starts"
iterations=$("$gsload" cal | jq .iterations_per_us)
"$gpusched" run --agent --class lc -- "$gsload" lc --hint --iterations-per-us "$iterations" --arrivals closed \
	--period-us 5000 --lead-us 400 --warmup 0 --seconds 300 >"$scratch/lc.out" 2>&1 &
lc=$!
at_end+=($lc)
told() { # FILTER
	"$gpusched" list pid:$lc --json | jq -s "flatten | map(select(.hints)) | .[0] | $1"
}
more_than() { # NUMBER
	[ "$(told .hints)" -gt "$1" ]
}
check "the agent reports its hints to the daemon" wait_for 30 eval '[ "$(told ".hints > 5 and .pre_switches > 0 and .pre_switched_ns > 0")" = true ]'
check "the number of reported hints grows" wait_for 10 more_than "$(told .hints)"
is "$(as 4712 "$gpusched" list pid:$lc --json | jq -sc 'flatten | map(.hints, .pre_switches) | unique')" "[null]" "another user does not see the hints"

# A program that writes nonsense into its page harms no other program.
"${as_user[@]}" "$guest" sheet 15000 >"$scratch/sheet" 2>&1 &
spoils=$!
at_end+=($spoils)
check "a program fetches a page without an agent" wait_for 10 grep -q "sheet 0, again -" "$scratch/sheet"
wait_for 5 eval '"$gpusched" list pid:$spoils --json | grep -q hints'
is "$("$gpusched" list pid:$spoils --json | jq -sc 'flatten | map(select(.hints)) | .[0] | [(.hints, .pre_switches, .deadline_us | . > 9e18), .deadline_told]')" \
	'[true,true,true,true]' "its figures are shown, marked as told by the program"
many=()
for ((i = 0; i < 40; i++)); do
	as $user "$guest" sheet 3000 >"$scratch/many.$i" 2>&1 &
	many+=($!)
done
at_end+=("${many[@]}")
wait "${many[@]}"
got=$(cat "$scratch"/many.* | grep -c "sheet 0")
ge "$got" 4 "40 programs of a user get pages"
check "the first agent's reports still come in" wait_for 10 more_than "$(told .hints)"
end_load $spoils

# A user's process connects and ends, and a process of root's gets its pid before the daemon looks.
cat >"$scratch/reused.py" <<'EOF'
import array, ctypes, os, signal, socket, struct, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
pid = os.fork()
if not pid:
    os.setuid(4711)
    s.connect(sys.argv[1])
    os._exit(0)
os.waitpid(pid, 0)
number = (ctypes.c_int * 1)(pid)
args = struct.pack("11Q", 0, 0, 0, 0, signal.SIGCHLD, 0, 0, 0, ctypes.addressof(number), 1, 0)
other = ctypes.CDLL(None).syscall(435, args, len(args))  # clone3: with that pid
if not other:
    os.execv("/bin/sleep", ["sleep", "60"])
print("same pid", other == pid)
os.kill(int(sys.argv[2]), signal.SIGCONT)
s.settimeout(10)
words, control, _, _ = s.recvmsg(16, socket.CMSG_SPACE(4))
print("page", len(control))
os.kill(other, signal.SIGKILL)
EOF
kill -STOP "$DAEMON_PID"
is "$(/usr/bin/python3 "$scratch/reused.py" "$agents" "$DAEMON_PID" 2>&1)" "same pid True
page 0" "a process that has ended gets no page for another user's process"
kill -CONT "$DAEMON_PID" 2>/dev/null

# An agent makes no pre-switch while the switch log says that its program has over half of the GPU.
end_load $lc
"$gsload" be --seconds 300 --iterations-per-us "$iterations" >/dev/null 2>&1 &
at_end+=($!)
check "a policy with long slices for lc starts" "$gpusched" policy start lcbe
"$gpusched" class set pid:$! be >/dev/null
"$gpusched" run --agent --class lc -- "$gsload" lc --hint --iterations-per-us "$iterations" --arrivals closed \
	--period-us 100 --kernel-us 5000 --warmup 0 --seconds 300 >/dev/null 2>&1 &
lc=$!
at_end+=($lc)
makes_none() { # the program gives hints, and its agent makes no pre-switch
	local before after
	before=$(told '[.hints, .pre_switches]')
	sleep 1.2
	after=$(told '[.hints, .pre_switches]')
	jq -en "$before as [\$h, \$p] | $after | .[0] > \$h and .[1] == \$p" >/dev/null
}
check "a program with more than half of the GPU makes no pre-switch" wait_for 30 makes_none
held_too_long() {
	[ "$("$gpusched" stats --json | jq .engine.held_too_long)" -ge 1 ]
}
check "a program with more than half lost its long slice" wait_for 10 held_too_long
check "the policy's long slice is set again once the log is calm" wait_for 20 eval '[ "$(sim_slice '$lc')" = 1000000 ]'
end_load $lc

# A program learns that the GPU is taken from it, from this daemon and from the next one.
waits() { # NAME: starts a program, and waits for its agent's first report
	"${as_user[@]}" "$gpusched" run --agent -- "$guest" wait <&7 >"$scratch/$1" 2>&1 &
	wait_pid=$!
	at_end+=($wait_pid)
	has_told $wait_pid
}
has_told() {
	wait_for 20 eval '"$gpusched" list pid:'"$1"' --json | grep -q "\"hints\": *0"'
}
said() { # NAME PID: ends it; the line that it prints then
	echo >&7
	wait_for 10 gone "$2"
	tail -n 1 "$scratch/$1"
}
waits set
"$gpusched" set pid:$wait_pid timeslice=300us >/dev/null
like "$(said set $wait_pid)" "^asked 0," "a new slice does not ask a program to give way"
waits preempted
"$gpusched" preempt pid:$wait_pid >/dev/null
is "$(said preempted $wait_pid)" "asked 1, gave way 0, asked 0" "a preemption asks a program to give way"
waits left
left=$wait_pid
stop_daemon
check "after the daemon's end a program goes on, and its agent answers" wait_for 10 mine_has $left
start_daemon
check "the agent reports to the next daemon, too" has_told $left
"$gpusched" suspend pid:$left >/dev/null
wait_for 10 eval '[ "$("$gpusched" list pid:$left --json | jq -s "flatten | map(select(.is.runnable == false)) | length")" -ge 1 ]'
"$gpusched" resume pid:$left >/dev/null
is "$(said left $left)" "asked 1, gave way 0, asked 0" "a suspension by the next daemon asks the program to give way"
stop_daemon
agent_end
done_testing
