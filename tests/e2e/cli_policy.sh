#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 120
# needs: root bpf
# Writing a policy: new, build and check in an empty folder; which policies are refused, and with
# which messages.
. "$(dirname "$0")/lib.sh"
cd "$scratch" || exit 1

exits 0 "policy new succeeds" "$gpusched" policy new mine
check "policy new writes a source" test -s mine.bpf.c
exits 1 "policy new does not write over a source" "$gpusched" policy new mine
# shellcheck disable=SC2016 # for the inner shell
exits 1 "policy new fails if the file cannot be written" bash -c 'trap "" XFSZ; ulimit -f 0; "$1" policy new full 2>&1 | cat
	exit "${PIPESTATUS[0]}"' - "$gpusched"
check "no half-written skeleton is left" test ! -e full.bpf.c
exits 0 "policy build succeeds" "$gpusched" policy build mine.bpf.c
check "policy build writes an object" test -s mine.bpf.o
exits 0 "policy check passes the object" "$gpusched" policy check mine.bpf.o
exits 2 "a policy with a mistyped name is not found" "$gpusched" policy check fiar
like "$out" "no policy 'fiar': did you mean 'fair'" "the error names a similar one"
exits 0 "policy check passes the source" "$gpusched" policy check mine.bpf.c
check "the command in the skeleton's comment works" eval "$(sed -n 's/^ \*.*\(gpusched sim run .*\)/"$build"\/\1/p' mine.bpf.c)"
exits 0 "policy build --output succeeds" "$gpusched" policy build mine.bpf.c --output other.bpf.o --json
is "$(jq -r .object <<<"$out")" other.bpf.o "policy build --json has the object's path"
check "policy build --output writes the object" test -s other.bpf.o
exits 0 "policy check --json passes the object" "$gpusched" policy check mine.bpf.o --json
check "policy check --json prints one object" jq -es 'length == 1 and .[0].ok and .[0].message == null' <<<"$out"

printf '%s\n' '#include <gpusched/policy.bpf.h>' 'GPUSCHED_POLICY(odd, 0, 100, 0);' \
	'GPUSCHED_TASK_INIT(t) { int never; return 0; }' >odd.bpf.c
exits 0 "a policy with a warning is built" "$gpusched" policy build odd.bpf.c
like "$out" "odd.bpf.c:3:.*warning: unused variable 'never'" "policy build prints the warning"

printf '%s\n' '#include <gpusched/policy.bpf.h>' 'GPUSCHED_POLICY(odd, 0, 100, 0);' \
	'GPUSCHED_TASK_INIT(t)' '{' 't->priv[0] = 1;' '}' >forgets.bpf.c
exits 0 "a callback that returns nothing is built" "$gpusched" policy build forgets.bpf.c
like "$out" "forgets.bpf.c:6:.*warning: .*does not return a value" "policy build warns that nothing is returned"
"$gpusched" sim run lcbe-1be --policy ./forgets.bpf.c >out 2>err
like "$(cat err)" "forgets.bpf.c:6:.*warning: .*Wreturn-type" "the native host prints the warning, too"

printf '%s\n' '#include <gpusched/policy.bpf.h>' 'GPUSCHED_POLICY(deaf, 100000, 100, 0);' \
	'GPUSCHED_WORK_SUBMIT(t, w) { t->priv[0] = w->count; return 0; }' \
	'GPUSCHED_TICK(t, r) { t->priv[1] = t->block_time_ns; return 0; }' >deaf.bpf.c
exits 0 "a policy with a callback that is never called passes" "$gpusched" policy check deaf.bpf.c
like "$out" "deaf.bpf.c: warning: work_submit is never called without GPUSCHED_F_WORK" "policy check warns that work_submit is never called"
like "$out" "deaf.bpf.c: note: it reads block_time_ns, which the stock host does not know" "policy check notes the fact that the host does not know"
is "$("$gpusched" policy check deaf.bpf.c --json 2>/dev/null | jq '.remarks | length')" 2 "policy check --json has both remarks"
is "$("$gpusched" policy check lcbe --json | jq -c .remarks)" "[]" "policy check has no remark on lcbe"
exits 0 "a policy that holds for good passes" "$gpusched" policy check "$top/tests/policy/holds_forever.bpf.c"
like "$out" "warning: schedule returns GPUSCHED_HOLD, and no callback calls gpusched_admit" "policy check warns that nothing admits"

# ---- policies of other kinds
exits 1 "a policy of the module's kind is not built" "$gpusched" policy build "$top/driver/examples/priority_map.bpf.c"
like "$out" "struct gpu_sched_ops: clang compiles it, and policy-load starts it" "policy build says what starts it"
like "$out" "share/gpusched/kit" "policy build says where that is"
printf '%s\n' '#include "nvidia_gpu_sched_bpf.h"' 'SEC("gpu_sched/task_init")' \
	'void task_init(struct bpf_gpu_task_info *task) { task->timeslice = 200; }' >hooked.bpf.c
exits 1 "programs for hooks are not built" "$gpusched" policy build hooked.bpf.c
like "$out" "writing-policies.md" "policy build says where the names are"
like "$out" "hooks gpu_sched/..., which no driver and no kernel has: begin with 'gpusched policy new NAME'" \
	"policy build says that nothing starts them"
printf '%s\n' '__attribute__((section("gpu_sched/task_init"))) int task_init(void *t) { return 0; }' >hooked.c
clang -O2 -target bpf -c hooked.c -o hooked.bpf.o
exits 1 "policy check of such an object fails" "$gpusched" policy check ./hooked.bpf.o
like "$out" "hooks gpu_sched/" "policy check says what the object is"
exits 2 "policy new refuses a path in place of a name" "$gpusched" policy new ../mine
exits 1 "policy build of a missing file fails" "$gpusched" policy build none.bpf.c
echo 'this is no C' >bad.bpf.c
exits 1 "policy build of a text that is no C fails" "$gpusched" policy build bad.bpf.c
check "a failed build leaves no object" test ! -e bad.bpf.o
exits 1 "policy check of a text that is no C fails" "$gpusched" policy check bad.bpf.c
exits 2 "policy build refuses its own source as output" "$gpusched" policy build mine.bpf.c --output ./mine.bpf.c
check "the refused build leaves the source" grep -q '^GPUSCHED_POLICY(mine' mine.bpf.c
mkfifo pipe.bpf.c
exits 1 "policy build of a pipe fails" timeout 20 "$gpusched" policy build pipe.bpf.c
exits 1 "policy check of a missing file fails" "$gpusched" policy check none.bpf.o
echo 'this is no object' >bad.bpf.o
got=0
"$gpusched" policy check bad.bpf.o >out 2>err || got=$?
is "$got $(wc -l <err)" "1 1" "policy check of a file that is no object prints one line"
got=0
"$gpusched" policy check mine.bpf.o bad.bpf.o --json >out 2>err || got=$?
is "$got" 4 "policy check of two policies exits with 4 if one is refused"
is "$(jq -s 'map(.ok) | map(tostring) | join(" ")' -r out)" "true false" "--json tells which one is refused"
exits 2 "policy check --json refuses an unknown name" "$gpusched" policy check nosuch --json
is "$(jq -c '[.ok, .kind]' <<<"$(grep ^{ <<<"$out")")" "[false,null]" "an unknown name has no kind of refusal"
# refused NAME WORDS LINE...: the policy of these lines is refused in one line, with the words
refused() {
	printf '%s\n' '#include <gpusched/policy.bpf.h>' "${@:3}" 'GPUSCHED_TASK_INIT(t) { return 0; }' >"$1.bpf.c"
	"$gpusched" policy check "$1.bpf.c" >out 2>err
	is "$? $(wc -l <err)" "1 1" "$1: the policy is refused in one line"
	like "$(cat err)" "$2" "$1: the line has the reason"
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
exits 1 "the native host refuses a source without a policy, too" "$gpusched" sim run lcbe-1be --policy ./no_policy.bpf.c
like "$out" "no GPUSCHED_POLICY\(\) in it" "the native host says why"

exits 1 "the native host refuses an object" "$gpusched" sim run lcbe-1be --policy mine.bpf.o
like "$out" "mine.bpf.o: .*the source \(mine.bpf.c\) here, or .*--host sim" "the native host says what to do"
exits 1 "policy check takes a name with a dot for a path" "$gpusched" policy check mine.txt
like "$out" "mine.txt: cannot read the policy: No such file" "the error has the path, as the manual page says"

# A policy's round may visit TSGs in any order, but each run must use the same order.
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
exits 0 "a policy with every type of option is built" "$gpusched" policy build "$top/tests/policy/options.bpf.c" --output found/options.bpf.o
is "$(GPUSCHED_POLICIES=$PWD/found "$gpusched" policy list --json | jq -c 'select(.name == "options") | .options[] |
	[.name, .default, .min, .max]' | tr '\n' ' ')" \
	'["small",32,0,4294967295] ["big",1099511627776,0,null] ["neg",-3,-2147483648,2147483647] ["flag",1,0,1] ["drift",-5000000000,-9000000000,9000000000] ["level",0,-5,5] ' \
	"policy list --json has the options' defaults and ranges"
done_testing
