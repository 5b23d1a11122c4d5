#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 60
# needs: root bpf fuse
# asan: release
# The API lists its verbs, and answers each path by one HTTP method only.
. "$(dirname "$0")/lib.sh"
enter_sim
start_daemon
ask() { # METHOD PATH [CURL OPTIONS]: the status; headers and body land in $scratch
	curl -s -o "$scratch/body" -D "$scratch/head" -w '%{http_code}' --max-time 5 \
		--unix-socket "$GPUSCHED_SIM/run/api" -X "$1" "${@:3}" "http://gpusched$2"
}
allowed() {
	sed -n 's/^Allow: \([A-Z]*\).*/\1/p' "$scratch/head"
}

for path in / /v1 /v1/; do
	is "$(ask GET $path)" 200 "GET $path is answered"
	is "$(jq -r '.verbs | map(.verb) | sort | join(" ")' "$scratch/body")" \
		"$("$gpuschedd" --help-api | sed -n 's/^\([a-z_][a-z_]*\) .*/\1/p' | sort | paste -sd ' ')" \
		"GET $path lists every verb"
done
is "$(jq -c '.verbs[] | select(.verb == "class_set") | [.who, (.args | map(select(.needed).name))]' "$scratch/body")" \
	'["owner or root",["target"]]' "a verb says who may call it and what it needs"
is "$(jq -c '.verbs[] | select(.verb == "set").args | map(.name) | contains(["timeslice_us", "preempt_mode"])' \
	"$scratch/body")" true "settings are arguments by their own names"
is "$(ask GET /v1/list)" 405 "GET of a verb is refused"
is "$(allowed)" POST "Allow names POST"
is "$(jq -r .errno "$scratch/body")" EINVAL "the body has the error"
for path in / /v1 /metrics /v1/watch /v1/trace; do
	is "$(ask POST $path -d '{}')" 405 "POST of $path is refused"
	is "$(allowed)" GET "Allow names GET for $path"
done
is "$(ask DELETE /v1/list)" 405 "DELETE of a verb is refused"
is "$(ask GET /v1/there_is_none)" 404 "an unknown path is not found"
is "$(ask POST /v1/list -d '{}')" 200 "POST of a verb is answered"
done_testing
