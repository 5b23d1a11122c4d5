#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 120
# needs: root bpf fuse
# gpusched and bpftool show the maps of the running policy, with keys and values by their BTF types.
# gpusched can write them, too. The pins are removed however the policy ends. The first commands are
# those of docs/policies/prio.md.
. "$(dirname "$0")/lib.sh"
enter_sim
exec 2>"$scratch/stderr"
pins=$GPUSCHED_SIM/bpf/gpusched-policy
page() { awk '$0 == "```sh live" { on = 1; next } /^```/ { on = 0 } on' "$top/docs/policies/prio.md"; }
id_of() { list_json "pid:$1" '[.[] | select(.kind == "compute")][0].id'; }
suspended() { [ "$(sim_disabled "$1")" != 0 ]; }

start_daemon || exit 1
exits 1 "without a policy there are no maps" "$gpusched" policy map
like "$out" "no policy runs" "the error says that no policy runs"
load be --seconds 0
be=$LOAD_PID
load be --seconds 0
other=$LOAD_PID
check "two programs make progress" wait_for 10 eval '[ "$(sim_work $be)" != 0 ] && [ "$(sim_work $other)" != 0 ]'
"$gpusched" class set "pid:$be" normal >/dev/null
"$gpusched" class set "pid:$other" normal >/dev/null
exits 0 "prio starts" "$gpusched" policy start prio
is "$("$gpusched" policy map --json | jq -r .map | tr '\n' ' ')" "prio_levels prio_runlists " "the policy's maps are listed"
is "$(stat -c '%a %u' "$pins")" "700 0" "the maps are pinned in a folder of root's"
sleep 0.3
check "both programs run at first, at one level" eval '! suspended $be && ! suspended $other'

TSG=$(id_of "$be")
while read -r command; do
	exits 0 "the command of the page succeeds: $command" eval "\"$build\"/$command"
done < <(page)
is "$(jq -c '[.map, .key, .value]' <<<"$out")" "[\"prio_levels\",$TSG,0]" "the last command printed the entry"
check "the program with the low level waits" wait_for 5 suspended "$be"
check "the other program does not wait" eval '! suspended $other'
exits 0 "a value may be hexadecimal" "$gpusched" policy map prio_levels "$TSG" 0x2
is "$out" "$TSG: 2" "the entry is printed as text"
check "the program runs once it has the other's level" wait_for 5 eval '! suspended $be'
if command -v bpftool >/dev/null; then
	is "$(bpftool -j map dump pinned "$pins/prio_levels" | jq -c '[.[0].formatted.key, .[0].formatted.value]')" \
		"[$TSG,2]" "bpftool shows the same entry"
else
	skip_optional "bpftool shows the same entry"
fi
exits 0 "policy map shows a map of structures" "$gpusched" policy map prio_runlists --json
check "JSON has the structure's fields" jq -es 'length >= 1 and .[0].value.seq > 0 and (.[0].value | has("gathering"))' <<<"$out"
exits 0 "policy map shows that map as text" "$gpusched" policy map prio_runlists
like "$out" "^[0-9]+: .*seq=[1-9][0-9]*(,|$)" "the text has its fields"
entry=$(head -1 <<<"$out")
exits 0 "an entry can be written as it is shown: $entry" "$gpusched" policy map prio_runlists "${entry%%: *}" "${entry#*: }"

exits 1 "an unknown map is refused" "$gpusched" policy map nothing
like "$out" "has no map 'nothing': prio_levels, prio_runlists" "the error names the maps that are there"
exits 1 "an unknown key is refused" "$gpusched" policy map prio_levels 99999999
exits 2 "a key that is no number is refused" "$gpusched" policy map prio_levels many 1
exits 2 "a value out of range is refused" "$gpusched" policy map prio_levels 5 4294967296
exits 2 "an unknown field is refused" "$gpusched" policy map prio_runlists 1 hours=3
check "other users are refused" eval '! as 65534 "$gpusched" policy map 2>/dev/null'

end_load "$be"
check "the entry is removed with its TSG" wait_for 5 eval '[ -z "$("$gpusched" policy map prio_levels)" ]'
exits 0 "another policy takes over" "$gpusched" policy start rr
is "$(ls "$pins" | tr '\n' ' ')" "rr_blank rr_gangs rr_jobs rr_runlists rr_tsgs rr_users rr_whole " "the other policy's maps are pinned"
exits 0 "the policy stops" "$gpusched" policy stop
check "the pins are gone" test ! -e "$pins"
"$gpusched" policy start prio >/dev/null
kill_daemon
check "the pins are removed when the daemon is killed" wait_for 5 eval '[ ! -e "$pins" ]'

# ---- a value that no callback reads
"$gpusched" policy build "$top/tests/policy/holds_forever.bpf.c" --output "$scratch/holds_forever.bpf.o" >/dev/null
start_daemon 2>/dev/null
exits 0 "a policy with maps starts" "$gpusched" policy start "$scratch/holds_forever.bpf.o"
pinned_s=$(stat -c %Y "$pins/forever_start")
touch -d "@$pinned_s" "$scratch/holds_forever.bpf.o" # older than the pins by less than a second
warns() { # MAP
	"$gpusched" policy map "$1" 0 1 2>&1 >/dev/null
}
like "$(warns forever_start)" "warning: policy holds_forever does not use forever_start after its start" \
	"a value that only init reads gives a warning"
like "$(warns forever_nobody)" "the value has no effect" "a value that nothing reads gives a warning"
is "$(warns forever_ticks)" "" "a value that the tick reads gives none"
touch -d "@$pinned_s.999999999" "$scratch/holds_forever.bpf.o"
is "$(warns forever_nobody)" "" "a file that is newer than the policy's start gives none"
done_testing
