#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 60
# needs: root bpf fuse
# A user puts control characters into names and paths. They must not reach a terminal.
. "$(dirname "$0")/lib.sh"
enter_sim
config '[Classes]
Rule = comm=*x* -> be'
trusting
start_daemon || exit 1
check "launches are counted" "$gpusched" observe launches on
words_open
timeout 30 "$gpusched" monitor >"$scratch/monitor" 2>&1 &
at_end+=($!)
check "the monitor watches" wait_for 10 watchers 1
attack named $'\033]0;P\007\nx'
named=$ATTACKER
check "it is listed" wait_tsgs pid:$named 1
bad=$scratch/$'u\033[31mX\007'
mkdir -m 755 "$bad"
chmod 755 "$scratch"
head -c 5000 /dev/urandom >"$bad/libcuda.so.1"
attack library of "$bad/libcuda.so.1"
sleep 1
clean() { # NAME FILE
	is "$(LC_ALL=C grep -cP '[\x00-\x08\x0b-\x1f\x7f]' "$2")" 0 "$1: no control character"
}
for words in "list" "list pid:$named" "list --json" "class explain pid:$named" "class get pid:$named" \
	"set pid:$named timeslice=3000us" "observe launches" "stats" "restore"; do
	# shellcheck disable=SC2086 # words
	"$gpusched" $words >"$scratch/out" 2>&1
	clean "gpusched ${words/$named/PID}" "$scratch/out"
	is "$(grep -c '^x' "$scratch/out")" 0 "gpusched ${words/$named/PID}: no line of the name's own"
done
clean "monitor" "$scratch/monitor"
clean "the daemon's log" "$scratch/daemon.log"
curl -s --unix-socket "$GPUSCHED_SIM/run/api" http://gpusched/metrics >"$scratch/out"
clean "metrics" "$scratch/out"
done_testing
