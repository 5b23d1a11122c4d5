#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 120
# needs: root bpf fuse cgroup2
# README's line for a server that root raises and that runs as its user, and its line for a unit: both
# give class and agent. Where the agent is dropped on the way, `gpusched run` says so.
. "$(dirname "$0")/lib.sh"
enter_cgroups
enter_sim
. "$(dirname "$0")/helper/agent_lib.sh"
agent_begin
group=/$name.$$
mkdir "$tree$group"
config "[Policy]
Policy=lcbe
[Classes]
Rule=cgroup=${group#/} -> lc"
LD_PRELOAD='' start_daemon || not_ok "a daemon starts"

# A stand-in: the real sudo would drop this simulated GPU's variables as well.
mkdir "$scratch/bin"
cat >"$scratch/bin/sudo" <<-EOF
	#!/bin/bash
	unset LD_PRELOAD
	[ "\$1" = -u ] || exec "\$@"
	shift 2
	export LD_PRELOAD=$asan
	exec ${as_user[*]} "\$@"
EOF
cat >"$scratch/server" <<-EOF
	#!/bin/bash
	exec $gsload lc --seconds 600
EOF
chmod 755 "$scratch/bin/sudo" "$scratch/server"
cp "$scratch/bin/sudo" "$scratch/bin/doas"
export PATH=$scratch/bin:$build:$PATH USER=$user
cd "$scratch" || exit 1

starts() { # COMMAND NAME: in the background; its pid in $pid
	bash -c "exec $1" >"$scratch/out" 2>&1 &
	pid=$!
	at_end+=("$pid")
	check "$2" wait_tsgs "pid:$pid" 4 || diag "$(cat "$scratch/out")"
}
has_agent() { grep -q "$(basename "$agent_so")" "/proc/$pid/maps"; }
class_is() { [ "$(compute "$pid" '"\(.class) \(.uid)"')" = "$1 $user" ]; }

line=$(sed -n 's/^    \(sudo gpusched run .*\)$/\1/p' "$top/README.md")
starts "$line" "README's line starts a server"
check "it has its class and its user" wait_for 10 class_is lc
check "it has the agent" has_agent
is "$(cat "$scratch/out")" "" "nothing is wrong with that line"
check "the daemon has its launches from the agent" wait_for 20 \
	eval '[ "$(compute "$pid" ".launches // 0")" -gt 0 ]'
end_load "$pid"

unit=$(sed -n 's/.*`ExecStart=\(.*\) CMD`.*/\1/p' "$top/README.md")
like "$unit" "gpusched run --agent --$" "README has a line for a unit"
starts "bash -c 'echo \$\$ >$tree$group/cgroup.procs && exec ${as_user[*]} ${unit#/usr/bin/} ./server'" \
	"README's line for a unit starts a server, as systemd would"
check "its class is its rule's" wait_for 10 class_is lc
check "it has the agent, too" has_agent
end_load "$pid"

dropped() { # PROGRAM COMMAND
	starts "$2" "a server starts by $1"
	like "$(cat "$scratch/out")" "^gpusched: run: the agent does not get through $1: type -- $1 [.]{3} gpusched run --agent -- COMMAND$" \
		"one line says what $1 does, and what to type"
	check "the agent is not in that server" eval '! has_agent'
	end_load "$pid"
}
dropped sudo "gpusched run --agent -- sudo -u $user ./server"
dropped doas "gpusched run --agent -- $scratch/bin/doas -u $user ./server"
starts "gpusched run --agent -- ${as_user[*]} ./server" "a server starts by setpriv"
check "setpriv keeps the agent" has_agent
is "$(cat "$scratch/out")" "" "so nothing is said"
end_load "$pid"
like "$(gpusched run --agent -- runuser -u root -l true 2>&1; gpusched run --agent -- su - -c true 2>&1)" \
	"through su: type" "a login by su drops it"
is "$(gpusched run --agent -- runuser -u root -- true -l 2>&1)" "" "an option of the program itself counts for nothing"
agent_end
done_testing
