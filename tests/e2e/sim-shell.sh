#!/bin/bash
# SPDX-License-Identifier: MIT
# The simulated GPU itself: what `sim shell` sets up, how programs run in it, and what it leaves
# behind.
# timeout: 300
# needs: root fuse
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

worlds() { ls -d /tmp/gpusched-sim.?????? 2>/dev/null | wc -l; }
number() { jq -r "$2" <<<"$1"; }

# ---- options and exit codes
exits 2 "an unknown option is refused" in_sim --nonsense 1 -- true
exits 2 "an unknown driver branch is refused" in_sim --branch 123 -- true
exits 2 "too many GPUs are refused" in_sim --gpus 17 -- true
exits 7 "the exit code is the command's" in_sim -- sh -c 'exit 7'
exits 127 "a missing command exits with 127" in_sim -- /nonexistent/command

# ---- device files and state
out=$(in_sim --gpus 3 --branch 535 --dilate 2 -- bash -c '
	ls /dev/nvidia*; cat "$GPUSCHED_SIM/simfiles"; echo "dilate $GPUSCHED_DILATE"
	stat -c "state %s" -L "$GPUSCHED_SIM/state.json"; jq -r .version "$GPUSCHED_SIM/state.json"
	for n in null zero full random urandom fuse; do [ -e /dev/$n ] || echo "no $n"; done
	echo x >/dev/null; head -c 4 /dev/zero | wc -c
	echo "dir $GPUSCHED_SIM"')
is "$(grep -c '^/dev/nvidia[0-9]*$' <<<"$out")" 3 "three GPUs have their files"
is "$(grep -cE '^[0-9]+ [0-9]+ /dev/nvidia' <<<"$out")" 6 "all files are registered"
like "$out" "535\.288\.01" "the state has the branch's version"
like "$out" "dilate 2" "the dilation is in the environment"
is "$(grep -c '^no ' <<<"$out")" 0 "the usual device nodes are there"
dir=$(sed -n 's/^dir //p' <<<"$out")
check "the directory is removed at the end" test ! -e "$dir"
is "$(grep -c "$dir" /proc/mounts)" 0 "no mount is left"

# ---- the shell is killed
before=$(worlds)
"$gpusched" sim shell -- bash -c 'echo $$ >'"$scratch"'/inner; echo $GPUSCHED_SIM >'"$scratch"'/dir; sleep 60' &
shell=$!
check "the shell starts" wait_for 10 test -s "$scratch/dir"
kill -9 $shell
check "the command of a killed shell ends" wait_for 10 gone "$(cat "$scratch/inner")"
is "$(grep -c "$(cat "$scratch/dir")" /proc/mounts)" 0 "a killed shell leaves no mount"
in_sim -- true
check "the next shell removes the killed one's directory" test ! -e "$(cat "$scratch/dir")"
le "$(worlds)" $((before + 4)) "directories do not pile up"

# ---- processes that the shell started, or that joined it, end with it
settled() { "$gpusched" sim shell -- bash -c 'setsid sleep 300 & echo $! >'"$scratch"'/left
	echo $PPID >'"$scratch"'/shell; echo $GPUSCHED_SIM >'"$scratch"'/dir; wait' & }
is_there() { [ -s "$scratch/dir" ]; }
rm -f "$scratch/dir"
settled
check "a shell with a process in another session runs" wait_for 20 is_there
dir=$(cat "$scratch/dir")
like "$("$dir/join" sh -c 'echo "$GPUSCHED_SIM"; ls /dev/nvidia0; gpusched help')" "^$dir.*/dev/nvidia0.*gsload lc" \
	"a second terminal can join, and help mentions gsload"
"$dir/join" sleep 300 &
joined=$!
kill -9 "$(cat "$scratch/shell")"
check "the process ends when the shell is killed" wait_for 20 gone "$(cat "$scratch/left")"
check "a process that joined ends, too" wait_for 20 gone $joined
check "the directory is removed at once" wait_for 20 test ! -e "$dir"
rm -f "$scratch/dir"
settled
check "another shell with a process in another session runs" wait_for 20 is_there
dir=$(cat "$scratch/dir") shell=$(cat "$scratch/shell")
# shellcheck disable=SC2046 # one word each
kill -9 "$shell" $(pgrep -P "$shell" -x gpusched)
sleep 1
check "the process is left if the simulator is killed with the shell" kill -0 "$(cat "$scratch/left")"
in_sim -- true
check "the next shell ends that process" wait_for 20 gone "$(cat "$scratch/left")"
check "the next shell removes that directory" test ! -e "$dir"

# ---- several gsload that calibrate at once
out=$(in_sim -- bash -c '
	gsload be --seconds 0.2 & gsload be --seconds 0.2 & gsload be --seconds 0.2; wait
	setpriv --reuid 65534 --regid 65534 --clear-groups gsload be --seconds 0.2
	stat -c "%n %a" "$GPUSCHED_SIM"/gsload-*
	chmod 0 "$GPUSCHED_SIM"/gsload-*; echo garbage >"$GPUSCHED_SIM"/gsload-*
	gsload be --seconds 0.2; cat "$GPUSCHED_SIM"/gsload-* | cut -d" " -f2-')
is "$(grep -c '"mode":"be"' <<<"$out")" 5 "all gsload that start together run"
is "$(grep -o '"iterations_per_us":[0-9.]*' <<<"$out" | head -4 | sort -u | wc -l)" 1 "all of them use the same calibration"
ge "$(grep -o '"iterations_per_us":[0-9.]*' <<<"$out" | cut -d: -f2 | sort -n | head -1)" 20 "the calibration was made on an idle GPU"
is "$(tail -1 <<<"$out")" "NVIDIA H200/132/1980000" "a damaged calibration file is replaced"

# ---- programs
out=$(in_sim --dilate 5 -- bash -c '
	gsload cal
	gsload lc --arrivals closed --seconds 1.5 --iterations-per-us 27.777
	gsload be --seconds 2 --iterations-per-us 27.777 >'"$scratch"'/be & be=$!
	sleep 2
	jq -c "[.tsgs[] | select(.pid == $be)]" "$GPUSCHED_SIM/state.json"
	gsload lc --arrivals closed --seconds 1.5 --iterations-per-us 27.777
	kill -9 $be; wait $be 2>/dev/null
	for i in $(seq 50); do [ "$(jq .objects "$GPUSCHED_SIM/state.json")" = 0 ] && break; sleep 0.1; done
	jq -c "{objects, clients, tsgs: (.tsgs | length), files: (.files | length)}" "$GPUSCHED_SIM/state.json"')
cal=$(sed -n 1p <<<"$out") alone=$(sed -n 2p <<<"$out") tsgs=$(sed -n 3p <<<"$out")
beside=$(sed -n 4p <<<"$out") left=$(sed -n 5p <<<"$out")
ge "$(number "$cal" .iterations_per_us)" 20 "calibration finds at least 20 iterations a microsecond"
le "$(number "$cal" .iterations_per_us)" 35 "calibration finds at most 35 iterations a microsecond"
ge "$(number "$alone" .p50_us)" 100 "LC alone takes its kernel's time"
le "$(number "$alone" .p50_us)" 400 "LC alone takes at most 400 us"
ge "$(number "$beside" .p50_us)" 900 "beside a BE the LC waits for the BE's slice"
is "$(number "$tsgs" length)" 4 "a context has four TSGs"
is "$(number "$tsgs" '[.[] | select(.engine == 1)] | length')" 1 "one of them is a compute TSG"
is "$(number "$tsgs" '.[] | select(.engine == 1) | [.channels, .timeslice_us, .preempt_mode] | @csv')" \
	"8,2048,2" "the compute TSG has eight channels, CUDA's own slice and CILP"
is "$(number "$tsgs" '[.[] | select(.engine != 1) | .channels] | add')" 12 "the copy TSGs have four channels each"
is "$left" '{"objects":0,"clients":0,"tsgs":0,"files":0}' "a killed program leaves nothing in the RM"

out=$(in_sim -- bash -c '
	gsload be --kernel-us 1e8 --block-us 0.1 --iterations-per-us 27.777 2>/dev/null
	echo "grid $?"
	gsload lc --arrivals periodic --period-us 3e7 --seconds 0 --warmup 0 --ready --iterations-per-us 27.777 >'"$scratch"'/lc & lc=$!
	for i in $(seq 100); do grep -q ready '"$scratch"'/lc && break; sleep 0.1; done
	sleep 0.2
	SECONDS=0
	kill -TERM $lc
	wait $lc
	echo "took $SECONDS"')
is "$(sed -n 's/^grid //p' <<<"$out")" 2 "gsload refuses a grid that CUDA would not take"
le "$(sed -n 's/^took //p' <<<"$out")" 10 "SIGTERM ends gsload long before its next arrival"
is "$(number "$(sed -n 2p "$scratch/lc")" .n)" 0 "gsload makes no request for that arrival"

check "threads that ask for a GPU's primary context at once get the same one" \
	in_sim --gpus 2 -- bash -c "echo | '$helper' cuda retain"
check "a child of fork() gets errors, and its parent goes on" \
	in_sim -- bash -c "echo | timeout 20 '$helper' cuda fork"

# ---- odd descriptors, each line of the helper a point; a hanging simulator shows as a timeout
while read -r verdict what; do
	case $verdict in ok) ok "${what#* - }" ;; *) not_ok "${what#* - }" ;; esac
done < <(in_sim -- timeout 10 "$helper" ring | sed 's/^not ok/not_ok/')

# ---- every branch, several GPUs
for branch in $(driver_branches); do
	out=$(in_sim --gpus 2 --branch $branch -- bash -c '
		gsload be --gpu 1 --count 20 --iterations-per-us 27.777 &&
		jq -c "[.controls[].failed] | add" "$GPUSCHED_SIM/state.json"')
	is "$(tail -1 <<<"$out")" 0 "branch $branch: a program runs, and no control call fails"
done

# ---- engines, MIG
out=$(in_sim -- bash -c '
	gsload be --seconds 0.1 --iterations-per-us 27.777 --linger 20 >'"$scratch"'/be & be=$!
	for i in $(seq 100); do [ -s '"$scratch"'/be ] && break; sleep 0.1; done
	jq -c "[.tsgs[].engine] | sort" "$GPUSCHED_SIM/state.json"; kill $be; wait')
is "$out" "[1,11,12,13]" "copy TSGs are on CE2, CE3 and CE4, as on an H200"
out=$(in_sim --mig 3 --dilate 2 -- bash -c '
	fixed="--iterations-per-us 27.777 --kernel-us 100 --seconds 4"
	GPUSCHED_SIM_MIG=2 gsload be $fixed >'"$scratch"'/two & two=$!
	gsload be $fixed & one=$!
	places() { jq -c "[.tsgs[] | select(.engine == 1 and .scheduled) | .mig_instance] | sort" "$GPUSCHED_SIM/state.json"; }
	for i in $(seq 100); do seen=$(places); [ "$seen" = "[1,2]" ] && break; sleep 0.05; done
	echo "$seen"
	wait
	GPUSCHED_SIM_MIG=4 gsload be $fixed 2>&1')
is "$(sed -n 1p <<<"$out")" "[1,2]" "two programs are in two MIG instances"
ge "$(sed -n 2p <<<"$out" | jq .rate_per_s)" 7000 "the program in the first instance has its full rate"
ge "$(jq .rate_per_s <"$scratch/two")" 7000 "the program in the second instance has its full rate"
like "$out" "cuCtxCreate failed" "a fourth of three instances is refused"

# ---- a refused call
out=$(in_sim --fault set-timeslice=0x56 -- bash -c '
	gsload be --seconds 30 --iterations-per-us 27.777 >/dev/null & be=$!
	for i in $(seq 100); do [ "$(jq ".controls[\"0xa06c0103\"].failed" "$GPUSCHED_SIM/state.json")" = 1 ] && break; sleep 0.1; done
	jq -c ".tsgs[] | select(.engine == 1) | .timeslice_us" "$GPUSCHED_SIM/state.json"; kill $be; wait')
is "$out" 1024 "a refused timeslice leaves the driver's default"
done_testing
