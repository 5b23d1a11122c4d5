#!/bin/bash
# SPDX-License-Identifier: MIT
# quick: yes
# Checks that rooms at the hub and above it keep no table of processes of their own, and do not look by
# themselves whether a process still lives: src/hub/processes.h does both. tests/check/processes.txt lists
# what is left, with a reason. That list may only shrink.
. "$(dirname "$0")/lib.sh"

rooms='hub|intake|figures|means|park|control|requests|service|launch'

# Input: names of files. Output: "pids FILE N" and "looks FILE N": members of structs that hold a pid, and
# calls that ask whether a process lives.
uses() {
	xargs -r awk '
		FNR == 1 { in_struct = 0 }
		/^(static )?(const )?struct [a-z_0-9]* ?\{/ || /^static struct \{/ { in_struct = 1 }
		/^\}/ { in_struct = 0 }
		/^[ \t]*(\/?\*|\/\/)/ { next }
		in_struct && /^\t+(pid_t |u?int32_t ([a-z_0-9]+, )*([a-z_]*_)?(pid|guest|server|holder)[,;[])/ {
			pids[FILENAME]++
		}
		/[^a-z_](gs_started|gs_started_still|gs_proc_start_ns|gs_proc_has_life)\(|[^a-z_]kill\([^;]*, 0\)/ {
			looks[FILENAME]++
		}
		END {
			for (f in pids)
				print "pids", f, pids[f]
			for (f in looks)
				print "looks", f, looks[f]
		}' | sort
}

# Input: lines of uses(). Output: what is not on the list $1, or has another number there.
unlisted() {
	awk -v list="$1" '
		BEGIN {
			while ((getline line < list) > 0)
				if (line !~ /^#/ && split(line, w, " ")) {
					sub(/:$/, "", w[3])
					listed[w[1] " " w[2]] = w[3]
				}
		}
		{
			found[$1 " " $2] = 1
			if ($3 > listed[$1 " " $2] + 0)
				print $1, $2 ": " $3 " instead of " listed[$1 " " $2] + 0
			else if ($3 < listed[$1 " " $2] + 0)
				print $1, $2 ": " $3 ": write that into the list"
		}
		END {
			for (l in listed)
				if (!(l in found))
					print l ": take it off the list"
		}' | sort
}

list=tests/check/processes.txt
is "$(tree_files | grep -E "^src/($rooms)/.*\.[ch]$" | grep -v '\.bpf\.' | uses | unlisted $list)" "" \
	"no room keeps processes by pid, or looks for their end, but for those in $list"
is "$(grep -v '^#' $list | grep -vE '^(pids|looks) src/[a-z_/.]+ [0-9]+: .{10,}$')" "" "each line of the list gives a reason"

scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
try() { # TEXT: prints what is found in a file with this text
	printf '%b' "$1" >"$scratch/x.c"
	echo "$scratch/x.c" | uses | sed "s|$scratch/||"
}
is "$(try 'struct x {\n\tint n;\n\tpid_t pid;\n\tuint32_t uid, pid;\n};\nstatic int f(void)\n{\n\tpid_t pid;\n}\n')" "pids x.c 2" \
	"a member that holds a pid is found, but no variable"
is "$(try 'struct y {\n\tpid_t users[8];\n};\n')" "pids x.c 1" "an array of pids is found"
is "$(try 'static int f(void)\n{\n\treturn !kill(p->users[1], 0) || gs_started(pid, &ns);\n}\n')" "looks x.c 1" \
	"a look whether a process lives is found"
is "$(printf 'pids a.c 2\nlooks b.c 1\npids d.c 1\n' | unlisted <(printf '# x\npids a.c 1: r\nlooks b.c 2: r\npids c.c 1: r\npids d.c 1: r\n'))" \
	"$(printf 'looks b.c: 1: write that into the list\npids a.c: 2 instead of 1\npids c.c: take it off the list')" \
	"the list may only shrink, and says what is there"
done_testing
