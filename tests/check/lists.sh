#!/bin/bash
# SPDX-License-Identifier: MIT
# quick: yes
# Checks that the lists in the manual, the documents and the completion agree with the programs' tables.
. "$(dirname "$0")/lib.sh"

to=$(mktemp -d)
trap 'rm -rf "$to"' EXIT
is "$(tools/lists.sh "${BUILD:-build}" "$to" 2>&1)" "" "the lists can be made"
while read -r file; do
	is "$(diff "$file" "$to/$file" 2>&1 | head -5)" "" "$file is up to date (else tools/lists.sh)"
done < <(cd "$to" && find . -type f | sort)
is "$(find "$to" -type f | wc -l)" "$((5 + $(ls policies/*.bpf.c | wc -l)))" "the lists are as many as expected"
row='X([0-9]*, "[^"]*", "[^"]*", *[A-Z]*,'
all=$(grep -o "$row" src/rm/branches.h | sed 's/X(//; s/,.*//')
tested=$(grep -o "$row" src/rm/branches.h | grep -E '(MODEL|GPU),$' | sed 's/X(//; s/,.*//' | paste -sd ' ')
is "$(grep -c "for branches $(head -1 <<<"$all") to $(tail -1 <<<"$all")\." man/gpusched.conf.5.scd)" 1 \
	"gpusched.conf(5) has the first and the last row of src/rm/branches.h"
is "$(grep -c "branch: $(sed 's/ \([0-9]*\)$/ or \1/; s/\([0-9]\) \([0-9]\)/\1, \2/g' <<<"$tested") (580)" man/gpusched-sim.8.scd)" 1 \
	"gpusched-sim(8) has the tested rows of src/rm/branches.h"
printf '%s\n' '/*' ' * p - a policy' ' *' ' * Does: one' ' *   thing' ' *' ' * another: it' ' *' ' * Good for: some' ' *' \
	' * Known weaknesses:' ' *  - the first,' ' *    goes on' ' *  - the second' ' */' >"$to/p.bpf.c"
printf '%s\n' '# p' '' '## What it does' '' 'old' '' '## Good for' '' '## Use' '' 'stays' '' '## Known weaknesses' '' '- old' >"$to/p.md"
is "$(awk -f tools/policy_page.awk "$to/p.bpf.c" "$to/p.md" | paste -sd '|')" \
	"# p||## What it does||One thing.||Another: it.||## Good for||Some.||## Use||stays||## Known weaknesses||- the first, goes on|- the second|" \
	"a policy's page is made of its header's paragraphs and points"
bad=$(grep -o 'row [A-Z]\b' src/figures/crowd.h | sort -u | while read -r _ row; do
	[ "$(grep -c "^| $row |" docs/choosing.md)" = 2 ] || echo "$row"
done)
is "$bad" "" "docs/choosing.md has the rows that advise names, in both tables"
is "$(tools/user_limits.sh | grep -c '^|')" "$(($(grep -c '	X(' src/basic/user_limits.h) + 2))" "each limit by user has a row"
strays() { # reads code, prints definitions of limits by user
	grep -nE '#define [A-Z_]*(_UID|_USER|UID_SHARE|OF_USER)(_[A-Z_]+)? +\(?[0-9]+u?\)?( |$)' | grep -vE '_LEN|FIRST_UID|USER_READ_ONLY'
}
is "$(echo '#define MAX_THINGS_USER 8' | strays | wc -l)" 1 "a limit by user elsewhere would be found"
is "$(tree_files | grep -E '^src/.*\.[ch]$' | xargs cat | strays)" "" "limits by user are in src/basic/user_limits.h alone"
bad=$(for store in WATCHERS READS ORPHANS POOLS SAVED QUARANTINE MEASURED STARTS ALERTS LIBRARIES AGAIN; do
	grep -rl --include='*.c' "GS_USER_MAY_$store\b" src | xargs -r grep -lE 'gs_share(_allows|s_take)\(' | grep -q . || echo "$store"
done)
is "$bad" "" "stores with a limit by user leave places to late users, and to root (src/basic/share.h)"
done_testing
