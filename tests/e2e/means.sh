#!/bin/bash
# SPDX-License-Identifier: MIT
# Means: measurements of a program decide by which means it starts the next time, within what the
# administrator allows. A running program keeps its means, and no user sees another user's programs.
# timeout: 120
# needs: root bpf fuse
. "$(dirname "$0")/lib.sh"
enter_sim
. "$top/tests/e2e/helper/means_lib.sh"
fixed="--seconds 60 --warmup 0 --ready --iterations-per-us 27"

programs() { # FILTER
	curl -sf --unix-socket "$GPUSCHED_SIM/run/api" -d '{}' http://gpusched/v1/means_get | jq -r ".programs | $1"
}
program() { # WORD FILTER: applies the filter to the program that was started with that word
	programs "map(select(.script == \"$1\")) | first // {} | $2"
}
allow() { # yes|no
	config "[Classes]
AllowShare=$1
Class=be means=auto"
}
is_client() { # NAME
	[ "$(list_json all "[.[] | select(.pool != null) | .pool.clients[].pid] | any(. == $(pgrep -P "${!1}" | head -1))")" = true ]
}

exits 2 "--means refuses an unknown word" "$gpusched" run --class be --means mps -- true
exits 2 "--means needs a class" "$gpusched" run --means auto -- true
exits 2 "--means together with --pool is refused" "$gpusched" run --class be --means auto --pool -- true
exits 0 "run --means auto succeeds without a daemon" "$gpusched" run --class be --means auto -- true
like "$out" "slices: gpuschedd alone knows programs" "without a daemon run says that it chose slices, and why"
allow yes
start_daemon

# ---- the first start: a best-effort program of short thread blocks beside another one
start first --class be -- "$gsload" be $fixed --block-us 30
like "$(said first)" "slices: nothing is known of it" "a program of a class with means=auto that never ran gets slices"
start second --class be --means slices -- "$gsload" be $fixed --block-us 900
is "$(said second)" "" "means=slices on the command line overrides the class's means"
sleep 2
check "set gives the first program CTA mode" "$gpusched" set "pid:$first" preempt_mode=cta
sleep 2
end_load "$first"
end_load "$second"
check "its thread blocks are known after its end" wait_for 10 eval '[ "$(program be ".leave_cta_us != null")" = true ]'
is "$(program be '"\(.kind) \(.class) \(.means) \(.wait_us.share < .wait_us.slices)"')" "batch be slices true" \
	"means_get says that requests would wait less for its blocks than for a switch, but no service was beside it: slices"

# ---- a service that never ran, beside slices
start plain --class be --means slices -- "$gsload" be $fixed --block-us 30
advises() { # PATTERN
	"$gpusched" advise --for 100ms --why | grep -q "$1"
}
start service --class lc --means auto -- "$gsload" lc $fixed
said=$(said service)
like "$said" "hold: how many turns its requests have is not known" "a service that never ran gets an agent, which reports requests"
check "the daemon knows the service soon" wait_for 20 eval '[ "$(program lc "\"\(.class) \(.kind)\"")" != "null null" ]'
is "$(said service)" "$said" "a running service keeps its means"
check "the batch is known to run beside a service of short work" wait_for 20 eval '[ "$(program be "\"\(.lc_turn_us > 0) \(.lc_graphs)\"")" = "true false" ]'
end_load "$service"
check "advise says what its next start would be, and what another means would cost" wait_for 10 advises \
	"process $plain, started by run --means auto: share .*waits up to [0-9]* us by slices, [0-9]* us by share"
end_load "$plain"

# ---- the second start
start third --class be -- "$gsload" be $fixed --block-us 30
like "$(said third)" "share: its thread blocks are short" "its second start is in the shared server"
like "$(cat "$scratch/third")" "one that fails can make all of them fail" "run says what a shared server gives up"
like "$(cat "$scratch/third")" "waits for it up to [0-9]* us by slices, [0-9]* us in a shared server" "run says the waits by both means"
check "the program is a client of the shared server" wait_for 10 is_client third
is "$(as 65534 curl -sf --unix-socket "$GPUSCHED_SIM/run/api" -d '{}' http://gpusched/v1/means_get | jq -c .programs)" "[]" \
	"another user sees no program"
like "$(as 65534 "$gpusched" run --class be --means auto -- "$gsload" be --help 2>&1)" "slices: nothing is known" \
	"the same program, started by another user, is unknown"

# ---- a service, which is known by now, joins the shared server that runs
start service --class lc --means auto -- "$gsload" lc $fixed
like "$(said service)" "share: its user's shared server runs" "the service's second start joins the shared server that runs"
check "the service is a client of that server" wait_for 10 is_client service
end_load "$service"

# ---- shared servers are not allowed any more
allow no
kill -HUP "$DAEMON_PID"
start fourth --class be -- "$gsload" be $fixed --block-us 30
like "$(said fourth)" "slices: its thread blocks are short.*AllowShare= in gpusched.conf does not allow one" \
	"a program starts by slices where shared servers are not allowed, and run says so"
end_load "$fourth"
check "a client of a server stays its client" is_client third
end_load "$third"

# ---- measurements outlive the daemon
before=$(programs 'map(del(.pids, .used_s)) | sort')
stop_daemon
is "$(stat -c '%a %U' "$GPUSCHED_SIM/state/programs.db")" "600 root" "root alone reads the file of programs"
start_daemon
is "$(programs 'map(del(.pids, .used_s)) | sort')" "$before" "the next daemon knows the same"
stop_daemon
echo "no database, and longer than its header would be" >"$GPUSCHED_SIM/state/programs.db"
start_daemon
is "$(programs length)" 0 "a damaged file is put aside"
is "$("$gpusched" stats --json | jq .service.programs_unsaved)" 1 "a damaged file is counted"
done_testing
