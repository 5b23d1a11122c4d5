#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 120
# needs: root bpf fuse
# A user registers another of the user's processes as a client of a pool. That claim must not keep
# root from giving the process a class. If another user's process gets the client's pid later, and
# /proc hides it, the claim must show nothing of it.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/helper/pool_lib.sh"
enter_sim
pool_programs
config '[Policy]
Policy = lcbe
[Classes]
Rule = uid=65534 -> be'
mount -t proc -o hidepid=2 proc /proc
start_daemon || not_ok "a daemon starts"
"${as_attacker[@]}" /opt/gsload be --seconds 0 --warmup 0 $steady >"$scratch/be" 2>&1 &
be=$!
at_end+=($be)
check "a user's BE has the policy's slice" wait_for 30 slice_is $be 1
users_pool

# ---- root's class
told=$(pool_set "\"clients\":[\"$be\"]")
like "$told" "batch" "its user calls the BE a client of the pool"
exits 0 "root's class for it is not refused" "$gpusched" class set pid:$be normal
check "root's class holds" wait_for 5 eval '[ "$(list_json pid:'$be' "[.[] | .class] | unique | join(\" \")")" = normal ]'
exits 3 "the user's class for it is refused" "${as_attacker[@]}" gpusched class set pid:$be be

# ---- another process with a client's pid
cat >"$scratch/reused.py" <<'PY'
import ctypes, json, os, signal, struct, sys, time
api, server = sys.argv[1], int(sys.argv[2])
def ask(verb, args):
    return os.popen("setpriv --reuid 65534 --regid 65534 --clear-groups curl -s --unix-socket %s -d '%s' "
                    "http://g/v1/%s" % (api, json.dumps(args), verb)).read()
def clients():
    tsgs = json.loads(ask("list", {"target": "uid:65534"}))["tsgs"]
    return [c for t in tsgs if t.get("pool") for c in t["pool"]["clients"]]
pid = os.fork()
if not pid:
    os.setuid(65534)
    time.sleep(60)
    os._exit(0)
time.sleep(0.3)
ask("pool_set", {"server": server, "name": "x", "class": "be", "clients": [str(pid)]})
print("before", pid in [c["pid"] for c in clients()])
os.kill(pid, 9)
os.waitpid(pid, 0)
number = (ctypes.c_int * 1)(pid)
args = struct.pack("11Q", 0, 0, 0, 0, signal.SIGCHLD, 0, 0, 0, ctypes.addressof(number), 1, 0)
other = ctypes.CDLL(None).syscall(435, args, len(args))  # clone3: with that pid
if not other:
    open("/proc/self/comm", "w").write("root-secret")
    time.sleep(60)
    os._exit(0)
time.sleep(1.5)  # what was read of the client is forgotten
print("same pid", other == pid)
print("after", [c["comm"] for c in clients() if c["pid"] == pid])
os.kill(other, 9)
PY
is "$(/usr/bin/python3 "$scratch/reused.py" "$GPUSCHED_SIM/run/api" "$SERVER" 2>&1)" "before True
same pid True
after []" "another user's process with a client's pid is not shown"
end_pool
done_testing
