#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 1200
# beside: yes
# libFuzzer over whatever others may hand us; FUZZ_SECONDS in all, or FULL=1: 20 minutes each.
# Arguments: the targets, if not all.
. "$(dirname "$0")/../check/lib.sh"

seconds=${FUZZ_SECONDS:-40}
out=${FUZZ_OUT:-build-fuzz}
mkdir -p "$out"
targets=(decode rm log config library policy scenario api askers nri xid)
[ $# = 0 ] || targets=("$@")
each=$((seconds / ${#targets[@]} > 0 ? seconds / ${#targets[@]} : 1)) # 0 would be without end
[ "${FULL:-}" = 1 ] && each=1200
export TMPDIR=$(realpath "$out")/tmp # the API's socket lies there
mkdir -p "$TMPDIR"

sources() { # TARGET: what it is made of
	case $1 in
	decode) ;;
	xid) echo src/rm/xid.c ;;
	rm)
		echo src/sim/model*.c src/sim/params.c src/sim/rm*.c
		;;
	config)
		echo src/config/{config*,park_idle,budget_rule}.c src/classify/*.c src/process/{cgroup,pod*,process,root}.c
		;;
	log) echo src/account/*.c src/rm/{call,costs,status}.c ;;
	library) echo src/launch/launch_find.c src/process/cuda_map.c ;;
	policy) echo src/policy/{declared,polelf,foreign,reads,refuse,options,exit_log,info,stack}.c ;;
	scenario) echo src/sim/scenario_load.c src/sim/scenario_rows.c src/sim/scenario_metric.c src/sim/params.c src/rm/op_names.c ;;
	api)
		echo src/process/{cgroup,inside,pod*,root}.c src/daemon/api*.c src/hub/lanes.c
		echo src/requests/{args,target}.c src/rm/setting.c
		;;
	nri) echo src/nri/{frames,pods,session}.c src/process/pod_synonyms.c && ls "$BUILD"/src/nri/*.pb-c.c ;;
	askers) echo src/requests/{trace,trace_lines,watch,metrics,unread}.c src/figures/{openmetrics,request_cost,slo}.c src/history/figures.c ;;
	esac
	[ "$1" = decode ] || ls src/basic/*.c
}

objects=$(realpath "$out")/objects
flags="-g -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined"
flags+=" -DGS_MULTIARCH=\"$(cc -print-multiarch)\""
flags+=" $(pkg-config --cflags jansson inih smartcols libelf libbpf libmicrohttpd libsystemd mount libprotobuf-c)"

object() { # SOURCE: where it is compiled to
	echo "$objects/${1//\//@}.o"
}

compile() { # SOURCE: what several targets are made of is compiled once
	# shellcheck disable=SC2086 # lists on purpose
	clang-14 -c -O1 -std=gnu11 -D_GNU_SOURCE -DGPUSCHED_VERSION='"fuzz"' -DGPUSCHED_PREFIX='"/usr"' -w \
		-Iinclude -Isrc -Itests/fuzz -I"$BUILD/src/nri" $flags "$1" -o "$(object "$1")" 2>"$(object "$1").log"
}
export -f object compile
export objects flags

all_of() { # TARGET
	echo tests/fuzz/fuzz_$1.c
	ls tests/fuzz/stub_$1.c 2>/dev/null
	sources $1 | tr ' ' '\n'
}

build() { # TARGET
	local source parts=()
	for source in $(all_of $1); do
		parts+=("$(object "$source")")
	done
	cat "${parts[@]/%/.log}"
	# shellcheck disable=SC2046,SC2086 # lists on purpose
	clang-14 $flags "${parts[@]}" -o "$out/fuzz_$1" \
		$(pkg-config --libs jansson inih smartcols libelf libbpf libmicrohttpd libsystemd mount libprotobuf-c) -lm -lpthread
}

# Inputs to begin with.
seeds() { # TARGET
	ls -d "$out/corpus_$1" "tests/fuzz/corpus_$1" 2>/dev/null
	[ "$1" != scenario ] || echo scenarios
	[ "$1" != policy ] || echo "$BUILD/policies"
}

point() { # OK NAME LOG
	n=$((n + 1))
	if [ "$1" = 0 ]; then
		echo "ok $n - $2"
	else
		echo "not ok $n - $2"
		tail -n 30 "$3" | sed 's/^/# /'
		bad_points=$((bad_points + 1))
	fi
}

rm -rf "$objects"
mkdir -p "$objects"
for t in "${targets[@]}"; do
	all_of "$t"
done | sort -u | xargs -P "$(nproc)" -I{} bash -c 'compile {}'
for t in "${targets[@]}"; do
	build "$t" >"$out/$t.build.log" 2>&1
	rc=$?
	point $rc "fuzz_$t builds" "$out/$t.build.log"
	[ $rc = 0 ] || continue
	mkdir -p "$out/corpus_$t"
	# shellcheck disable=SC2046 # a list
	timeout $((each + 60)) "$out/fuzz_$t" -max_total_time=$each -timeout=30 -rss_limit_mb=2048 \
		-max_len=32768 -print_final_stats=1 -verbosity=1 -artifact_prefix="$out/$t-" \
		$(seeds "$t") >"$out/$t.log" 2>&1
	rc=$?
	runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$out/$t.log")
	point $rc "fuzz_$t finds nothing in $each s (${runs:-0} inputs)" "$out/$t.log"
done
rm -rf "$TMPDIR"
done_testing
