#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 400
# needs: root bpf fuse
# The configuration is read again at random gaps of 0 to 1 s, and names another policy each time. The
# last one has to run: what is configured is compared with what runs, not with the wish before.
. "$(dirname "$0")/lib.sh"
enter_sim
conf() {
	config "[Policy]
Policy = $1
[Classes]
Rule = comm=gsload -> be"
}
conf rr
start_daemon || not_ok "a daemon starts"
victim
check "the first policy runs" wait_for 20 eval '[ "$(policy_now)" = rr ]'
policies=(auto rr lcbe prio none)
left=$(size 20 200) rounds=0 wrong=0 slowest=0 last=
RANDOM=${SEED:-$$}
diag "SEED=${SEED:-$$}"
while [ "$left" -gt 0 ]; do
	burst=$((1 + RANDOM % 8))
	for ((i = 0; i < burst; i++)); do
		last=${policies[RANDOM % 5]}
		conf "$last"
		kill -HUP "$DAEMON_PID"
		[ $i -lt $((burst - 1)) ] && sleep "0.$(printf %03d $((RANDOM % 1000)))"
	done
	left=$((left - burst)) rounds=$((rounds + 1))
	took wait_for 20 eval '[ "$(policy_now)" = '"$last"' ]' ||
		{ wrong=$((wrong + 1)); diag "$last is configured, $(policy_now) runs"; }
	[ $MS -gt $slowest ] && slowest=$MS
done
is $wrong 0 "in each of $rounds rounds the policy that was configured last runs"
le $slowest $((2000 * $(patience))) "the slowest ran soon after its reload (all are compiled), in ms"
findings() { "$gpusched" status --json | jq -r '.findings[].finding'; }
check "nothing differs" eval '! findings | grep -q policy-differs'
cat >"$scratch/broken.bpf.c" <<'EOT'
this is no policy
EOT
conf "$scratch/broken.bpf.c"
kill -HUP "$DAEMON_PID"
check "a policy that cannot start is a finding" wait_for 30 eval 'findings | grep -q policy-differs'
conf lcbe
kill -HUP "$DAEMON_PID"
check "the finding is over with the next policy" wait_for 30 eval '[ "$(policy_now)" = lcbe ] && ! findings | grep -q policy-differs'
own=$("$gpusched" stats --json | jq .service.longest_turn_own_us)
le "$own" 500000 "reloads: the longest turn without waits for a processor, in us"
done_testing
