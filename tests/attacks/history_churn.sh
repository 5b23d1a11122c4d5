#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 90
# needs: root bpf fuse
# A user starts very many short programs, more than the history has room for. Other users' programs stay in
# it, the user's own are added up, and no sum changes. The rows of 12,000 programs are copies of a real
# one's, since they would take minutes.
. "$(dirname "$0")/lib.sh"
enter_sim
config '[Daemon]
HistorySize = 1'
start_daemon || exit 1
short() { # COMMAND...: runs a short program, as whom COMMAND says
	"$@" "$gsload" be --count 200 --warmup 0 --seconds 0 $steady >/dev/null 2>&1
}
# beside another program the GPU switches, and its log has each turn
"$gsload" lc --seconds 0 --period-us 20000 $steady >/dev/null 2>&1 &
beside=$!
at_end+=("$beside")
wait_tsgs "pid:$beside" 4
short env
short setpriv --reuid 4711 --regid 4711 --clear-groups
short "${as_attacker[@]}"
rows() { # JQ FILTER of the history's rows by process
	"$gpusched" history --json --since 1d | jq -s "flatten | $1"
}
written() { [ "$(rows "map(select(.pid != null and .pid != $beside and .gpu_time_ms > 0)) | length")" -ge 3 ]; }
check "three users' programs and their time are in the history" wait_for 30 written
end_load "$beside"
stop_daemon

cat >"$scratch/copy.py" <<'END'
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
uid, n = int(sys.argv[2]), int(sys.argv[3])
row, = db.execute("SELECT id FROM process WHERE uid = ?", (uid,))
def copy(table, key, old, new, **other):
    names = [c[1] for c in db.execute(f"PRAGMA table_info({table})")]
    other[key] = new
    values = ", ".join(f":{c}" if c in other else c for c in names)
    return db.execute(f"INSERT INTO {table}({', '.join(names)}) SELECT {values} FROM {table} "
                      f"WHERE {key} = :old_key", dict(other, old_key=old))
process = row[0]
series = [r[0] for r in db.execute("SELECT id FROM series WHERE process = ?", (process,))]
for i in range(n):
    new = db.execute("SELECT max(id) + 1 FROM process").fetchone()[0]
    copy("process", "id", process, new, pid=100000 + i, start=1000 + i)
    for one in series:
        last = db.execute("SELECT max(id) + 1 FROM series").fetchone()[0]
        copy("series", "id", one, last, process=new)
        copy("point", "series", one, last)
db.commit()
END
history=$GPUSCHED_SIM/state/history.db
check "the user's programs are copied" /usr/bin/python3 "$scratch/copy.py" "$history" $attacker_uid 12000
start_daemon || exit 1
sum_of() { # UID
	"$gpusched" history --json --since 1d --by user | jq -s "flatten | map(select(.uid == $1)) | map(.gpu_time_ms) | add * 1000 | round"
}
before=$(sum_of $attacker_uid)
others=$(rows "map(select(.uid == 0 or .uid == 4711)) | length")
ge "$before" 12000 "the attacker's sum is of all its programs, in us"
# a record makes the daemon look at the file's size
short env
folded() { "$gpusched" stats --json | jq '.history.folded + .history.trimmed'; }
check "the file is made smaller" wait_for 60 eval '[ "$(folded)" -ge 5000 ]'
sleep 3
is "$("$gpusched" stats --json | jq .history.trimmed)" 0 "no program is dropped"
ge "$others" 2 "the others' programs were there"
ge "$(rows "map(select(.uid == 0 or .uid == 4711)) | length")" "$others" "the others' programs are still there"
is "$(sum_of $attacker_uid)" "$before" "the attacker's sum is the same"
own_turn "many short programs"
stop_daemon
done_testing
