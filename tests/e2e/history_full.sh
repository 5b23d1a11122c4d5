#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 90
# needs: root bpf fuse
# The history's disk is full when the daemon starts: the daemon keeps the rows in memory, and writes
# them within 10 s once there is room. A history file without its tables is begun anew.
. "$(dirname "$0")/lib.sh"
enter_sim
disk=$GPUSCHED_SIM/state
mkdir -p "$disk"
mount -t tmpfs -o size=1m,mode=700 none "$disk"
head -c 2000000 /dev/zero >"$disk/fill" 2>/dev/null
history_counter() {
	"$gpusched" stats --json | jq ".history.$1"
}
writes() {
	[ "$(history_counter written)" -gt 0 ]
}
start_daemon || not_ok "a daemon starts beside a full disk"
load be --seconds 600
check "a program runs" wait_tsgs "pid:$LOAD_PID" 4
check "root sets its slice" "$gpusched" set "pid:$LOAD_PID" timeslice=300us
exits 3 "history says that the disk is full" "$gpusched" history
like "$out" "full" "the error has the reason"
rm "$disk/fill"
check "rows are written within 10 s once there is room" wait_for 10 writes
is "$(history_counter lost)" 0 "no row is lost"
like "$("$gpusched" history --changes)" "300" "the history has the change that was made before"
stop_daemon
python3 - "$disk/history.db" <<'X'
import sqlite3, sys
c = sqlite3.connect(sys.argv[1])
for t in "point", "series", "event", "process":
    c.execute("DROP TABLE " + t)
c.commit()
X
start_daemon || not_ok "a daemon starts again"
check "a history without its tables is put aside" wait_for 10 test -e "$disk/history.db.damaged"
check "root sets its slice again" "$gpusched" set "pid:$LOAD_PID" timeslice=400us
check "the new history has that change" wait_for 10 eval '"$gpusched" history --changes | grep -q 400'
stop_daemon
umount "$disk"
done_testing
