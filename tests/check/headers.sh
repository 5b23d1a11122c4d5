#!/bin/bash
# SPDX-License-Identifier: MIT
# quick: yes
# Checks that each public header compiles alone as C17 and C++17, and that the libraries export exactly
# what the headers declare.
. "$(dirname "$0")/lib.sh"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

for h in include/gpusched/*.h; do
	base=${h#include/}
	case $h in
	*.bpf.h)
		# Policies are compiled for BPF, by one named clang, and by the C compiler for the native host.
		printf '#include <%s>\nchar _license[] SEC("license") = "Dual MIT/GPL";\n' "$base" >"$tmp/p.bpf.c"
		out=$(clang-14 -target bpf -g -O2 -Wall -Wextra -Werror -Wno-unused-function -Wno-unused-parameter \
			-D__TARGET_ARCH_x86 -Iinclude -I"/usr/include/$(gcc -print-multiarch)" \
			-c "$tmp/p.bpf.c" -o "$tmp/p.o" 2>&1)
		is "$out" "" "$base compiles alone for BPF"
		printf '#include <%s>\n' "$base" >"$tmp/p.c"
		out=$(gcc -std=gnu11 -DGPUSCHED_NATIVE -Wall -Wextra -Werror -Wno-unused-function -Wno-unused-parameter \
			-Iinclude -c "$tmp/p.c" -o "$tmp/p.o" 2>&1)
		is "$out" "" "$base compiles alone for the native host"
		continue
		;;
	*/policy_*.h) continue ;; # parts of policy.bpf.h
	esac
	printf '#include <%s>\nint x_;\n' "$base" >"$tmp/p.c"
	out=$(gcc -std=c17 -Wall -Wextra -Wpedantic -Werror -Wstrict-prototypes -Iinclude -c "$tmp/p.c" -o "$tmp/p.o" 2>&1)
	is "$out" "" "$base is pedantic C17"
	# These headers are for C only: they check their structs with C's static assertions.
	case $base in gpusched/abi.h | gpusched/arith.h | gpusched/limit.h | gpusched/module.h | gpusched/rotation.h) continue ;; esac
	out=$(g++ -std=c++17 -x c++ -Wall -Wextra -Wpedantic -Werror -Iinclude -c "$tmp/p.c" -o "$tmp/p.o" 2>&1)
	is "$out" "" "$base is pedantic C++17"
done

# Old programs may include hint.h, so it must compile as C99 and C++98.
printf '#include <gpusched/hint.h>\nint main(void) { gpusched_hint_here(); return gpusched_hint_coming(); }\n' >"$tmp/h.c"
out=$(gcc -std=c99 -Wall -Wextra -Wpedantic -Werror -Iinclude -c "$tmp/h.c" -o "$tmp/h.o" 2>&1)
is "$out" "" "gpusched/hint.h is pedantic C99"
out=$(g++ -std=c++98 -x c++ -Wall -Wextra -Werror -Iinclude -c "$tmp/h.c" -o "$tmp/h.o" 2>&1)
is "$out" "" "gpusched/hint.h is C++98"
printf '#include <gpusched/gpreempt.h>\nint x_;\n' >"$tmp/g.c"
out=$(gcc -std=c99 -Wall -Wextra -Wpedantic -Werror -Iinclude -c "$tmp/g.c" -o "$tmp/g.o" 2>&1)
is "$out" "" "gpusched/gpreempt.h is pedantic C99"
is "$(grep -cE '^static inline .*gpusched_(hint|yield|self)_[a-z]+\(' include/gpusched/hint.h)" 7 "gpusched/hint.h has seven functions"

# Each exported function is declared as: LIBRARY_API ... name(
exports() { # LIBRARY API
	local lib=$BUILD/lib$1.so declared exported
	if [ ! -e "$lib" ]; then
		is "no lib$1.so in $BUILD" "" "the library is built"
		return
	fi
	declared=$(grep -v '^#define' "include/gpusched/$1.h" | tr '\n' ' ' | grep -oE "$2 [^;]*;" |
		sed -E "s/^[^(]*[ *]($1_[a-z_]+)\(.*/\1/" | sort -u)
	exported=$(nm -D --defined-only "$lib" | awk '$2 ~ /[TDB]/ { print $3 }' | sed 's/@.*//' | sort -u)
	is "$(diff <(echo "$declared") <(echo "$exported"))" "" "lib$1.so exports exactly what $1.h declares"
	is "$(nm -D --defined-only "$lib" | awk '$2 == "T" && $3 !~ /@@?[A-Z]+_1$/ { print $3 }')" "" \
		"every name has a version"
}
exports gpusched GPUSCHED_API
exports gpreempt GPREEMPT_API
done_testing
