# SPDX-License-Identifier: MIT
# turns.awk - make a table from a trace of bench/hw/turns.c
#
# For each line of requests: latency; turns of LC in a request; length of the first turn; time from the flag, or from
# the completion that the program saw, to the END of that turn; length of BE turns; times of switches to LC and to BE.

# Takes the last 15 digits of a time in ns, since awk's numbers hold no more.
function us(text) { return substr(text, length(text) - 14) / 1000 }

function sort(v, n,    i, j, x) {
	for (i = 2; i <= n; i++) {
		x = v[i]
		for (j = i - 1; j > 0 && v[j] > x; j--)
			v[j + 1] = v[j]
		v[j + 1] = x
	}
}

function low_mid_high(v, n) {
	if (!n)
		return "-"
	sort(v, n)
	return sprintf("%.0f / %.0f / %.0f", v[1], v[int((n + 1) / 2)], v[n])
}

function mid(v, n) {
	if (!n)
		return "-"
	sort(v, n)
	return sprintf("%.1f", v[int((n + 1) / 2)])
}

function flush_case(    i, r, t, n, first, firsts, ends, taken) {
	if (label == "")
		return
	for (r = 1; r <= requests; r++) {
		taken = 0
		for (i = 1; i <= lc_turns; i++) {
			if (lc_end[i] <= begin[r] || lc_start[i] >= end[r])
				continue
			if (!taken++)
				first[++firsts] = lc_end[i] - lc_start[i]
			if (mode ~ /^hold/ && taken == 1)
				ended[++ends] = lc_end[i] - decided[r]
			else if (mode !~ /^(hold|none|event)/)
				last = lc_end[i] - end[r]
		}
		n += taken
		if (mode !~ /^(hold|none|event)/ && taken)
			ended[++ends] = last
		latency[r] = end[r] - begin[r]
	}
	printf "| %s | %d | %s | %s | %s | %s | %s | %s | %s |\n", label, requests, mid(latency, requests), requests ? sprintf("%.2f", n / requests) : "-",
		low_mid_high(first, firsts), mid(ended, ends), low_mid_high(be, be_turns), mid(to_lc, n_to_lc), mid(to_be, n_to_be)
	split("", ended)
}

BEGIN {
	print "| case | requests | LC p50 us | turns each | first turn us (least / median / most) | its END after the flag or the end seen | BE turn us | BE END to LC START | LC END to BE START |"
	print "|---|---:|---:|---:|---|---:|---|---:|---:|"
}

$1 == "P" { lc = $2; next }

$1 == "C" {
	flush_case()
	label = $2
	mode = $3
	shift_us = us($11) - us($10)
	requests = lc_turns = be_turns = n_to_lc = n_to_be = 0
	split("", since)
	left = ""
	next
}

$1 == "R" {
	begin[++requests] = us($2)
	decided[requests] = us($3)
	end[requests] = us($4)
	next
}

$1 == "E" { flush_case(); next }

$4 == 6 {
	since[$3] = us($1) + shift_us
	if (left != "" && (left == lc) != ($2 == lc) && since[$3] - left_at < 1000) { # not a pause
		if ($2 == lc)
			to_lc[++n_to_lc] = since[$3] - left_at
		else
			to_be[++n_to_be] = since[$3] - left_at
	}
}

$4 == 7 {
	left = $2
	left_at = us($1) + shift_us
	if (!($3 in since))
		next
	if ($2 == lc) {
		lc_start[++lc_turns] = since[$3]
		lc_end[lc_turns] = left_at
	} else {
		be[++be_turns] = left_at - since[$3]
	}
	delete since[$3]
}
