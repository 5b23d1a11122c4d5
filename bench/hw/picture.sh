#!/bin/bash
# SPDX-License-Identifier: MIT
# The README's picture: LC p99 and BE work by scheme.
#
#   bench/hw/picture.sh RAW OUT.svg      (RAW: raw.jsonl[.gz] of `gpusched bench --out`)
#
# MPS was measured on other days, and is taken from there: what did best of plain and priority.
set -euo pipefail
[ $# = 2 ] || { sed -n '3,8s/^# \?//p' "$0" >&2; exit 2; }
raw=$1
out=$2
results=$(dirname "$0")/../results
rows=$(mktemp)
data=$(mktemp)
trap 'rm -f "$rows" "$data"' EXIT

# As the bench's own table has it: the median of the blocks' quantiles.
{ zcat -f "$raw" | jq -s '
	def median: sort | (.[(length - 1) / 2 | floor] + .[length / 2 | floor]) / 2;
	def p99: sort | .[[(length * 0.99 | floor), length - 1] | min];
	[.[] | select(.failed == null)] | group_by([.load, .scheme])[]
	| {load: .[0].load, scheme: .[0].scheme,
	   p99: ([.[].latency_us | select(length > 0) | p99] | if length > 0 then median else null end),
	   be: ([.[].be_rate | values] | if length > 0 then median else null end)}'
} >"$rows"
# LOAD SCHEME KEY [ROWS]
of() {
	jq -rs "[.[] | select(.load == \"$1\" and .scheme == \"$2\")][0].$3 // \"NaN\"" "${4:-$rows}"
}
case_of() { jq -r ".\"case.$2\".$3 // \"NaN\"" "$results/$1"; }
mps_8be=$results/2026-11-22c-h200-580/rows.jsonl
of_mps_8be() { of a-8be mps-prio "$1" "$mps_8be"; }

# load, alone; p99 by default, under MPS, under gpusched; BE work in percent of the default likewise
row() { # LABEL LOAD SCHEME, MPS: P99 PERCENT
	awk -v label="$1" -v alone="$(of "$2" alone p99)" -v d="$(of "$2" default p99)" -v m="$4" \
		-v g="$(of "$2" "$3" p99)" -v mb="$5" -v b="$(of "$2" "$3" be)" \
		-v db="$(of "$2" default be)" \
		'BEGIN { printf "\"%s\" %s %s %s %s %s %.1f\n", label, alone, d, m, g, mb, 100 * b / db }'
}
percent() { awk -v a="$1" -v b="$2" 'BEGIN { printf "%.1f", 100 * a / b }'; }
summary=2026-11-21b-h200-580
{
	row '100 us kernel\\nbeside 1 BE' a-1be auto "$(case_of $summary/mps.json mps_priority p99_us)" \
		"$(percent "$(case_of $summary/mps.json mps_priority be_per_s)" \
			"$(case_of $summary/summary.json default be_per_s)")"
	row '100 us kernel\\nbeside 8 BE' a-8be pool "$(of_mps_8be lc_p99_us)" \
		"$(percent "$(of_mps_8be be_share_of_default)" 1)"
	row 'ResNet-50, graph\\nbeside a training' graph auto \
		"$(case_of $summary/mps.json graph.mps lc_p99_us)" \
		"$(percent "$(case_of $summary/mps.json graph.mps steps_per_s)" \
			"$(case_of $summary/torch.json graph.default steps_per_s)")"
} >"$data"
# one LC alone is the same whatever would be beside it
alone=$(of a-1be alone p99)
sed -i "2s/NaN/$alone/" "$data"

gnuplot <<PLOT
set terminal svg size 860,320 font "sans-serif,12" background "#ffffff"
set output "$out"
set multiplot
set bmargin 3.5
set style data histogram
set style histogram clustered gap 1
set style fill solid noborder
set boxwidth 0.9
set border 3
set tics nomirror
set xtics scale 0
set xrange [-0.6:2.6]
set grid ytics lc rgb "#dddddd"
set size 0.62, 1
set origin 0, 0
set key top left reverse Left samplen 1 maxrows 2
set title "p99 of a request, us (log): lower is better" font ",12"
set logscale y
set yrange [100:300000]
plot "$data" using 3:xtic(1) title "driver's default" lc rgb "#b0b0b0", \
     "" using 4 title "NVIDIA MPS" lc rgb "#e0a030", \
     "" using 5 title "gpusched" lc rgb "#2070b0", \
     "" using (\$0 - 0.25):3:(sprintf("%.0f", \$3)) with labels offset 0,0.6 font ",10" notitle, \
     "" using (\$0):4:(sprintf("%.0f", \$4)) with labels offset 0,0.6 font ",10" notitle, \
     "" using (\$0 + 0.25):5:(sprintf("%.0f", \$5)) with labels offset 0,0.6 font ",10" notitle, \
     "" using (\$0 - 0.4):2:(0.8):(0) with vectors nohead dt 2 lw 2 lc rgb "#303030" title "alone"
unset logscale y
unset key
set size 0.38, 1
set origin 0.62, 0
set yrange [0:150]
set xtics ("1 BE" 0, "8 BE" 1, "training" 2)
set title "work of the best-effort side, %" font ",12"
plot "$data" using (100) lc rgb "#b0b0b0", "" using 6 lc rgb "#e0a030", "" using 7 lc rgb "#2070b0", \
     "" using (\$0 - 0.25):(100):("100") with labels offset 0,0.6 font ",10", \
     "" using (\$0):6:(sprintf("%.0f", \$6)) with labels offset 0,0.6 font ",10", \
     "" using (\$0 + 0.25):7:(sprintf("%.0f", \$7)) with labels offset 0,0.6 font ",10"
PLOT
