#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 120
# needs: root bpf fuse
# Eight users ask for as many agents' pages as they can get. A ninth user must still get one.
. "$(dirname "$0")/lib.sh"
enter_sim
start_daemon || exit 1
chmod 711 "$scratch"
cat >"$scratch/asks.py" <<'EOT'
import os, socket, sys, time
uid, n = int(sys.argv[1]), int(sys.argv[2])
os.setgroups([]); os.setgid(uid); os.setuid(uid)
got = 0
for i in range(n):
    r, w = os.pipe()
    if os.fork() == 0:
        s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        s.settimeout(5)
        try:
            s.connect(os.environ["GPUSCHED_SIM"] + "/run/agents")
            os.write(w, b"1" if s.recvmsg(16, 64)[1] else b"0")
        except OSError:
            os.write(w, b"0")
        time.sleep(100)
    got += os.read(r, 1) == b"1"
    os.close(r); os.close(w)
print("pages", got, flush=True)
time.sleep(100)
EOT
asks() { # UID N: asks for N pages as that user; sets $PAGES to the number it got
	setsid /usr/bin/python3 "$scratch/asks.py" "$1" "$2" >"$scratch/asks.$1" 2>&1 &
	groups+=($!)
	wait_for 60 grep -q pages "$scratch/asks.$1" || not_ok "user $1 asks" "$(cat "$scratch/asks.$1")"
	PAGES=$(awk '{ print $2 }' "$scratch/asks.$1")
}
groups=()
trap 'kill -9 -- "${groups[@]/#/-}" 2>/dev/null' TERM INT
asks 60001 140
le "$PAGES" 128 "the first has no more than half"
ge "$PAGES" 100 "most of the pages are there"
asks 60002 80
le "$PAGES" 70 "the second no more than half of what is left"
for uid in 60003 60004 60005 60006 60007 60008; do
	asks $uid 40
done
asks 61000 1
ge "$("$gpusched" stats --json | jq .service.agents_left)" 1 "what was not given is counted"
is "$PAGES" 1 "another user's agent gets a page"
kill -9 -- "${groups[@]/#/-}" 2>/dev/null
done_testing
