#!/bin/bash
# SPDX-License-Identifier: MIT
# CUDA graphs on the simulated GPU: the API, and the load generator's --graph.
# timeout: 120
# needs: root fuse
. "$(dirname "$0")/lib.sh"
enter_sim --dilate 2
fixed="--iterations-per-us 27.777"

# ---- the API: each line of the helper's output is a point
while read -r verdict what; do
	what=${what#* - }
	case $verdict in ok) ok "$what" ;; *) not_ok "$what" ;; esac
done < <("$helper" graph | sed 's/^not ok/not_ok/')
ge "$tap_n" 20 "the helper has made at least 20 points"

# ---- gsload
unknown=$("$gsload" --help | grep -oE '^  --[a-z-]+' | while read -r option; do
	grep -qF -- "*$option*" "$top/man/gsload.1.scd" || echo "$option"
done)
is "$unknown" "" "the manual page has every option"
json() { jq -r "$1" <<<"$out"; }
exits 0 "gsload lc makes each request one graph" "$gsload" lc --graph --arrivals closed --kernels 20 --kernel-us 50 \
	--period-us 3000 --seconds 0.5 $fixed
is "$(json .graph)" true "the result says that graphs were used"
is "$(json '.launches - .graph_launches')" 20 "each kernel was launched once, into the capture"
ge "$(json '.graph_launches - .n')" 0 "each request was at least one graph launch"
ge "$(json .n)" 20 "at least 20 requests were made"
ge "$(json .p50_us)" 1000 "requests took at least as long as their kernels"
exits 0 "gsload be launches graphs back to back" "$gsload" be --graph --kernels 5 --count 100 --kernel-us 100 --seconds 0 \
	--warmup 0 $fixed
is "$(json '[.n, .launches, .graph_launches] | @csv')" 100,25,20 "100 kernels in 20 graphs, and 5 captured"
ge "$(json .seconds)" 0.01 "the kernels of the graphs took their time"
exits 0 "gsload runs without --graph" "$gsload" be --count 20 --seconds 0 --warmup 0 $fixed
is "$(json '[.graph, .launches, .graph_launches] | @csv')" false,20,0 "without --graph no graph is launched"
exits 2 "a gap within a graph is refused" "$gsload" lc --graph --gap-us 5
exits 2 "several kernels a launch need --graph" "$gsload" be --kernels 5
done_testing
