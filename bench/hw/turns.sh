#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Records turns from the GPU's own log: bench/hw/turns.sh OUTDIR
#
# As root, on an otherwise idle machine with a GPU, about 40 s: a saturating BE beside requests of several shapes, first
# with the driver's slices, then with short ones of BE. OUTDIR gets trace.gz (turns.c says what is in it) and turns.md (a table by turns.awk).
set -u
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
begin 150 raw "$@"
turns=$(dirname "$gsload")/turns
trace=$out/trace
: >"$trace"

# ask LABEL MODE KERNEL-US KERNELS LAUNCH-GAP-US DWELL-US GAP-US REQUESTS: sends these words as a line to the program
# `turns` (bench/hw/turns.c explains them), and waits for its answer
ask() {
	local answer
	echo "$*" >&7
	read -r -t 30 answer <&8 || { say "no answer: $*"; return 1; }
}

lc_open() {
	local answer
	coproc LC { exec "$turns" "$iterations" "$trace" 2>>"$raw/turns.err"; }
	lc_pid=$LC_PID
	exec 7>&"${LC[1]}" 8<&"${LC[0]}"
	read -r -t 30 answer <&8
}

lc_close() {
	local in=${LC[1]} i
	exec 7>&- {in}>&-
	for ((i = 0; i < 50; i++)); do
		kill -0 "$lc_pid" 2>/dev/null || return 0
		sleep 0.1
	done
	kill "$lc_pid"
}

slice() { # PID US
	gs set "pid:$1" timeslice_us="$2" >>"$raw/set.log" 2>&1 || say "a slice of $2 us: not set"
}

# singles TAG MORE KERNEL-US...: requests of one kernel. The CPU waits for it at once (sync), or first works for the
# kernel's length and MORE us (none), or does so with an event behind the kernel (event)
singles() {
	local tag=$1 more=$2 us mode
	shift 2
	for us in "$@"; do
		for mode in sync none event; do
			ask "$tag.$mode.$us" $mode "$us" 1 0 $((us + more)) 5000 40
		done
	done
}

gaps() { # TAG: requests of 40 kernels of 5 us, with several gaps between launches
	local gap
	for gap in 12 15 18 21 25 30 40 60; do
		ask "$1.gap.$gap" sync 5 40 $gap 0 5000 30
	done
}

holds() { # TAG DWELL-US
	local mode
	for mode in hold holdev hold2; do
		ask "$1.$mode.$2" $mode 100 1 0 "$2" 5000 40
	done
}

say "the driver's slices"
calibrate || exit 1
daemon_start || exit 1
be_start one
one=$pid
lc_open
ask warm idle 0 0 0 0 5000 10
singles d 6000 50 100 200 400 1000 3000
gaps d
holds d 3500
ask d.pair.100 pair 100 4 0 0 5000 40
ask d.ten sync 1000 10 0 0 20000 40
say "BE 200 us"
slice "$one" 200
singles t200 3000 100 1000
ask t200.ten sync 1000 10 0 0 20000 20
say "BE 20 us, LC 1 s"
slice "$one" 20
slice "$lc_pid" 1000000
singles t20 2500 50 100 200 400 1000 3000
gaps t20
holds t20 300
holds t20 1000
ask t20.hold.none hold 0 1 0 1000 5000 40
ask t20.pair.100 pair 100 4 0 0 5000 40
say "BE 1 us"
slice "$one" 1
ask t1.sync.100 sync 100 1 0 0 5000 40
holds t1 300
say "two BE"
slice "$one" 2048
be_start two
two=$pid
ask bb.2048 idle 0 0 0 0 5000 150
slice "$one" 200
slice "$two" 200
ask bb.200 idle 0 0 0 0 2000 200
slice "$one" 1000
slice "$two" 4000
ask bb.1000.4000 idle 0 0 0 0 5000 200
slice "$one" 2048
slice "$two" 2048
be_end two "$two"
be_end one "$one"
say "alone"
singles alone 0 100 1000
ask alone.ten sync 1000 10 0 0 20000 20
lc_close
at_end
trap - EXIT
awk -f "$here/turns.awk" "$trace" | tee "$out/turns.md"
gzip -f "$trace"
