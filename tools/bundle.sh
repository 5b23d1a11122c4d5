#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Packs the built programs into bundle/, with the shared libraries that they need, for a machine with
# another Linux distribution, such as a GPU machine without a network.
#
#   bundle/bin/gpusched ...    wrappers that use the libraries in bundle/lib, and the target machine's
#                              C library if it is new enough, else the packed C library and its loader
#   bundle/gsload              not wrapped: needs only the C library, and must find the target machine's
#                              libcuda.so.1; `gpusched demo --gpu` looks for it as bundle/bin/gsload
set -euo pipefail
cd "$(dirname "$0")/.."
build=${BUILD:-build}
out=${1:-bundle}

rm -rf "$out"
mkdir -p "$out/bin" "$out/lib" "$out/libc" "$out/real" "$out/policies" "$out/bench"
install -m 644 bench/torch_load.py bench/park_train.py "$out/bench/"

programs=(gpusched gpuschedd helper jq)
for p in "${programs[@]}"; do
	from=$build/$p
	[ "$p" = jq ] && from=$(command -v jq)
	[ "$p" = helper ] && from=$build/tests/e2e/helper
	[ -x "$from" ] || {
		echo "bundle: no $from: run make first" >&2
		exit 1
	}
	install -m 755 -s "$from" "$out/real/$p"
done
install -m 755 "$build/gsload" "$out/gsload"
install -m 755 "$build/libgpusched-agent.so" "$out/real/" # gpusched looks for it in its own folder
install -m 755 "$build/libgpreempt.so.0" "$out/real/"
install -m 755 "$build/gpusched-park-helper" "$out/real/"
for extra in queues tapcost launchcost emptyprobe turns bad_access requests agentcost during memorycost harm; do
	for at in "$build/$extra" "$build/bench/$extra"; do
		[ -x "$at" ] && install -m 755 "$at" "$out/$extra"
	done
done
# Each library is copied under its soname, without links, since some ways of copying lose links.
cp -L "$build/libgpusched.so.1" "$out/lib/libgpusched.so.1"
find "$build/policies" -name '*.bpf.o' -exec cp {} "$out/policies/" \;
cp -r policies/*.conf "$out/policies/" 2>/dev/null || true

# Copies all needed shared libraries; those of the C library go to a folder of their own.
LD_LIBRARY_PATH=$out/lib ldd "$out"/real/* "$out"/lib/libgpusched.so.1 | awk '$2 == "=>" && $3 ~ /^\// { print $3 } $1 ~ /^\/.*ld-linux/ { print $1 }' |
	sort -u | while read -r lib; do
	case $(basename "$lib") in
	libgpusched.so*) ;;
	ld-linux* | libc.so* | libm.so* | libdl.so* | libpthread.so* | librt.so* | libresolv.so*)
		cp -L "$lib" "$out/libc/"
		;;
	*) cp -L "$lib" "$out/lib/" ;;
	esac
done
chmod -R u+w "$out"
strip --strip-unneeded "$out"/lib/*.so* 2>/dev/null || true

for p in "${programs[@]}"; do
	cat >"$out/bin/$p" <<'W'
#!/bin/sh
# SPDX-License-Identifier: MIT
# Runs the packed program with the packed libraries.
b=$(cd "$(dirname "$0")/.." && pwd)
p=$b/real/$(basename "$0")
export GPUSCHED_POLICIES="${GPUSCHED_POLICIES:-$b/policies}"
if LD_LIBRARY_PATH=$b/lib LD_TRACE_LOADED_OBJECTS=1 "$p" >/dev/null 2>&1; then
	LD_LIBRARY_PATH=$b/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} exec "$p" "$@"
fi
exec "$b"/libc/ld-linux-*.so.* --library-path "$b/lib:$b/libc" "$p" "$@"
W
	chmod 755 "$out/bin/$p"
done
cat >"$out/bin/gsload" <<'W'
#!/bin/sh
# SPDX-License-Identifier: MIT
exec "$(dirname "$0")/../gsload" "$@"
W
chmod 755 "$out/bin/gsload"
git describe --always --dirty >"$out/VERSION" 2>/dev/null || echo unknown >"$out/VERSION"
size=$(du -sm "$out" | cut -f1)
echo "bundle: $out, $size MiB"
[ "$size" -lt 40 ] || {
	echo "bundle: larger than 40 MiB" >&2
	exit 1
}
