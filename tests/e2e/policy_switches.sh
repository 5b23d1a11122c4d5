#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 480
# needs: root bpf fuse
# 40 switches of the policy (SWITCHES) through the API while programs launch, come and go. No TSG
# is lost, and nothing is left behind. After each switch the new policy's wishes are in force, and
# the old one's are gone; each exit record is right. A person has launches counted all the time, and
# the counts are exact. Policies with work_submit see each launch once while they run.
. "$(dirname "$0")/lib.sh"
enter_sim
exec 2>"$scratch/stderr"
switches=${SWITCHES:-40}

config '[Classes]
Rule = comm=gsload -> be'
trusting
start_daemon || exit 1
check "launches are counted" "$gpusched" observe launches on
"$gpusched" policy build "$top/tests/policy/every.bpf.c" -O "$scratch/every.bpf.o" >/dev/null
launches="be --seconds 0 --kernel-us 2000 --in-flight 2 --iterations-per-us 27.78 --linger 60"
"$gsload" $launches >"$scratch/a.out" 2>&1 &
a=$!
"$gsload" $launches --kernels 3 --graph >"$scratch/b.out" 2>&1 &
b=$!
at_end+=($a $b)
check "two programs work" wait_for 20 eval '[ "$(sim_work $a)" -gt 3 ] && [ "$(sim_work $b)" -gt 3 ]'
ids=$(list_json all 'map(.id) | sort | tostring')

# Programs that come and go meanwhile.
come_and_go() {
	local n=0 bad=0
	trap 'echo "$n $bad"; exit' TERM
	while :; do
		timeout 20 "$gsload" be --seconds 0 --warmup 0 --count 3 --iterations-per-us 27.78 >/dev/null ||
			bad=$((bad + 1))
		n=$((n + 1))
		sleep 1
	done
}
come_and_go >"$scratch/came" &
comers=$!
at_end+=("$comers")

cat >"$scratch/switch.py" <<'PY'
import http.client, json, socket, sys, time

class Unix(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("gpusched")
        self.path = path
    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(self.path)

api = Unix(sys.argv[1])
def ask(verb, **args):
    api.request("POST", "/v1/" + verb, json.dumps(args))
    answer = json.load(api.getresponse())
    if "error" in answer:
        raise SystemExit("%s: %s" % (verb, answer["error"]))
    return answer

pid, count, every = int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
fixed = ["slice_us=503", "min_slice_us=503", "max_slice_us=503", "turns=0"]  # whoever works beside it
kinds = [("lcbe", ["be_slice_us=301", "be_slice_multi_us=301"], 301), ("rr", [], None), ("none", [], 0),
         (every, ["slice_us=705"], 705), ("lcbe", ["be_slice_us=402", "be_slice_multi_us=402"], 402), ("fair", fixed, 503),
         ("admit", ["max_be=100", "be_slice_us=604"], None), ("none", [], 0), (every, ["slice_us=706"], 706)]
wrong_wish = wrong_exit = wrong_name = 0
previous = ask("policy_get")["running"]["name"]
begin = time.time()
for i in range(count):
    name, options, wish = kinds[i % len(kinds)]
    ask("policy_start", name=name, options=options)
    state = ask("policy_get")
    running = state["running"]
    wrong_name += not running or running["path" if "/" in name else "name"] != name
    gone = state["last_exit"]
    wrong_exit += gone["policy"] != previous or gone["kind"] != "switched"
    previous = running["name"] if running else None
    if wish is None:
        continue
    mine = [t for t in ask("list", target="pid:%d" % pid)["tsgs"] if t["kind"] == "compute"][0]
    if mine["want"]["timeslice_us"] != (wish or None) or mine["want"]["runnable"] is not None:
        wrong_wish += 1
        print(name, wish, mine["want"], mine["is"], file=sys.stderr)
print(json.dumps({"wrong_wish": wrong_wish, "wrong_exit": wrong_exit, "wrong_name": wrong_name,
                  "ms": 1000 * (time.time() - begin) / count}))
PY

check "a policy starts" "$gpusched" policy start none
python3 "$scratch/switch.py" "$GPUSCHED_SIM/run/api" "$a" 10 "$scratch/every.bpf.o" >"$scratch/first.json" ||
	not_ok "ten switches" "$(cat "$scratch/stderr")"
fds=$(fds_of $DAEMON_PID) work=$(sim_work $a)
python3 "$scratch/switch.py" "$GPUSCHED_SIM/run/api" "$a" "$switches" "$scratch/every.bpf.o" >"$scratch/switched.json" ||
	not_ok "$switches switches" "$(cat "$scratch/stderr")"
diag "$(cat "$scratch/switched.json" "$scratch/stderr")"
is "$(jq .wrong_name "$scratch/switched.json")" 0 "after each of $switches switches the new policy runs"
is "$(jq .wrong_wish "$scratch/switched.json")" 0 "after each switch only the new policy's wish is in force"
is "$(jq .wrong_exit "$scratch/switched.json")" 0 "after each switch the old policy has its exit record"
kill $comers
wait $comers
read -r came failed <"$scratch/came"
ge "$came" $((switches / 20)) "programs came and went meanwhile"
is "$failed" 0 "no program that came failed"
ge "$(sim_work $a)" $((work + switches / 10)) "the programs went on working"

# own FILE: the program's own count of launches; counted PID: gpusched's count
own() {
	wait_for 10 grep -q graph_launches "$1"
	jq .launches "$1"
}
counted() {
	list_json "pid:$1" 'map(.launches) | max'
}
"$gpusched" policy start none >/dev/null
kill -INT $a $b # the programs end their load, and keep their contexts
is "$(own "$scratch/a.out")" "$(counted $a)" "the program's launches are counted exactly"
is "$(own "$scratch/b.out")" "$(counted $b)" "launches of graphs are counted exactly"
ge "$(jq -s 'map(.launches) | add' "$scratch/a.out" "$scratch/b.out")" $((switches * 2)) "the programs have made many launches"
is "$(list_json "pid:$a" 'map(select(.kind == "compute")) | map(.launches_since_ns == .created_ns) | tostring')" "[true]" \
	"launches are counted from the TSG's start on"
"$gpusched" observe launches --json >"$scratch/counting.json"
is "$(jq -c '[.on, .asked, (.unattributed | length)]' "$scratch/counting.json")" "[true,true,0]" "no launch went without a TSG"
seen() { # WHAT: how many of them the policies with work_submit have seen
	sed -n "s/.*policy every: $1 seen //p" "$scratch/daemon.log" | awk '{ n += $1 } END { print n + 0 }'
}
ge "$(seen kernels)" $((switches / 10)) "the policies saw kernels"
ge "$(seen graphs)" $((switches / 10)) "the policies saw graphs"
le "$(seen graphs)" "$(jq .graph_launches "$scratch/b.out")" "the policies saw no more graphs than were launched"
check "the TSGs of the two programs are listed, and no others" wait_for 30 eval '[ "$(list_json all "map(.id) | sort | tostring")" = "$ids" ]'
le "$(fds_of $DAEMON_PID)" $((fds + 2)) "no descriptor is left open"
is "$("$gpusched" stats --json | jq .taps.events_lost)" 0 "no event was lost"
is "$(grep "failed:" "$scratch/daemon.log" | grep -c "process \($a\|$b\):")" 0 "no call on the two programs has failed"
check "the policy stops" "$gpusched" policy stop
check "the stop restores all settings" wait_for 5 restored
is "$("$gpusched" policy get --json | jq -r .last_exit.kind)" stopped "the exit record says that it was stopped"
done_testing
