#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Measures what single RM calls do to a program and to others: how a suspension that does not wait leaves the GPU, what a
# failed one leaves, modes beside long thread blocks, faulting memory, shared memory, programs that wait for each other.
#
#   bench/hw/harm.sh OUTDIR [PART...]
#
# As root, on an otherwise idle machine with one GPU and nvcc; at most 9 minutes. OUTDIR gets harm.txt and raw/. Parts: leave
# alone kick long busy fault shared half pair debug. `long` and `busy` end programs of its own with an Xid 109.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
out=${1:?OUTDIR}
shift
parts=${*:-leave alone fault shared half pair long busy debug}
begin 500 raw "$out"
harm=$top/bundle/harm
[ -x "$harm" ] || harm=$top/build/harm
work=$raw/harm-work
nvcc -O2 -o "$work" "$here/harm.cu" >"$raw/nvcc.log" 2>&1 || say "nvcc failed"
calibrate || exit 1
export GPUSCHED_CONFIG=$raw/conf
: >"$GPUSCHED_CONFIG"
xids() { dmesg 2>/dev/null | grep -i xid | tail -n "${1:-3}"; }

# with PID NAME: makes the calls that stdin lists on PID's TSGs
with() {
	LD_LIBRARY_PATH=$top/bundle/lib timeout 100 "$harm" "$1" "$raw/$2.log" >"$raw/$2.calls" 2>"$raw/$2.err" || say "$2: $(tail -n 1 "$raw/$2.err")"
}
# often N WORDS...: prints N times: WORDS
often() {
	local n=$1 i
	shift
	for ((i = 0; i < n; i++)); do printf '%b' "$*"; done
}
# calls NAME: for each word: how often, statuses, median and longest time
calls() {
	"$jq" -rs 'group_by(.label + " " + .word)[] | "\(.[0].label) \(.[0].word): n \(length), statuses \([.[].status] | unique),
		us median \(sort_by(.us)[length / 2 | floor].us) longest \(map(.us) | max)"' "$raw/$1.calls"
}
# ends NAME PID: per label, ms from each leave or suspend (its begin, and its return) to the last record of PID before
# the next resume
ends() {
	"$jq" -r '"K \(.at_ns) \(.word) \(.label) \(.us)"' "$raw/$1.calls" | cat - "$raw/$1.log" |
		awk -v pid="$2" '$1 == "C" { mono[++nc] = $2; gpu[nc] = $3; next }
			$1 == "K" { k[++nk] = $2; w[nk] = $3; lab[nk] = $4; us[nk] = $5; next }
			$2 == pid { r[++nr] = $1; tag[nr] = $4 }
			END { rate = nc > 1 ? (gpu[nc] - gpu[1]) / (mono[nc] - mono[1]) : 1
				for (i = 1; i <= nk; i++) {
					if (w[i] != "leave" && w[i] != "suspend") continue
					from = gpu[1] + (k[i] - mono[1]) * rate
					for (j = i + 1; j <= nk && w[j] != "resume"; j++);
					to = gpu[1] + (k[j] - mono[1]) * rate
					end = 0; n = 0
					for (q = 1; q <= nr; q++) if (r[q] > from && r[q] < to) { end = r[q]; t = tag[q]; n++ }
					if (!end) { none[lab[i] " " w[i]]++; continue }
					d = (end - from) / 1e6
					key = lab[i] " " w[i]; c[key]++; sum[key] += d; rec[key] += n
					late = d - us[i] / 1e3; if (late > 0.05) after[key]++
					if (d > max[key]) max[key] = d
					if (t != 7) open[key]++
				}
				for (key in c) printf "%s: last record after the call began, ms: mean %.3f longest %.3f, records %.1f, past the return %d of %d, not an END %d, without a record %d\n",
					key, sum[key] / c[key], max[key], rec[key] / c[key], after[key], c[key], open[key], none[key]
				for (key in none) if (!(key in c)) printf "%s: no record in %d\n", key, none[key] }'
}
start() { # NAME COMMAND...: starts a program of harm-work; sets $pid
	local file=$raw/$1.txt
	shift
	"${as_be[@]}" "$@" >"$file" 2>&1 &
	pid=$!
	pids+=($pid)
	wait_for 20 grep -q ready "$file"
	sleep 0.5
}

leave() { # E1a: beside another BE
	daemon_start || return 1
	be_start e1.a; local a=$pid
	be_start e1.b
	sleep 1
	{ echo label beside; often 25 'leave\nsleep 30\nresume\nsleep 30\n'; often 25 'suspend\nsleep 30\nresume\nsleep 30\n'
		echo label slice20ms; echo slice 20000; often 10 'leave\nsleep 60\nresume\nsleep 40\n'; often 10 'suspend\nsleep 60\nresume\nsleep 40\n'
		echo slice 2048; } | with "$a" e1a
	calls e1a
	ends e1a "$a"
	be_end e1.a "$a"
}
alone() { # E1b: alone, then a second program comes
	daemon_start || return 1
	be_start e1.alone --lines; local a=$pid
	sleep 1
	{ echo label alone; echo leave; echo sleep 1500; echo resume; echo sleep 500; echo label then; echo leave; echo sleep 3000; echo resume
		echo sleep 500; echo label waits; echo suspend; echo sleep 1500; echo resume; echo sleep 300; } | with "$a" e1b &
	local h=$!
	sleep 3.5
	lc e1.second 1 "${closed[@]}"
	wait $h
	be_end e1.alone "$a"
	calls e1b
	ends e1b "$a"
	echo "kernels in each 100 ms:"
	"$jq" -rs 'map(select(.t_s? // .t? )) | length' "$raw/e1.alone.be.json" 2>/dev/null
	tail -n +1 "$raw/e1.alone.be.json" | tail -n 400 | head -n 3
}
kick() { # a preemption that does not wait, right after a suspension that does not
	daemon_start || return 1
	be_start kick.alone --lines; local a=$pid
	sleep 1
	{ echo label alone; often 15 'leave\nkick\nsleep 100\nresume\nsleep 60\n'; echo label runs-on; often 3 'leave\nsleep 100\nresume\nsleep 60\n'
		echo label slice20ms; echo slice 20000; often 10 'leave\nkick\nsleep 100\nresume\nsleep 60\n'; echo slice 2048; } | with "$a" kicka
	be_start kick.b; local b=$pid
	sleep 1
	{ echo label beside; often 15 'leave\nkick\nsleep 30\nresume\nsleep 30\n'
		echo label beside-slice20ms; echo slice 20000; often 15 'leave\nkick\nsleep 60\nresume\nsleep 60\n'; echo slice 2048; } | with "$a" kickb
	be_end kick.alone "$a"; be_end kick.b "$b"
	calls kicka; ends kicka "$a"
	calls kickb; ends kickb "$a"
	xids
}
long() { # E2, E5: blocks of 3 s and of 8 s in CTA mode beside an LC
	local ms
	daemon_start || return 1
	for ms in 3000 8000; do
		start long.$ms "$work" stay $ms 30
		local a=$pid
		"${as_lc[@]}" timeout 30 "$gsload" lc --seconds 14 --warmup 0.2 --lines "${closed[@]}" --iterations-per-us "$iterations" >"$raw/long.$ms.lc.json" 2>&1 &
		local l=$!
		sleep 2
		{ echo "label cta$ms"; echo mode 1; echo sleep 600; [ $ms = 8000 ] && echo sleep 7000; echo "label cilp$ms"; echo mode 2; echo sleep 1000; } | with "$a" long.$ms
		wait $l
		kill $a 2>/dev/null; wait $a 2>/dev/null
		calls long.$ms
		tail -n 1 "$raw/long.$ms.lc.json"
		tail -n 2 "$raw/long.$ms.txt"
		xids
	done
}
busy() { # E3 on one GPU, E4: a suspension in CTA mode; what a failed one leaves
	local ms
	daemon_start || return 1
	for ms in 2500 7000; do
		start busy.$ms "$work" stay $ms 40
		local a=$pid
		{ echo "label cta$ms"; echo mode 1; echo sleep 300; echo suspend; echo sleep 200; echo get; echo sleep 9000; echo label again; echo resume; echo sleep 3000
			echo suspend; echo resume; echo sleep 3000; echo mode 2; } | with "$a" busy.$ms
		sleep 1
		"$jq" -c '[.label, .word, .err, .status, (.us | floor)]' "$raw/busy.$ms.calls"
		kill $a 2>/dev/null; wait $a 2>/dev/null
		grep -v ready "$raw/busy.$ms.txt" | tail -n 4
		xids
	done
}
fault() { # E9
	daemon_start || return 1
	start fault "$work" fault 60
	local a=$pid
	sleep 1
	{ echo label fault; often 20 'slice 2000\nsleep 20\nslice 2048\nsleep 20\nleave\nsleep 30\nresume\nsleep 30\nsuspend\nsleep 30\nresume\nsleep 30\n'; } | with "$a" e9
	calls e9
	ends e9 "$a"
	kill $a; wait $a 2>/dev/null
	tail -n 1 "$raw/fault.txt"
}
shared() { # E10
	daemon_start || return 1
	start export "$work" export "$raw/handle" 30; local a=$pid
	start import "$work" import "$raw/handle" 30; local b=$pid
	for s in 1 5 7; do
		sleep $s
		gs list --json | "$jq" -c --argjson a "$a" --argjson b "$b" 'select(.pid == $a or .pid == $b) |
			[(if .pid == $a then "exporter" else "importer" end), .kind, .memory_bytes, .memory_shared_bytes]'
	done
}
half() { # E6: two told BE, each half idle
	local p k
	for k in 10000 3000; do
		for p in default auto rr fair; do
			daemon_start || return 1
			[ $p = default ] || gs policy start $p >/dev/null
			for i in 0 1; do
				"$gpusched" run --class be -- timeout 30 "$gsload" lc --seconds 8 --warmup 2 --kernel-us $k --period-us $k --arrivals closed --iterations-per-us "$iterations" >"$raw/half.$k.$p.$i.json" 2>&1 &
				pids+=($!)
			done
			wait "${pids[@]}"
			pids=()
			echo "half idle, $k us, $p: $("$jq" -rs '[.[] | select(.n) | .n / 8]' "$raw/half.$k.$p."?.json | tr -d '\n')/s"
			daemon_stop
		done
	done
}
pair() { # E7
	local p kind
	for kind in ${PAIRS:-host spin}; do
		for p in default auto rr; do
			daemon_start || return 1
			[ $p = default ] || gs policy start $p >/dev/null
			rm -f "$raw/a" "$raw/b" /dev/shm/harm.flags
			mkfifo "$raw/a" "$raw/b"
			if [ $kind = host ]; then
				set -- "$raw/a" "$raw/b" "$raw/b" "$raw/a"
			else
				set -- /dev/shm/harm.flags 0 /dev/shm/harm.flags 1
			fi
			timeout 30 "$gpusched" run --class be -- bash -c '"$1" pair $2 "$3" "$4" 8 >"$7" & "$1" pair $2 "$5" "$6" 8 >"$8"; sleep 1; kill %1; true' _ \
				"$work" $kind "$@" "$raw/pair.$kind.$p.0" "$raw/pair.$kind.$p.1" >/dev/null 2>&1
			echo "pair $kind, $p: $(tail -qn 1 "$raw/pair.$kind.$p".? | tr '\n' ' ')"
			gs status 2>&1 | tail -n 1
			daemon_stop
		done
	done
}
debug() { # E12
	command -v cuda-gdb >/dev/null || { echo "no cuda-gdb"; return; }
	nvcc -g -G -o "$raw/dbg" "$here/harm.cu" >/dev/null 2>&1
	daemon_start || return 1
	timeout 60 cuda-gdb -batch -ex 'break stay' -ex run -ex 'shell sleep 8' -ex delete -ex continue --args "$raw/dbg" stay 1 3 >"$raw/gdb.txt" 2>&1 &
	local g=$!
	wait_for 40 grep -q Breakpoint "$raw/gdb.txt"
	sleep 4
	local a
	a=$(pgrep -f "^$raw/dbg stay" | head -n 1)
	"${as_lc[@]}" timeout 20 "$gsload" lc --seconds 3 "${closed[@]}" --iterations-per-us "$iterations" >"$raw/gdb.lc.json" 2>&1 &
	often 3 'suspend\nsleep 500\nresume\nsleep 200\n' | with "${a:-0}" gdb
	calls gdb
	wait $g
	tail -n 5 "$raw/gdb.txt"
	tail -n 1 "$raw/gdb.lc.json"
	xids
}

nvidia-smi --query-gpu=name,driver_version --format=csv,noheader >"$out/harm.txt" 2>/dev/null
as_be=("$gpusched" run --class be --)
as_lc=("$gpusched" run --no-agent --class lc --)
for part in $parts; do
	step "$part" 120 "$part"
	{ echo "## $part"; cat "$raw/$part.log"; } >>"$out/harm.txt"
done
cat "$out/harm.txt"
tar -C "$out" -cJf "$out/harm.tar.xz" raw 2>/dev/null
mv "$raw" "/tmp/harm.raw.$$"
