# SPDX-License-Identifier: MIT
# english.awk - find sentences that are hard to read
#
# Input: C sources and headers, documents (.md), manual pages (.scd), tests. Output: a line for each
# break of a rule: FILE:LINE RULE TEXT. Rules: begins (a relative clause opens the sentence), who (used
# of a thing), long (over 30 words), name (the name of a test's point is not a full statement). The
# variable PEOPLE is a regular expression of phrases in which "who" means a person.

function said(rule, text) { print FILENAME ":" at " " rule " " text }

# @text may begin with a bullet or "name.h - ".
function sentence(text, n, word) {
	gsub(/[ \t]+/, " ", text)
	sub(/^ ?([-*] |[0-9]+\. |[a-z_0-9]+\.[chS] - |[a-z_0-9]+\.bpf\.[ch] - )*/, "", text)
	sub(/^[*_"]+/, "", text)
	if (text ~ /^(What|Whatever|Who|Whom|Whose|Whoever|Of|Nor) / && text !~ /\?$/)
		said("begins", text)
	n = split(text, word, " ")
	if (n > 30)
		said("long", n " words: " text)
}

# A paragraph: sentences end with a full stop before a space and a capital, or at the end.
function paragraph(text, end) {
	while (match(text, /[.?!]["')*_`]* +([A-Z0-9*_`"'(@]|[a-z0-9]+[_(/])/)) {
		end = RSTART + match(substr(text, RSTART), / /) - 2
		sentence(substr(text, 1, end))
		text = substr(text, end + 1)
		sub(/^ +/, "", text)
	}
	if (text !~ /^ *$/)
		sentence(text)
}

function flush(    text) {
	text = held
	held = ""
	if (text == "")
		return
	if (code) {
		low = " " tolower(text) " "
		gsub(PEOPLE, " ", low)
		while (match(low, /[^a-z]who(m|se|ever)?[^a-z_]/)) {
			said("who", substr(low, RSTART > 30 ? RSTART - 30 : 1, 70))
			low = substr(low, RSTART + RLENGTH - 1)
		}
	}
	paragraph(text)
}

function add(text) {
	gsub(/^[ \t]+|[ \t]+$/, "", text)
	if (text == "" || text ~ /^([-*+] |[0-9]+\. |[a-z_0-9, @]+: )/)
		flush()
	if (text == "")
		return
	if (held == "")
		at = FNR
	held = held (held == "" ? "" : " ") text
}

FNR == 1 {
	flush()
	inside = fence = hidden = 0
	code = FILENAME ~ /\.(c|h|S)$/ && FILENAME !~ /^tests\//
}

# ---- C: comments alone -------------------------------------------------------------------------
code {
	line = $0
	while (line != "") {
		if (!inside) {
			if (match(line, /\/\*/)) {
				# "/*" inside a string does not begin a comment.
				before = substr(line, 1, RSTART - 1)
				if (gsub(/"/, "", before) % 2 == 1)
					break
				flush()
				line = substr(line, RSTART + 2)
				inside = 1
			} else
				break
		}
		sub(/^[ \t]*\*([ \t]|$)/, "", line)
		end = index(line, "*/")
		text = end ? substr(line, 1, end - 1) : line
		# Skip columns and code, which are not sentences.
		if (text ~ /^[ \t]*$/ || text ~ /SPDX/ || text ~ /[;{}]$/ || text ~ /^(\t|   )/)
			add("")
		if (text !~ /SPDX|[;{}]$|^(\t|    )/)
			add(text)
		if (!end)
			break
		flush()
		inside = 0
		line = substr(line, end + 2)
	}
	next
}

# ---- tests: names of points --------------------------------------------------------------------
FILENAME ~ /^tests\// {
	at = FNR
	line = $0
	while (line !~ /^[ \t]*(echo|printf|diag|#)/ && match(line, /(^|[ \t(])"(and|which|with|that|by) [^"]*"/)) {
		said("name", substr(line, RSTART, RLENGTH))
		line = substr(line, RSTART + RLENGTH)
	}
	next
}

# ---- documents ------------------------------------------------------------------------------------
/^ *```/ { fence = !fence; flush(); next }
/^<!--/ { hidden = 1; flush() }
{ was = hidden }
/-->/ { hidden = 0 }
was || fence { next }
/^(\||#|    |!\[|\[[^]]*\||\*[^*]*\*$|;)/ { flush(); next }
FILENAME ~ /\.scd$/ && /^\t*(\*|_)|\+\+$|^\t*[|\[\]]/ { flush(); next }
{ add($0) }
END { flush() }
