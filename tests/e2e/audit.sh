#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 120
# needs: root bpf fuse
# Who did what: in the journal (a stand-in for journald's socket) and in the log, within limits.
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
entries() { # FILTER: of each entry that has a verb
	jq -rc "select(.GPUSCHED_VERB) | $1" "$scratch/journal"
}
entered() { # FILTER NUMBER: so many entries for which it is true
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
check "a setting without a daemon" "$gpusched" set pid:$be timeslice=300us
check "is an entry" entered '.GPUSCHED_VERB == "set"' 1
is "$(entries '[.GPUSCHED_UID, .GPUSCHED_TARGET, .GPUSCHED_ARGS, .GPUSCHED_RESULT]')" \
	"[\"0\",\"pid:$be\",\"{\\\"timeslice_us\\\":300}\",\"done\"]" "the entry has who, what, to whom and how it went"
check "restore without a daemon" "$gpusched" restore
check "is an entry too" entered '.GPUSCHED_VERB == "restore"' 1

# ---- through the daemon: who asked it
start_daemon || not_ok "a daemon starts"
wait_tsgs pid:$user 4
"$gpusched" suspend pid:$be --for 30s >/dev/null
check "the daemon notes a suspension" entered '.GPUSCHED_VERB == "suspend" and .GPUSCHED_RESULT == "done"' 1
like "$(entries 'select(.GPUSCHED_VERB == "suspend") | .GPUSCHED_PID')" '^[0-9]+$' "the note has the process that asked"
wait_for 5 grep -q suspend "$scratch/daemon.log"
like "$(grep suspend "$scratch/daemon.log")" "uid 0, process [0-9]+: suspend pid:$be .*: done" "its log has the same line"
as 4711 "$gpusched" class set pid:$user be >/dev/null
check "a user's change of class" entered '.GPUSCHED_VERB == "class_set" and .GPUSCHED_UID == "4711" and .GPUSCHED_RESULT == "done"' 1
as 4711 "$gpusched" set pid:$be timeslice=300us >/dev/null 2>&1
check "a refusal, with its reason" entered '.GPUSCHED_UID == "4711" and (.GPUSCHED_RESULT | test("only root"))' 1
"$gpusched" policy start lcbe >/dev/null
check "a policy's start" entered '.GPUSCHED_VERB == "policy_start" and .GPUSCHED_TARGET == "lcbe" and .GPUSCHED_RESULT == "done"' 1
"$gpusched" list >/dev/null
is "$(entries 'select(.GPUSCHED_VERB == "list") | 1')" "" "who only looks is not noted"
"$gpusched" suspend $'comm:a\n\033b' >/dev/null 2>&1
check "what would move a terminal's cursor is masked" entered '.GPUSCHED_TARGET == "comm:a??b"' 1

# ---- one user's entries have a limit, root's do not
for i in $(seq 15); do
	as 4712 "$gpusched" set pid:$be timeslice=400us >/dev/null 2>&1
	"$gpusched" set pid:$be timeslice=40${i}us >/dev/null
done
check "root's are all there" entered '.GPUSCHED_UID == "0" and (.GPUSCHED_ARGS | test(":40"))' 15
is "$(entries 'select(.GPUSCHED_UID == "4712") | 1' | wc -l)" 10 "a user's are 10 a minute"
is "$("$gpusched" stats --json | jq .service.audit_left)" 5 "the rest is counted"
done_testing
