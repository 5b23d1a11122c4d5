#!/bin/bash
# SPDX-License-Identifier: MIT
# quick: yes
# timeout: 180
# needs: root bpf fuse
# asan: yes
# The daemon's life: its start, refused starts, orderly and sudden ends, and clients that misbehave.
. "$(dirname "$0")/lib.sh"
enter_sim
api=$GPUSCHED_SIM/run/api
ask() { # VERB [BODY]
	curl -s --max-time 5 --unix-socket "$api" -d "${2:-{\}}" "http://gpusched/v1/$1"
}
code_of() { # CURL ARGUMENTS...
	curl -s -o /dev/null -w '%{http_code}' --max-time 5 --unix-socket "$api" "$@"
}

# ---- configuration
config 'Nonsense=1'
exits 1 "--check-config refuses a broken configuration" "$gpuschedd" --check-config
like "$out" "gpusched.conf:1: unknown key 'Nonsense'" "the error has file and line"
is "$(wc -l <<<"$out")" 1 "the error is one line"
config '[Policy]
Policy=there_is_no_such_policy'
exits 1 "--check-config refuses a policy that does not exist" "$gpuschedd" --check-config
like "$out" "Policy=there_is_no_such_policy: " "--check-config names the missing policy"
exits 1 "the daemon does not start with a policy that does not exist" "$gpuschedd" --foreground
like "$out" there_is_no_such_policy "the error names that policy"
config '[Policy]
Policy=lcbe
PolicyOption=there_is_no_such_option=1'
exits 1 "--check-config refuses an option that the policy lacks" "$gpuschedd" --check-config
like "$out" "lcbe has no option 'there_is_no_such_option'" "--check-config names the option"
config '[Policy]
Policy=lcbe'
exits 0 "--check-config accepts a good configuration" "$gpuschedd" --check-config
exits 2 "an unknown option is bad usage" "$gpuschedd" --nonsense
exits 0 "--help succeeds" "$gpuschedd" --help
exits 0 "--version succeeds" "$gpuschedd" --version
exits 0 "--help-config succeeds" "$gpuschedd" --help-config
like "$out" "SwitchCost=auto" "--help-config has a key with its default"
few() { (ulimit -n 64 && exec timeout 20 "$gpuschedd" --foreground); }
exits 1 "the daemon does not start with 64 descriptors" few
like "$out" "only 64 descriptors are allowed .LimitNOFILE=, ulimit -Hn.: at least 128" "the error names the limit and what is needed"
is "$(wc -l <<<"$out")" 1 "the error about descriptors is one line"
check "no daemon listens after these calls" test ! -S "$api"

# ---- start, a second daemon, orderly end
config '[Policy]
Policy=lcbe
[Classes]
Rule=comm=gsload -> be'
load be --seconds 600
be=$LOAD_PID
wait_for 10 eval "[ \"\$(sim_tsgs $be)\" -ge 4 ]"
start_daemon && ok "the daemon starts" || not_ok "the daemon starts"
check "the daemon adopts the programs that run already" wait_tsgs pid:$be 4
check "an adopted program has the policy's slice" wait_for 5 eval "[ \"\$(sim_slice $be)\" -lt 1000 ]"
exits 1 "a second daemon is refused" "$gpuschedd" --foreground
like "$out" "pid $DAEMON_PID" "the refusal has the pid of the first"
is "$(ask ping | jq .pid)" "$DAEMON_PID" "the first daemon goes on"
is "$(policy_now)" lcbe "its policy goes on, too"
stop_daemon
check "the RM has the owner's slice again" slice_is $be 2048
check "the socket is gone" test ! -e "$api"

# ---- a command while a daemon starts: the daemon has the lock and does not listen yet
"$gpuschedd" --foreground >>"$scratch/daemon.log" 2>&1 &
DAEMON_PID=$!
wait_for 10 grep -qx "$DAEMON_PID" "$GPUSCHED_SIM/run/lock"
exits 0 "a command waits for the daemon that starts" "$gpusched" run --class be -- true
check "the daemon answers the command" daemon_ready

# ---- a person's setting is cleared while a policy wants another slice
exits 0 "set succeeds while a policy runs" "$gpusched" set pid:$be timeslice=300us
check "the RM has the person's slice" slice_is $be 300
exits 0 "set clear succeeds while a policy runs" "$gpusched" set pid:$be clear
like "$out" "4 of 4" "set clear succeeded on every TSG"
check "the slice is the policy's again" wait_for 5 eval "[ \"\$(sim_slice $be)\" -lt 100 ]"
stop_daemon

# ---- a dry run decides and does nothing
start_daemon --dry-run
check "a dry run counts what it would have done" wait_for 10 eval '[ "$("$gpusched" stats --json | jq .engine.dry_run)" -ge 1 ]'
is "$(sim_slice $be)" 2048 "a dry run leaves the slice"
out=$("$gpusched" set pid:$be timeslice=300us --json 2>"$scratch/said")
is "$(sim_slice $be)" 2048 "in a dry run set leaves the slice, too"
is "$(jq -c '[.changed, .failed, .dry_run, (.results | map(.done) | any)]' <<<"$out")" '[0,0,true,false]' \
	"in a dry run set's answer counts nothing as done"
like "$(cat "$scratch/said")" "DryRun=yes: nothing is done to any TSG" "set says that this is a dry run"
for words in "suspend pid:$be" "resume pid:$be" "preempt pid:$be" "class set pid:$be be" "policy start none" restore; do
	# shellcheck disable=SC2086
	like "$("$gpusched" $words 2>&1)" "DryRun=yes: nothing is done" "gpusched $words says that this is a dry run"
done
like "$("$gpusched" set pid:$be timeslice=300us 2>/dev/null)" "^set: 0 of [0-9]+ TSGs" "set counts nothing as done"
like "$("$gpusched" list)" "DryRun=yes: nothing is done" "list says that this is a dry run"
like "$(status_lines)" "note: DryRun=yes: nothing is done" "status says that this is a dry run"
like "$(grep "set pid:$be" "$scratch/daemon.log" | tail -1)" ": nothing is done to any TSG: DryRun=yes$" "the log says that nothing was done"
like "$("$gpusched" history --changes --json | jq -r 'select(.what == "set") | .result' | tail -1)" "^nothing is done" \
	"the history says that nothing was done"
stop_daemon
is "$("$gpusched" list pid:$be --json | jq -s 'flatten | map(select(.manual.timeslice_us != null)) | length')" 0 "the dry run leaves no setting in the table"

# ---- a sudden end
start_daemon
check "the policy's slice is in force again" wait_for 5 eval "[ \"\$(sim_slice $be)\" -lt 1000 ]"
kill_daemon
check "after SIGKILL the slice is back within a second" wait_for 2 slice_is $be 2048
start_daemon && ok "the next daemon starts over what is left" || not_ok "the next daemon starts"
check "the slice of the next daemon's policy is in force" wait_for 5 eval "[ \"\$(sim_slice $be)\" -lt 1000 ]"

# ---- a guardian that dies first is replaced
sleep 1.2
kill -9 "$(pgrep -P "$DAEMON_PID" -x gpusched-guard)"
check "a guardian that was killed is replaced" wait_for 5 grep -q "another one took its place" "$scratch/daemon.log"
kill_daemon
check "the new guardian restores" wait_for 2 slice_is $be 2048
start_daemon && ok "the daemon starts again" || not_ok "the daemon starts again"

# ---- bad clients
is "$(ask list junk | jq .code)" -22 "a body that is not JSON gets EINVAL"
is "$(ask list '{"target":1}' | jq .code)" -22 "a target that is a number gets EINVAL"
is "$(code_of -d '{}' http://gpusched/v1/nonsense)" 404 "an unknown verb gets status 404"
is "$(code_of http://gpusched/v1/list)" 405 "GET of a verb gets status 405"
is "$(code_of -X PUT http://gpusched/v1/list)" 405 "PUT gets status 405"
head -c 200000 /dev/zero | tr '\0' ' ' >"$scratch/big"
is "$(code_of -H Expect: --data-binary @"$scratch/big" http://gpusched/v1/list)" 413 "a body that is too long gets status 413"
is "$(curl -s --max-time 5 --unix-socket "$api" http://gpusched/metrics | tail -1)" "# EOF" "metrics end with # EOF"
like "$(curl -s --max-time 5 --unix-socket "$api" http://gpusched/metrics)" 'gpusched_tsgs\{gpu="0".*class="be",kind="compute"\} 1' "metrics count TSGs by class"

cpu_ticks() {
	awk '{ print $14 + $15 }' "/proc/$DAEMON_PID/stat"
}
fds=$(fds_of "$DAEMON_PID")
ticks=$(cpu_ticks)
python3 - "$api" <<'PY' &
import socket, sys, time
held = []
for i in range(300):
    s = socket.socket(socket.AF_UNIX)
    s.settimeout(1)
    try:
        s.connect(sys.argv[1])
        s.send(b"POST /v1/list HTTP/1.1\r\nContent-Length: 100\r\n\r\n{"[: 10 + i % 40])
        held.append(s)
    except OSError:
        pass
time.sleep(3)
PY
silent=$!
at_end+=($silent)
sleep 1
le "$(($(cpu_ticks) - ticks))" 50 "silent connections cost little CPU time"
wait $silent
check "the daemon answers after 300 silent connections" wait_for 15 eval '[ "$(ask ping | jq .pid)" = "$DAEMON_PID" ]'
check "the daemon holds no descriptor of silent connections" wait_for 15 eval "[ \$(fds_of $DAEMON_PID) -le $((fds + 4)) ]"

# A client that watches and never reads is dropped, and delays no other client.
python3 - "$api" <<'PY' &
import socket, sys, time
s = socket.socket(socket.AF_UNIX)
s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
s.connect(sys.argv[1])
s.send(b"GET /v1/watch HTTP/1.1\r\nHost: g\r\n\r\n")
time.sleep(40)
PY
slow=$!
at_end+=($slow)
curl -sN --max-time 40 --unix-socket "$api" http://gpusched/v1/watch >"$scratch/watch" &
watch=$!
at_end+=($watch)
check "two clients watch" wait_for 10 watchers 2
for i in $(seq 60); do
	ask set "{\"target\":\"pid:$be\",\"timeslice_us\":$((300 + i % 2))}" >/dev/null
done
check "a client that reads sees every call" wait_for 10 eval '[ "$(grep -c "\"event\":\"call\"" "$scratch/watch")" -ge 60 ]'
kill $watch
wait $watch
is "$(head -n "$(wc -l <"$scratch/watch")" "$scratch/watch" | jq -s 'map(select(type != "object")) | length')" 0 "each line of events is an object"
is "$(ask ping | jq .pid)" "$DAEMON_PID" "the daemon answers while a client does not read"
like "$(curl -s --max-time 5 --unix-socket "$api" http://gpusched/metrics)" "gpusched_watchers [12]"$'\n' "metrics count the clients that watch"
kill $slow 2>/dev/null
"$gpusched" set pid:$be clear >/dev/null 2>&1

# More clients than the daemon takes, and all of them go while it is stopped. It must then listen
# again by itself, since no event of these clients will wake it.
fds=$(fds_of "$DAEMON_PID")
python3 - "$api" "$scratch/full" <<'PY' &
import socket, sys, time
held = []
for i in range(300):
    s = socket.socket(socket.AF_UNIX)
    s.connect(sys.argv[1])
    held.append(s)
open(sys.argv[2], "w").close()
time.sleep(60)
PY
crowd=$!
at_end+=($crowd)
check "the daemon takes 256 connections" wait_for 8 eval "[ -e $scratch/full ] && [ \$(fds_of $DAEMON_PID) -ge $((fds + 250)) ]"
kill -STOP "$DAEMON_PID"
kill -9 $crowd
wait $crowd 2>/dev/null
kill -CONT "$DAEMON_PID"
check "the daemon closes these connections" wait_for 5 eval "[ \$(fds_of $DAEMON_PID) -le $((fds + 4)) ]"
is "$(ask ping | jq .pid)" "$DAEMON_PID" "then the daemon answers the next client"
stop_daemon
check "after the daemon's end the slice is the owner's" slice_is $be 2048
done_testing
