#!/bin/bash
# SPDX-License-Identifier: MIT
# Makes the README's picture from the archives and rows of bench/results:
#
#   bench/picture.sh        make docs/pictures/lc-p99.svg anew
#   bench/picture.sh data   print the picture's data; tests/check/figures.sh compares them with the picture
#
# A data line has: the group's label, the label of its BE programs, LC p99 in us (alone, by default,
# under MPS at its best setting, under gpusched), BE work in percent of the default (under MPS, under
# gpusched), and the run it comes from. MPS's best setting has the lowest p99 among the settings that
# leave BE at least 98 % of its work. The "one kernel" groups come from the newest run of
# bench/hw/core.sh on an H200 that has them, else from the rows of 2026-11-23e.
set -euo pipefail
top=$(cd "$(dirname "$0")/.." && pwd)
out=$top/docs/pictures/lc-p99.svg

data() {
	"$top/bench/results.sh" ask '
	def best($of; $p99; $work; $s):
		[$s[] | select(.[$work] and .[$work] >= 0.98 * $of[$work])] | min_by(.[$p99]);
	def group($name; $be; $alone; $default; $mps; $auto; $p99; $work; $us; $run):
		best($default; $p99; $work; $mps) as $best | [$name, $be, $run]
		+ [$alone, ($default, $best, $auto | .[$p99] * $us), 100 * ($best, $auto | .[$work]) / $default[$work]];
	def core($load): [$all | to_entries[] | .key as $run | select($run | contains("-h200-"))
		| .value.cells | to_entries[] | select(.value[$load] | .default and .auto and .["mps-prio"]) | {run: "\($run)/\(.key)", cells: .value}] | last;
	def blocks($t; $n; $name; $be):
		def b($s): kept("23e"; "blocks \($t) \($n) \($s)");
		core("blocks-\($t)-\($n)be") as $core | $core.cells["blocks-\($t)-\($n)be"] as $c |
		if $core then group($name; $be; ($c.alone // $core.cells["a-1be"].alone).p99; $c.default;
			[$c["mps-prio", "mps-75"] | values]; $c.auto; "p99"; "be"; 1; $core.run)
		else group($name; $be; kept("23e"; "blocks alone").p99_us; b("default");
			[b("mps-prio", "mps-prio-75")]; b("auto"); "p99_us"; "be_per_s"; 1; "2026-11-23e")
		end;
	def graph:
		def b($s): kept("23e"; "torch graph \($s)");
		group("ResNet-50,\\na training"; "training"; b("alone").p99_ms * 1000; b("default");
			[b("mps-prio", "mps-prio-75", "mps-prio-50")]; b("auto"); "p99_ms"; "steps_per_s"; 1000; "2026-11-23e");
	(blocks(1000; 1; "one kernel,\\n1 BE"; "1 BE"),
	 blocks(1000; 3; "one kernel,\\n3 BE"; "3 BE"), graph,
	 blocks(20; 3; "one kernel, 3 BE,\\n20 us blocks"; "20 us"))
	| .[2] as $run | [.[:2][], (.[3:][] | . * 10 | round / 10)]
	| "\"\(.[0])\" \"\(.[1])\" \(.[2:] | map(tostring) | join(" ")) \"\($run)\""'
}
if [ "${1:-}" = data ]; then
	data
	exit
fi
rows=$(mktemp)
trap 'rm -f "$rows"' EXIT
data >"$rows"
gnuplot <<PLOT
set terminal svg size 980,340 font "sans-serif,12" background "#ffffff"
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
set xrange [-0.6:3.6]
set grid ytics lc rgb "#dddddd"
set size 0.64, 1
set origin 0, 0
set key top left reverse Left samplen 1 maxrows 2
set title "p99 of a request, us (log): lower is better" font ",12"
set logscale y
set yrange [100:100000]
plot "$rows" using 4:xtic(1) title "driver's default" lc rgb "#b0b0b0", \
     "" using 5 title "NVIDIA MPS, best setting" lc rgb "#e0a030", \
     "" using 6 title "gpusched, auto" lc rgb "#2070b0", \
     "" using (\$0 - 0.25):4:(sprintf("%.0f", \$4)) with labels offset 0,0.6 font ",10" notitle, \
     "" using (\$0):5:(sprintf("%.0f", \$5)) with labels offset 0,0.6 font ",10" notitle, \
     "" using (\$0 + 0.25):6:(sprintf("%.0f", \$6)) with labels offset 0,0.6 font ",10" notitle, \
     "" using (\$0 - 0.4):3:(0.8):(0) with vectors nohead dt 2 lw 2 lc rgb "#303030" title "alone"
unset logscale y
unset key
set size 0.36, 1
set origin 0.64, 0
set yrange [0:150]
set title "work of the best-effort side, %" font ",12"
plot "$rows" using (100):xtic(2) lc rgb "#b0b0b0", "" using 7 lc rgb "#e0a030", "" using 8 lc rgb "#2070b0", \
     "" using (\$0):7:(sprintf("%.0f", \$7)) with labels offset 0,0.6 font ",10", \
     "" using (\$0 + 0.25):8:(sprintf("%.0f", \$8)) with labels offset 0,0.6 font ",10"
PLOT
{ echo "<!-- data"; cat "$rows"; echo "-->"; } >>"$out"
