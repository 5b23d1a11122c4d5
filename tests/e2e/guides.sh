#!/bin/bash
# SPDX-License-Identifier: MIT
# The guides' configurations are valid, and their commands work: each line that begins with gpusched
# runs as it stands, with a program as its target.
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
# A command whose process or pod is not here may exit with 1, if it says that it found no TSG.
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
		exits 0 "$what: the guide's configuration is valid" env GPUSCHED_CONFIG="$scratch/$what.conf" "$gpuschedd" --check-config
	fi
	while read -r line; do
		case $line in
		"gpusched NODE"*) continue ;;          # a line of sacct's output
		"gpusched top") line+=" --batch" ;;    # there is no terminal
		"gpusched advise") line+=" --for 1" ;; # instead of 10 s
		esac
		line=${line//user:bob/user:root}
		check "$what: the guide's command works: $line" runs "${line//pid:N/pid:$pid}"
	done < <(blocks "$guide" | grep '^gpusched ')
done
check "this test would find a wrong command" eval '! runs "gpusched histories" 2>/dev/null'
echo "DefaultClas = be" >"$scratch/bad.conf"
exits 1 "this test would find a wrong key" env GPUSCHED_CONFIG="$scratch/bad.conf" "$gpuschedd" --check-config
done_testing
