#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 1800
# needs: root bpf fuse
# Checks the Debian packages: builds them from source, installs and runs them in a fresh Debian, installs
# them over a `make install`, removes and purges them; and runs debian/tests by autopkgtest. CODENAME: the
# release (bookworm); for a release other than this machine's, the packages are built in a chroot. MIRROR: the
# mirror of Debian's packages.
. "$(dirname "$0")/../e2e/lib.sh"
# Runs in a mount namespace, so that its mounts end with the test.
[ "${ALONE:-}" = yes ] || { rm -r "$scratch" && ALONE=yes exec unshare --mount --propagation private bash "$self"; }

. "$(dirname "$0")/lib.sh"
# The release's compiler, and the kernels whose headers it has.
case $codename in
bookworm) clang=clang-14 kernels="6.1 6.12" ;;
trixie) clang=clang-19 kernels=6.12 ;;
*) not_ok "a release that this test knows" "$codename" && done_testing ;;
esac
version=$(dpkg-parsechangelog -l "$top/debian/changelog" -S Version)
for tool in debootstrap autopkgtest dpkg-buildpackage lintian dh dh_dkms dh_python3; do
	command -v $tool >/dev/null || { skip "packages" "no $tool"; done_testing; }
done

begin_systems
if [ "$codename" = "$here" ]; then
	exits 0 "make deb builds the packages" make -C "$top" BUILD="$build" deb || done_testing
	debs=$build/deb
	copy_tree "$scratch/again" # like a clean checkout
	exits 0 "they are built again" "${unlike[@]}" make -C "$scratch/again" deb || done_testing
	again=$(sums "$scratch/again/build/deb")
	linted=$(lintian --fail-on none --suppress-tags bad-distribution-in-changes-file "$debs"/*.changes 2>&1)
else
	build_there || done_testing
	debs=$build/deb-$codename
	again=$(<"$debs/again")
	linted=$(<"$debs/lintian")
fi
is "$(find "$debs" -name '*.deb' ! -name '*-dbgsym_*' -printf '%f\n' | sed 's/_.*//' | sort | xargs)" \
	"gpusched gpusched-dkms gpusched-exporter libgpreempt0 libgpusched-dev libgpusched1 python3-gpusched" \
	"each package of debian/control is there, and no other"
is "$(grep '^[EW]:' <<<"$linted")" "" "lintian has neither errors nor warnings"
is "$again" "$(sums "$debs")" "both builds are equal, to the byte"
mkdir "$scratch/content"
for deb in "$debs"/*.deb; do
	dpkg-deb -R "$deb" "$scratch/content/$(basename "$deb")"
done
is "$(grep -rlF -e "$top" -e "$(uname -r)" -e /tree/build "$scratch/content" | xargs -r -n 1 basename)" "" \
	"no file names the folder that they were built in, or this machine's kernel"

# ---- only gpusched, on a bare system: runs each line of the README's first look
fresh bare sysfs:sys bpf:sys/fs/bpf cgroup2:sys/fs/cgroup
mkdir "$systems/bare/look"
cp "$debs"/gpusched_*.deb "$systems/bare/look/"
exits 0 "apt installs gpusched alone" in_system bare sh -c 'cd /look && apt-get install -q -y ./gpusched_*.deb >/look/apt' || done_testing
like "$(grep "^gpusched watches" "$systems/bare/look/apt" | tr -d "\r")" "Next: sudo gpusched doctor; gpusched status; man gpusched$" \
	"the installation says what to type next"
sed -n '/^    sudo build\/gpusched sim shell$/,/^$/{ s/^    //; s/ *#.*//; /./p }' "$top/README.md" |
	tail -n +2 >"$systems/bare/look/lines"
cat >"$systems/bare/look/run" <<'END'
# Prints NUMBER, STATUS and LINE, separated by tabs, for each line; /look/NUMBER has the line's output.
[ -n "${GPUSCHED_SIM:-}" ] || exec gpusched sim shell -- bash "$0"
exec 3>&1
while IFS= read -r line; do
	n=$((n + 1))
	case $line in
	"gpusched top") eval "TERM=linux timeout -s INT 5 script -qec '$line' /dev/null" >"/look/$n" 2>&1 </dev/null ;;
	*) eval "$line" >"/look/$n" 2>&1 </dev/null ;;
	esac
	printf '%s\t%s\t%s\n' "$n" "$?" "$line" >&3
	sleep 3
done </look/lines
kill $(jobs -p)
wait
END
look=$(in_system bare bash /look/run)
said() { # LINE
	cat "$systems/bare/look/$(awk -F '\t' -v line="$1" '$3 == line { print $1 }' <<<"$look" | sed -n "${2:-1}p")"
}
is "$(cut -f 3 <<<"$look")" "$(<"$systems/bare/look/lines")" "the README's first look runs on a bare system"
is "$(awk -F '\t' '$2 != 0 && $3 != "gpusched top"' <<<"$look")" "" "each line of it does what it says" || diag "$(head "$systems"/bare/look/[0-9]*)"
lc='gpusched run --class lc -- gsload lc | jq .p99_us'
le "$(said "$lc" 2)" "$(awk '{ print $1 / 2 }' <<<"$(said "$lc" 1)")" "us: the LC has less than half with the policy"
like "$(said 'gpusched status')" gsload "status names the load"
like "$(said 'gpusched top')" gsload "top does"
umount -R "$systems/bare"
rm -rf "$systems/bare"

# ---- installed
fresh root sysfs:sys bpf:sys/fs/bpf cgroup2:sys/fs/cgroup
root=$systems/root
inside() {
	in_system root "$@"
}
mkdir "$root/debs"
cp "$debs"/*.deb "$root/debs/"
rm "$root"/debs/*-dbgsym_*
install_all() {
	inside sh -c 'apt-get install -q -y --no-install-recommends curl jq procps /debs/*.deb'
}
exits 0 "apt installs them, without the kernel's headers for DKMS" install_all || done_testing

is "$(inside gpusched --version)" "gpusched $version" "gpusched says its version"
is "$(inside gpuschedd --version)" "gpuschedd $version" "gpuschedd says its version"
is "$(inside python3 -c 'import gpusched, gpreempt, gpusched_hint; print(gpusched.__file__)')" \
	/usr/lib/python3/dist-packages/gpusched.py "Python finds the modules"
exits 0 "the module's package has the hook kit" inside test -x /usr/share/gpusched/kit/driver/hooks/apply
like "$(inside dkms status)" "gpusched.$version.*added" "DKMS knows the module, and waits for headers"
[ "$codename" != bookworm ] ||
	echo "deb $mirror bookworm-backports main" >"$root/etc/apt/sources.list.d/backports.list"
exits 0 "the kernels' headers are installed after it" inside sh -c "apt-get update -q &&
	apt-get install -q -y --no-install-recommends linux-headers-amd64 &&
	{ [ $codename != bookworm ] || apt-get install -q -y --no-install-recommends -t bookworm-backports linux-headers-amd64; }"
is "$(inside dkms status | sed -n 's,^gpusched[/ ,]*[0-9.]*\, \([0-9]*\.[0-9]*\)\..*: installed.*,\1,p' | sort -V | xargs)" "$kernels" \
	"DKMS builds the module for the release's kernels"
is "$(inside systemd-analyze verify --man=no gpuschedd.service gpusched-guardian.service gpusched-exporter.service gpusched-nri.service \
	run-gpusched-mps-users.mount 2>&1 | grep -i gpusched)" "" "systemd finds nothing wrong with the units"
like "$(inside getent passwd gpusched-exporter)" "nologin|false" "the exporter has a user, without a shell"
is "$(inside sh -c '[ -e /etc/systemd/system/multi-user.target.wants/gpuschedd.service ] && echo on
	[ -e /etc/systemd/system/multi-user.target.wants/gpusched-exporter.service ] || echo off' | xargs)" "on off" \
	"the daemon starts with the machine, the exporter only once it is enabled"
is "$(inside sh -c 'cd /usr/share/man && ls man8/gpusched.8.gz man8/gpuschedd.8.gz man5/gpusched.conf.5.gz \
	man8/gpusched-exporter.8.gz man1/gsload.1.gz man8/gpusched-suspend.8.gz 2>/dev/null' | wc -l)" 6 "the manual pages are there"
is "$(inside sh -c 'zcat /usr/share/man/man8/gpusched.8.gz | grep "^\.SH OVERVIEW"; head -1 /usr/share/doc/gpusched/README.md')" \
	".SH OVERVIEW"$'\n'"# gpusched" "there are a first page and an overview"
cp -r "$top/debian/tests" "$root/debs/"
exits 0 "the path works on the simulated GPU" inside /debs/tests/path
diag "$out"
exits 0 "each policy is loaded by this kernel" inside sh -c 'for policy in /usr/lib/gpusched/policies/*.bpf.o; do
	gpusched policy check "$policy" || exit 1
done'
exits 0 "the release's compiler is installed" inside apt-get install -q -y --no-install-recommends $clang
exits 0 "policy build finds it, and the kernel takes what it makes" inside sh -c 'cd /tmp && gpusched policy new mine &&
	gpusched policy build mine.bpf.c && gpusched policy check mine.bpf.o'
inside apt-get purge -q -y --autoremove $clang >"$scratch/apt" 2>&1

# ---- nothing is left after removal and purge
leftovers() { # lists files, users and packages of gpusched, except the test's package archives
	inside sh -c 'find / -xdev \( -name "*gpusched*" -o -name "*gpreempt*" \) ! -path "/debs/*" ! -path "/var/cache/apt/*" ! -path "/proc/*"
		getent passwd gpusched-exporter; dpkg -l | grep -E "gpusched|gpreempt"; ls -d /run/gpusched 2>/dev/null'
}
packages=$(inside sh -c 'cd /debs && ls *.deb | sed "s/_.*//"' | xargs)
inside sh -c 'mkdir -p /etc/gpusched /var/lib/gpusched && echo >/etc/gpusched/gpusched.conf && echo >/var/lib/gpusched/history.db'
# shellcheck disable=SC2086 # a list
exits 0 "apt removes them" inside apt-get remove -q -y $packages
is "$(inside sh -c 'cat /etc/gpusched/gpusched.conf && ls /var/lib/gpusched' | xargs)" history.db \
	"what was configured and kept stays"
# shellcheck disable=SC2086
exits 0 "apt purges them" inside dpkg --purge $packages
is "$(leftovers)" "" "nothing is left"

# ---- over a `make install`, with a program under control
if [ "$codename" = "$here" ]; then
	prefix=$(meson introspect --buildoptions "$build" | jq -r '.[] | select(.name == "prefix").value')
	is "$prefix" /usr "make install and the packages use the same places"
	exits 0 "make install into the same system" env DESTDIR="$root" meson install --no-rebuild --quiet -C "$build"
else # unpacks the files that that release's compiler has made
	exits 0 "make install into the same system" tar -C "$root" --keep-directory-symlink -xf "$debs/installed.tar"
fi
inside ldconfig
cat >"$root/debs/over" <<'END'
# Prints a line per point: GOT, WANTED and NAME, separated by tabs.
[ -n "${GPUSCHED_SIM:-}" ] || exec gpusched sim shell -- bash "$0"
slice() {
	jq ".tsgs[] | select(.pid == $be and .engine == 1) | .timeslice_us" <"$GPUSCHED_SIM/dev/state.json"
}
soon() { # VALUE NAME
	for ((i = 0; i < 300; i++)); do
		[ "$(slice)" != "$1" ] || break
		sleep 0.1
	done
	printf '%s\t%s\t%s\n' "$(slice)" "$1" "$2"
}
restart() {
	gpuschedd --foreground >>/debs/daemon.log 2>&1 &
	daemon=$!
	for ((i = 0; i < 300; i++)); do
		[ "$(curl -s --unix-socket "$GPUSCHED_SIM/run/api" -d '{}' http://gpusched/v1/ping | jq .pid)" != "$daemon" ] || break
		sleep 0.1
	done
}
restart
gpusched run --class be -- gsload be --seconds 600 >/dev/null &
be=$!
soon 2048 "a program has its own timeslice"
gpusched set pid:$be timeslice=333us >/dev/null
soon 333 "what make install put there controls it"
apt-get install -q -y --no-install-recommends /debs/*.deb >/debs/over.log 2>&1
printf '%s\t0\tthe packages are installed over it\n' "$?"
soon 333 "the program stays under control meanwhile"
kill $daemon && wait $daemon
soon 2048 "it has its own timeslice when the old daemon ends"
restart
gpusched set pid:$be timeslice=444us >/dev/null
soon 444 "the packages' daemon controls it"
dpkg --remove gpusched >>/debs/over.log 2>&1
printf '%s\t0\tgpusched is removed while its daemon runs\n' "$?"
soon 2048 "the program has its own timeslice then"
dpkg -i /debs/gpusched_*.deb >>/debs/over.log 2>&1
kill $daemon && wait $daemon
dpkg --remove gpusched >>/debs/over.log 2>&1
printf '%s\t0\tgpusched is removed when its daemon has ended\n' "$?"
printf '%s\tnone\tno tap is left\n' "$(ls "$GPUSCHED_SIM/bpf/gpusched" 2>/dev/null || echo none)"
kill $be
wait
END
while IFS=$'\t' read -r got want what; do
	is "$got" "$want" "$what"
done < <(inside bash /debs/over)
[ $tap_bad = 0 ] || diag "$(tail -n 20 "$root/debs/over.log" "$root/debs/daemon.log")"
# shellcheck disable=SC2086
exits 0 "apt purges what was installed over it" inside dpkg --purge $packages
is "$(leftovers)" "" "nothing is left, of make install neither"
umount -R "$root"

# ---- autopkgtest, for which a skipped test counts as a failure, too
rm -rf "$systems/tree"
copy_tree "$systems/tree"
fresh testbed sysfs:sys bpf:sys/fs/bpf cgroup2:sys/fs/cgroup
mapfile -t all < <(find "$debs" -name '*.deb' ! -name '*-dbgsym_*')
exits 0 "autopkgtest passes in a fresh system" autopkgtest --no-built-binaries "${all[@]}" "$systems/tree/" -- chroot "$systems/testbed"
diag "$(grep -E '^(path|upgrade|purge) +[A-Z]' <<<"$out")"
[ $tap_bad = 0 ] || diag "$(tail -n 40 <<<"$out")"
done_testing
