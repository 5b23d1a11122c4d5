#!/bin/bash
# SPDX-License-Identifier: MIT
# Draws a terminal's screen as SVG: `tmux capture-pane -pe | tools/screen-svg.sh [COLUMNS] >FILE.svg`
# Supports what gpusched's screens use: 16 colours, bold, reverse.
set -eu
exec awk -v cols="${1:-80}" '
function escaped(t) {
	gsub(/&/, "\\&amp;", t); gsub(/</, "\\&lt;", t); gsub(/>/, "\\&gt;", t)
	return t
}
# Draws one run of characters with the same colour and attributes.
function put(t,    x, w) {
	if (t == "")
		return
	x = 10 + col * W; w = length(t) * W
	if (reverse)
		body = body sprintf("<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%d\" fill=\"#d0d0d0\"/>\n", x, 12 + row * H, w, H)
	if (t !~ /^ *$/)
		body = body sprintf("<text x=\"%.1f\" y=\"%.1f\" textLength=\"%.1f\" fill=\"%s\"%s>%s</text>\n", x, 12 + row * H + 14, w,
			reverse ? "#101418" : colour, bold ? " font-weight=\"bold\"" : "", escaped(t))
	col += length(t)
}
function look(codes,    n, c, i) {
	n = split(codes == "" ? "0" : codes, c, ";")
	for (i = 1; i <= n; i++) {
		if (c[i] == 0) { colour = plain; bold = reverse = 0 }
		else if (c[i] == 1) bold = 1
		else if (c[i] == 22) bold = 0
		else if (c[i] == 7) reverse = 1
		else if (c[i] == 27) reverse = 0
		else if (c[i] == 39) colour = plain
		else if (c[i] in palette) colour = palette[c[i]]
	}
}
BEGIN {
	W = 8.4; H = 18; plain = "#d0d0d0"; colour = plain
	palette[31] = "#ff6b68"; palette[32] = "#7ec86a"; palette[33] = "#e5c453"
	palette[34] = "#6ca6ff"; palette[35] = "#d38ae6"; palette[36] = "#59c8d8"
}
{
	line = $0; col = 0; row = NR - 1
	while (match(line, /\033\[[0-9;]*m|\033\(B|\016|\017/)) {
		code = substr(line, RSTART, RLENGTH)
		put(substr(line, 1, RSTART - 1))
		line = substr(line, RSTART + RLENGTH)
		if (code ~ /m$/)
			look(substr(code, 3, length(code) - 3))
	}
	put(line)
}
END {
	width = 20 + cols * W; height = 24 + NR * H
	printf "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%d\" viewBox=\"0 0 %.0f %d\">\n", width, height, width, height
	printf "<rect width=\"100%%\" height=\"100%%\" rx=\"6\" fill=\"#101418\"/>\n"
	printf "<g font-family=\"DejaVu Sans Mono, Menlo, Consolas, monospace\" font-size=\"14\" xml:space=\"preserve\">\n%s</g>\n</svg>\n", body
}'
