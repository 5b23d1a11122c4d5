# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# agent_lib.sh - runs programs with an agent, as a user without any privilege; source lib.sh first

user=4711
guest=$build/tests/e2e/guest
agent_so=$build/libgpusched-agent.so
# A sanitizer's runtime must be in every program that has a sanitized agent.
asan=$(ldd "$agent_so" | awk '$1 ~ /^libasan/ { print $3 }')
[ -z "$asan" ] || export LD_PRELOAD=$asan ASAN_OPTIONS=verify_asan_link_order=0:detect_leaks=0:handle_segv=0
curl() { # without the sanitizer's runtime, with which curl would deadlock
	LD_PRELOAD='' command curl "$@"
}
agent_preload=$agent_so${asan:+:$asan}
export XDG_RUNTIME_DIR=/tmp/$name.run.$$

# The user can never gain a capability: no BPF, no mounts, no borrowed descriptors.
plain=(--clear-groups --inh-caps=-all --bounding-set=-all --no-new-privs)
as_user=(setpriv --reuid $user --regid $user "${plain[@]}")
as() { # UID COMMAND...
	setpriv --reuid "$1" --regid "$1" "${plain[@]}" "${@:2}"
}

# A runtime folder of the user's, as pam_systemd makes it.
agent_begin() {
	chmod 755 "$scratch"
	rm -rf "$XDG_RUNTIME_DIR"
	mkdir -m 700 "$XDG_RUNTIME_DIR"
	chown $user:$user "$XDG_RUNTIME_DIR"
}

agent_end() {
	rm -rf "$XDG_RUNTIME_DIR"
}

# agent_load NAME COMMAND...: runs it with an agent, as the user, in the background; $agent_pid
agent_load() {
	local to=$scratch/$1.out
	shift
	"${as_user[@]}" "$gpusched" run --agent "$@" >"$to" 2>&1 <&0 &
	agent_pid=$!
	at_end+=("$agent_pid")
	wait_for 20 test -S "$XDG_RUNTIME_DIR/gpusched/agent-$agent_pid"
}

# mine FILTER [TARGET]: the user's own list, through jq
mine() {
	as $user "$gpusched" list "${2:-all}" --json | jq -rs "flatten | $1"
}

mine_has() { # PID: the user's list has at least four TSGs of it
	[ "$(mine length "pid:$1")" -ge 4 ]
}
