#!/bin/bash
# SPDX-License-Identifier: MIT
# Checks that raw results are in archives, and that their tables are what bench/results.sh makes from these.
. "$(dirname "$0")/lib.sh"

room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
files=$(tree_files | grep -c '^bench/results/')
is "$([ "$files" -le 150 ] && echo yes || echo "$files")" yes "bench/results has at most 150 files"

bad=
for archive in bench/results/*/raw.tar.xz; do
	run=$(basename "${archive%/*}")
	mkdir "$room/$run"
	cp "$archive" "$room/$run/"
	[ ! -e "${archive%/*}/rows.jsonl" ] || cp "${archive%/*}/rows.jsonl" "$room/$run/"
	bench/results.sh tables "$room/$run"
	[ ! -e "$room/$run/tables.md" ] ||
		cmp -s "$room/$run/tables.md" "${archive%/*}/tables.md" || bad="$bad $run"
done
is "$bad" "" "each tables.md is what its archive gives"

mkdir "$room/again"
bench/results.sh unpack bench/results/2026-11-22c-h200-580 "$room/files"
bench/results.sh pack "$room/again" "$room/files"
is "$(cmp "$room/again/raw.tar.xz" bench/results/2026-11-22c-h200-580/raw.tar.xz 2>&1)" "" \
	"the same files give the same archive"

# A changed cell must change the table.
raw=$room/files/raw.jsonl
jq -c 'if .scheme == "default" and .latency_us then .latency_us |= map(. + 100) else . end' "$raw" >"$raw.new"
mv "$raw.new" "$raw"
mkdir "$room/2026-11-22c-h200-580x"
bench/results.sh pack "$room/2026-11-22c-h200-580x" "$room/files"
bench/results.sh tables "$room/2026-11-22c-h200-580x"
is "$(diff "$room/2026-11-22c-h200-580x/tables.md" bench/results/2026-11-22c-h200-580/tables.md | grep -c '^< .*| default ')" 3 \
	"changed latencies change the tables"
done_testing
