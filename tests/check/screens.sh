#!/bin/bash
# SPDX-License-Identifier: MIT
# Checks the words of list, status, history, stats --by and top, and of all findings. Each heading has one line in
# docs/glossary.md, and each line there a heading. The default screens use words of
# tests/unit/screens/words.txt alone, and at most three terms on one screen.
. "$(dirname "$0")/lib.sh"
words=tests/unit/screens/words.txt

headings() { # FILE...: the headings of columns in source
	grep -ohE '\{ (NULL|"[a-z0-9_.]+"|[A-Z_]+), "[^"]+"|^[[:space:]]+"[a-z_]+", "[A-Z]+"|^	\{ "[A-Z, /]+"|"HAD GPU"|define [A-Z]+_HEAD "[^"]+"' "$@" |
		grep -oE '"[^"]+"$' | tr -d '"' | sort -u
}
listed() {
	sed -n '/^## Headings/,$s/^| `\([^`]*\)` |.*/\1/p' docs/glossary.md
}
used=$(headings src/cli/{list,status,history}.c src/top/columns.c)
is "$(comm -3 <(echo "$used") <(listed | sort -u))" "" "each heading is in docs/glossary.md, and each line there is a heading"
is "$(listed | sort | uniq -d)" "" "each heading has one meaning"
is "$(headings <(printf '%s\n' '	{ "pid", "PID", GS_COL_RIGHT },' '	{ NULL, "SLICE" },') | tr '\n' ' ')" "PID SLICE " \
	"a heading is found"

allowed() { # KIND...
	local kind
	for kind; do sed -n "s/^$kind //p" $words; done | tr ' ' '\n' | sort -u
}
words_of() { # FILE
	tr -cs 'A-Za-z' '\n' <"$1" | tr '[:upper:]' '[:lower:]' | sed '/^$/d; /^b*l*$/d' | sort -u
}
bad=
many=
for f in tests/unit/screens/*.{80,100,200,pipe}.out; do
	unknown=$(comm -23 <(words_of "$f") <(allowed common terms plain name) | paste -sd ' ')
	[ -z "$unknown" ] || bad+="$f: $unknown"$'\n'
	terms=$(comm -12 <(words_of "$f") <(allowed terms) | paste -sd ' ')
	[ "$(wc -w <<<"$terms")" -le 3 ] || many+="$f: $terms"$'\n'
done
findings=tests/unit/screens/findings.out
each_finding() { # a line each, without its name
	sed 's/^[a-z-]*: //' $findings | sed ':a; N; $!ba; s/\n   do:/ /g'
}
many+=$(each_finding | awk -v terms="$(allowed terms finding)" '
	BEGIN { n = split(terms, t, "\n"); for (i = 1; i <= n; i++) term[t[i]] = 1 }
	{
		delete seen
		found = ""
		n = split(tolower($0), w, /[^a-z]+/)
		for (i = 1; i <= n; i++)
			if (w[i] in term && !seen[w[i]]++)
				found = found " " w[i]
		if (split(found, w, " ") > 4)
			print $0 ":" found
	}')
is "$(comm -23 <(words_of <(each_finding)) <(allowed common terms plain name finding) | paste -sd ' ')" "" "the findings use allowed words alone"
printed=$(tr -d '\n\t' <src/requests/tsg_json.c | sed 's/" *"//g')
while read -r reason; do
	[[ $printed == *"$reason"* ]] || bad_reasons+="$reason"$'\n'
done < <(sed -n 's/.*"reason": "\(.*\)",\{0,1\}$/\1/p' tests/unit/screens/*.json)
is "${bad_reasons:-}" "" "the fixtures' reasons are what the daemon says"
is "$bad" "" "the default screens use allowed words alone"
is "$many" "" "no default screen has more than three terms, and no finding more than four"
is "$(comm -23 <(words_of <(echo "runlist of GPU 0")) <(allowed common terms plain name))" runlist "a word that is not allowed is found"
done_testing
