#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 120
# needs: root bpf fuse
# When a per-user limit refuses something to a user, an event, a metric and the log name that user
# to root. Other users do not see the name.
. "$(dirname "$0")/lib.sh"
enter_sim
chmod 711 "$scratch"
# more files open before the taps than the daemon examines for one user
mkfifo "$scratch/stay"
exec 8<>"$scratch/stay"
setpriv --reuid 4715 --regid 4715 --clear-groups bash -c '
	ulimit -n 2048
	for ((i = 0; i < 1100; i++)); do exec {fd}<>/dev/nvidiactl; done
	echo ready
	read -r _' <"$scratch/stay" >"$scratch/files" 2>&1 &
at_end+=($!)
check "a user has 1,100 files of the driver open" wait_for 20 grep -q ^ready "$scratch/files"
start_daemon || exit 1
api=$GPUSCHED_SIM/run/api
"$gpusched" monitor --json >"$scratch/root" 2>&1 &
at_end+=($!)
as 4712 "$gpusched" monitor --json >"$scratch/other" 2>&1 &
at_end+=($!)
check "two clients watch" wait_for 10 eval \
	'[ "$(curl -s --unix-socket "$api" http://gpusched/metrics | sed -n "s/^gpusched_watchers //p")" = 2 ]'
as 4711 "$helper" crowd "$api" 60 unread /v1/watch >"$scratch/crowd" 2>&1 &
at_end+=($!)
limited() { # LIMIT UID: the metrics of that limit, as the user sees them
	as "$2" curl -s --unix-socket "$api" http://gpusched/metrics | grep "^gpusched_limited_total{limit=\"$1\""
}
check "root's metrics name the user past the limit of connections" wait_for 10 eval \
	'limited connections 0 | grep -q "uid=\"4711\"} [1-9]"'
check "root's metrics name the user past the limit of watchers" wait_for 10 eval \
	'limited watchers 0 | grep -q "uid=\"4711\"} [1-9]"'
check "another user's metrics have the sum" eval 'limited connections 4712 | grep -q "\"connections\"} [1-9]"'
is "$(limited connections 4712 | grep -c uid)" 0 "another user's metrics do not name the user"
check "an event names the user to root" wait_for 5 grep -q '"event":"limited","uid":4711,"limit":"watchers","times":[1-9]' "$scratch/root"
is "$(grep -c limited "$scratch/other")" 0 "another user has no such event"
check "the log names the user" grep -q "user 4711 past the limit 'watchers': [0-9]* watchers refused" "$scratch/daemon.log"
le "$(grep -c "past the limit 'connections'" "$scratch/daemon.log")" 2 "the log has at most two lines about it"
check "root's metrics name the user whose open files were not all examined" wait_for 30 eval \
	'limited files 0 | grep -q "uid=\"4715\"} [1-9]"'
check "the log names that user" grep -q "user 4715 past the limit 'files': [0-9]* open files" "$scratch/daemon.log"
is "$("$gpusched" stats --json | jq .service.adoption_left)" 76 "the files past 1,024 are counted"

# A user's TSGs may cause only so many extra rounds of a policy. The test policy asks for a round
# whenever a program sets a slice.
"$gpusched" policy build "$top/tests/policy/kicks.bpf.c" --output "$scratch/kicks.bpf.o" >/dev/null || not_ok "the policy builds"
check "a policy that asks for rounds runs" "$gpusched" policy start "$scratch/kicks.bpf.o"
mkfifo "$scratch/words"
exec 9<>"$scratch/words"
setpriv --reuid 4713 --regid 4713 --clear-groups "$helper" noise 2000 <"$scratch/words" >"$scratch/noise" 2>&1 &
at_end+=($!)
check "a TSG of another user is listed" wait_tsgs pid:$! 1
echo >&9
check "the metrics name the user whose TSG asked for too many rounds" wait_for 20 eval \
	'limited kicks 0 | grep -q "uid=\"4713\"} [1-9]"'
check "the log names that user" grep -q "user 4713 past the limit 'kicks': [0-9]* rounds" "$scratch/daemon.log"

# programs that cannot be read in time: the locks of their memory are held
mount -t tmpfs -o mode=755 none /mnt
mkdir /mnt/0
"$helper" lock /mnt/0 4714 x >"$scratch/lock" 2>&1 &
locked=$!
at_end+=($locked)
check "a user's process holds the lock of its memory" wait_for 30 grep -q ^ready "$scratch/lock"
at_end+=("$(sed -n 's/^ready //p' "$scratch/lock")")
explained() {
	"$gpusched" class explain "pid:$locked" >"$scratch/explained" 2>&1
	limited reads 0 | grep -q 'uid="4714"} [1-9]'
}
check "the metrics name the user whose process was not read" wait_for 60 explained ||
	diag "$(cat "$scratch/explained")"
done_testing
