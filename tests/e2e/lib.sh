# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# lib.sh - helpers of the end-to-end tests
#
# A test is a bash script that sources this file and prints TAP. Header lines tell the runner:
#   # timeout: SECONDS     longest run (default 60)
#   # needs: root bpf fuse what the test requires; a missing one is a failure for root and in CI
#   # alone: yes           runs while no other test does (it measures time)
#   # paired: yes          runs beside one other such test at most (it measures time)
#   # beside: yes          runs at low priority beside the others, as it only computes
#   # awaits: WHAT         skipped: the test needs WHAT, which is not written yet
#   # asan: yes            also run on the sanitizer build; release: only before a release
#   # quick: yes           also run by `make check`
#
#   . "$(dirname "$0")/lib.sh"
#   enter_sim --gpus 1     # from here on inside a simulated GPU of its own
#   start_daemon
#   load be; be=$LOAD_PID
#   check "BE is listed" wait_tsgs pid:$be 1
#   done_testing

set -u
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
BUILD=${BUILD:-build}
case $BUILD in /*) build=$BUILD ;; *) build=$top/$BUILD ;; esac
gpusched=$build/gpusched
gpuschedd=$build/gpuschedd
gsload=$build/gsload
helper=$build/tests/e2e/helper
driver_branches() { "$gpusched" help --completion | sed -n 's/.*--branch).*-W "\([0-9 ]*\)".*/\1/p'; }
export GPUSCHED_POLICIES=${GPUSCHED_POLICIES:-$build/policies}
self=$(cd "$(dirname "$0")" && pwd)/$(basename "$0")
# Prefix for the names of everything that this test makes: a hash of the script's path.
name=gst$(printf '%s' "$self" | cksum | cut -d' ' -f1)

# ---- TAP ------------------------------------------------------------------------------------------

tap_n=0
tap_bad=0

diag() {
	sed 's/^/# /' <<<"$*"
}

ok() { # NAME
	tap_n=$((tap_n + 1))
	echo "ok $tap_n - $1"
}

not_ok() { # NAME [DIAGNOSIS]
	tap_n=$((tap_n + 1))
	tap_bad=$((tap_bad + 1))
	echo "not ok $tap_n - $1"
	[ -z "${2:-}" ] || diag "$2"
}

# check NAME COMMAND...: the command must succeed; if it fails, its output is shown
check() {
	local what=$1 out
	shift
	if out=$("$@" 2>&1); then
		ok "$what"
	else
		not_ok "$what" "failed: $*: $out"
		return 1
	fi
}

# is GOT WANTED NAME
is() {
	if [ "$1" = "$2" ]; then
		ok "$3"
	else
		not_ok "$3" "got '$1', wanted '$2'"
		return 1
	fi
}

# like GOT REGEX NAME
like() {
	if [[ $1 =~ $2 ]]; then
		ok "$3"
	else
		not_ok "$3" "got '$1', wanted a match of '$2'"
		return 1
	fi
}

# le A B NAME, ge A B NAME: compares numbers, also fractions
le() {
	if awk -v a="$1" -v b="$2" 'BEGIN { exit !(a != "" && a + 0 <= b + 0) }'; then
		ok "$3 ($1 <= $2)"
	else
		not_ok "$3" "got '$1', wanted at most $2"
		return 1
	fi
}

ge() {
	if awk -v a="$1" -v b="$2" 'BEGIN { exit !(a != "" && a + 0 >= b + 0) }'; then
		ok "$3 ($1 >= $2)"
	else
		not_ok "$3" "got '$1', wanted at least $2"
		return 1
	fi
}

# exits CODE NAME COMMAND...: the command must exit with CODE; its output lands in $out
exits() {
	local want=$1 what=$2 got=0
	shift 2
	out=$("$@" 2>&1) || got=$?
	if [ "$got" = "$want" ]; then
		ok "$what"
	else
		not_ok "$what" "exit status $got, wanted $want: $* printed: $out"
		return 1
	fi
}

# skip NAME REASON: counts as a failure for root and in CI; skip_optional never does.
skip() {
	tap_n=$((tap_n + 1))
	echo "ok $tap_n - $1 # SKIP required: $2"
}

skip_optional() {
	tap_n=$((tap_n + 1))
	echo "ok $tap_n - $1 # SKIP $2"
}

done_testing() {
	echo "1..$tap_n"
	[ $tap_bad = 0 ]
	exit
}

# ---- waiting --------------------------------------------------------------------------------------

# Factor by which waits are longer on a busy machine: PATIENCE, or runnable processes per processor.
patience() {
	local load
	read -r load _ </proc/loadavg
	load=$((1 + ${load%.*} / $(nproc 2>/dev/null || echo 1)))
	echo "${PATIENCE:-$((load < 6 ? load : 6))}"
}

# wait_for SECONDS COMMAND...: repeats the command until it succeeds; waits longer on a busy
# machine. Between two tries it sleeps twice as long as one took, so as not to slow down what the
# test waits for.
wait_for() {
	local from=$SECONDS seconds=$1 look_us rest
	shift
	until look_us=${EPOCHREALTIME/[.,]/} && "$@" >/dev/null 2>&1; do
		[ $((SECONDS - from)) -lt "$seconds" ] || [ $((SECONDS - from)) -lt $((seconds * $(patience))) ] || return 1
		look_us=$((2 * (${EPOCHREALTIME/[.,]/} - look_us)))
		look_us=$((look_us < 50000 ? 50000 : look_us < 1000000 ? look_us : 1000000))
		printf -v rest '%d.%06d' $((look_us / 1000000)) $((look_us % 1000000))
		sleep "$rest"
	done
}

gone() { # PID
	! kill -0 "$1" 2>/dev/null
}

# For JSON that is read often: gojq starts in a tenth of jq's time. Unlike jq, it sorts objects'
# keys.
json=$(command -v gojq || echo jq)

# ---- the simulated GPU ----------------------------------------------------------------------------

# in_sim [SIM SHELL OPTIONS] -- COMMAND...
in_sim() {
	"$gpusched" sim shell "$@"
}

# enter_sim [OPTIONS]: runs this script again inside a simulated GPU; returns there.
enter_sim() {
	[ -n "${GPUSCHED_SIM:-}" ] && return 0
	rmdir "$scratch"
	exec "$gpusched" sim shell "$@" -- bash "$self"
}

# here PATTERN: pids of this simulated GPU's processes whose names match
here() {
	local p
	for p in $(pgrep "$1"); do
		grep -qzxF "GPUSCHED_SIM=$GPUSCHED_SIM" "/proc/$p/environ" 2>/dev/null && echo "$p"
	done
}

# sim_state FILTER: the simulated RM's own view, through jq
sim_state() {
	"$json" -r "$@" <"$GPUSCHED_SIM/dev/state.json"
}

# ---- gpusched -------------------------------------------------------------------------------------

DAEMON_PID=
scratch=
at_end=()

finish() {
	local i
	if [ -n "${DAEMON_PID:-}" ]; then
		kill "$DAEMON_PID" 2>/dev/null
		wait_for 5 gone "$DAEMON_PID" || kill -9 "$DAEMON_PID" 2>/dev/null
	fi
	# The last first: a process may wait for an earlier one, and must not start its own end
	# then.
	for ((i = ${#at_end[@]} - 1; i >= 0; i--)); do
		kill -9 "${at_end[i]}" 2>/dev/null
	done
	# leaves alone file systems that are still mounted there
	[ -n "$scratch" ] && find "$scratch" -xdev -delete 2>/dev/null
	return 0
}
# Not in a subshell: a test may kill one before it has executed its program.
trap '[ "$BASHPID" != $$ ] || finish' EXIT

# A directory for this test's files, removed at its end.
scratch=$(mktemp -d "${TMPDIR:-/tmp}/$name.XXXXXX")

# start_daemon [OPTIONS]: starts gpuschedd in the foreground mode, with its log in
# $scratch/daemon.log, and waits until it answers; $DAEMON_PID
before_daemon=() # words in front of gpuschedd, such as a command that runs it
start_daemon() {
	"${before_daemon[@]}" "$gpuschedd" --foreground "$@" >>"$scratch/daemon.log" 2>&1 &
	DAEMON_PID=$!
	wait_for 30 daemon_ready || {
		diag "the daemon does not answer: $(tail -5 "$scratch/daemon.log")"
		return 1
	}
}

# api PATH [BODY]: the daemon's answer
api() {
	"$build/tests/e2e/answer" "$GPUSCHED_SIM/run/api" "$@"
}

daemon_ready() {
	[[ $(api /v1/ping '{}') =~ \"pid\":\ ?"$DAEMON_PID"[,}] ]]
}

# watchers N: exactly N clients watch the daemon's events
watchers() {
	[[ $'\n'$(api /metrics) == *$'\n'"gpusched_watchers $1"$'\n'* ]]
}

stop_daemon() {
	kill "$DAEMON_PID"
	wait "$DAEMON_PID" 2>/dev/null
	DAEMON_PID=
}

kill_daemon() {
	kill -9 "$DAEMON_PID"
	wait "$DAEMON_PID" 2>/dev/null
	DAEMON_PID=
}

# Kernels of 4 ms for a BE whose test does not say how long they are: the shorter they are, the more
# processor time the simulated GPU takes.
long_kernels() { # ARGUMENTS...: prints an option that the arguments may overrule
	[ "$1" != be ] || echo "--kernel-us 4000"
}

# load ARGUMENTS...: gsload in the background; $LOAD_PID, output in $scratch/load.out
load() {
	# shellcheck disable=SC2046
	set -- "$1" $(long_kernels "$1") "${@:2}"
	# The file is opened before the fork: a reader must not find the last program's output.
	{ "$gsload" "$@" & } >"$scratch/load.out" 2>&1
	LOAD_PID=$!
	at_end+=("$LOAD_PID")
}

# run_load CLASS NAME ARGUMENTS...: gsload of that class, without an agent; its pid in the variable NAME
run_load() {
	local class=$1 name=$2
	shift 2
	# shellcheck disable=SC2046
	"$gpusched" run --no-agent --class "$class" -- "$gsload" "$1" $(long_kernels "$1") "${@:2}" \
		--iterations-per-us 27.78 >"$scratch/$name.out" 2>&1 &
	at_end+=($!)
	declare -g "$name=$!"
}

# end_load PID [SIGNAL]
end_load() {
	kill "-${2:-TERM}" "$1" 2>/dev/null
	wait "$1" 2>/dev/null
	return 0
}

# status_lines [OPTIONS]: `gpusched status` with each finding in one line, however long
status_lines() {
	"$gpusched" status "$@" | awk '
		/^(wrong|note|not known|   do): / { if (l != "") print l; l = $0; next }
		l != "" && /^   / { sub(/^ +/, " "); l = l $0; next }
		{ if (l != "") print l; l = ""; print }
		END { if (l != "") print l }'
}

# list_json TARGET FILTER: `gpusched list` through jq -s
list_json() {
	"$gpusched" list "$1" --json | "$json" -rs "flatten | $2"
}

compute() { # PID FILTER: applies the filter to its compute TSG
	list_json "pid:$1" ".[] | select(.kind == \"compute\") | $2"
}

counter() { # NAME: a counter of the engine
	"$gpusched" stats --json | "$json" ".engine.$1"
}

policy_now() {
	"$gpusched" policy get --json | "$json" -r .running.name
}

as() { # UID COMMAND...: as that user; not in the background, where $! would be a subshell's pid
	setpriv --reuid "$1" --regid "$1" --clear-groups "${@:2}"
}

# wait_tsgs TARGET N: waits until at least N TSGs of the target are listed
wait_tsgs() {
	wait_for 30 eval '[ "$(list_json "'"$1"'" length)" -ge '"$2"' ]'
}

# ---- control groups -------------------------------------------------------------------------------

# enter_cgroups: runs this script again in a mount namespace of its own; returns there, before
# enter_sim. There /sys/fs/cgroup holds nothing but the machine's cgroup2 hierarchy, at $tree.
# Groups that the script makes below $tree/$name.$$ are removed at its end, with the processes in
# them.
enter_cgroups() {
	tree=/sys/fs/cgroup/elsewhere
	trap '[ "$BASHPID" != $$ ] || drop_groups' EXIT
	[ -z "${GPUSCHED_SIM:-}" ] || return 0
	if [ -z "${MOVED:-}" ]; then
		rmdir "$scratch"
		MOVED=1 exec unshare -m bash "$self"
	fi
	mount -t tmpfs none /sys/fs/cgroup && mkdir "$tree" && mount -t cgroup2 none "$tree" || exit 1
}

drop_groups() {
	[ ! -e "$tree/$name.$$" ] || echo 1 >"$tree/$name.$$/cgroup.kill"
	wait_for 3 groups_gone || diag "$tree/$name.$$ cannot be removed"
	finish
}

groups_gone() {
	find "$tree/$name.$$" -depth -type d -exec rmdir {} +
	[ ! -e "$tree/$name.$$" ]
}

# ---- leaks ----------------------------------------------------------------------------------------

fds_of() { # PID
	ls "/proc/$1/fd" | wc -l
}

rss_kb_of() { # PID
	awk '/^VmRSS/ { print $2 }' "/proc/$1/status"
}

mounts_now() {
	wc -l </proc/self/mounts
}

pins_now() {
	find "$GPUSCHED_SIM/bpf" 2>/dev/null | wc -l
}

# ---- what the simulated RM says -------------------------------------------------------------------

# restored: every compute TSG has CUDA's slice, every copy TSG the driver's, no channel is disabled
restored() {
	[ "$(sim_state '[.tsgs[] | select(.timeslice_us != (if .engine == 1 then 2048 else 1024 end)
		or .interleave != 1 or .disabled_channels != 0)] | length')" = 0 ]
}

sim_tsgs() { # PID: how many TSGs the process has in the RM
	sim_state "[.tsgs[] | select(.pid == $1)] | length"
}

sim_slice() { # PID: timeslice of its compute TSG
	sim_state "[.tsgs[] | select(.pid == $1 and .engine == 1) | .timeslice_us] | first"
}

sim_disabled() { # PID: disabled channels of all its TSGs
	sim_state "[.tsgs[] | select(.pid == $1) | .disabled_channels] | add // 0"
}

sim_files() { # PID: how many files of the driver the process has open
	sim_state "[.files[] | select(.pid == $1)] | length"
}

sim_work() { # PID: how much work its TSGs have done
	sim_state "[.tsgs[] | select(.pid == $1) | .work_done] | add // 0"
}

slice_is() { # PID US
	[ "$(sim_slice "$1")" = "$2" ]
}

# config TEXT: writes the configuration for this test's daemons
config() {
	printf '%s\n' "$1" >"$scratch/gpusched.conf"
	export GPUSCHED_CONFIG=$scratch/gpusched.conf
}

# Allows the counting of launches, which is off by default since users could stall probes
# (docs/launches.md). Call it after config.
trusting() {
	printf '[Daemon]\nCountLaunches=trusted\n' >>"$scratch/gpusched.conf"
	export GPUSCHED_CONFIG=$scratch/gpusched.conf
}

# ---- parking --------------------------------------------------------------------------------------

# Makes the endless input (descriptor 9) from which the programs of hold() read.
park_setup() {
	mkfifo "$scratch/open"
	exec 9<>"$scratch/open"
}

hold() { # NAME MIB [COMMAND...]: a program that holds MIB of GPU memory; its pid in NAME
	local name=$1 mib=$2
	shift 2
	"$@" "$helper" memory "$mib" <&9 >"$scratch/$name" &
	declare -g "$name=$!"
	at_end+=($!)
	wait_for 10 grep -q ready "$scratch/$name" || not_ok "$name holds memory"
	wait_tsgs "pid:${!name}" 4 || not_ok "$name is listed"
}

parked() { # PID FILTER: applies the filter to its line of `gpusched parked`
	"$gpusched" parked --json | "$json" -rs "flatten | .[] | select(.pid == $1) | $2"
}

cuda_state() { # PID: libcuda's checkpoint state of it: 0 running, 1 locked, 2 checkpointed
	"$helper" park "$1" state | cut -d' ' -f3
}
