# SPDX-License-Identifier: MIT
# Figures from raw results: what bench/results.sh and tests/check/figures.sh compute with.

# The same definition as in src/basic/sample.h.
def quantile($q): sort | if length == 0 then null else .[[(length * $q | floor), length - 1] | min] end;
def median: map(values) | sort |
	if length == 0 then null else (.[(length - 1) / 2 | floor] + .[length / 2 | floor]) / 2 end;

# Reduces a cell of `gpusched bench`: quantiles replace its latencies.
def digest: {load, scheme, block, be: .be_rate, n: (.latency_us | length),
	p50: (.latency_us | quantile(0.5)), p90: (.latency_us | quantile(0.9)),
	p99: (.latency_us | quantile(0.99)), max: (.latency_us | max)};

# Cells of one load and scheme: medians over blocks, and each block's figures by its number.
def over_blocks: {
	blocks: length, n: (map(.n) | add), n_min: (map(.n) | min),
	p50: (map(.p50) | median), p90: (map(.p90) | median), p99: (map(.p99) | median),
	max: (map(.max) | max), be: (map(.be) | median),
	each: (map({key: "\(.block)", value: {n, p50, p90, p99, max, be}}) | from_entries)};

def loads: map(select(.failed == null and (.latency_us | type) == "array") | digest) | group_by(.load)
	| map({key: .[0].load, value: (group_by(.scheme)
		| map({key: .[0].scheme, value: over_blocks}) | from_entries)}) | from_entries;

# For each block that both schemes have: the figure $k of $a divided by that of $b.
def ratios($a; $b; $k): [$a.each | to_entries[] | .value[$k] as $x | ($b.each[.key] // {})[$k] as $y
	| select($x != null and $y != null and $y != 0) | $x / $y];
def ratio($a; $b; $k): ratios($a; $b; $k) | median;
def least($a; $b; $k): ratios($a; $b; $k) | min;
def most($a; $b; $k): ratios($a; $b; $k) | max;
