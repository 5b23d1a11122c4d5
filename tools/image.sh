#!/bin/bash
# SPDX-License-Identifier: MIT
# Makes a container image of the built programs, the libraries that they need, and compiled policies.
# Nothing else is in the image: no shell, and no compiler (so `policy build` does not work there).
#
#   tools/image.sh [BUILD]
#
# Makes BUILD/image/gpusched-VERSION.tar, an OCI archive of gpusched:VERSION that `podman load`,
# `ctr -n k8s.io images import` and `skopeo copy` take. As root, with buildah.
set -euo pipefail
cd "$(dirname "$0")/.."
build=$(realpath "${1:-build}")
to=$build/image
version=$(meson introspect "$build" --projectinfo | jq -r .version)
stage=$to/stage root=$to/root storage=$to/storage
archive=$to/gpusched-$version.tar
buildah=(buildah --storage-driver vfs --root "$storage" --runroot "$storage/run")

[ "$(id -u)" = 0 ] || { echo "image: only root makes it: files in it are root's" >&2; exit 1; }
command -v buildah >/dev/null || { echo "image: there is no buildah: apt install buildah" >&2; exit 1; }
[ "$(meson introspect "$build" --buildoptions | jq -r '.[] | select(.name == "prefix").value')" = /usr ] || {
	echo "image: the tree was configured with another prefix than /usr" >&2
	exit 1
}
rm -rf "$to"
mkdir -p "$stage" "$root" "$storage"
trap 'rm -rf "$stage" "$root" "$storage"' EXIT
DESTDIR=$stage meson install --no-rebuild -C "$build" >/dev/null

take() { # PATH...: copies installed files into the image
	local path
	for path; do
		mkdir -p "$root/${path%/*}"
		cp -a "$stage/$path" "$root/${path%/*}/"
	done
}
lib=usr/lib/$(gcc -print-multiarch)
take usr/sbin/gpuschedd usr/bin/gpusched usr/bin/gpusched-exporter usr/bin/gpusched-nri usr/bin/gsload usr/lib/gpusched \
	"$lib/libgpusched-agent.so" usr/include/gpusched usr/share/gpusched
rm "$root/usr/lib/gpusched/slurm-record"
find "$root/usr" -type f \( -perm /111 -o -name '*.so*' \) -exec strip --strip-unneeded {} + 2>/dev/null || true
strip=$(command -v llvm-strip-14 || command -v llvm-strip-19)
find "$root/usr" -name '*.bpf.o' -exec "$strip" -g {} +

# Copies all needed libraries, each in the folder where its loader looks for it.
find "$root" -type f \( -perm /111 -o -name '*.so*' \) -exec ldd {} + 2>/dev/null |
	awk '$2 == "=>" && $3 ~ /^\// { print $3 } $1 ~ /^\/.*ld-linux/ { print $1 }' | sort -u |
	while read -r file; do
		mkdir -p "$root/$(dirname "$file")"
		cp -L "$file" "$root/$file"
	done
mkdir -p "$root"/{etc/gpusched,run/gpusched,var/lib/gpusched,var/log,tmp,dev,proc,sys}
chmod 1777 "$root/tmp"
echo 'root:x:0:0:root:/:/sbin/nologin
gpusched-exporter:x:9401:9401::/:/sbin/nologin' >"$root/etc/passwd"
echo 'root:x:0:
gpusched-exporter:x:9401:' >"$root/etc/group"
mkdir -p "$root/usr/share/doc/gpusched"
cp LICENSES/* "$root/usr/share/doc/gpusched/"

made=$("${buildah[@]}" from scratch)
"${buildah[@]}" copy --quiet "$made" "$root" / >/dev/null
"${buildah[@]}" config --cmd '["/usr/sbin/gpuschedd", "--foreground"]' --env PATH=/usr/sbin:/usr/bin \
	--label org.opencontainers.image.version="$version" --label org.opencontainers.image.licenses=MIT "$made"
"${buildah[@]}" commit --quiet --rm "$made" "oci-archive:$archive:gpusched:$version" >/dev/null
echo "$archive: $(du -sm "$root" | cut -f1) MiB unpacked"
