#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 60
# needs: root bpf fuse
# Slurm's plugin asks as root for a user's job. What the job asks for is judged by what its user may: no class
# over that of root's rules, no weight over that of the class. The number of shards, which is in the job's
# environment, counts for nothing.
. "$(dirname "$0")/lib.sh"
enter_sim
stepd=${helper%/*}/stepd
config "[Policy]
Policy = lcbe
[Classes]
Rule = uid=$attacker_uid -> be"
start_daemon || exit 1

task() { # PLUGIN_ARGUMENT...: the attacker's task under the plugin; sets $pid
	"$stepd" $attacker_uid "$gsload" be --seconds 0 --warmup 0 $steady -- \
		"socket=$GPUSCHED_SIM/run/api" "$@" >"$scratch/task" 2>"$scratch/task.err" &
	at_end+=($!)
	wait_for 10 grep -q . "$scratch/task"
	pid=$(head -1 "$scratch/task")
	at_end+=("$pid")
	wait_tsgs "pid:$pid" 4
}
class_and_weight() { list_json "pid:$pid" 'map("\(.class) \(.weight)") | unique | join(",")'; }
has() { # CLASS_AND_WEIGHT NAME
	wait_for 10 eval '[ "$(class_and_weight)" = "'"$1"'" ]'
	sleep 1
	is "$(class_and_weight)" "$1" "$2"
	end_load "$pid" KILL
}

task
has "be 100" "a task that asks for nothing has the class of root's rule"
GPU_WEIGHT=1 task
has "be 1" "a task that asks for a weight has it, and the class of root's rule"
GPU_CLASS=normal task
has "be 100" "a task that asks for a class over that of root's rule has the latter"
like "$(cat "$scratch/task.err")" "no class 'normal'.*needs root, or AllowClass=" "the step's log says why"
GPU_WEIGHT=10000 task max_weight=10000
has "be 100" "a weight over that of the class is left out"
like "$(cat "$scratch/task.err")" "only root may give more weight" "the step's log says why that is"
SLURM_SHARDS_ON_NODE=1000 task shard_weight=10
has "be 100" "1,000 shards are no class and no weight"
GPU_WEIGHT=7 task default=normal
has "normal 7" "plugstack.conf's own class is root's word"
own_turn "tasks of Slurm's"
done_testing
