#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 120
# needs: root bpf
# Writing a policy: new, build and check in an empty folder; policies that are refused, and the
# messages.
. "$(dirname "$0")/lib.sh"
cd "$scratch" || exit 1

exits 0 "policy new" "$gpusched" policy new mine
check "writes a source" test -s mine.bpf.c
exits 1 "policy new does not write over a source" "$gpusched" policy new mine
# shellcheck disable=SC2016 # for the inner shell
exits 1 "a skeleton that finds no room" bash -c 'trap "" XFSZ; ulimit -f 0; "$1" policy new full 2>&1 | cat
	exit "${PIPESTATUS[0]}"' - "$gpusched"
check "is not left half written" test ! -e full.bpf.c
exits 0 "policy build" "$gpusched" policy build mine.bpf.c
check "writes an object" test -s mine.bpf.o
exits 0 "policy check of the object" "$gpusched" policy check mine.bpf.o
exits 0 "policy check of the source" "$gpusched" policy check mine.bpf.c
check "what the skeleton says of itself is true" eval "$(sed -n 's/^ \*.*\(gpusched sim run .*\)/"$build"\/\1/p' mine.bpf.c)"
exits 0 "policy build --output" "$gpusched" policy build mine.bpf.c --output other.bpf.o --json
is "$(jq -r .object <<<"$out")" other.bpf.o "--json tells where"
check "the object is there" test -s other.bpf.o
exits 0 "policy check --json" "$gpusched" policy check mine.bpf.o --json
check "is one object" jq -es 'length == 1 and .[0].ok and .[0].message == null' <<<"$out"

printf '%s\n' '#include <gpusched/policy.bpf.h>' 'GPUSCHED_POLICY(odd, 0, 100, 0);' \
	'GPUSCHED_TASK_INIT(t) { int never; return 0; }' >odd.bpf.c
exits 0 "a policy with a warning is built" "$gpusched" policy build odd.bpf.c
like "$out" "odd.bpf.c:3:.*warning: unused variable 'never'" "the warning is told"

printf '%s\n' '#include <gpusched/policy.bpf.h>' 'GPUSCHED_POLICY(odd, 0, 100, 0);' \
	'GPUSCHED_TASK_INIT(t)' '{' 't->priv[0] = 1;' '}' >forgets.bpf.c
exits 0 "a callback that returns nothing is built" "$gpusched" policy build forgets.bpf.c
like "$out" "forgets.bpf.c:6:.*warning: .*does not return a value" "it is built with a warning"
"$gpusched" sim run lcbe-1be --policy ./forgets.bpf.c >out 2>err
like "$(cat err)" "forgets.bpf.c:6:.*warning: .*Wreturn-type" "on the native host too"

printf '%s\n' '#include <gpusched/policy.bpf.h>' 'GPUSCHED_POLICY(deaf, 100000, 100, 0);' \
	'GPUSCHED_WORK_SUBMIT(t, w) { t->priv[0] = w->count; return 0; }' \
	'GPUSCHED_TICK(t, r) { t->priv[1] = t->block_time_ns; return 0; }' >deaf.bpf.c
exits 0 "a policy that waits for what never comes" "$gpusched" policy check deaf.bpf.c
like "$out" "deaf.bpf.c: warning: work_submit is never called without GPUSCHED_F_WORK" "is told of its launches"
like "$out" "deaf.bpf.c: note: it reads block_time_ns, which the stock host does not know" "check tells the facts that it lacks"
is "$("$gpusched" policy check deaf.bpf.c --json 2>/dev/null | jq '.remarks | length')" 2 "in JSON, too"
is "$("$gpusched" policy check lcbe --json | jq -c .remarks)" "[]" "nothing is remarked of lcbe"
exits 2 "policy new of what is no name" "$gpusched" policy new ../mine
exits 1 "policy build of what is not there" "$gpusched" policy build none.bpf.c
echo 'this is no C' >bad.bpf.c
exits 1 "policy build of what is no C" "$gpusched" policy build bad.bpf.c
check "leaves no object" test ! -e bad.bpf.o
exits 1 "policy check of what is no C" "$gpusched" policy check bad.bpf.c
exits 2 "policy build over its own source" "$gpusched" policy build mine.bpf.c --output ./mine.bpf.c
check "leaves the source" grep -q '^GPUSCHED_POLICY(mine' mine.bpf.c
mkfifo pipe.bpf.c
exits 1 "policy build of a pipe" timeout 20 "$gpusched" policy build pipe.bpf.c
exits 1 "policy check of what is not there" "$gpusched" policy check none.bpf.o
echo 'this is no object' >bad.bpf.o
got=0
"$gpusched" policy check bad.bpf.o >out 2>err || got=$?
is "$got $(wc -l <err)" "1 1" "policy check of what is no object: one line"
got=0
"$gpusched" policy check mine.bpf.o bad.bpf.o --json >out 2>err || got=$?
is "$got" 4 "of two, one refused: partly done"
is "$(jq -s 'map(.ok) | map(tostring) | join(" ")' -r out)" "true false" "--json tells which one is refused"
exits 2 "policy check --json of what is not there" "$gpusched" policy check nosuch --json
is "$(jq -c '[.ok, .kind]' <<<"$(grep ^{ <<<"$out")")" "[false,null]" "has no kind of refusal"
# refused NAME WORDS LINE...: one line, with the words
refused() {
	printf '%s\n' '#include <gpusched/policy.bpf.h>' "${@:3}" 'GPUSCHED_TASK_INIT(t) { return 0; }' >"$1.bpf.c"
	"$gpusched" policy check "$1.bpf.c" >out 2>err
	is "$? $(wc -l <err)" "1 1" "$1: one line"
	like "$(cat err)" "$2" "$1: is told"
}
policy='GPUSCHED_POLICY(odd, 0, 100, 0);'
long=$(printf 'x%.0s' {1..130})
refused no_entries "map 'm' of no entries" "$policy" 'GPUSCHED_MAP(m, HASH, gs_u32, gs_u64, 0);'
refused wide_key "the key of an ARRAY is gs_u32" "$policy" 'GPUSCHED_MAP(m, ARRAY, gs_u64, gs_u64, 8);'
refused fraction "option a is a double: gs_u32, " "$policy" 'GPUSCHED_OPTION(double, a, 5, "a fraction");'
refused long_name "a name of at most 31 characters" "GPUSCHED_POLICY(${long:0:32}, 0, 100, 0);"
refused long_option "a name of at most 31 characters" "$policy" "GPUSCHED_OPTION(gs_u32, ${long:0:32}, 1, \"long\");"
refused long_help "help of at most 119 characters" "$policy" "GPUSCHED_OPTION(gs_u32, a, 1, \"${long:0:120}\");"
refused long_log "a text of at most 63 characters" "$policy" "GPUSCHED_INIT() { gpusched_log(\"${long:0:64}\", 1); return 0; }"
refused long_fail "a text of at most 63 characters" "$policy" "GPUSCHED_INIT() { gpusched_fail(1, \"${long:0:64}\"); return 0; }"
refused no_policy "no GPUSCHED_POLICY\(\) in it"
exits 1 "no policy for the native host either" "$gpusched" sim run lcbe-1be --policy ./no_policy.bpf.c
like "$out" "no GPUSCHED_POLICY\(\) in it" "is told as well"

exits 1 "an object on the native host" "$gpusched" sim run lcbe-1be --policy mine.bpf.o
like "$out" "mine.bpf.o: .*the source \(mine.bpf.c\) here, or .*--host sim" "what to do is told"
exits 1 "a name with a dot is a path" "$gpusched" policy check mine.txt
like "$out" "mine.txt: cannot read the policy: No such file" "as the page says"

# A round may meet TSGs in any order, but in the same one in each run.
printf '%s\n' '#include <gpusched/policy.bpf.h>' 'GPUSCHED_POLICY(order, 10000, 100, 0);' \
	'GPUSCHED_MAP(order_met, ARRAY, gs_u32, gs_u64, 1);' 'GPUSCHED_TICK(t, round) { gs_u32 zero = 0; gs_u64 *met;' \
	'met = gpusched_lookup(order_met, &zero);' 'if (!met) return 0;' \
	'if (!t->priv[0]) t->priv[0] = ++*met; gpusched_want_timeslice(t, (gs_u32)(t->priv[0] * 1000)); return 0; }' >order.bpf.c
printf '%s\n' '[scenario]' 'duration_s = 0.2' 'warmup_s = 0' '[process be]' 'kind = be' 'count = 12' 'kernel_us = 100' >order.scn
once() {
	"$gpusched" sim run order.scn --host sim --policy ./order.bpf.c --json
}
first=$(once)
like "$(jq '.processes[11].timeslice_us' <<<"$first")" '^[0-9]+000$' "the sim host runs a policy that goes by the order"
is "$(once)" "$first" "the same seed gives the same run"
exits 0 "every policy of the tree passes" "$gpusched" policy check "$top"/policies/*.bpf.c

mkdir found
exits 0 "a policy with every type of option" "$gpusched" policy build "$top/tests/policy/options.bpf.c" --output found/options.bpf.o
is "$(GPUSCHED_POLICIES=$PWD/found "$gpusched" policy list --json | jq -c 'select(.name == "options") | .options[] |
	[.name, .default, .min, .max]' | tr '\n' ' ')" \
	'["small",32,0,4294967295] ["big",1099511627776,0,null] ["neg",-3,-2147483648,2147483647] ["flag",1,0,1] ["drift",-5000000000,-9000000000,9000000000] ["level",0,-5,5] ' \
	"policy list --json has the options' defaults and ranges"
done_testing
