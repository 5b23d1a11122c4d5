#!/bin/bash
# SPDX-License-Identifier: MIT
# Checks that the daemon makes no call that a user can block, except in threads or processes that may hang. Reading stat, exe,
# maps, map_files, cmdline or fd/N of a process, and pidfd_getfd, wait for a lock that the process's user can hold. Allowed
# places: the rooms process and mps (which run in a separate process), the park helper (a process that is killed if it hangs),
# the bench's traces (it names a memory file of its own process), and functions that are only called between gs_wait_begin()
# and gs_wait_end(), where the thread can be left behind.
. "$(dirname "$0")/lib.sh"

calls='gs_proc_start_ns|gs_proc_stat|gs_proc_has_life|gs_mps_read|gs_reader_read|SYS_pidfd_getfd|process_vm_readv'
files='"(/proc|%s)/%[-.0-9l]*[dus]/((stat|statm|exe|maps|smaps|map_files|cmdline|environ|mem|auxv|cwd|root)["/]|ns/|fd/|fdinfo/|task/[^"]*/stat")'

# Prints functions that may wait without a guard. Input: names of files, one a line.
unguarded() {
	xargs -r awk -v calls="$calls" -v files="$files" '
		function judge(	i, j, again, at, guarded) {
			do {
				again = 0
				for (i = 1; i <= n; i++) {
					guarded = waits[i] = 0
					for (j = 1; j <= len[i]; j++) {
						at = text[i, j]
						if (at ~ /gs_wait_begin\(/)
							guarded = 1
						if (!guarded && (at ~ files || at ~ "(^|[^a-z_])(" calls ")([^a-z_]|$)" || calls_one(i, at)))
							waits[i] = 1
						if (at ~ /gs_wait_end\(/)
							guarded = 0
					}
					if (waits[i] && !(name[i] in bad)) {
						bad[name[i]] = 1
						again = 1
					}
				}
			} while (again)
			for (i = 1; i <= n; i++)
				if ((name[i] in bad) && (open_to_all[i] || !called_guarded(name[i])))
					print file ": " name[i] "()"
			n = 0
			delete bad
		}
		function calls_one(i, at,	w) {
			for (w in bad)
				if (w != name[i] && at ~ "(^|[^a-z_])" w "\\(")
					return 1
			return 0
		}
		# Returns whether the function is called, and only by functions that may wait or that guard it.
		function called_guarded(w,	i, j, some) {
			for (i = 1; i <= n; i++)
				for (j = 1; j <= len[i]; j++)
					if (i != of[w] && text[i, j] ~ "(^|[^a-z_])" w "([^a-z_]|$)") {
						if (text[i, j] !~ "(^|[^a-z_])" w "\\(")
							return 0
						some = 1
					}
			return some
		}
		FNR == 1 { if (file) judge(); file = FILENAME; inside = 0 }
		!inside && /^[a-z].*\(/ && !/;[ \t]*$/ && !/^#/ && !/=/ {
			head = $0
			sub(/\(.*/, "", head)
			sub(/.*[ *]/, "", head)
			n++
			name[n] = head
			of[head] = n
			open_to_all[n] = !/^static/
			len[n] = 0
			inside = 1
			next
		}
		inside && /^}/ { inside = 0; next }
		inside {
			sub(/\/\*.*/, "")
			text[n, ++len[n]] = $0
		}
		END { judge() }'
}

# Calls between gs_wait_begin() and gs_wait_end() are not counted.
checked=$(tree_files | grep -E '^src/.*\.c$' |
	grep -vE '^src/(process|mps|sim|load|agent)/|^src/(probe/host|park/helper_main|bench/clients)\.c$|\.bpf\.c$')
is "$(echo "$checked" | unguarded)" "" "no room but process and mps reads what a user can make wait"

# A name is looked up where a configuration or a command is read, and nowhere else: a directory that
# does not answer would stop the loop.
is "$(tree_files | grep -E '^src/.*\.c$' | xargs grep -lE '\b(getgrouplist|initgroups|get(pw|gr)(nam|uid|gid|ent)(_r)?)\(' | paste -sd ' ')" \
	"src/classify/user_names.c src/cli/budget.c src/cli/screen.c src/cli/target.c src/top/identity.c" \
	"no other file looks a name of a user or group up"
# What makes classes and budgets of the configuration looks names up. The daemon's loop asks a thread for them.
is "$(tree_files | grep -E '^src/.*\.c$' | grep -v ^src/config/ | xargs grep -lE '\bgs_config_(load|declare|budgets|prune|load_file|load_start)\(' | paste -sd ' ')" \
	"src/daemon/main.c src/local/agents.c src/local/instance.c src/probe/host.c src/probe/kubernetes.c src/qualify/qualify.c src/service/names.c src/service/reload.c src/service/service.c" \
	"no other file reads the configuration"

# ---- the check itself
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
try() { # TEXT
	printf '%b' "$1" >"$scratch/x.c"
	echo "$scratch/x.c" | unguarded | sed "s|$scratch/||" | paste -sd ' '
}
is "$(try 'static int f(void)\n{\n\treturn gs_proc_stat(1);\n}\nint g(void)\n{\n\treturn f();\n}\n')" "x.c: g()" \
	"a function that calls one that waits is found"
is "$(try 'static int f(void)\n{\n\tsnprintf(p, 9, "/proc/%d/exe", 1);\n}\n')" "x.c: f()" "a file of /proc is found"
is "$(try 'static int f(void)\n{\n\tsnprintf(p, 9, "/proc/%d/status", 1);\n}\n')" "" "a file that waits for nobody is not"
is "$(try 'static int f(void)\n{\n\treturn gs_proc_stat(1);\n}\nint g(void)\n{\n\tgs_wait_begin();\n\tf();\n\tgs_wait_end();\n}\n')" \
	"" "a call in a guarded wait is allowed"
is "$(try 'static int f(void)\n{\n\treturn gs_proc_stat(1);\n}\nint g(void)\n{\n\tgs_wait_begin();\n\tf();\n\tgs_wait_end();\n\tf();\n}\n')" \
	"x.c: g()" "a call after it is not"
is "$(try 'static int f(void)\n{\n\treturn gs_proc_stat(1);\n}\nint g(void)\n{\n\tgs_wait_begin();\n\tf();\n\tgs_wait_end();\n}\nstruct s x = { f };\nint h(void)\n{\n\tcall(f);\n}\n')" \
	"x.c: f()" "nor is a pointer to a function that waits"
done_testing
