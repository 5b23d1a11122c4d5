# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# agent_lib.sh - an ordinary user without any privilege, and programs with an agent; source lib.sh first

user=4711
guest=$build/tests/e2e/guest
agent_so=$build/libgpusched-agent.so
# A sanitizer's runtime must be in every program that has a sanitized agent.
asan=$(ldd "$agent_so" | awk '$1 ~ /^libasan/ { print $3 }')
[ -z "$asan" ] || export LD_PRELOAD=$asan ASAN_OPTIONS=verify_asan_link_order=0:detect_leaks=0:handle_segv=0
curl() { # with that runtime it would wait for itself
	LD_PRELOAD='' command curl "$@"
}
agent_preload=$agent_so${asan:+:$asan}
export XDG_RUNTIME_DIR=/tmp/$name.run.$$

# no capability can ever be had again, so no BPF, no mounts, no borrowing from others
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

# agent_load NAME COMMAND...: with an agent, in the background, as the user; $agent_pid
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

mine_has() { # PID
	[ "$(mine length "pid:$1")" -ge 4 ]
}
