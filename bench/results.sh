#!/bin/bash
# SPDX-License-Identifier: MIT
# results.sh - pack archives of measurements, and make tables and figures from them
#
#   bench/results.sh tables [FOLDER...]   make tables.md anew (default: of every folder of bench/results)
#   bench/results.sh figures              print all figures as JSON, for pictures and questions
#   bench/results.sh fill PAGE            print a page of docs/ with each figure computed anew
#   bench/results.sh ask FILTER           run a jq filter over all figures, with the functions of bench/sources.jq
#   bench/results.sh pack FOLDER DIR      make FOLDER/raw.tar.xz of the files in DIR, the same bytes each time
#   bench/results.sh unpack FOLDER DIR    unpack FOLDER's archive into DIR
#
# Cells of `gpusched bench` hold every latency, and figures are computed from the latencies. Older
# programs printed only a summary (p50, p99, rate): their figures are copied, and marked as copied.
set -euo pipefail
top=$(cd "$(dirname "$0")/.." && pwd)
results=$top/bench/results
usage() { sed -n '3,12s/^# \?//p' "$0" >&2; exit 2; }
[ $# -ge 1 ] || usage
what=$1
shift
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT

pack() { # FOLDER DIR
	tar -C "$2" --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner \
		--mode=u=rwX,go=rX -c . | xz -9e -T1 >"$1/raw.tar.xz"
}

unpack() { # FOLDER DIR
	mkdir -p "$2"
	tar -C "$2" -xJf "$1/raw.tar.xz"
}

# Prints the cells of an unpacked folder: {part: {load: {scheme: figures}}}
cells() { # DIR
	local file
	(cd "$1" && grep -rlE --include='*.jsonl' '^\{"machine".*"latency_us":' . || true) |
		sed 's|^\./||' | LC_ALL=C sort | while read -r file; do
		jq -c -s -L "$top/bench" --arg part "${file%.jsonl}" \
			'include "results"; {($part): loads}' "$1/$file"
	done | jq -c -s 'add // {}'
}

# Prints the objects that programs printed, {file: object}, and the notes, {file: {key: value}}.
rows() { # DIR
	(
		cd "$1"
		{
			find . -name '*.json' -size -100k -print0 | LC_ALL=C sort -z |
				xargs -0r jq -nc 'reduce (inputs | objects) as $o ({};
					.[input_filename[2:] | sub("\\.json$"; "")] |=
						if $o.case then .["\($o.case).\($o.threads)"] = $o else . + $o end)'
			find . \( -name notes.jsonl -o -name '*-blocks.jsonl' \) -print0 | LC_ALL=C sort -z |
				xargs -0r jq -nc 'reduce inputs as $o ({};
					.[input_filename[2:] | sub("\\.jsonl$"; "")][$o.key] = $o.value)'
		} | jq -c -s 'add // {}'
	)
}

# Prints {folder: {cells, rows, kept}}. kept: rows.jsonl, for measurements whose raw output is lost
folder() { # FOLDER
	local name=${1##*/} dir=$room/${1##*/}
	mkdir -p "$dir"
	[ ! -e "$1/raw.tar.xz" ] || unpack "$1" "$dir"
	jq -nc --arg name "$name" --slurpfile cells <(cells "$dir") --slurpfile rows <(rows "$dir") \
		--slurpfile kept <(cat "$1/rows.jsonl" 2>/dev/null || true) \
		'{($name): {cells: $cells[0], rows: $rows[0],
			kept: ($kept | map(select(.key) | {key, value: del(.key)}) | from_entries)}}'
}

tables() { # FOLDER
	folder "$1" | jq -r -L "$top/bench" 'include "results";
	def n: if type == "number" then (. * 10 | round / 10 | tostring) elif . == null then "-" else tostring end;
	def part($default; $s; $k): ratios($s; $default; $k) | if length == 0 then "-" else
		"\(median * 1000 | round / 10) (\(min * 1000 | round / 10) to \(max * 1000 | round / 10))" end;
	def kernels: if .steps_per_s then .steps_per_s elif .be_per_s then .be_per_s else .rate_per_s end;
	to_entries[0] | "# \(.key)", "", "Made by `bench/results.sh tables` from the archive beside it.",
	(.value.cells | to_entries[] | "", "## \(.key)", "",
	 "Medians over blocks; in percent of the default: the median of the blocks, and the range.", "",
	 "| load | scheme | blocks | requests, least of a block | p50 us | p90 us | p99 us | largest us | BE/s | p99, % of default | BE, % of default |",
	 "|---|---|---|---|---|---|---|---|---|---|---|",
	 (.value | to_entries[] | .key as $load | .value.default as $default | .value | to_entries[]
	  | .value as $s | "| \($load) | \(.key) | \($s.blocks) | \($s.n), \($s.n_min) | \($s.p50 | n) | \($s.p90 | n) | \($s.p99 | n) | \($s.max | n) | \($s.be | n) | \(part($default; $s; "p99")) | \(part($default; $s; "be")) |")),
	(.value.rows | with_entries(select(.value | type == "object")) |
	 [to_entries[] | select(.value.p50_us? or .value.rate_per_s?)] | select(length > 0)
	 | "", "## What each program printed", "", "| program | p50 us | p99 us | largest us | n | a second |",
	 "|---|---|---|---|---|---|",
	 (.[] | "| \(.key) | \(.value.p50_us | n) | \(.value.p99_us | n) | \(.value.max_us | n) | \(.value.n | n) | \(.value | kernels | n) |")),
	(.value.rows | to_entries[] | select((.key | test("notes$|-blocks$")) and (.value | length > 0))
	 | "", "## \(.key)", "", "| what | result |", "|---|---|",
	 (.value | to_entries[] | select(.key | startswith("seconds.") | not)
	  | "| \(.key) | \(.value | tojson | gsub("\\|"; "/")) |")),
	(.value.kept | select(length > 0) | "", "## Rows that were kept", "",
	 "No raw output was kept: these rows are the source.", "", "| what | result |", "|---|---|",
	 (to_entries[] | "| \(.key) | \(.value | tojson) |"))'
}

each() { # FUNCTION FOLDER...
	local f=$1 d
	shift
	[ $# -gt 0 ] || set -- "$results"/*/
	for d; do
		d=${d%/}
		[ ! -e "$d/raw.tar.xz" ] && [ ! -e "$d/rows.jsonl" ] || "$f" "$d"
	done
}

write_tables() { # FOLDER
	tables "$1" >"$room/tables.md"
	! grep -q '^|' "$room/tables.md" || cat "$room/tables.md" >"$1/tables.md"
}

# RESULTS_FIGURES: a file with an earlier output of `figures`, which saves computing it again
all() {
	if [ -n "${RESULTS_FIGURES:-}" ]; then
		ln -sf "$RESULTS_FIGURES" "$room/all.json"
	else
		each folder | jq -c -s add >"$room/all.json"
	fi
}

ask() { # FILTER
	all
	{ cat "$top/bench/sources.jq"; printf '%s\n' "$1"; } >"$room/ask.jq"
	jq -r -L "$top/bench" -f "$room/ask.jq" "$room/all.json"
}

# Evaluates the page's sources (bench/figures.awk says how they are written) over all figures.
fill() { # PAGE
	local awk=(awk -v "exempt=$top/tests/check/figures.exempt")
	"${awk[@]}" -v mode=list -f "$top/bench/figures.awk" "$1" \
		>"$room/sources" 2>/dev/null || true # mode=fill below reports the errors
	all
	{
		cat "$top/bench/sources.jq"
		echo 'def figure($unit; $at; f): (try ([$unit, f] | map(tostring) | join("\t"))'
		echo ' catch error("\($at): \(.)"));'
		awk -F '\t' -v page="$1" 'NR > 1 { print "," } { printf "figure(%d; \"%s:%d\"; (%s))", $1, page, $2, $3 }' "$room/sources"
		[ -s "$room/sources" ] || echo empty
	} >"$room/figures.jq"
	jq -r -L "$top/bench" -f "$room/figures.jq" "$room/all.json" >"$room/values"
	"${awk[@]}" -v mode=fill -v "values=$room/values" -f "$top/bench/figures.awk" "$1"
}

case $what in
tables) each write_tables "$@" ;;
figures) each folder | jq -c -s add ;;
ask) [ $# = 1 ] || usage; ask "$1" ;;
fill) [ $# = 1 ] || usage; fill "$1" ;;
pack) [ $# = 2 ] || usage; pack "$1" "$2" ;;
unpack) [ $# = 2 ] || usage; unpack "$1" "$2" ;;
*) usage ;;
esac
