# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# lib.sh - make fresh systems of a Debian release, and gpusched's packages for it
#
# CODENAME: the release (bookworm). MIRROR: the mirror of Debian's packages.
#
#   . "$(dirname "$0")/../e2e/lib.sh"
#   [ "${ALONE:-}" = yes ] || { ...exec unshare --mount... }
#   . "$(dirname "$0")/lib.sh"
#   begin_systems
#   fresh root sysfs:sys
#   in_system root apt-get install ...

codename=${CODENAME:-bookworm}
mirror=${MIRROR:-http://deb.debian.org/debian}
here=$(. /etc/os-release && echo "$VERSION_CODENAME")
systems=$scratch/systems

# Makes the folder of systems and a pure system. Mounts nothing of this machine below them, and unmounts them
# before the test's files are deleted.
begin_systems() {
	command -v debootstrap >/dev/null || { skip "a fresh Debian" "no debootstrap"; done_testing; }
	mkdir "$systems"
	mount -t tmpfs -o mode=755 none "$systems"
	trap '[ "$BASHPID" != $$ ] || { umount -R -l "$systems"; finish; }' EXIT
	exits 0 "debootstrap makes a Debian $codename" debootstrap --variant=minbase "$codename" "$systems/pure" "$mirror" ||
		done_testing
	rm -rf "$systems/pure/dev" "$systems/pure/run"
	mkdir "$systems/pure/dev" "$systems/pure/run"
	cp /etc/resolv.conf "$systems/pure/etc/"
	printf '#!/bin/sh\nexit 101\n' >"$systems/pure/usr/sbin/policy-rc.d"
	chmod 755 "$systems/pure/usr/sbin/policy-rc.d"
}

fresh() { # NAME KIND:PLACE...: makes a copy of the pure system, with these mounts
	local to=$systems/$1 mounted node file major minor
	shift
	cp -a "$systems/pure" "$to"
	mount --bind "$to" "$to"
	for mounted in proc:proc tmpfs:dev tmpfs:run "$@"; do
		mount -t "${mounted%:*}" -o mode=755 none "$to/${mounted#*:}" 2>/dev/null ||
			mount -t "${mounted%:*}" none "$to/${mounted#*:}"
	done
	for node in null:1:3 zero:1:5 full:1:7 random:1:8 urandom:1:9 tty:5:0 fuse:10:229; do
		IFS=: read -r file major minor <<<"$node"
		mknod -m 666 "$to/dev/$file" c "$major" "$minor"
	done
	ln -s /proc/self/fd "$to/dev/fd"
	mkdir -m 1777 "$to/dev/shm"
	mkdir "$to/dev/pts"
	mount -t devpts -o newinstance,ptmxmode=666 none "$to/dev/pts"
	ln -s pts/ptmx "$to/dev/ptmx"
}

in_system() { # NAME COMMAND...
	local system=$systems/$1
	shift
	env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive HOME=/root TERM=dumb LC_ALL=C.UTF-8 \
		chroot "$system" "$@"
}

# Copies the tree without build outputs.
copy_tree() { # TO
	mkdir -p "$1"
	(cd "$top" && git ls-files -z --cached --others --exclude-standard | while IFS= read -r -d '' file; do
		[ ! -f "$file" ] || printf '%s\0' "$file"
	done | xargs -0 cp --parents -t "$1")
}

# Command words for a second build of the packages, to see whether builds are reproducible: another time zone,
# locale and umask, and no compiler cache. The second build also runs in another folder.
unlike=(env TZ=Asia/Tokyo LC_ALL=POSIX CCACHE_DISABLE=1 sh -c 'umask 002 && exec "$@"' sh)
sums() { # FOLDER
	(cd "$1" && sha256sum -- *.deb)
}

# Builds packages for another release than this machine's into BUILD/deb-CODENAME, in a system of that release
# without /sys, unless packages of this very tree are there. Also stores lintian's findings, the files of
# `make install`, and the sums of a second build. Two tests use these packages, so a lock lets one wait.
build_there() {
	local to=$build/deb-$codename stamp
	copy_tree "$systems/tree"
	# Leave out tests and results, which no package contains.
	stamp=$(cd "$systems/tree" && find . -type f ! -path './tests/*' ! -path './bench/local/*' -print0 | sort -z | xargs -0 sha256sum | sha256sum)
	exec 9>"$to.lock"
	flock 9
	if [ "$(cat "$to/stamp" 2>/dev/null)" != "$stamp" ]; then
		fresh builder
		cp -a "$systems/tree" "$systems/builder/tree"
		in_system builder apt-get install -q -y --no-install-recommends lintian >"$scratch/apt" 2>&1
		exits 0 "apt installs what building needs" in_system builder apt-get build-dep -q -y --no-install-recommends /tree ||
			return 1
		exits 0 "make deb builds the packages" in_system builder env KEEP=yes make -C /tree deb || return 1
		rm -rf "$to"
		mkdir "$to"
		cp "$systems"/builder/tree/build/deb/gpusched*.changes "$systems"/builder/tree/build/deb/*.deb "$to/"
		in_system builder sh -c 'lintian --fail-on none --suppress-tags bad-distribution-in-changes-file /tree/build/deb/*.changes' \
			>"$to/lintian" 2>&1
		exits 0 "make install with what was built there" in_system builder \
			sh -c 'DESTDIR=/out meson install --no-rebuild --quiet -C /tree/build/deb/gpusched-*/obj-*' || return 1
		tar -C "$systems/builder/out" -cf "$to/installed.tar" .
		cp -a "$systems/tree" "$systems/builder/srv/again"
		exits 0 "they are built again" in_system builder "${unlike[@]}" make -C /srv/again deb || return 1
		sums "$systems/builder/srv/again/build/deb" >"$to/again"
		umount -R "$systems/builder"
		rm -rf "$systems/builder"
		echo "$stamp" >"$to/stamp"
	fi
	exec 9>&-
}
