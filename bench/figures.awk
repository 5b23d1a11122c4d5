# SPDX-License-Identifier: MIT
# figures.awk - lists or renews the figures of a page, by their sources; used by bench/results.sh
#
#   awk -v mode=list -v exempt=FILE -f figures.awk PAGE      for each source: UNIT, LINE, SOURCE, separated by tabs
#   awk -v mode=fill -v exempt=FILE -v values=FILE ...       the page, with each figure computed anew
#
# A comment "<!-- figures" before a table or paragraph holds its sources, which are jq filters. A
# table has one line per row (- for a row without figures); a paragraph has any number. The values
# of the filters, in order, are the numbers in the row or paragraph. A definition for the filters
# begins with "def " and ends with a line that ends in a semicolon. Numbers in headings, code, links
# and table heads are not figures, nor are numbers in text that a regex of the exempt file matches.

function fail(what)
{
	print FILENAME ":" FNR ": " what > "/dev/stderr"
	failed = 1
}

# Returns the line with exempt text replaced by as many underscores, so that positions stay valid.
function masked(s,    i, out, from)
{
	for (i = 1; i <= exempts; i++) {
		out = ""
		while (match(s, exempted[i])) {
			from = substr(s, RSTART, RLENGTH)
			gsub(/./, "_", from)
			out = out substr(s, 1, RSTART - 1) from
			s = substr(s, RSTART + RLENGTH)
		}
		s = out s
	}
	return s
}

function decimals(number,    at)
{
	at = index(number, ".")
	return at ? length(number) - at : 0
}

# Counts the figures of a row or paragraph, and replaces those with known values.
function figures(line,    m, out, number)
{
	m = line
	gsub(/\n/, " ", m) # a paragraph is one text, however its lines are broken
	m = masked(m)
	out = ""
	while (match(m, /-?[0-9]+(\.[0-9]+)?/)) {
		number = substr(m, RSTART, RLENGTH)
		found++
		if (mode == "fill")
			number = found <= have ? sprintf("%." decimals(number) "f", value[found]) : "?"
		out = out substr(line, 1, RSTART - 1) number
		line = substr(line, RSTART + RLENGTH)
		m = substr(m, RSTART + RLENGTH)
	}
	return out line
}

function begin_unit(what)
{
	unit++
	found = 0
	have = 0
	source = what
	marked = marked_head
	if (mode == "list" && what != "" && what != "-")
		print unit "\t" FNR "\t" definitions " " what
	if (mode == "fill")
		have = split(known[unit], value, "\t")
}

function end_unit()
{
	if (found && source == "")
		fail("a figure without a source")
	if (mode == "fill" && found != have)
		fail(found " figures, " have " values of " source)
	if (found && source != "" && (definitions source) ~ /(row|kept)\(/ && !marked)
		fail("only a summary or a row exists: mark it with \342\200\240")
	in_paragraph = 0
}

function end_block()
{
	if (in_paragraph) {
		show(figures(paragraph))
		end_unit()
	}
	if (in_table && sources && rows != sources)
		fail(rows " rows, " sources " sources")
	if (in_table)
		sources = 0
	in_table = 0
	marked_head = 0
}

BEGIN {
	while ((getline line < exempt) > 0)
		if (line !~ /^(#|$)/)
			exempted[++exempts] = line
	if (!exempts) {
		print "figures.awk: nothing in " exempt > "/dev/stderr"
		failed = 1
		exit
	}
	while (values != "" && (getline line < values) > 0) {
		at = index(line, "\t")
		known[substr(line, 1, at - 1)] = substr(line, at + 1)
	}
}

function show(line)
{
	if (mode == "fill")
		print line
}

in_source {
	if ($0 == "-->")
		in_source = 0
	else if (/^def / || in_definition) {
		definitions = definitions " " $0
		in_definition = !/;$/
	} else
		sourced[++sources] = $0
	show($0)
	next
}
/^<!-- figures$/ {
	end_block()
	if (sources)
		fail("sources before it belong to nothing")
	sources = 0
	definitions = ""
	in_source = 1
	show($0)
	next
}
/^```/ { code = !code }
code || /^```/ || /^#/ || /^ *$/ || /^    / || /^<!--/ {
	end_block()
	show($0)
	next
}
/^\|/ {
	if (!in_table) {
		end_block()
		in_table = 1
		rows = -2
		marked_head = /\342\200\240/
	}
	if (++rows <= 0) {
		show($0)
		next
	}
	begin_unit(rows <= sources ? sourced[rows] : "")
	if (/\342\200\240/)
		marked = 1
	show(figures($0))
	end_unit()
	next
}
{
	if (in_table)
		end_block()
	if (in_paragraph)
		paragraph = paragraph "\n" $0
	else {
		what = ""
		for (i = 1; i <= sources; i++)
			what = what (i > 1 ? ", " : "") "(" sourced[i] ")"
		sources = 0
		begin_unit(what)
		in_paragraph = 1
		paragraph = $0
	}
	if (/\342\200\240/)
		marked = 1
}
END {
	if (failed && !exempts)
		exit 1
	end_block()
	if (sources)
		fail("sources at the end belong to nothing")
	exit failed
}
