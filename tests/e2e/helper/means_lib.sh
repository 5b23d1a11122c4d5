# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# means_lib.sh - starts programs by `gpusched run`, with stand-ins for MPS; source it after
# enter_sim

# The stand-ins for MPS's programs must lie in a folder that root owns: gpuschedd trusts no others.
mount -t tmpfs -o mode=755 none /opt || not_ok "a folder of root's for the programs of MPS"
cp "$build"/simmps/* /opt
export PATH=/opt:$PATH GPUSCHED_POOL_IDLE=1s
unset XDG_RUNTIME_DIR

# start NAME WORDS...: `gpusched run WORDS` in the background, until its program is ready; its pid
# is in $NAME, its output in $scratch/NAME
start() {
	local name=$1
	shift
	{ "$gpusched" run "$@" & } >"$scratch/$name" 2>&1
	printf -v "$name" %s $!
	at_end+=($!)
	wait_for 20 grep -q ready "$scratch/$name" || diag "$(cat "$scratch/$name")"
}
said() { # NAME: run's line about the means that it chose
	grep -o 'gpusched: run: [a-z]*: .*' "$scratch/$1" | head -1
}
