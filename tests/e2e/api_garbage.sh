#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 240
# needs: root bpf fuse
# asan: yes
# Garbage on the daemon's socket: no byte sequence ends it, makes it grow, or changes a TSG.
. "$(dirname "$0")/lib.sh"
enter_sim
api=$GPUSCHED_SIM/run/api
start_daemon || not_ok "a daemon starts"
load be --seconds 600
be=$LOAD_PID
check "a program is listed" wait_tsgs pid:$be 4
wait_for 5 slice_is $be 2048
fds=$(fds_of "$DAEMON_PID")

cat >"$scratch/garbage.py" <<'PY'
import json, os, random, socket, sys
api, kind, rounds, seed = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
rnd = random.Random(seed)
verbs = ["list", "set", "suspend", "resume", "preempt", "class_set", "class_get", "class_clear", "class_list",
         "class_explain", "policy_get", "policy_list", "policy_start", "stats", "ping",
         "observe_status", "watch", "nothing", "", "../list", "list" * 500]
keys = ["target", "timeslice_us", "interleave", "preempt_mode", "clear", "for_us", "class", "weight", "name",
        "options", "policy", "", "\u0000", "x" * 300]

def value(depth=0):
    k = rnd.randrange(12)
    if k < 3: return rnd.choice(["", "all", "pid:", "pid:-1", "pid:99999999999999999999", "tsg:0", "comm:" + "a" * 400,
                                 "class:be", "gpu:77", "cgroup:/../..", "be", "../../etc/passwd", "\u20ac" * 90])
    if k < 6: return rnd.choice([0, 1, -1, 2**31, 2**53, -2**63, 2**63 - 1, 100000001])
    if k == 6: return rnd.choice([1e308, -0.5, 1.5])
    if k == 7: return rnd.choice([None, True, False])
    if k == 8 and depth < 4: return [value(depth + 1) for _ in range(rnd.randrange(5))]
    if k == 9 and depth < 4: return {rnd.choice(keys): value(depth + 1) for _ in range(rnd.randrange(4))}
    return "".join(chr(rnd.randrange(1, 0x250)) for _ in range(rnd.randrange(40)))

def body():
    k = rnd.randrange(6)
    if k == 0: return os.urandom(rnd.randrange(200))
    if k == 1: return b"[" * rnd.randrange(1, 60000)
    if k == 2: return json.dumps(value()).encode()
    # No request may succeed: its target is never a program that runs.
    o = {rnd.choice(keys): value() for _ in range(rnd.randrange(6))}
    o["target"] = rnd.choice(["pid:999999", "pid:x", 5, None, ["all"], {"a": "all"}, "comm:nobody"])
    return json.dumps(o).encode()

def request():
    if kind == "bytes":
        k = rnd.randrange(5)
        if k == 0: return os.urandom(rnd.randrange(1, 3000))
        if k == 1: return b"POST /v1/list HTTP/1.1\r\n" + b"X: " + b"y" * rnd.randrange(40000) + b"\r\n\r\n"
        if k == 2: return b"GET " + bytes(rnd.randrange(33, 256) for _ in range(rnd.randrange(9000))) + b" HTTP/1.1\r\n\r\n"
        if k == 3: return b"POST /v1/list HTTP/1.1\r\nHost: g\r\nContent-Length: " + \
            rnd.choice([b"-1", b"99999999999999999999", b"0x10", b"3", b"70000"]) + b"\r\n\r\n{}"
        return b"POST /v1/list HTTP/1.1\r\nHost: g\r\nTransfer-Encoding: chunked\r\n\r\n" + \
            rnd.choice([b"ffffffffffffffff\r\n", b"-1\r\n{}", b"2\r\n{}\r\n0\r\n\r\n", b"zz\r\n", b"1\r\n{"])
    b = body()
    return b"POST /v1/" + rnd.choice(verbs).encode() + b" HTTP/1.1\r\nHost: g\r\nConnection: close\r\nContent-Length: " + \
        str(len(b)).encode() + b"\r\n\r\n" + b

bad = 0
for i in range(rounds):
    s = socket.socket(socket.AF_UNIX)
    s.settimeout(5)
    try:
        s.connect(api)
        s.sendall(request())
        if kind == "bytes" or rnd.randrange(4) == 0:
            s.shutdown(socket.SHUT_WR)
        got = b""
        while kind != "bytes":
            part = s.recv(65536)
            if not part: break
            got += part
            if len(got) > 1 << 22: break
        if kind != "bytes" and got and not got.startswith(b"HTTP/1.1 "):
            bad += 1
        if got.startswith(b"HTTP/1.1 500"):
            bad += 1
            print(got[-300:])
    except socket.timeout:
        bad += 1
        print("no answer")
    except OSError:
        pass
    s.close()
print("bad", bad)
PY
for seed in 1 2; do
	for kind in bytes json; do
		out=$(timeout 40 python3 "$scratch/garbage.py" "$api" $kind 700 $seed)
		is "$(tail -1 <<<"$out")" "bad 0" "700 hostile requests ($kind, seed $seed) get an answer or an end, and no status 500" || diag "$(head -3 <<<"$out")"
		check "the daemon answers" daemon_ready
	done
done
is "$(sim_slice $be) $(sim_disabled $be)" "2048 0" "no TSG was changed"
check "no connection stays open" wait_for 20 eval "[ \$(fds_of $DAEMON_PID) -le $((fds + 4)) ]"
limit=65536
ldd "$gpuschedd" | grep -q libasan && limit=1048576
le "$(rss_kb_of "$DAEMON_PID")" $limit "the daemon's memory stays small, KiB"
is "$("$gpusched" policy get --json | jq -r '.running.name // "none"')" none "no policy was started"
stop_daemon
done_testing
