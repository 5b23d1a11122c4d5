#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 60
# needs: root bpf fuse
# A limit by user names whom it struck: in an event, a metric and the log; other users do not see whom.
. "$(dirname "$0")/lib.sh"
enter_sim
chmod 711 "$scratch"
start_daemon || exit 1
api=$GPUSCHED_SIM/run/api
"$gpusched" monitor --json >"$scratch/root" 2>&1 &
at_end+=($!)
as 4712 "$gpusched" monitor --json >"$scratch/other" 2>&1 &
at_end+=($!)
check "two watch" wait_for 10 eval \
	'[ "$(curl -s --unix-socket "$api" http://gpusched/metrics | sed -n "s/^gpusched_watchers //p")" = 2 ]'
as 4711 "$helper" crowd "$api" 60 unread /v1/watch >"$scratch/crowd" 2>&1 &
at_end+=($!)
limited() { # LIMIT: how often, as UID sees it
	as "$2" curl -s --unix-socket "$api" http://gpusched/metrics | grep "^gpusched_limited_total{limit=\"$1\""
}
check "root's metrics name the user past its share of connections" wait_for 10 eval \
	'limited connections 0 | grep -q "uid=\"4711\"} [1-9]"'
check "root's metrics name the user past its share of watchers" wait_for 10 eval \
	'limited watchers 0 | grep -q "uid=\"4711\"} [1-9]"'
check "another user's metrics have the sum" eval 'limited connections 4712 | grep -q "\"connections\"} [1-9]"'
is "$(limited connections 4712 | grep -c uid)" 0 "another user's metrics do not say whose"
check "an event tells root" wait_for 5 grep -q '"event":"limited","uid":4711,"limit":"watchers","times":[1-9]' "$scratch/root"
is "$(grep -c limited "$scratch/other")" 0 "another user has no such event"
check "the log names the user" grep -q "user 4711 past the limit 'watchers': [0-9]* watchers refused" "$scratch/daemon.log"
le "$(grep -c "past the limit 'connections'" "$scratch/daemon.log")" 2 "the log is not filled with that"
done_testing
