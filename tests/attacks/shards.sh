#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 60
# needs: root bpf fuse
# Slurm's plugin asks as root for a user's job. The environment is the user's: what it says of shards gives
# the job no class that root's files do not give, and no weight over the plugin's ceiling.
. "$(dirname "$0")/lib.sh"
enter_sim
stepd=${helper%/*}/stepd
config "[Policy]
Policy = lcbe
[Classes]
Rule = uid=$attacker_uid -> be"
start_daemon || exit 1

task() { # SHARDS PLUGIN_ARGUMENTS...: the attacker's task under the plugin; sets $pid
	local shards=$1
	shift
	env ${shards:+SLURM_SHARDS_ON_NODE=$shards} "$stepd" $attacker_uid "$gsload" be --seconds 0 --warmup 0 $steady -- \
		"socket=$GPUSCHED_SIM/run/api" "$@" >"$scratch/task" 2>"$scratch/task.err" &
	at_end+=($!)
	wait_for 10 grep -q . "$scratch/task"
	pid=$(head -1 "$scratch/task")
	at_end+=("$pid")
	wait_tsgs "pid:$pid" 4
}
class_and_weight() { list_json "pid:$pid" 'map("\(.class) \(.weight)") | unique | join(",")'; }

task "" classes=be max_weight=100
check "a task without shards has the class of root's rule" wait_for 10 eval '[ "$(class_and_weight)" = "be 100" ]'
for arguments in "classes=be max_weight=100" "classes=be max_weight=100 shard_weight=10"; do
	# shellcheck disable=SC2086 # several arguments
	task 1000 $arguments
	wait_for 10 eval '[ "$(class_and_weight)" = "be 100" ]'
	sleep 1
	is "$(class_and_weight)" "be 100" "1,000 shards, plugin $arguments: the class is root's, the weight within the ceiling"
done
end_load "$pid" KILL
done_testing
