#!/bin/bash
# SPDX-License-Identifier: MIT
# The README's picture: LC p99 and BE work by scheme, from one folder of bench/results.
#
#   bench/hw/picture.sh RESULTS OUT.svg      (summary.json, policies.json and mps.json of RESULTS)
set -euo pipefail
[ $# = 2 ] || { sed -n '3,6s/^# \?//p' "$0" >&2; exit 2; }
results=$1
out=$2
data=$(mktemp)
trap 'rm -f "$data"' EXIT

p99() { jq -r ".\"case.$2\".p99_us // \"NaN\"" "$results/$1.json"; }
be() { jq -r ".\"case.$2\".be_per_s // \"NaN\"" "$results/$1.json"; }

# BE programs, p99 by default, under MPS, under gpusched; BE work likewise
{
	echo "\"1 BE\" $(p99 summary default) $(p99 mps mps) $(p99 summary gpusched)" \
		"$(be summary default) $(be mps mps) $(be summary gpusched)"
	echo "\"3 BE\" $(p99 policies default_3be) $(p99 mps mps_3be) $(p99 policies rr_3be)" \
		"$(be policies default_3be) $(be mps mps_3be) $(be policies rr_3be)"
	echo "\"8 BE\" $(p99 policies default_8be) NaN $(p99 policies rr_8be)" \
		"$(be policies default_8be) NaN $(be policies rr_8be)"
} >"$data"
alone=$(p99 mps alone)

gnuplot <<PLOT
set terminal svg size 760,300 font "sans-serif,12" background "#ffffff"
set output "$out"
set multiplot layout 1,2
set style data histogram
set style histogram clustered gap 1
set style fill solid noborder
set border 3
set tics nomirror
set xtics scale 0
set xrange [-0.6:2.6]
set grid ytics lc rgb "#dddddd"
set key top left reverse Left samplen 1
set title "p99 of a 100 us request, us (log)" font ",12"
set logscale y
set yrange [100:40000]
set label sprintf("alone %.0f", $alone) at graph 1.01, first $alone left tc rgb "#555555"
set rmargin 10
set arrow from graph 0, first $alone to graph 1, first $alone nohead dt 2 lc rgb "#555555"
plot "$data" using 2:xtic(1) title "driver's default" lc rgb "#b0b0b0", \
     "" using 3 title "NVIDIA MPS" lc rgb "#e0a030", \
     "" using 4 title "gpusched" lc rgb "#2070b0"
unset logscale y
unset label
set rmargin 2
unset arrow
unset key
set yrange [0:1300]
set title "best-effort kernels/s, all programs" font ",12"
plot "$data" using 5:xtic(1) lc rgb "#b0b0b0", "" using 6 lc rgb "#e0a030", "" using 7 lc rgb "#2070b0"
PLOT
