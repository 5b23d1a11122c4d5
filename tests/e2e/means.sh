#!/bin/bash
# SPDX-License-Identifier: MIT
# Means: what was measured of a program decides how it starts the next time, within what the
# administrator allows; a running program's means stay, and nobody sees another user's programs.
# timeout: 120
# needs: root bpf fuse
. "$(dirname "$0")/lib.sh"
enter_sim
. "$top/tests/e2e/helper/means_lib.sh"
fixed="--seconds 60 --warmup 0 --ready --iterations-per-us 27"

programs() { # FILTER
	curl -sf --unix-socket "$GPUSCHED_SIM/run/api" -d '{}' http://gpusched/v1/means_get | jq -r ".programs | $1"
}
program() { # WORD: of it
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

exits 2 "a means is one of two words" "$gpusched" run --class be --means mps -- true
exits 2 "means go with a class" "$gpusched" run --means auto -- true
exits 2 "two means at a time are refused" "$gpusched" run --class be --means auto --pool -- true
exits 0 "without a daemon it starts by slices" "$gpusched" run --class be --means auto -- true
like "$out" "slices: gpuschedd alone knows programs" "it says why"
allow yes
start_daemon

# ---- the first start: a best-effort program of short thread blocks beside another one
start first --class be -- "$gsload" be $fixed --block-us 30
like "$(said first)" "slices: nothing is known of it" "a class with means=auto asks; a program that never ran gets slices"
start second --class be --means slices -- "$gsload" be $fixed --block-us 900
is "$(said second)" "" "means=slices on the command line asks nobody"
sleep 2
check "it works in CTA mode" "$gpusched" set "pid:$first" preempt_mode=cta
sleep 2
end_load "$first"
end_load "$second"
check "its thread blocks are known at its end" wait_for 10 eval '[ "$(program be ".leave_cta_us != null")" = true ]'
diag "$(programs .)"
is "$(program be '"\(.kind) \(.class) \(.means) \(.wait_us.share < .wait_us.slices)"')" "batch be share true" \
	"requests would wait less for its blocks than for a switch"

# ---- a service that never ran, beside slices
start plain --class be --means slices -- "$gsload" be $fixed --block-us 30
advises() { # PATTERN
	"$gpusched" advise --for 100ms | grep -q "$1"
}
check "advise says what its next start would be, and what another means would cost" wait_for 10 advises \
	"process $plain, started by run --means auto: share .*waits up to [0-9]* us by slices, [0-9]* us by share"
start service --class lc --means auto -- "$gsload" lc $fixed
said=$(said service)
like "$said" "hold: how many turns its requests have is not known" "a service that never ran gets an agent that tells of requests"
check "it is known soon" wait_for 20 eval '[ "$(program lc "\"\(.class) \(.kind)\"")" != "null null" ]'
is "$(said service)" "$said" "what it runs by stays"
end_load "$service"
end_load "$plain"

# ---- the second start
start third --class be -- "$gsload" be $fixed --block-us 30
like "$(said third)" "share: its thread blocks are short" "its second start is in the shared server"
like "$(cat "$scratch/third")" "one that fails can make all of them fail" "what that gives up is said at the start"
like "$(cat "$scratch/third")" "waits for it up to [0-9]* us by slices, [0-9]* us in a shared server" "the figures of both are said"
check "it is a client of that server" wait_for 10 is_client third
is "$(as 65534 curl -sf --unix-socket "$GPUSCHED_SIM/run/api" -d '{}' http://gpusched/v1/means_get | jq -c .programs)" "[]" \
	"another user sees nothing of it"
like "$(as 65534 "$gpusched" run --class be --means auto -- "$gsload" be --help 2>&1)" "slices: nothing is known" \
	"nor does that user's start of the same program know it"

# ---- a service, known by now, joins the server that runs
start service --class lc --means auto -- "$gsload" lc $fixed
like "$(said service)" "share: its user's shared server runs" "its second start joins the server that runs"
check "it is its client" wait_for 10 is_client service
end_load "$service"

# ---- what is not allowed
allow no
kill -HUP "$DAEMON_PID"
start fourth --class be -- "$gsload" be $fixed --block-us 30
like "$(said fourth)" "slices: its thread blocks are short.*AllowShare= in gpusched.conf does not allow one" \
	"where shared servers are not allowed there are slices, which is said"
end_load "$fourth"
check "what runs in a server stays there" is_client third
end_load "$third"

# ---- it outlives the daemon
before=$(programs 'map(del(.pids, .used_s)) | sort')
stop_daemon
is "$(stat -c '%a %U' "$GPUSCHED_SIM/state/programs.db")" "600 root" "root alone reads the file"
start_daemon
is "$(programs 'map(del(.pids, .used_s)) | sort')" "$before" "the next daemon knows the same"
stop_daemon
echo "no database, and longer than its header would be" >"$GPUSCHED_SIM/state/programs.db"
start_daemon
is "$(programs length)" 0 "a damaged file is put aside"
is "$("$gpusched" stats --json | jq .service.programs_unsaved)" 1 "a damaged file is counted"
done_testing
