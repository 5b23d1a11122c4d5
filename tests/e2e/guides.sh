#!/bin/bash
# SPDX-License-Identifier: MIT
# The guides' configurations are valid, and their commands work: each line that begins with gpusched
# is run as it stands, beside a program for it.
# timeout: 120
# needs: root bpf fuse
. "$(dirname "$0")/lib.sh"
enter_sim
config "[Policy]
Policy = auto"
ln -s "$gsload" "$scratch/ray::train"
start_daemon
"$scratch/ray::train" be --seconds 100 --iterations-per-us 27.777 >/dev/null 2>&1 &
at_end+=($!)
wait_tsgs "pid:$!" 1
pid=$!

blocks() { # GUIDE: its indented lines
	sed -n 's/^    //p' "$1"
}
# Those of a process or a pod that is not here say that they found nothing.
runs() { # COMMAND
	local out
	out=$(PATH=$build:$PATH timeout 20 bash -c "$1" 2>&1)
	case $?:$out in
	0:*) return 0 ;;
	1:*"no TSG"*) return 0 ;;
	esac
	diag "$1: $out"
	return 1
}
for guide in "$top"/docs/guides/*.md; do
	what=$(basename "$guide" .md)
	blocks "$guide" | grep -E '^(\[|[A-Z][A-Za-z]* = )' >"$scratch/$what.conf"
	if [ -s "$scratch/$what.conf" ]; then
		exits 0 "$what: the configuration is one" env GPUSCHED_CONFIG="$scratch/$what.conf" "$gpuschedd" --check-config
	fi
	while read -r line; do
		case $line in
		"gpusched NODE"*) continue ;;          # what sacct says
		"gpusched top") line+=" --batch" ;;    # here is no terminal
		"gpusched advise") line+=" --for 1" ;; # less than 10 s
		esac
		line=${line//user:bob/user:root}
		check "$what: $line" runs "${line//pid:N/pid:$pid}"
	done < <(blocks "$guide" | grep '^gpusched ')
done
check "a command that is none is found" eval '! runs "gpusched histories" 2>/dev/null'
echo "DefaultClas = be" >"$scratch/bad.conf"
exits 1 "a key that is none is found" env GPUSCHED_CONFIG="$scratch/bad.conf" "$gpuschedd" --check-config
done_testing
