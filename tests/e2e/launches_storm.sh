#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 240
# needs: root bpf fuse
# asan: release
# Persons and policies turn the counting of launches on and off at the same time, again and again.
# The last request holds, no launch is counted twice, no probe is left behind, and the next count is
# exact.
. "$(dirname "$0")/lib.sh"
enter_sim
rounds=${STORM_ROUNDS:-6}
iterations="--iterations-per-us 27.78"

pins() {
	find "$GPUSCHED_SIM/bpf/gpusched-launch" -mindepth 2 2>/dev/null | wc -l
}
no_pins() { [ "$(pins)" = 0 ]; }
is_off() {
	[ "$("$gpusched" observe launches --json | jq -c '[.on, .ending]')" = "[false,false]" ]
}
held() { # by the daemon: "descriptors threads"
	echo "$(ls "/proc/$DAEMON_PID/fd" | wc -l) $(ls "/proc/$DAEMON_PID/task" | wc -l)"
}
be_launches() { # launches of class be; 0 if none are known
	"$gpusched" stats --json | jq '.launches.be // 0'
}
work="$top/tests/policy/work.bpf.c"
begin() { "$gpusched" observe launches on; }
end() { "$gpusched" observe launches off; }

trusting
start_daemon || not_ok "a daemon starts"
check "a policy that wants launches starts" "$gpusched" policy start "$work" -o after=1000000
check "the policy stops" "$gpusched" policy stop
check "counting begins" begin
check "counting ends" end
"$gpusched" run --class be -- "$gsload" be --seconds 600 $iterations >/dev/null 2>&1 &
at_end+=($!)
check "a program launches" wait_tsgs class:be 4
sleep 2
before=$(held)

# ---- one after the other, at once, and with policies -----------------------------------------------------------

last=0 back=0
for i in $(seq "$rounds"); do
	begin >/dev/null || not_ok "counting does not begin"
	now=$(be_launches)
	[ "$now" -ge "$last" ] || back=$((back + 1))
	end >/dev/null || not_ok "counting does not end"
	no_pins || diag "round $i: off was answered with $(pins) probes"
	last=$(be_launches)
	[ "$last" -ge "$now" ] || back=$((back + 1))
done
is "$back" 0 "a class's launches never go back"
is "$(pins)" 0 "no probe is left once off is answered"
all=()
for i in $(seq "$rounds"); do
	begin >/dev/null 2>&1 &
	all+=($!)
	end >/dev/null 2>&1 &
	all+=($!)
done
wait "${all[@]}"
for i in $(seq "$rounds"); do
	"$gpusched" policy start "$work" -o after=1000000 >/dev/null || not_ok "the policy does not start"
	begin >/dev/null 2>&1 &
	all=($!)
	"$gpusched" policy start auto >/dev/null || not_ok "auto does not start"
	end >/dev/null 2>&1 &
	all+=($!)
	"$gpusched" policy stop >/dev/null
	wait "${all[@]}"
done
check "counting ends" end
check "counting stays off" wait_for 20 is_off
check "no probe is left" wait_for 20 no_pins
check "no descriptor or thread is left" wait_for 20 eval '[ "$(held)" = "'"$before"'" ]' ||
	diag "$before before, $(held) now: $(ls -l "/proc/$DAEMON_PID/fd" | sed 's/.*-> //' | sort | uniq -c | sort -rn | head -20)"

# ---- counting works after the storm ---------------------------------------------------------------

check "counting begins once more" begin
load be --seconds 1 $iterations --linger 60
wait_for 30 grep -q launches "$scratch/load.out"
is "$(list_json pid:$LOAD_PID 'map(.launches) | max')" "$(jq .launches <"$scratch/load.out")" "launches are counted exactly after the storm"
end_load $LOAD_PID
end >/dev/null &
stop_daemon
check "the daemon's end leaves no probe" wait_for 20 no_pins
is "$(grep -c Sanitizer "$scratch/daemon.log")" 0 "the sanitizers report nothing"
done_testing
