#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Builds and runs every test that can run here. Last line: N passed, N failed, N skipped
#
#   tests/run.sh [-l] [-j JOBS] [-s SET] [PATTERN...]
#
#   -l          only list the tests
#   -j JOBS     how many tests at the same time (default: one more than there are processors, since
#               most tests wait more than they compute)
#   -s SET      sets to run, comma separated: unit e2e policy check fuzz asan attacks vm cross release
#               (default: all but attacks, vm and cross, which take minutes, and release; in CI all but
#               cross and release). quick: unit, policy, check and e2e, but only scripts that have a line
#               "# quick: yes". Scripts with a line "# asan: release" run with sanitizers only in the set
#               release, or if a PATTERN is given
#   PATTERN     only tests whose name contains it (sets: see -s). If all are unit/NAME, with a NAME that
#               there is, only these programs are built and run
#
# Environment: BUILD and ASAN_BUILD, the build folders (build, build-asan); ARCH=arm64: use arm64 virtual
# machines, with the programs that `make cross` has built
#
# A test prints TAP; each of its points counts. Logs stay under BUILD/testlogs. Header lines of a
# script ("# timeout: 60", "# needs: root bpf fuse", "# alone: yes", "# paired: yes", "# beside: yes",
# "# asan: yes", "# quick: yes", "# awaits: WHAT") are explained in tests/e2e/lib.sh. The tests that took longest in the
# last run begin first. A skip that a script calls "required" counts as a failure for root and in CI.
#
# Up to twenty tests that failed while others ran are run once more, alone: most tests wait for other
# processes, which are slow on a busy machine. If such a test then passes, Notes lists it. A sanitizer's
# report stays a failure, except a leak, since a unit test that fails does not free its memory.
set -u
cd "$(dirname "$0")/.." || exit 1
top=$PWD
export BUILD=${BUILD:-build}
jobs=$(($(nproc) + 1))
arguments=("$@")
list=no
sets=check,unit,policy,e2e,asan,fuzz
[ "${CI:-}" = true ] && sets=$sets,attacks,vm
while getopts lj:s: opt; do
	case $opt in
	l) list=yes ;;
	j) jobs=$OPTARG ;;
	s) sets=$OPTARG ;;
	*) exit 2 ;;
	esac
done
shift $((OPTIND - 1))
patterns=("$@")
# Prints the programs of the unit tests that are asked for, if nothing else is.
only_units() {
	local p
	for p in "${patterns[@]}"; do
		[ "${p%%/*}" = unit ] && [ -f "tests/unit/test_${p#unit/}.c" ] || return
	done
	printf 'tests/unit/test_%s\n' "${patterns[@]#unit/}"
}
mapfile -t programs < <([ ${#patterns[@]} = 0 ] || only_units)
[ ${#programs[@]} = 0 ] || sets=unit
# Unprivileged users of the tests must reach the tree, but only root may have access to its folder.
reachable() {
	setpriv --reuid 65534 --regid 65534 --clear-groups test -r "$top/tests/run.sh" 2>/dev/null
}
if [ "$(id -u)" = 0 ] && [ "$list" = no ] && [ -z "${GPUSCHED_TEST_TREE:-}" ] && ! reachable; then
	# Each tree always gets the same path, since a build folder contains the path where it was made.
	export GPUSCHED_TEST_TREE=/tmp/gpusched-tree.$(cksum <<<"$top" | cut -d' ' -f1)
	mkdir -m 755 "$GPUSCHED_TEST_TREE" 2>/dev/null || [ -O "$GPUSCHED_TEST_TREE" ] || {
		echo "tests: $GPUSCHED_TEST_TREE is somebody else's: remove it" >&2
		exit 1
	}
	chmod -R go+rX "$top"
	[ -f "$BUILD/build.ninja" ] || meson setup "$BUILD" >/dev/null
	unshare --mount bash -c 'mount --bind "$1" "$GPUSCHED_TEST_TREE" && cd "$GPUSCHED_TEST_TREE" &&
		shift && exec tests/run.sh "$@"' run "$top" "${arguments[@]}"
	rc=$?
	rmdir "$GPUSCHED_TEST_TREE"
	exit $rc
fi
logs=$top/$BUILD/testlogs
strict=no
[ "$(id -u)" = 0 ] && strict=yes
[ "${CI:-}" = true ] && strict=yes
started=$SECONDS
passed=0
failed=0
skipped=0
failures=()
skips=()
notes=()
again=() # tests that failed while others ran
phases=()
again_max=20

# Programs of other users need /dev/null. False: it was not for all, and is again.
null_is_ordinary() {
	[ "$(stat -c %F:%a /dev/null)" = "character special file:666" ] || [ "$(id -u)" != 0 ] && return
	chmod 666 /dev/null
	false
}
null_is_ordinary || echo "tests: not everybody could write to /dev/null: mended"

has() {
	[[ ,$sets, == *,$1,* ]]
}

wanted() { # NAME
	[ ${#patterns[@]} = 0 ] && return 0
	local p
	for p in "${patterns[@]}"; do
		[[ $1 == $p ]] && return 0
		[ ${#programs[@]} = 0 ] && [[ $1 == *$p* ]] && return 0
	done
	return 1
}

header() { # FILE KEY DEFAULT
	local v
	v=$(sed -n "1,15s/^# $2: *//p" "$1" | head -1)
	echo "${v:-$3}"
}

# ---- what this machine lacks ---------------------------------------------------------------------

lacks() { # NEED: prints why it is missing
	case $1 in
	root) [ "$(id -u)" = 0 ] || echo "root" ;;
	bpf) [ -r /sys/kernel/btf/vmlinux ] || echo "a kernel with BPF and BTF" ;;
	fuse) [ -c /dev/fuse ] || echo "/dev/fuse" ;;
	cgroup2) grep -qw cgroup2 /proc/filesystems || echo "cgroup v2" ;;
	*) echo "'$1', which this runner does not know" ;;
	esac
}

# ---- the list of tests: name|timeout|when|needs|command -------------------------------------------

# Prints when a script runs:
#   alone    while no other test runs, except those of "beside"
#   paired   after the jobs, two at a time, since they measure time but compute little
#   beside   one at a time, beside all other tests, with the processor time that they leave idle
#   machine  (virtual machines, see machines()) one at a time, beside jobs
#   job      up to -j of them at the same time
when() { # FILE
	[ "$(header "$1" alone no)" = yes ] && echo alone && return
	[ "$(header "$1" paired no)" = yes ] && echo paired && return
	[ "$(header "$1" beside no)" = yes ] && echo beside && return
	echo job
}

# Skips a test that cannot pass before something else exists ("# awaits:"); AWAITED=run runs it anyway.
awaited() { # NAME FILE
	local what
	what=$(header "$2" awaits '')
	[ -n "$what" ] && [ "${AWAITED:-}" != run ] || return 1
	skipped=$((skipped + 1))
	skips+=("$1: awaits $what")
}

tests=()
scripts() { # SET FOLDER BUILD-DIRECTORY ONLY-KEY [VALUE]
	local f base here
	for f in tests/"$2"/*.sh; do
		base=$(basename "$f" .sh)
		[ -e "$f" ] && [ "$base" != lib ] || continue
		if [ -n "$4" ]; then
			here=$(header "$f" "$4" no)
			[ ${#patterns[@]} = 0 ] || [ "$here" != release ] || here=${5:-yes}
			[ "$here" = "${5:-yes}" ] || continue
		fi
		wanted "$1/$base" || continue
		[ $list = no ] && awaited "$1/$base" "$f" && continue
		tests+=("$1/$base|$(header "$f" timeout 60)|$(when "$f")|$(header "$f" needs '')|BUILD=$3 bash $f")
	done
}

# Adds the tests of tests/vm, once for each of their kernels; tests/vm/run.sh explains their header lines.
machines() {
	local f base kernel kernels when
	for f in tests/vm/*.sh; do
		base=$(basename "$f" .sh)
		when=$(when "$f")
		[ "$when" != job ] || when=machine
		kernels=$(header "$f" "kernels${ARCH:+ on $ARCH}" '')
		[ "${CI:-}" != true ] || kernels=$(header "$f" "kernels in CI" "$kernels")
		[ "$kernels" != none ] || continue
		for kernel in $kernels; do
			wanted "vm/$base@$kernel" || continue
			tests+=("vm/$base@$kernel|$(($(header "$f" timeout 60) * (${ARCH:+1} + 0 ? 3 : 1) + 30))|$when||BUILD=$BUILD tests/vm/run.sh $base $kernel")
		done
	done
}

units() { # SET BUILD-DIRECTORY
	local name limit cmd
	while IFS=$'\t' read -r name limit cmd; do
		wanted "$1/$name" || continue
		tests+=("$1/$name|$limit|job||CMOCKA_MESSAGE_OUTPUT=TAP BUILD=$2 $cmd")
	done < <(meson introspect "$2" --tests |
		jq -r '.[] | [.name, .timeout * 2, (((.env // {} | to_entries | map("\(.key)=\(.value | @sh)")) +
			(.cmd | map(@sh))) | join(" "))] | @tsv')
}

# ---- running ----------------------------------------------------------------------------------------

# Prints the result of one log: numbers of passed, failed and skipped points, then lines of failures and skips
judge() { # LOG RC LIMIT
	awk -v rc="$2" -v limit="$3" -v strict=$strict '
	/\r/ { sub(/.*\r */, "") } # progress of a program that shares the terminal
	/^ok / || /^ok$/ || /^not ok .*# SKIP/ {
		n++
		if (match($0, /# [Ss][Kk][Ii][Pp]/)) {
			if (strict == "yes" && $0 ~ /# [Ss][Kk][Ii][Pp] required/) {
				bad++
				text[++t] = "F" $0
			} else {
				skip++
				text[++t] = "S" $0
			}
		} else
			good++
	}
	/^not ok / && !/# SKIP/ { n++; bad++; text[++t] = "F" $0 }
	/^1\.\.[0-9]+/ { plan = substr($1, 4); planned = 1 }
	/^Bail out!/ { text[++t] = "F" $0; bad++ }
	/ERROR: (Address|Leak|UndefinedBehavior)Sanitizer|runtime error:/ { san++ }
	END {
		if (rc == 124 || rc == 137) {
			bad++
			text[++t] = "Fran past its " limit " s"
		} else if (san) {
			bad++
			text[++t] = "Fa sanitizer spoke"
		} else if (!planned && !n) {
			if (rc)
				bad++
			else
				good++
			if (rc)
				text[++t] = "Fexit status " rc
		} else if (!planned || plan != n) {
			bad++
			text[++t] = "Fplanned " (planned ? plan : "nothing") ", saw " n + 0 " points, exit status " rc
		} else if (rc && !bad) {
			bad++
			text[++t] = "Fexit status " rc
		}
		print good + 0, bad + 0, skip + 0
		for (i = 1; i <= t; i++)
			print text[i]
	}' "$1"
}

# Makes sanitizers write each report to a separate file in the test's folder, since daemons and loads do
# not write to the test's log. gcc's UBSan ignores log_path when ASan is used, and writes to standard
# error: let it abort, which ASan then reports.
sanitizers_write_to() { # FOLDER
	mkdir -p "$1"
	chmod 1777 "$1"
	local all=log_exe_name=1:log_path=$1/report
	export ASAN_OPTIONS=detect_leaks=1:handle_abort=1:exitcode=99:print_cmdline=1:$all
	export UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1:abort_on_error=1:$all
	export LSAN_OPTIONS=suppressions=$top/tests/lsan.supp:print_suppressions=0
}

run_one() { # SPEC: leaves NAME.result in $logs
	local name limit needs cmd log rc=0 why need begun=$SECONDS TIMEFORMAT='%0U %0S'
	IFS='|' read -r name limit _ needs cmd <<<"$1"
	log=$logs/${name//\//-}.log
	why=
	for need in $needs; do
		why="$why${why:+, }$(lacks "$need")"
	done
	why=${why#, }
	if [ -n "$why" ]; then
		printf '1..1\nok 1 - %s # SKIP required: needs %s\n' "$name" "$why" >"$log"
	else
		# Without a sanitizer these variables would be lies: `gpusched run` looks at them.
		case $name in
		asan* | fuzz*) sanitizers_write_to "$reports/${name//\//-}" ;;
		esac
		{ time timeout -k 5 "$limit" bash -c "$cmd" >"$log" 2>&1 </dev/null 8>&- || rc=$?; } 2>"$log.cpu"
		# this test has changed it, or another that runs now
		null_is_ordinary || printf 'not ok 999 - /dev/null is as it was\n' >>"$log"
	fi
	judge "$log" $rc "$limit" >"$log.result"
	echo $((SECONDS - begun)) >"$log.seconds"
}

last_lines() { # LOG
	echo "  last lines of $1:"
	tail -n 25 "$1" | sed 's/^/  | /'
}

collect() { # SPEC [last]: adds up a test's result; a failure counts only at the last try
	local name log good bad skip line seconds
	name=${1%%|*}
	log=$logs/${name//\//-}.log
	seconds=$(cat "$log.seconds")
	took[$name]=$seconds
	ran[$name]=1
	read -r good bad skip <"$log.result"
	if [ "$bad" != 0 ] && [ -z "${2:-}" ]; then
		again+=("$1")
		echo "failed $name for the first time"
		last_lines "$log"
		return
	fi
	{
		read -r _
		passed=$((passed + good))
		failed=$((failed + bad))
		skipped=$((skipped + skip))
		printf '%-6s %-40s %4d passed %3d failed %3d skipped %4d s\n' \
			"$([ "$bad" = 0 ] && echo ok || echo FAILED)" "$name" "$good" "$bad" "$skip" "$seconds"
		while read -r line; do
			case $line in
			F*) failures+=("$name: ${line#F}") ;;
			S*) skips+=("$name: ${line#S}") ;;
			esac
		done
	} <"$log.result"
	[ "$bad" = 0 ] || last_lines "$log"
}

# Prints the tests of one kind, the longest first, by their time in the last run, else by their limits.
longest_first() { # WHEN
	local spec name limit when
	for spec in "${tests[@]}"; do
		IFS='|' read -r name limit when _ <<<"$spec"
		[ "$when" = "$1" ] && printf '%s %s\n' "${took[$name]:-$limit}" "$spec"
	done | sort -rn -k 1,1 | cut -d' ' -f2-
}

running=0
machines_on=0
declare -A at=() took=() ran=() lane=([beside]= [machine]=)

start() { # WHEN SPEC
	(
		case $1 in
		beside) # gets only processor time that no other process wants
			renice -n 19 -p "$BASHPID" >/dev/null
			chrt --idle -p 0 "$BASHPID" ;;
		esac
		run_one "$2"
	) 7<&- &
	at[$!]=$2
}

# Starts the next test of a lane, which runs one test at a time.
next_of() { # LANE
	local spec
	[ -n "${lane[$1]}" ] || return 0
	spec=${lane[$1]%%$'\n'*}
	lane[$1]=${lane[$1]#"$spec"}
	lane[$1]=${lane[$1]#$'\n'}
	[ "$1" != machine ] || machines_on=1
	start "$1" "$spec"
}

reap() {
	local pid spec
	wait -n -p pid
	spec=${at[$pid]}
	unset "at[$pid]"
	case $spec in
	*'|beside|'*) next_of beside ;;
	*'|machine|'*) machines_on=0 && next_of machine ;;
	*) running=$((running - 1)) ;;
	esac
	collect "$spec"
}

# Waits until all jobs and machines have ended (reap_all: until all tests have).
reap_jobs() {
	while [ $((running + machines_on)) -gt 0 ]; do
		reap
	done
}

reap_all() {
	while [ ${#at[@]} -gt 0 ]; do
		reap
	done
}

run_lane() { # LANE
	lane[$1]=$(longest_first "$1")
	next_of "$1"
}

# Tests that run alone come in reverse order: the longest ones measure most, and the last of them have no test of
# "beside" any more that could disturb them.
in_order() { # WHEN
	if [ "$1" = alone ]; then longest_first alone | tac; else longest_first "$1"; fi
}

run_some() { # WHEN JOBS
	local spec
	while read -r -u 7 spec; do
		[ -n "$spec" ] || continue
		while [ $((running + (machines_on && $2 > 1))) -ge "$2" ]; do # a machine takes the place of a job
			reap
		done
		start "$1" "$spec"
		running=$((running + 1))
	done 7<<<"$(in_order "$1")"
}

run_again() {
	local spec name log before
	for spec in "${again[@]}"; do
		name=${spec%%|*}
		log=$logs/${name//\//-}.log
		before=$failed
		if [ ${#again[@]} -le $again_max ]; then
			mv "$log" "$log.first"
			grep -lsE 'ERROR: LeakSanitizer' "$reports/${name//\//-}"/* | xargs -r rm
			run_one "$spec"
		fi
		collect "$spec" last
		[ "$failed" != "$before" ] || notes+=("$name failed beside others and passed alone: $log.first")
	done
}

# Begins a phase, and notes how long the one before took, and how busy the processors were.
phase() { # NAME
	local user nice system idle wait rest
	read -r _ user nice system idle wait rest </proc/stat
	if [ -n "${phase_now:-}" ]; then
		phases+=("$(awk -v s=$((SECONDS - phase_began)) -v i=$((idle + wait - phase_idle)) -v n="$phase_now" \
			-v hz="$(getconf CLK_TCK)" -v cpus="$(nproc)" 'BEGIN {
				printf "%5d s  %3d %% busy  %s", s, s ? 100 - 100 * i / hz / cpus / s : 0, n }')")
	fi
	phase_now=$1 phase_began=$SECONDS phase_idle=$((idle + wait))
}

run_all() {
	local name seconds
	[ ! -f "$times" ] || while read -r name seconds; do
		took[$name]=$seconds
	done <"$times"
	phase "jobs and machines"
	run_lane machine
	run_lane beside
	run_some job "$jobs"
	reap_jobs
	phase paired
	run_some paired 2
	reap_jobs
	phase alone
	run_some alone 1
	reap_all
	phase again
	run_again
	phase ""
	for name in "${!took[@]}"; do
		echo "$name ${took[$name]}"
	done >"$times"
	tests=()
}

# Returns whether a report is only from a process that was killed at its end, while LeakSanitizer's helper
# searched its memory. The helper then reports a thread that is gone, or leaves an empty report.
was_killed() { # REPORT
	! grep -qvE '^==.*==Unable to get registers from thread [0-9]+\.$' "$1"
}

# Counts the sanitizers' reports, TEST/report.PROGRAM.PID, as failures.
judge_reports() {
	local report what first
	for report in "$reports"/*/*; do
		[ -e "$report" ] || continue
		what=${report#"$reports"/}
		if was_killed "$report"; then
			notes+=("sanitizer: $what: killed while LeakSanitizer looked")
			continue
		fi
		first=$(grep -m 1 -E 'ERROR|SUMMARY' "$report" || grep -m 1 . "$report")
		failed=$((failed + 1))
		failures+=("sanitizer: $what: $first")
		echo "  $what:"
		head -n 60 "$report" | sed 's/^/  | /'
	done
}

step() { # NAME COMMAND...: one point for a build
	local log=$logs/$1.log name=$1
	shift
	if "$@" >"$log" 2>&1 8>&-; then
		passed=$((passed + 1))
		echo "ok     $name"
	else
		failed=$((failed + 1))
		failures+=("$name: see $log")
		echo "FAILED $name; last lines of $log:"
		tail -n 40 "$log" | sed 's/^/  | /'
		return 1
	fi
}

# Fetches the packages for virtual machines. Without a network their tests are skipped; in CI they fail.
fetch_machines() {
	[ "${CI:-}" = true ] && {
		step vm-fetch tests/vm/fetch.sh
		return
	}
	tests/vm/fetch.sh >"$logs/vm-fetch.log" 2>&1 8>&- && return
	skipped=$((skipped + 1))
	skips+=("vm: no virtual machine: $(tail -n 1 "$logs/vm-fetch.log")")
	return 1
}

build_in() { # DIRECTORY MESON-OPTIONS...
	local dir=$1
	shift
	if [ ! -f "$dir/build.ninja" ]; then
		meson setup "$@" "$dir" || return 1
	elif [ ! -d "$dir/tests" ]; then # configured when the tests' dependencies were missing
		meson setup --reconfigure "$@" "$dir" || return 1
	elif [ $# -gt 0 ]; then
		meson configure "$@" "$dir" || return 1
	fi
	ninja -C "$dir" "${programs[@]}"
}

# Lists the tests with the most CPU time, and the CPU time of each set. Daemons that no process waited for
# are not included.
dearest() {
	local name cpu
	[ ${#took[@]} -gt 1 ] || return 0
	for name in "${!ran[@]}"; do
		cpu=$(awk '{ s += $1 + $2 } END { print s + 0 }' "$logs/${name//\//-}.log.cpu" 2>/dev/null)
		printf '%d %d %s\n' "${cpu:-0}" "${took[$name]}" "$name"
	done | sort -rn >"$logs/cpu"
	echo
	echo "Dearest tests (seconds of a processor, by the clock):"
	head -n 15 "$logs/cpu" | xargs printf '  %5d s %5d s  %s\n'
	echo "Sets (seconds of a processor):"
	awk '{ sub("/.*", "", $3); s[$3] += $1 } END { for (n in s) printf "  %5d s  %s\n", s[n], n }' "$logs/cpu" | sort -rn
	echo "Phases (seconds by the clock):"
	printf '  %s\n' "${phases[@]}"
}

finish() {
	local name
	local line
	if [ ${#skips[@]} -gt 0 ]; then
		echo
		echo "Skipped:"
		printf '  %s\n' "${skips[@]}"
	fi
	if [ ${#notes[@]} -gt 0 ]; then
		echo
		echo "Notes:"
		printf '  %s\n' "${notes[@]}"
	fi
	if [ ${#failures[@]} -gt 0 ]; then
		echo
		echo "Failed:"
		printf '  %s\n' "${failures[@]}"
	fi
	dearest
	echo
	echo "took $((SECONDS - started)) s"
	echo "$passed passed, $failed failed, $skipped skipped"
	[ "$failed" = 0 ]
	exit
}

# A run that begins while another one is in progress writes its logs to a separate folder.
mkdir -p "$logs"
exec 8>"$logs.lock"
if ! flock -n 8; then
	logs=$logs.$$
	mkdir -p "$logs"
fi
[ $list = yes ] || rm -rf "${logs:?}"/*
reports=$logs/sanitizers
times=$top/$BUILD/testtimes

[ $list = yes ] || phase builds
if [ $list = no ]; then
	step build build_in "$BUILD" || finish
fi
asan=${ASAN_BUILD:-build-asan}
if { has asan || has release; } && [ $list = no ]; then
	# Build the whole tree again with sanitizers, with warnings as errors. gcc's warnings about lengths and
	# initialisation are often wrong on instrumented code. Reports need only line numbers: -g1 saves a quarter
	# of the build time.
	step build-asan build_in $asan -Db_sanitize=address,undefined -Db_lundef=false -Dwerror=true \
		-Dbuildtype=debug -Doptimization=1 \
		-Dc_args='-g1 -Wno-format-truncation -Wno-maybe-uninitialized -Wno-stringop-truncation' || sets=${sets/asan/}
fi
if has quick; then
	for set in check policy e2e; do
		scripts $set $set "$BUILD" quick
	done
	units unit "$BUILD"
fi
has check && scripts check check "$BUILD" ''
has unit && units unit "$BUILD"
has policy && scripts policy policy "$BUILD" ''
has e2e && scripts e2e e2e "$BUILD" ''
if has vm && { [ $list = yes ] || fetch_machines; }; then
	machines
fi
if has asan; then
	[ -f $asan/build.ninja ] && units asan-unit $asan
	scripts asan e2e $asan asan
fi
has attacks && scripts attacks attacks "$BUILD" ''
has fuzz && scripts fuzz fuzz "$BUILD" ''
has cross && scripts cross cross "$BUILD" ''
if has release; then
	scripts release release "$BUILD" ''
	[ -f $asan/build.ninja ] && scripts asan e2e $asan asan release
fi

if [ $list = yes ]; then
	for t in "${tests[@]}"; do
		echo "${t%%|*}"
	done
	exit 0
fi
run_all
judge_reports
finish
