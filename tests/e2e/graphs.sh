#!/bin/bash
# SPDX-License-Identifier: MIT
# CUDA graphs on the simulated GPU: the API, and the load generator's --graph; its traces of arrivals.
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

# ---- gsload's traces of arrivals
printf 'time,size\n0.1,5\n0,1\n0.3,2\n' >"$scratch/three.csv"
exits 0 "gsload lc takes its arrivals from a file" "$gsload" lc --arrivals "$scratch/three.csv" --warmup 0 $fixed
is "$(json '[.arrivals, .n, .launches] | @csv')" '"trace",3,8' "three requests came, of 1, 5 and 2 kernels"
le "$(json .seconds)" 4 "the load ended after the last arrival"
exits 0 "a size counts tokens with --graph" "$gsload" lc --arrivals "$scratch/three.csv" --graph --kernels 3 --warmup 0 $fixed
is "$(json '[.graph_launches, (.token_p50_us > 300)] | @csv')" 8,true "eight tokens of three kernels ran"
printf 'time,tokens\n0,1\n' >"$scratch/tokens.csv"
exits 2 "tokens without --graph are refused" "$gsload" lc --arrivals "$scratch/tokens.csv"
exits 2 "bursts of a trace are refused" "$gsload" lc --arrivals "$scratch/three.csv" --burst 2
printf '0,1\n,2\n' >"$scratch/wrong.csv"
is "$("$gsload" lc --arrivals "$scratch/wrong.csv" 2>&1)" "gsload: --arrivals: $scratch/wrong.csv:2: time: '' is not a number" \
	"an error names the file and the line"
is "$("$gsload" lc --arrivals trace 2>&1)" "gsload: --arrivals: 'trace' is none of poisson, periodic, closed, and no file" \
	"a word that is no kind of arrivals is refused"
done_testing
