#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 180
# needs: root bpf fuse
# Through each interface a user sees no more of another user's process than ps shows, and less with
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
seen() { # WHO TARGET FILTER: applies the filter to what that user's list has
	as "$1" "$gpusched" list "$2" --all --json | jq -cs "flatten | $3"
}
begin() { # starts the user's program; $user
	setpriv --reuid 4711 --regid 4711 --clear-groups "$gsload" be --seconds 600 --warmup 0 \
		--iterations-per-us 27.78 >"$scratch/user.out" 2>&1 &
	user=$!
	at_end+=($user)
}
# the keys of a compute TSG that are not null
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
is "$(seen 4711 pid:$user "$compute | [$secret, $timed] | map(. != null) | unique")" "[true]" "the owner sees all of the process"
is "$(seen 4712 pid:$user "$compute | [.pid, .comm, .uid, .class, .is.timeslice_us]")" \
	"[$user,\"gsload\",4711,\"be\",2048]" "another user sees the process, its owner and its settings"
is "$(seen 4712 pid:$user "$compute | [$secret, .reason, $timed] | unique")" "[null]" \
	"another user sees neither handles nor times"
is "$(seen 4712 pid:$user "$keys" | jq 'map(select(. as $k | ["asked", "assumed", "changed", "channels", "class",
	"class_source", "comm", "engine", "gpu", "gpu_pci", "gpu_uuid", "held", "id", "is", "kind", "known_by",
	"manual", "memory_bytes", "memory_shared_bytes", "mig", "mps", "pid", "restored", "runlist", "scheduled", "tid", "uid", "want", "weight"] | index($k) | not))' | jq -c .)" "[]" \
	"another user sees no other keys"
for who in 4713 4712:4714; do
	is "$(seen $who pid:$user "$compute | [$timed] | map(. != null) | unique")" "[true]" \
		"$who, which AllowTrace= names, sees times"
	is "$(seen $who pid:$user "$compute | [$secret, .reason] | unique")" "[null]" "$who sees no handles"
done
check "root suspends the program" "$gpusched" suspend "pid:$user"
is "$(seen 4712 pid:$user "$compute | [.suspended_by, .reason]")" '["person",null]' "another user sees the suspension without the reason"
is "$(seen 4711 pid:$user "$compute | .reason != null")" true "the owner sees the reason"
"$gpusched" resume "pid:$user"

# ---- events ----------------------------------------------------------------------------------------
watch_as() { # WHO NAME
	as "$1" curl -sN --max-time 60 --unix-socket "$GPUSCHED_SIM/run/api" http://gpusched/v1/watch >"$scratch/watch.$2" &
	at_end+=($!)
}
of() { # NAME FILTER: the filter over NAME's events of the user's process
	jq -cs "map(select(.pid == $user)) | $2" "$scratch/watch.$1"
}
watch_as 0 root
watch_as 4711 owner
watch_as 4712 other
check "all clients watch" wait_for 10 watchers 3
check "a slice is set" "$gpusched" set "pid:$user" timeslice=700us
check "the slice is an event for root and for another user" wait_for 10 eval '[ "$(of root "map(select(.event == \"call\")) | length")" != 0 ] && [ "$(of other length)" != 0 ]'
is "$(of owner "map(select(.event == \"call\")) | map(.client != null and .status != null) | unique")" "[true]" \
	"the owner's event has handles"
is "$(of other "map(select(.event == \"call\")) | map([.call, .value, .client, .tsg, .status, .call_ns]) | unique | .[0]")" \
	'["set-timeslice",700,null,null,null,null]' "another user's event has no handles"
check "the program ends" kill -9 $user
wait $user 2>/dev/null
check "the program's end is an event for the owner" wait_for 10 eval '[ "$(of owner "map(select(.event == \"exit\" and .comm)) | length")" = 1 ]'
begin
check "the user's next program begins" wait_tsgs pid:$user 4
check "a policy starts" "$gpusched" policy start lcbe
check "the policy's start is an event for another user" wait_for 10 grep -q '"what":"start' "$scratch/watch.other"
check "the policy stops" "$gpusched" policy stop
check "another user's events have no handles" eval '! grep -qE "\"(client|tsg|channel|context_id|status|call_ns)\":" "$scratch/watch.other"'

# ---- classes, launches, sums -----------------------------------------------------------------------
why() { # WHO
	as "$1" "$gpusched" class get "pid:$user" --json | jq -cs 'flatten | .[0] | [.class, .why != null]'
}
is "$(why 0)" '["be",true]' "root sees the rule of a class"
is "$(why 4711)" '["be",true]' "the owner sees the rule, too"
is "$(why 4712)" '["be",false]' "another user sees only the class"
check "class explain works for the owner" as 4711 "$gpusched" class explain "pid:$user"
exits 3 "class explain is refused to another user" as 4712 "$gpusched" class explain "pid:$user"
like "$out" "another user" "the refusal says why"
check "a cgroup is given a class" "$gpusched" class set cgroup:/ be
is "$(as 4712 "$gpusched" class list --json | jq -cs 'flatten | map(.cgroups) | unique')" "[null]" \
	"another user does not see which cgroups have a class"
is "$("$gpusched" class list --json | jq -cs 'flatten | map(select(.cgroups != null)) | length')" 1 "root sees which cgroups have a class"
"$gpusched" class clear cgroup:/ >/dev/null
launches() { # WHO
	as "$1" "$gpusched" observe launches --json | jq -c '[.on, (.libraries | type)]'
}
is "$(launches 0)" '[true,"array"]' "root sees which libraries are probed"
is "$(launches 4712)" '[true,"null"]' "another user sees only that launches are counted"
as 4712 curl -sf --unix-socket "$GPUSCHED_SIM/run/api" http://gpusched/metrics >"$scratch/metrics"
as 4712 "$gpusched" stats --json >"$scratch/stats"
like "$(cat "$scratch/metrics")" 'gpusched_tsgs\{gpu="0".*class="be"' "another user sees sums by GPU and class"
is "$(cat "$scratch/metrics" "$scratch/stats" | grep -oE "gsload|[{,\"](pid|comm|uid|user|path|cgroup)\"?[=:]|libcuda.so|(^|[^0-9.])4711([^0-9.]|$)")" "" \
	"these sums name no process, user or path"

# ---- hidepid ---------------------------------------------------------------------------------------
mount -t proc -o hidepid=invisible,gid=4715 proc /proc || not_ok "a /proc with hidepid"
sleep 1.1
is "$(seen 4712 all "map(select(.kind == \"compute\")) | map(del(.[] | nulls) | keys) | add | unique")" \
	'["class","gpu","gpu_pci","gpu_uuid","kind"]' "under hidepid a user sees only GPU, class and kind of others' TSGs"
is "$(seen 4712 class:be "length > 0")" true "under hidepid a target by class finds them"
for target in "pid:$user" comm:gsload uid:4711 "tsg:$(seen 0 pid:$user ".[0].id")" cgroup:/; do
	exits 1 "under hidepid a target by ${target%:*} does not find them" as 4712 "$gpusched" list "$target"
done
exits 1 "under hidepid suspend fails as for an unknown process" as 4712 "$gpusched" suspend "pid:$user"
like "$out" "there is no process $user" "the error says that there is no such process"
is "$(as 4712 "$gpusched" class get --json | jq -s 'flatten | length')" 0 "under hidepid class get has no class of others"
is "$(seen 4711 all "map(.pid | numbers) | unique | .[]")" "$user" "under hidepid the owner sees the process"
is "$(seen 4712:4715 pid:$user "$compute | .comm")" '"gsload"' "under hidepid the group of gid= sees the process"
is "$(seen 4713 all "$compute | [.pid, .gpu_time_ns != null]")" "[null,true]" "under hidepid AllowTrace= shows times, but no pid"
is "$(seen 0 pid:$user "$compute | .client != null")" true "under hidepid root sees all"
watch_as 4712 hidden
watch_as 4712:4715 group
check "all clients watch" wait_for 10 watchers 5
check "a slice is set" "$gpusched" set "pid:$user" timeslice=600us
check "the slice is an event for the group of gid=" wait_for 10 eval '[ "$(of group length)" != 0 ]'
is "$(jq -s length "$scratch/watch.hidden")" 0 "under hidepid it is no event for others"
check "list works with the keys that are left" as 4712 "$gpusched" list
umount /proc
done_testing
