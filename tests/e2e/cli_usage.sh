#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 240
# The command line answers bad input in one line. Help, manual and completion agree with its verbs.
. "$(dirname "$0")/lib.sh"

# refused CODE ARGUMENTS...: that exit code, nothing on stdout, one line on stderr
refused() {
	local want=$1 got=0
	shift
	"$gpusched" "$@" >"$scratch/out" 2>"$scratch/err" </dev/null || got=$?
	if [ "$got" = "$want" ] && [ ! -s "$scratch/out" ] && [ "$(wc -l <"$scratch/err")" = 1 ] &&
		grep -q "^gpusched[^:]*: ." "$scratch/err"; then
		ok "this command is refused with exit status $want: $*"
	else
		not_ok "this command is refused with exit status $want: $*" "exit status $got; said: $(cat "$scratch/out" "$scratch/err")"
	fi
}

# ---- usage ---------------------------------------------------------------------------------------

refused 2
refused 2 nonsense
near() { # MEANT ARGUMENTS...
	local meant=$1
	shift
	refused 2 "$@"
	like "$(cat "$scratch/err")" "did you mean $meant\?" "the error offers the similar word $meant"
}
near "'list'" lsit
near "'status' or 'stats'" stat
near "'class get'" class gte
near "'--watch'" list --wacht
near "'run --pool'" pool
near "'run --share'" help share
refused 2 "$(printf 'x%.0s' {1..90})"
like "$(cat "$scratch/err")" "'gpusched help' lists them$" "no word is offered for a very long one"
is "$("$gpusched" nonsense 2>&1)" "gpusched: unknown verb 'nonsense': 'gpusched help' lists them" "no word is offered where none is similar"
refused 2 policy
refused 2 policy begin
refused 2 class
refused 2 class get a b
refused 2 sim
refused 2 observe
refused 2 set pid:1
refused 2 set
refused 2 set pid:1 timeslice=0
refused 2 set pid:1 timeslice=101s
refused 2 set pid:1 timeslice=-5
refused 2 set pid:1 timeslice=20us timeslice_us=5
refused 2 set pid:1 interleave=3
refused 2 set pid:1 preempt_mode=now
refused 2 set pid:1 colour=red
refused 2 set pid:1 timeslice
refused 2 preempt
refused 2 suspend
refused 2 suspend pid:1 --for
refused 2 suspend pid:1 --for never
refused 2 suspend pid:1 --for 0
refused 2 suspend pid:1 --for 100000
like "$(cat "$scratch/err")" "100000s is out of range: 1ms to 24h" "a bare number is in seconds"
refused 2 resume
refused 2 restore now
refused 2 list a b
refused 2 list --colour
refused 2 list $'comm:\xff'
refused 2 history $'comm:\xff'
refused 2 suspend $'comm:\xff'
refused 2 observe launches perhaps
refused 2 monitor --for soon
refused 2 monitor --count 0
refused 2 stats all
refused 2 run
refused 2 run --class
refused 2 run --class be
refused 2 run --weight 5 -- true
refused 2 run --class be --weight 0 -- true
refused 2 class set pid:1
refused 2 class explain
refused 2 policy start
refused 2 policy start lcbe -o nonsense
refused 2 policy check
refused 2 policy new
refused 2 policy build nothing.c
refused 2 demo --dilate 0
like "$(cat "$scratch/err")" "--dilate: 0 is out of range: 1 to 1000" "the error names the option of demo"
refused 2 demo --seconds x
refused 2 demo --gpu --dilate 2
refused 2 demo --model --dry-run
refused 2 doctor now
refused 2 help nonsense
refused 2 sim shell --gpus 0 -- true
refused 2 sim shell --branch 123 -- true
refused 2 sim shell --dilate x -- true
refused 2 sim shell --mig 9 -- true
like "$(cat "$scratch/err")" "--mig: 9 is out of range: 2 to 7" "the error names the option of sim shell"
refused 2 sim shell --mig 4x2 -- true
like "$(cat "$scratch/err")" "--mig: 4x2: 2 to 7 compute instances" "the error says that there are too many compute instances"
refused 2 sim shell --colour
refused 2 sim shell --params "$scratch/none" -- true
like "$(cat "$scratch/err")" "--params: $scratch/none: No such file" "the error names the file of parameters"
refused 2 sim run a-alone --params "$scratch/none"
like "$(cat "$scratch/err")" "--params: $scratch/none: No such file" "the error of sim run names the file, too"
refused 2 bench --gpu sim --load part --scheme alone --params "$scratch/none"
refused 2 demo --model --params "$scratch/none"
refused 2 bench --gpu real --params "$scratch/none"
exits 0 "sim run takes another GPU" "$gpusched" sim run a-alone --params "$top/src/sim/gpus/switch-3.conf"
like "$out" "GPU model switch-3" "sim run says which GPU it took"
refused 2 sim shell true
like "$(cat "$scratch/err")" "write -- before the command 'true'" "the error says that a command stands behind --"
refused 2 sim run no-such-scenario
refused 2 sim run
refused 2 sim run --colour all
refused 2 sim run a-alone a-beside-b
refused 2 sim run all --timeline "$scratch/t"
refused 2 sim list all
refused 1 policy build "$scratch/none.bpf.c"

[ -e /dev/nvidiactl ] || refused 3 demo --gpu

# ---- run: exit codes as in a shell -----------------------------------------------------------------

exits 0 "run without a class runs a command" "$gpusched" run -- true
exits 7 "run ends as its command does" "$gpusched" run -- sh -c 'exit 7'
exits 127 "run of a missing program exits with 127" "$gpusched" run -- "$scratch/none"
exits 126 "run of a file that is no program exits with 126" "$gpusched" run -- /etc/passwd
mkdir "$scratch/bin" "$scratch/locked"
touch "$scratch/bin/no_program"
chmod 755 "$scratch" "$scratch/bin"
chmod 0 "$scratch/locked"
# in_path CODE NAME: as a user who cannot look into a folder of $PATH
in_path() {
	exits "$1" "run exits with $1 for $2 in PATH" setpriv --reuid 65534 --regid 65534 --clear-groups \
		env PATH="$scratch/locked:$scratch/bin" "$gpusched" run -- "$2"
}
if [ "$(id -u)" = 0 ]; then
	in_path 127 nowhere
	in_path 126 no_program
fi
is "$("$gpusched" run -- echo --json -x)" "--json -x" "the command keeps its options"

# ---- help ------------------------------------------------------------------------------------------

"$gpusched" help >"$scratch/help"
like "$("$gpusched" --version)" '^gpusched [0-9]' "--version prints the version"
is "$(sed -n '/^Every day:/,/^$/s/^  \([a-z]*\) .*/\1/p' "$scratch/help" | xargs)" "status top advise run restore" \
	"help begins with the five verbs of every day"
is "$(sed -n 's/^\([A-Z].*\):$/\1/p' "$scratch/help" | head -1) $(grep -c '^[A-Z].*:$' "$scratch/help")" "Every day 6" \
	"further verbs stand in groups"
is "$(sed -n '/^More:/,/^$/s/^  \([a-z]*\) .*/\1/p' "$scratch/help" | xargs)" "shell help" "each verb has its group"
is "$("$gpusched" --help)" "$(cat "$scratch/help")" "--help prints the same as help"
verbs=$(sed -n 's/^  \([a-z]*\( [a-z]*\)\?\)  .*/\1/p' "$scratch/help" | sed 's/ *$//')
ge "$(wc -l <<<"$verbs")" 30 "help lists the verbs"
is "$(wc -l <<<"$verbs")" "$(grep -c '^  [a-z]' "$scratch/help")" "each verb has a space before its description"
is "$(while read -r verb; do
	# shellcheck disable=SC2086 # a noun and a verb
	"$gpusched" $verb --help | grep -E '^  (-.,|   ) --' | grep -vE '^.{8}[^ ]+( [^ ]+)?  +[^ ]'
done <<<"$verbs")" "" "every option has a space before its description"
bad=
while read -r verb; do
	# shellcheck disable=SC2086 # a noun and a verb
	"$gpusched" $verb --help >"$scratch/verb" 2>&1 || bad+=" $verb(--help fails)"
	grep -q "^gpusched $verb - " "$scratch/verb" || bad+=" $verb(no title)"
	grep -q "^usage: gpusched $verb" "$scratch/verb" || bad+=" $verb(no usage)"
	# shellcheck disable=SC2086
	[ "$("$gpusched" help $verb)" = "$(cat "$scratch/verb")" ] || bad+=" $verb(help differs)"
done <<<"$verbs"
is "$bad" "" "every verb has its --help"

# ---- the manual has everything that is in the table of verbs --------------------------------------

bad=
while read -r verb; do
	noun=${verb%% *}
	page=$top/man/gpusched-$noun.8.scd
	[ -e "$page" ] || continue
	# shellcheck disable=SC2086
	for option in $("$gpusched" $verb --help | grep -o -- '--[a-z][a-z-]*' | sort -u); do
		[ "$option" = --help ] || grep -qF -- "$option" "$page" || bad+=" $noun:$option"
	done
done <<<"$verbs"
is "$bad" "" "the page of each noun has every option"
bad=$(sed -n '/GS_CONFIG_KEYS/,/^$/s/^	X("[A-Za-z]*", "\([A-Za-z]*\)".*/\1/p' "$top/src/config/config.h" |
	while read -r key; do grep -q "^\*$key=\*" "$top/man/gpusched.conf.5.scd" || echo "$key"; done)
is "$bad" "" "gpusched.conf(5) has every key"

counters=$(sed -nE '/define (GPUSCHED_TAP|GS_ENGINE|GS_SERVICE)_COUNTERS/,/^$/s/^	X\([A-Z_]+, "([a-z_]+)".*/\1/p' \
	"$top"/include/gpusched/*.h "$top"/src/*/*.h)
ge "$(wc -l <<<"$counters")" 40 "at least 40 counters are found in the headers"
is "$(for counter in $counters; do
	grep -qE "^(.*, )?\*$counter\*" "$top/man/gpusched-stats.8.scd" || echo "$counter"
done)" "" "gpusched-stats(8) has every counter"

bad=
for option in $("$gpuschedd" --help | grep -o -- '--[a-z][a-z-]*' | sort -u); do
	[ "$option" = --help ] || grep -qF -- "*$option*" "$top/man/gpuschedd.8.scd" || bad+=" $option"
done
is "$bad" "" "gpuschedd(8) has every option"

is "$(sed -nE '/define GPUSCHED_EVENTS/,/^$/s/^	X\([A-Z_]+, "([a-z-]+)".*/\1/p' "$top/include/gpusched/abi.h" |
	while read -r event; do
		sed -n '/^# EVENTS/,/^# EXIT/p' "$top/man/gpusched-monitor.8.scd" |
			grep -qE "^(.*, )?$event[,:]" || echo "$event"
	done)" "" "gpusched-monitor(8) has every event"
is "$(grep -oE '^GPUSCHED_API .*' "$top/include/gpusched/gpusched.h" | grep -oE 'gpusched_[a-z_]+\(' | while read -r name; do
	grep -qF "$name" "$top/man/gpusched.3.scd" || echo "$name"
done)" "" "gpusched(3) has every function of the library"
is "$(grep -rhoE 'getenv\("GPUSCHED_[A-Z_]+"' "$top/src" | cut -d'"' -f2 | sort -u |
	while read -r name; do grep -rqE "[*_\`]$name[*_\`=]" "$top"/man "$top"/docs || echo "$name"; done)" \
	"" "every environment variable is documented"

# Examples in README and manual pages: each verb must exist, and take these options.
examples() {
	grep -hoE '`gpusched [a-z][^`]*`' "$top/README.md" | tr -d '`'
	sed -nE 's/^    (sudo )?build\/(gpusched [^#]*).*/\2/p' "$top/README.md"
	sed -n '/^# EXAMPLES/,/^# SEE/{s/^[\t*]*\(gpusched .*\)\*.*/\1/p}' "$top"/man/gpusched*.scd
}
bad=
while read -ra word; do
	n=2
	[[ ${word[2]:--} != [-\|]* ]] && "$gpusched" help "${word[@]:1:2}" >/dev/null 2>&1 && n=3
	for i in "${!word[@]}"; do
		[ "${word[i]}" = '|' ] && word=("${word[@]:0:i}") && break
	done
	"$gpusched" "${word[@]:1:n-1}" --help "${word[@]:n}" >"$scratch/out" 2>&1 &&
		grep -q "^usage: gpusched ${word[1]}" "$scratch/out" || bad+=" [${word[*]}]"
done < <(examples)
is "$bad" "" "the examples of README and manual are commands"
ge "$(examples | wc -l)" 25 "at least 25 examples are found"

complete_words() { # WORD...: what completion offers for the last one
	PATH=$build:$PATH bash -c '. "$1/completions/gpusched"; shift
		COMP_WORDS=(gpusched "$@"); COMP_CWORD=$(($#)); _gpusched; echo "${COMPREPLY[*]}"' \
		- "$top" "$@" 2>/dev/null
}
is "$(complete_words sus)" suspend "completion of a verb"
is "$(complete_words policy sh)" show "completion of a noun's verb"
is "$(complete_words suspend --f)" --for "completion of an option"
is "$(complete_words run --class b)" be "completion of a class"
is "$(complete_words observe launches o)" "on off" "completion of on and off"
is "$(complete_words help sus)" suspend "completion of a topic of help"
is "$(complete_words help policy sh)" show "completion of a verb that help explains"
is "$(complete_words policy start auto --host ho)" hooked "completion of a policy's host"
is "$(complete_words sim run a-alone --host n)" native "completion of a model's host"
mkdir "$scratch/fake"
cat >"$scratch/fake/gpusched" <<'END'
#!/bin/sh
case "$*" in
"class list --json") printf '{"id":1,"name":"lc"}\n{"id":4,"name":"gold"}\n' ;;
"list --json") printf '{"id":3,"pid":4711,"comm":"train"}\n{"id":4,"pid":4712,"comm":"serve"}\n' ;;
esac
END
chmod 755 "$scratch/fake/gpusched"
complete_known() { # WORD...: the same with a daemon (a fake gpusched) that knows classes and programs
	build=$scratch/fake complete_words "$@"
}
is "$(complete_known run --class g)" gold "completion of a class of the configuration"
is "$(complete_known class set pid : 4711 g)" gold "completion of a class that is set"
is "$(complete_known list class : g)" gold "completion of a target's class"
is "$(complete_known suspend pid :)" "4711 4712" "completion of a process"
is "$(complete_known suspend pid : 4712)" 4712 "completion of a process whose pid was begun"
is "$(complete_known suspend tsg : 3)" 3 "completion of a TSG"
is "$(complete_known suspend comm : s)" serve "completion of a program's name"
like "$(complete_words policy start l)" lcbe "completion of a policy's name"
is "$(complete_words bench --load a-1)" a-1be "completion of a load of the bench"
is "$(complete_words bench --scheme rr,lcb)" rr,lcbe "completion of the last scheme of several"
is "$(complete_words history --by cg)" cgroup "completion of a grouping of history"
is "$(complete_words policy new lc)" "" "completion offers no name for a new policy"

# ---- JSON -------------------------------------------------------------------------------------------

"$gpusched" doctor --json >"$scratch/doctor"
check "doctor --json is one object" jq -es 'length == 1 and (.[0] | (.ok | type) == "boolean" and
	(.checks | length) > 8 and all(.checks[]; (.name | type) == "string" and
	(.ok | type) == "boolean" and has("detail") and has("remedy")))' "$scratch/doctor"
check "a check that fails has a remedy, a check that passes has none" \
	jq -e 'all(.checks[]; (.remedy == null) == .ok)' "$scratch/doctor"
check "policy list --json names each policy and its path" \
	bash -c "$gpusched policy list --json | jq -es 'length > 0 and all(.[]; .name and .path)'"
check "sim list --json names each scenario" \
	bash -c "$gpusched sim list --json | jq -es 'length > 0 and all(.[]; .name)'"

"$gpusched" demo --model --seconds 3 --json >"$scratch/model"
check "demo --model takes its --seconds" jq -e '.mode == "model" and .seconds == 3 and
	.lc_p99_us.default > .lc_p99_us.gpusched' "$scratch/model"

# ---- a full disk ---------------------------------------------------------------------------------------

exits 1 "output to a full disk is an error" sh -c "$gpusched help >/dev/full"
exits 1 "JSON output to a full disk is an error" sh -c "$gpusched doctor --json >/dev/full"

# ---- without rights ----------------------------------------------------------------------------------

if [ "$(id -u)" = 0 ]; then
	user=(setpriv --reuid 65534 --regid 65534 --clear-groups)
	as_user() { # WHAT CODE ARGUMENTS...
		local what=$1 want=$2 got=0
		shift 2
		"${user[@]}" "$gpusched" "$@" >"$scratch/out" 2>"$scratch/err" || got=$?
		[ "$got" = "$want" ] && [ "$(wc -l <"$scratch/err")" -le 1 ] && ok "$what" ||
			not_ok "$what" "exit status $got: $(cat "$scratch/err")"
	}
	# The build directory may lie where a user can't look.
	if "${user[@]}" "$gpusched" --version >/dev/null 2>&1; then
		as_user "no root: sim shell says so" 3 sim shell -- true
		as_user "no root: observe on says so" 3 observe on
		as_user "no root: restore says so" 3 restore
		as_user "no root: doctor says what is missing" 3 doctor
		as_user "no root: run without a class works" 0 run -- true
		as_user "no root: sim run works" 0 sim run a-alone
		as_user "no root: the model answers for the demo" 0 demo --json
		check "the demo says that the model answered, and why" jq -e '.mode == "model" and (.missing | test("root"))' \
			"$scratch/out"
	else
		skip_optional "the command line answers a user without root" "$gpusched cannot be read by others"
	fi
else
	skip_optional "the command line answers a user without root" "this is not root"
fi
done_testing
