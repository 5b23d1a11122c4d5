#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 120
# needs: root bpf fuse
# Each control is noted in the journal (here a stand-in for journald's socket) and in the log,
# within limits.
. "$(dirname "$0")/lib.sh"
enter_sim
chmod 755 "$scratch"
mount -t tmpfs run /run
mkdir -p /run/systemd/journal
python3 - "$scratch/journal" <<'PY' &
import json, os, socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind("/run/systemd/journal/socket")
os.chmod("/run/systemd/journal/socket", 0o666)
with open(sys.argv[1], "a", buffering=1) as out:
    while True:
        lines = s.recv(65536).decode().splitlines()
        out.write(json.dumps(dict(l.split("=", 1) for l in lines if "=" in l)) + "\n")
PY
at_end+=($!)
wait_for 5 test -S /run/systemd/journal/socket
entries() { # FILTER: applies the filter to each entry that has a verb
	jq -rc "select(.GPUSCHED_VERB) | $1" "$scratch/journal"
}
entered() { # FILTER NUMBER: waits until that many entries match
	wait_for 10 entries_are "$@"
}
entries_are() {
	[ "$(entries "select($1) | 1" | wc -l)" = "$2" ]
}

load be --seconds 600
be=$LOAD_PID
setpriv --reuid 4711 --regid 4711 --clear-groups "$gsload" be --seconds 600 >"$scratch/user.out" 2>&1 &
user=$!
at_end+=($user)

# ---- without a daemon, the command itself notes root's verbs
wait_for 10 eval "[ \"\$(sim_tsgs $be)\" -ge 4 ]"
check "set works without a daemon" "$gpusched" set pid:$be timeslice=300us
check "a set without a daemon is noted" entered '.GPUSCHED_VERB == "set"' 1
is "$(entries '[.GPUSCHED_UID, .GPUSCHED_TARGET, .GPUSCHED_ARGS, .GPUSCHED_RESULT]')" \
	"[\"0\",\"pid:$be\",\"{\\\"timeslice_us\\\":300}\",\"done\"]" "the entry has who, what, to whom and how it went"
check "restore works without a daemon" "$gpusched" restore
check "a restore without a daemon is noted, too" entered '.GPUSCHED_VERB == "restore"' 1

# ---- through the daemon: the note has the client
start_daemon || not_ok "a daemon starts"
wait_tsgs pid:$user 4
"$gpusched" suspend pid:$be --for 30s >/dev/null
check "the daemon notes a suspension" entered '.GPUSCHED_VERB == "suspend" and .GPUSCHED_RESULT == "done"' 1
like "$(entries 'select(.GPUSCHED_VERB == "suspend") | .GPUSCHED_PID')" '^[0-9]+$' "the note has the process that asked"
wait_for 5 grep -q suspend "$scratch/daemon.log"
like "$(grep suspend "$scratch/daemon.log")" "uid 0, process [0-9]+: suspend pid:$be .*: done" "the daemon's log has the same line"
as 4711 "$gpusched" class set pid:$user be >/dev/null
check "a user's change of class is noted" entered '.GPUSCHED_VERB == "class_set" and .GPUSCHED_UID == "4711" and .GPUSCHED_RESULT == "done"' 1
as 4711 "$gpusched" set pid:$be timeslice=300us >/dev/null 2>&1
check "a refusal is noted with its reason" entered '.GPUSCHED_UID == "4711" and (.GPUSCHED_RESULT | test("only root"))' 1
"$gpusched" policy start lcbe >/dev/null
check "a policy's start is noted" entered '.GPUSCHED_VERB == "policy_start" and .GPUSCHED_TARGET == "lcbe" and .GPUSCHED_RESULT == "done"' 1
"$gpusched" list >/dev/null
is "$(entries 'select(.GPUSCHED_VERB == "list") | 1')" "" "a verb that only reads is not noted"
"$gpusched" suspend $'comm:a\n\033b' >/dev/null 2>&1
check "control characters are masked in the note" entered '.GPUSCHED_TARGET == "comm:a??b"' 1

# ---- one user's entries have a limit, root's do not
for i in $(seq 15); do
	as 4712 "$gpusched" set pid:$be timeslice=400us >/dev/null 2>&1
	"$gpusched" set pid:$be timeslice=40${i}us >/dev/null
done
check "all of root's controls are noted" entered '.GPUSCHED_UID == "0" and (.GPUSCHED_ARGS | test(":40"))' 15
is "$(entries 'select(.GPUSCHED_UID == "4712") | 1' | wc -l)" 10 "10 of a user's controls are noted in a minute"
is "$("$gpusched" stats --json | jq .service.audit_left)" 5 "the controls that are not noted are counted"
done_testing
