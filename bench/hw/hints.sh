#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Measures on a real GPU what a pre-switch ahead of a request gains and costs; at most 4 minutes.
#
#   bench/hw/hints.sh OUTDIR
#
# On an otherwise idle machine with a GPU. Needs root, but only for the daemon of some parts. OUTDIR gets hints.md (the
# tables), raw/ and log.txt. TIME=N: seconds of each measurement (4).
#   service   a 100 us request after 300 us of CPU work, alone and beside a best-effort program that fills the GPU:
#             without hint and with hint, with the best-effort program's own slice and with a slice of 20 us
#   curve     as service, with 0 to 500 us of CPU work between hint and launch
#   auto      an unmodified server that waits in epoll (requests.c): alone, without hints, with --hint=auto
#   recorded  the turns of the GPU under lcbe, without and with hints: lcbe.pftrace, lcbe_hint.pftrace
#   cost      the CPU time of a counted launch and of a hint
#   during    which calls wait for a pre-switch's end (during.c): cooperative launches, first launches, memory
#   user      list, set, suspend and resume of an nvcc program by its agent, as an ordinary user without a daemon
# STEPS="during cost" runs those steps only. A further step runs only with STEPS=same, at most 150 s:
#   same      compares results and cost with and without agent (same.py): PyTorch (eager, graph), an nvcc program with
#             static cudart, JAX, CuPy; leaves out frameworks that the machine lacks
set -u
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
begin 225 raw "$@"
T=${TIME:-4}
requests=$top/bundle/requests
agentcost=$top/bundle/agentcost
during=$top/bundle/during
[ -x "$requests" ] || { requests=$top/build/requests agentcost=$top/build/agentcost during=$top/build/during; }
agent=("$gpusched" run --agent --class lc)
export XDG_RUNTIME_DIR=$raw/run
mkdir -p "$XDG_RUNTIME_DIR"

# one NAME BE(0|1) SLICE LEAD [PREFIX -- ] [GSLOAD-OPTIONS]: notes the service's percentiles and the BE's rate meanwhile
one() {
	local name=$1 be=$2 slice=$3 lead=$4 b='' rate=null how=()
	shift 4
	while [ $# -gt 0 ] && [ "$1" != -- ]; do
		how+=("$1")
		shift
	done
	[ $# = 0 ] || shift
	if [ "$be" = 1 ]; then
		as_be=("$gpusched" run --agent --class be --)
		be_start "$name"
		b=$pid
		[ "$slice" = - ] || slice "$b" "$slice"
	fi
	[ ${#how[@]} = 0 ] || how+=(--)
	timeout $((T + 20)) "${how[@]}" "$gsload" lc --seconds "$T" --warmup 1 --iterations-per-us "$iterations" \
		--arrivals closed --period-us 5000 --lead-us "$lead" "$@" >"$raw/$name.lc.json" 2>&1
	[ -z "$b" ] || { be_end "$name" "$b"; rate=$(be_rate "$name"); }
	note "$name" "$("$jq" -cs --argjson be "${rate:-null}" 'map(select(.service_p99_us)) | last |
		{p50: .service_p50_us, p90: .service_p90_us, p99: .service_p99_us, whole_p99: .p99_us, n, hint, be: $be}' "$raw/$name.lc.json")"
	tail -n 1 "$raw/notes.jsonl"
	pids=()
}

# Runs as root without a daemon: an ordinary user's command would go through the agent.
slice() { # PID SLICE
	gs set "pid:$1" "timeslice=$2"
}

prepare() {
	calibrate || return 1
	nvidia-smi --query-gpu=name,driver_version --format=csv,noheader | tee "$raw/gpu.txt"
	return 0
}

service() {
	one alone 0 - 300
	one alone_hint 0 - 300 "${agent[@]}" -- --hint
	one default 1 - 300
	one default_hint 1 - 300 "${agent[@]}" -- --hint
	one slice 1 20us 300
	one slice_hint 1 20us 300 "${agent[@]}" -- --hint
}

# Measures under the daemon's policy lcbe. Needs root, since only the daemon gives classes.
policy() {
	daemon_start || return 1
	gs policy start lcbe || return 1
	one lcbe 1 - 300 "$gpusched" run --no-agent --class lc --
	one lcbe_hint 1 - 300 "${agent[@]}" -- --hint
}

# Records the GPU's own log, for a picture: gpusched trace plot FILE -o FILE.svg --from 500ms -t
# 20ms
recorded() {
	local name how b
	daemon_start || return 1
	gs policy start lcbe || return 1
	as_be=("$gpusched" run --class be --)
	be_start recorded
	b=$pid
	for name in lcbe lcbe_hint; do
		how=("$gpusched" run --no-agent --class lc --)
		[ $name = lcbe ] || how=("${agent[@]}" -- "$gsload" lc --hint)
		[ $name = lcbe ] && how+=("$gsload" lc)
		timeout 20 "${how[@]}" --seconds 2.5 --warmup 1 --iterations-per-us "$iterations" --arrivals closed \
			--period-us 5000 --lead-us 300 >"$raw/recorded.$name.json" 2>&1 &
		local l=$!
		sleep 2
		timeout 20 "$gpusched" trace record -o "$out/$name.pftrace" -t 1 >"$raw/$name.record" 2>&1
		timeout 20 "$gpusched" trace export "$out/$name.pftrace" >"$raw/$name.sums" 2>&1
		wait $l
	done
	be_end recorded "$b"
	cat "$raw"/*.sums
}

curve() {
	local lead
	for lead in 0 50 100 150 200 300 400 500; do
		one "lead.$lead" 1 20us "$lead" "${agent[@]}" -- --hint
	done
}

# auto_one NAME BE PREFIX...: runs the server under PREFIX, and its client
auto_one() {
	local name=$1 be=$2 sock=$raw/run/$1.sock s b=''
	shift 2
	timeout $((T + 40)) "$@" "$requests" serve "$sock" 100 300 "$iterations" 2>"$raw/$name.server.err" &
	s=$!
	wait_for 20 test -S "$sock" || { cat "$raw/$name.server.err"; kill $s; return 1; }
	if [ "$be" = 1 ]; then
		as_be=("$gpusched" run --agent --class be --)
		be_start "$name"
		b=$pid
		slice "$b" 20us
	fi
	timeout $((T + 20)) "$requests" ask "$sock" "$T" 5000 >"$raw/$name.ask.json"
	kill $s
	wait $s 2>/dev/null
	[ -z "$b" ] || be_end "$name" "$b"
	note "$name" "$("$jq" -cs --argjson be "$([ -z "$b" ] && echo null || be_rate "$name")" 'last |
		{p50: .service_p50_us, p99: .service_p99_us, whole_p99: .p99_us, n, hint: null, be: $be}' "$raw/$name.ask.json")"
	tail -n 1 "$raw/notes.jsonl"
	pids=()
}

automatic() {
	local i
	for ((i = 1; i <= ${ROUNDS:-2}; i++)); do
		auto_one auto.alone.$i 0 timeout 60
		auto_one auto.without.$i 1 timeout 60
		auto_one auto.with.$i 1 "$gpusched" run --agent --class lc --hint=auto --
		auto_one auto.alone_with.$i 0 "$gpusched" run --agent --class lc --hint=auto --
	done
}

cost() {
	note cost.without "$(timeout 20 "$agentcost")"
	note cost.with "$(timeout 20 "${agent[@]}" -- "$agentcost")"
	tail -n 2 "$raw/notes.jsonl"
}

during() {
	note during "$(timeout 15 "$during")"
	tail -n 1 "$raw/notes.jsonl"
}

# ---- with and without an agent ------------------------------------------------------------------------------------------

kinds=(torch jax cupy)
work=$raw/work
static_cudart_built() {
	[ -x "$work" ] || PATH=$PATH:/usr/local/cuda/bin timeout 60 nvcc -O2 -cudart static -o "$work" "$here/work.cu" >>"$raw/nvcc.log" 2>&1
}

# Runs each framework once: shows which ones the machine has, and fills the page cache and the compile caches of JAX
# and CuPy, so that all later processes run the same code.
export JAX_COMPILATION_CACHE_DIR=$raw/cache/jax JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS=0
export JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES=-1 CUPY_CACHE_DIR=$raw/cache/cupy
scouts() {
	local kind list=()
	static_cudart_built &
	list+=($!)
	for kind in "${kinds[@]}"; do
		timeout 40 python3 "$here/same_work.py" "$kind" </dev/null >"$raw/scout.$kind" 2>"$raw/scout.$kind.err" &
		list+=($!)
	done
	wait "${list[@]}"
}

# same_of NAME PROCESSES SECONDS COMMAND...: runs same.py. COMMAND must not load the bundle's libraries.
same_of() {
	local name=$1 own=(env -u LD_LIBRARY_PATH -u GPUSCHED_POLICIES)
	[ -z "${LD_LIBRARY_PATH:-}" ] || own=(env -u GPUSCHED_POLICIES LD_LIBRARY_PATH="$LD_LIBRARY_PATH")
	XDG_RUNTIME_DIR=$short timeout $(($3 + 55)) python3 "$here/same.py" --with "${agent[*]} -- ${own[*]}" --processes "$2" --seconds "$3" --start 45 \
		--raw "$raw/same.jsonl" "${@:4}" >"$raw/same.$name" 2>"$raw/same.$name.err"
	note "same.$name" "$("$jq" -cs . "$raw/same.$name")"
	tail -n 1 "$raw/notes.jsonl"
}

same() {
	local kind
	declare -A seconds=([torch]=30 [jax]=8 [cupy]=14) processes=([torch]=14 [jax]=10 [cupy]=10)
	rm -f "$raw/same.jsonl"
	short=$(mktemp -d) # a socket's path has at most 107 bytes
	scouts
	[ ! -x "$work" ] || same_of nvcc 12 8 "$work" same
	for kind in "${kinds[@]}"; do
		grep -q cases "$raw/scout.$kind" || continue
		[ $SECONDS -lt 120 ] || break
		same_of "$kind" "${processes[$kind]}" "${seconds[$kind]}" python3 "$here/same_work.py" "$kind"
	done
	gzip -f "$raw/same.jsonl"
	rm -rf "$raw/cache" "$work" "$short"
}

# Runs a program with static cudart as an ordinary user; notes what the agent counts.
user() {
	static_cudart_built || return 0
	as_user=(setpriv --reuid 65534 --regid 65534 --clear-groups)
	note user "$(by_agent_alone "$work")"
	rm -f "$work"
}

# Lists, sets, suspends and resumes through the agent, as an ordinary user without a daemon. Copies the files, so that
# the user can read them.
by_agent_alone() { # PROGRAM
	local dir=/tmp/gpusched-hints.$$ p seen
	mkdir -m 755 "$dir" && cp "$1" "$dir/work" && cp -r "$(dirname "$gpusched")/.." "$dir/bundle" 2>/dev/null && chmod -R go+rX "$dir" || return
	mkdir -m 700 "$dir/run" && chown 65534:65534 "$dir/run"
	local g=("${as_user[@]}" env XDG_RUNTIME_DIR="$dir/run" "$dir/bundle/bin/gpusched")
	timeout 20 "${g[@]}" run --agent --class be -- "$dir/work" be --seconds 8 --kernel-us 200 >"$raw/user.out" 2>&1 &
	p=$!
	sleep 3
	{
		timeout 10 "${g[@]}" list
		timeout 10 "${g[@]}" set all timeslice=500us
		timeout 10 "${g[@]}" suspend all && timeout 10 "${g[@]}" list && timeout 10 "${g[@]}" resume all
		timeout 10 "${g[@]}" preempt all
	} >"$raw/user.log" 2>&1
	seen=$(timeout 10 "${g[@]}" list --json | "$jq" -cs 'flatten | map(select(.kind == "compute")) | first | {launches, known_by, slice_us: .is.timeslice_us, manual_us: .manual.timeslice_us}')
	kill $p 2>/dev/null
	wait $p 2>/dev/null
	rm -rf "$dir"
	echo "${seen:-null}"
}

step prepare 40 prepare
for s in ${STEPS:-service curve policy recorded automatic cost during user}; do
	step "$s" 60 "$s"
done
at_end
trap - EXIT
"$jq" -rs '
def row: "| \(.key) | \(.value.p50 // "-") | \(.value.p90 // "-") | \(.value.p99 // "-") | \(.value.whole_p99 // "-") | \(.value.be // "-") | \(.value.n // "-") | \(.value.hint // "-") |";
"| case | service p50 us | p90 us | p99 us | from arrival p99 us | BE kernels/s | requests | hint |", "|---|---|---|---|---|---|---|---|",
(.[] | select(.value | type == "object" and has("p99")) | row), "",
(if any(.[]; .key | startswith("same.")) then
	"| program | case | same bytes | their checksum | with / without | 95 % | at most 1 % | without us | with us | processes | rounds | launches of one |", "|---|---|---|---|---|---|---|---|---|---|---|---|",
	(.[] | select((.key | startswith("same.")) and (.value | type) == "array") | .key[5:] as $p | .value[] |
		"| \($p) | \(.case) | \(.same) | \(.sums | join(" ")) | \(.ratio) | \(.low) to \(.high) | \(.at_most_1_percent) | \(.without_us) | \(.with_us) | \(.processes) | \(.rounds) | \(.launches_a_round // "-") |"), ""
	else empty end),
(.[] | select(.key | test("^(cost|during|user|failed|skipped)")) | "- \(.key): `\(.value | tojson)`")
' "$raw/notes.jsonl" | tee "$out/hints.md"
