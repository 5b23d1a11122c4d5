#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 180
# needs: root bpf fuse
# What a user sees of another user's process, by each interface: as much as ps shows, and less with
# hidepid. Root and the owner see all.
. "$(dirname "$0")/lib.sh"
enter_sim
chmod 711 "$scratch"
config '[Daemon]
CountLaunches=trusted
[Classes]
Rule = comm=gsload uid=4711 -> be
AllowTrace = uid=4713
AllowTrace = gid=4714'
start_daemon || exit 1

as() { # UID[:GROUP] COMMAND...
	local groups=--clear-groups
	case $1 in *:*) groups="--groups ${1#*:}" ;; esac
	# shellcheck disable=SC2086 # two words
	setpriv --reuid "${1%:*}" --regid "${1%:*}" $groups "${@:2}"
}
seen() { # WHO TARGET FILTER: of a list
	as "$1" "$gpusched" list "$2" --all --json | jq -cs "flatten | $3"
}
begin() { # the user's program, $user
	setpriv --reuid 4711 --regid 4711 --clear-groups "$gsload" be --seconds 600 --warmup 0 \
		--iterations-per-us 27.78 >"$scratch/user.out" 2>&1 &
	user=$!
	at_end+=($user)
}
# of a compute TSG, the keys that say anything
compute="map(select(.kind == \"compute\"))[0]"
keys="$compute | del(.[] | nulls) | keys"

check "launches are counted" "$gpusched" observe launches on
begin
load be --seconds 600 --warmup 0 --iterations-per-us 27.78
root=$LOAD_PID
check "programs of two users run" wait_for 20 eval 'wait_tsgs pid:$user 4 && wait_tsgs pid:$root 4'
check "their times are known" wait_for 10 eval '[ "$(seen 0 pid:$user "$compute | .gpu_time_ns != null")" = true ]'
check "their launches are known" wait_for 10 eval '[ "$(seen 0 pid:$user "$compute | .launches > 0")" = true ]'

# ---- list ------------------------------------------------------------------------------------------
secret='.client, .tsg, .cgroup_id, .launches, .launches_since_ns, .created_ns'
timed='.gpu_time_ns, .turns, .switches'
is "$(seen 0 pid:$user "$compute | [$secret, $timed] | map(. != null) | unique")" "[true]" "root sees all"
is "$(seen 4711 pid:$user "$compute | [$secret, $timed] | map(. != null) | unique")" "[true]" "the owner sees all of its own"
is "$(seen 4712 pid:$user "$compute | [.pid, .comm, .uid, .class, .is.timeslice_us]")" \
	"[$user,\"gsload\",4711,\"be\",2048]" "another sees whose it is, and its settings"
is "$(seen 4712 pid:$user "$compute | [$secret, .reason, $timed] | unique")" "[null]" \
	"neither handles nor what it does"
is "$(seen 4712 pid:$user "$keys" | jq 'map(select(. as $k | ["asked", "assumed", "changed", "channels", "class",
	"class_source", "comm", "engine", "gpu", "gpu_pci", "gpu_uuid", "held", "id", "is", "kind", "known_by",
	"manual", "memory_bytes", "memory_shared_bytes", "mig", "mps", "pid", "runlist", "scheduled", "tid", "uid", "want", "weight"] | index($k) | not))' | jq -c .)" "[]" \
	"nothing else"
for who in 4713 4712:4714; do
	is "$(seen $who pid:$user "$compute | [$timed] | map(. != null) | unique")" "[true]" \
		"$who, which AllowTrace= names, sees times"
	is "$(seen $who pid:$user "$compute | [$secret, .reason] | unique")" "[null]" "$who: and no handles"
done
check "a suspension" "$gpusched" suspend "pid:$user"
is "$(seen 4712 pid:$user "$compute | [.suspended_by, .reason]")" '["person",null]' "another sees it, without the reason"
is "$(seen 4711 pid:$user "$compute | .reason != null")" true "the owner sees the reason"
"$gpusched" resume "pid:$user"

# ---- events ----------------------------------------------------------------------------------------
watch_as() { # WHO NAME
	as "$1" curl -sN --max-time 60 --unix-socket "$GPUSCHED_SIM/run/api" http://gpusched/v1/watch >"$scratch/watch.$2" &
	at_end+=($!)
}
of() { # NAME FILTER: events of the user's process
	jq -cs "map(select(.pid == $user)) | $2" "$scratch/watch.$1"
}
watch_as 0 root
watch_as 4711 owner
watch_as 4712 other
check "they watch" wait_for 10 watchers 3
check "a slice is set" "$gpusched" set "pid:$user" timeslice=700us
check "the slice is told" wait_for 10 eval '[ "$(of root "map(select(.event == \"call\")) | length")" != 0 ] && [ "$(of other length)" != 0 ]'
is "$(of owner "map(select(.event == \"call\")) | map(.client != null and .status != null) | unique")" "[true]" \
	"the owner is told with handles"
is "$(of other "map(select(.event == \"call\")) | map([.call, .value, .client, .tsg, .status, .call_ns]) | unique | .[0]")" \
	'["set-timeslice",700,null,null,null,null]' "another without"
check "the program ends" kill -9 $user
wait $user 2>/dev/null
check "the owner is told of the end" wait_for 10 eval '[ "$(of owner "map(select(.event == \"exit\" and .comm)) | length")" = 1 ]'
begin
check "another begins" wait_tsgs pid:$user 4
check "events without a process are everybody's" "$gpusched" policy start lcbe
check "the policy's start" wait_for 10 grep -q '"what":"start' "$scratch/watch.other"
check "the policy stops" "$gpusched" policy stop
check "nobody but root and owner is told handles" eval '! grep -qE "\"(client|tsg|channel|context_id|status|call_ns)\":" "$scratch/watch.other"'

# ---- classes, launches, sums -----------------------------------------------------------------------
why() { # WHO
	as "$1" "$gpusched" class get "pid:$user" --json | jq -cs 'flatten | .[0] | [.class, .why != null]'
}
is "$(why 0)" '["be",true]' "root is told the rule of a class"
is "$(why 4711)" '["be",true]' "the owner is told the rule, too"
is "$(why 4712)" '["be",false]' "another the class alone"
check "the owner may have it explained" as 4711 "$gpusched" class explain "pid:$user"
exits 3 "another not" as 4712 "$gpusched" class explain "pid:$user"
like "$out" "another user" "another user is told why not"
check "a class for a cgroup" "$gpusched" class set cgroup:/ be
is "$(as 4712 "$gpusched" class list --json | jq -cs 'flatten | map(.cgroups) | unique')" "[null]" \
	"root alone sees which cgroups have a class"
is "$("$gpusched" class list --json | jq -cs 'flatten | map(select(.cgroups != null)) | length')" 1 "to see"
"$gpusched" class clear cgroup:/ >/dev/null
launches() { # WHO
	as "$1" "$gpusched" observe launches --json | jq -c '[.on, (.libraries | type)]'
}
is "$(launches 0)" '[true,"array"]' "root sees whose libraries are probed"
is "$(launches 4712)" '[true,"null"]' "a user that they are"
as 4712 curl -sf --unix-socket "$GPUSCHED_SIM/run/api" http://gpusched/metrics >"$scratch/metrics"
as 4712 "$gpusched" stats --json >"$scratch/stats"
like "$(cat "$scratch/metrics")" 'gpusched_tsgs\{gpu="0".*class="be"' "sums by GPU and class are everybody's"
is "$(cat "$scratch/metrics" "$scratch/stats" | grep -oE "gsload|[{,\"](pid|comm|uid|user|path|cgroup)\"?[=:]|libcuda.so|(^|[^0-9.])4711([^0-9.]|$)")" "" \
	"no process is in them"

# ---- hidepid ---------------------------------------------------------------------------------------
mount -t proc -o hidepid=invisible,gid=4715 proc /proc || not_ok "a /proc with hidepid"
sleep 1.1
is "$(seen 4712 all "map(select(.kind == \"compute\")) | map(del(.[] | nulls) | keys) | add | unique")" \
	'["class","gpu","gpu_pci","gpu_uuid","kind"]' "hidepid: of others GPU, class and kind"
is "$(seen 4712 class:be "length > 0")" true "these three find them"
for target in "pid:$user" comm:gsload uid:4711 "tsg:$(seen 0 pid:$user ".[0].id")" cgroup:/; do
	exits 1 "hidepid: not by ${target%:*}" as 4712 "$gpusched" list "$target"
done
exits 1 "nor by a verb that is refused" as 4712 "$gpusched" suspend "pid:$user"
like "$out" "there is no process $user" "the verb knows of none"
is "$(as 4712 "$gpusched" class get --json | jq -s 'flatten | length')" 0 "nor in their classes"
is "$(seen 4711 all "map(.pid | numbers) | unique | .[]")" "$user" "hidepid: the owner sees his"
is "$(seen 4712:4715 pid:$user "$compute | .comm")" '"gsload"' "hidepid: and the group of gid="
is "$(seen 4713 all "$compute | [.pid, .gpu_time_ns != null]")" "[null,true]" "AllowTrace= names nobody"
is "$(seen 0 pid:$user "$compute | .client != null")" true "hidepid: root sees all"
watch_as 4712 hidden
watch_as 4712:4715 group
check "they watch" wait_for 10 watchers 5
check "a slice is set" "$gpusched" set "pid:$user" timeslice=600us
check "the group is told of the slice" wait_for 10 eval '[ "$(of group length)" != 0 ]'
is "$(jq -s length "$scratch/watch.hidden")" 0 "hidepid: nothing of it to others"
check "the library reads what is left" as 4712 "$gpusched" list
umount /proc
done_testing
