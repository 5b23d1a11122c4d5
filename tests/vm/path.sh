#!/bin/bash
# SPDX-License-Identifier: MIT
# kernels: 6.12 6.1 trixie
# kernels on arm64: 6.12 6.12-16k 6.1
# kernels in CI: 6.1
# timeout: 300
# modules: fuse
# Checks the whole path from a program's ioctl to the driver and back on these kernels: an LC and a BE
# program on the simulated GPU under lcbe, their launches, and the daemon's sudden end.
. "$(dirname "$0")/../e2e/lib.sh"
enter_sim --dilate 20 # a machine without KVM is slow

# run_load CLASS ARGUMENTS...: starts a gsload of that class; its PID is in the variable CLASS
run_load() {
	"$gpusched" run --no-agent --class "$1" -- "$gsload" "$@" --iterations-per-us 27.78 --linger 600 >"$scratch/$1.out" 2>&1 &
	at_end+=($!)
	declare -g "$1=$!"
}
# Print the settings of all TSGs as gpusched and as the driver have them: process, compute or not, slice.
listed() {
	"$gpusched" list --json | jq -s 'flatten | map([.pid, .kind == "compute", .is.timeslice_us]) | sort' -c
}
in_the_driver() {
	sim_state -c '.tsgs | map([.pid, .engine == 1, .timeslice_us]) | sort'
}
classes_of() { # PID
	list_json "pid:$1" 'map(.class) | unique | join(" ")'
}
ended() { # CLASS
	grep -q launches "$scratch/$1.out"
}

start_daemon && ok "the daemon starts" || not_ok "the daemon starts"
gate=$("$gpusched" doctor --json | jq -r '.checks[] | select(.name == "gate") | "\(.ok) \(.detail)"')
if [ "$(uname -m)" = aarch64 ] && [[ $(uname -r) == 6.[0-3].* ]]; then
	like "$gate" "^false .*on arm64 Linux 6.4 is the first" "doctor says that there is no gate, and why"
else
	like "$gate" "^true " "doctor says that there is a gate"
fi
exits 0 "launches are counted" "$gpusched" observe launches on
exits 0 "lcbe takes over" "$gpusched" policy start lcbe
run_load be --seconds 0 --count 60
run_load lc --seconds 0 --count 10
# shellcheck disable=SC2154 # set by run_load
check "the TSGs of both are listed" eval "wait_tsgs pid:$be 4 && wait_tsgs pid:$lc 4"
is "$(classes_of $be) $(classes_of $lc)" "be lc" "the programs have their classes"
check "BE gets lcbe's short slice" wait_for 10 slice_is $be 1
check "LC gets lcbe's long slice" wait_for 10 slice_is $lc 1000000
is "$(listed)" "$(in_the_driver)" "every slice that is listed is the driver's own"
for class in be lc; do
	check "$class does its work" wait_for 20 ended $class
	is "$(list_json "pid:${!class}" 'map(.launches // 0) | add')" "$(jq .launches <"$scratch/$class.out")" \
		"as many launches are counted as $class made"
done
kill_daemon
check "after SIGKILL of the daemon every slice is the owner's again" wait_for 4 restored
cp "$scratch"/*.log "$scratch"/*.out /logs
done_testing
