#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 300
# `make install` puts every file where it belongs, and the programs work from there.
. "$(dirname "$0")/lib.sh"
command -v meson >/dev/null || { skip "installing" "no meson"; done_testing; }

exits 0 "meson install with a DESTDIR" env DESTDIR="$scratch" \
	meson install --no-rebuild --quiet -C "$build"
prefix=$(meson introspect --buildoptions "$build" | jq -r '.[] | select(.name == "prefix").value')
root=$scratch$prefix

bad=
for file in bin/gpusched bin/gsload sbin/gpuschedd include/gpusched/{gpusched.h,gpreempt.h,policy.bpf.h,abi.h} \
	lib/systemd/system/{gpusched{d,-guardian}.service,run-gpusched-mps-users.mount} lib/gpusched/policies/lcbe.{bpf.o,bpf.c,native.so} \
	lib/gpusched/simcuda/libcuda.so.1 share/doc/gpusched/{README.md,examples/one_process.c} lib/python3/dist-packages/gpusched.py share/gpusched/{gpusched.conf,h200.conf,scenarios/a-alone.scn} \
	share/bash-completion/completions/gpusched share/zsh/vendor-completions/_gpusched share/fish/vendor_completions.d/gpusched.fish share/man/man8/gpusched-{suspend,resume,preempt,restore}.8; do
	[ -s "$root/$file" ] || bad+=" $file"
done
is "$bad" "" "programs, headers, units, policies, the model, completion are there"
bad=
for page in "$top"/man/*.scd; do
	page=$(basename "$page" .scd)
	[ -s "$root/share/man/man${page##*.}/$page" ] || bad+=" $page"
done
is "$bad" "" "every manual page is installed"
named=$(grep -hoE '/usr/share/doc/gpusched/[a-z/.-]*\.md' "$top"/man/*.scd | sort -u)
ge "$(wc -l <<<"$named")" 2 "manual pages name documents"
is "$(while read -r file; do [ -s "$root/${file#/usr/}" ] || echo "$file"; done <<<"$named")" "" \
	"these documents are installed where the pages say"
is "$(find "$root/share/doc/gpusched" -name '*.md' | while read -r page; do
	grep -oE '\]\([^)#]+' "$page" | sed 's/^](//' | grep -v '^https\?:' | while read -r link; do
		[ -e "$(dirname "$page")/$link" ] || echo "$(basename "$page") $link"
	done
done)" "" "links in these documents lead to installed files"
is "$(grep -hE '(^|[ (])docs/[a-z]' "$top"/man/*.scd)" "" "no manual page names a document by its path in the source"

# ---- the kit for the kernel works from its installed place
kit=$root/share/gpusched/kit
multiarch=$(gcc -print-multiarch)
mkdir "$scratch/kit"
bad=
for policy in "$kit"/driver/examples/*.bpf.c; do
	clang-14 -g -O2 -Wall -Werror -target bpf -D__TARGET_ARCH_x86 -I"$kit/include" -I"$kit/driver/module" -I"/usr/include/$multiarch" \
		-c "$policy" -o "$scratch/kit/$(basename "$policy" .c).o" || bad+=" $(basename "$policy")"
done
is "$bad $(find "$scratch/kit" -name '*.bpf.o' | wc -l)" " 4" "clang builds the four policies of the kernel's kind"
exits 0 "the loader's Makefile builds its BPF part" make -f "$kit/driver/loader/Makefile" OUT="$scratch/kit" "$scratch/kit/glue.bpf.o"
is "$(gcc -MM -D_GNU_SOURCE -I"$kit/include" -I"$kit/src" -I"$kit/driver/module" "$kit"/driver/loader/*.c 2>&1 | grep -i error)" "" \
	"policy-load finds its headers"
is "$(gcc -MM -MG -D__KERNEL__ -I"$kit/include" -I"$kit/src" -I"$kit/driver/hooks/bridge" "$kit"/driver/module/*.c 2>&1 |
	tr ' ' '\n' | grep -E '^(gpusched|rm|policy|table)/|^[a-z_]+\.h$' | sort -u)" "" "the module finds the headers of this tree"
if command -v spatch >/dev/null; then
	cp -r "$top/tests/hooks/tree" "$scratch/kit/tree"
	exits 0 "the installed hooks go into a driver's tree" "$kit/driver/hooks/apply" "$scratch/kit/tree"
	exits 0 "they come out again" "$kit/driver/hooks/revert" "$scratch/kit/tree"
	is "$(diff -r "$top/tests/hooks/tree" "$scratch/kit/tree")" "" "the tree is as before"
else
	skip_optional "the installed hooks go into a driver's tree" "no spatch"
fi

# /etc/gpusched/alert is left out: the administrator writes it.
mkdir "$scratch/units"
for unit in "$root"/lib/systemd/system/*; do
	sed "s|=$prefix/|=$root/|" "$unit" >"$scratch/units/$(basename "$unit")"
done
is "$(systemd-analyze verify --man=no "$scratch"/units/* 2>&1 | grep -i gpusched | grep -v /etc/gpusched/alert)" "" "systemd finds nothing wrong with the units"
is "$(grep -hoE '^Exec[A-Za-z]*=[^ ]*' "$root"/lib/systemd/system/*.service | sed "s|=$prefix|=$root|" |
	cut -d= -f2 | grep -v /etc/gpusched/alert | while read -r program; do [ -x "$program" ] || echo "$program"; done)" "" \
	"every program that the units start is installed"

lib=$(dirname "$(find "$root" -name libgpusched.so.1 | head -1)")
is "$(PKG_CONFIG_PATH=$lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$scratch pkg-config --libs gpusched gpreempt | xargs)" \
	"-L$lib -lgpusched -lgpreempt" "pkg-config knows both libraries"
installed() {
	env -u GPUSCHED_POLICIES LD_LIBRARY_PATH="$lib" "$root/bin/gpusched" "$@"
}
is "$(installed policy list --json | jq -r .path | xargs -n 1 dirname | sort -u | xargs realpath)" \
	"$(realpath "$root/lib/gpusched/policies")" "an installed gpusched finds the installed policies"
exits 0 "the installed gpusched plays an installed scenario under such a policy" installed sim run lcbe-1be
is "$(installed sim list --json | jq -r .path | xargs -n 1 dirname | sort -u | xargs realpath)" \
	"$(realpath "$root/share/gpusched/scenarios")" "an installed gpusched finds the installed scenarios"
is "$(installed run --agent -- sed -n 's|.* \(/.*libgpusched-agent.so\)|\1|p' /proc/self/maps | sort -u)" "$(realpath "$lib/libgpusched-agent.so")" \
	"the installed gpusched takes the agent beside it"
# Each shell's completion of `gpusched WORDS`, sorted. The program knows one process.
mkdir "$scratch/one_process"
cat >"$scratch/one_process/gpusched" <<-EOF
	#!/bin/sh
	[ "\$*" != "list --json" ] || exec echo '{"id":7,"pid":4242,"comm":"train"}'
	[ "\$*" != "class list --json" ] || exec echo '{"name":"night"}'
	exec "$root/bin/gpusched" "\$@"
EOF
chmod +x "$scratch/one_process/gpusched"
# Readline gives a word with a colon as several.
bash_completes() { # WORDS...
	PATH=$scratch/one_process:$PATH bash -c '. "$1" && shift; compopt() { :; }
		COMP_WORDS=(gpusched "$@") COMP_CWORD=$#; _gpusched; printf "%s\n" "${COMPREPLY[@]}"' - \
		"$root/share/bash-completion/completions/gpusched" "$@" | sort | xargs
}
zsh_completes() {
	PATH=$scratch/one_process:$PATH zsh -fc 'fpath=($1/share/zsh/vendor-completions); shift; words=(gpusched "$@") CURRENT=$#words
		compadd() { shift "$@[(i)--]"; print -rl -- "$@"; }
		_files() { print -rl -- *; }
		complete_it() { source $fpath[1]/_gpusched; }
		complete_it' - "$root" "$@" | sort | xargs
}
fish_completes() {
	PATH=$scratch/one_process:$PATH fish --no-config -c 'source $argv[1]; complete -C "gpusched $argv[2..]"' \
		"$root/share/fish/vendor_completions.d/gpusched.fish" "$@" | sort | xargs
}
verbs=$("$gpusched" help | sed -n 's/^  \([a-z][a-z ]*[a-z]\)   *.*/\1/p')
ge "$(wc -l <<<"$verbs")" 40 "help names the verbs"
for shell in zsh fish; do
	command -v $shell >/dev/null || { skip "$shell completes what bash does" "no $shell"; continue; }
	bad=
	while read -r noun verb; do
		for words in "${noun:0:1}" "$noun${verb:+ ${verb:0:1}}" "$noun $verb${verb:+ }--"; do
			# shellcheck disable=SC2086 # words
			[ "$(bash_completes $words)" = "$(${shell}_completes $words)" ] || bad+=" [$words]"
		done
	done <<<"$verbs"
	is "$bad" "" "$shell completes each verb and its options as bash does"
	is "$(${shell}_completes list class:) $(${shell}_completes class set pid:) $(${shell}_completes class set pid:4)" \
		"class:night pid:4242 pid:4242" "$shell completes what follows a colon, in the same word"
	is "$(${shell}_completes list --columns pid,tsg)" "$(bash_completes list --columns pid,tsg)" \
		"$shell completes the last of several columns"
done
is "$(bash_completes policy st)" "start stop" "bash completes verbs"
is "$(bash_completes list class :) $(bash_completes class set pid : 4)" "night 4242" "bash completes what follows a colon"
is "$(bash_completes list --sort gpu_t) $(bash_completes status --columns pid,turns_)" "gpu_time_ns pid,turns_per_s" \
	"columns are completed, the last one of several, too"
is "$(bash_completes history --sort when)/$(bash_completes stats --sort when)/$(bash_completes stats --sort comm)" \
	"when//comm" "a verb's own columns are offered"
is "$(bash_completes top --sort '')" "pid turns used waited" "top offers its own order"
is "$(bash_completes history -b p) / $(bash_completes stats --by '')" \
	"partition pod process / cgroup class gpu process" "a verb's own sums are offered"
# Production machines need no test tools: only `make test` installs them.
mkdir -p "$scratch/bin"
printf '#!/bin/sh\necho "ii  none"\n' >"$scratch/bin/dpkg-query"
chmod +x "$scratch/bin/dpkg-query"
lacks() {
	DEPS=no PATH=$scratch/bin:$PATH "$top/tools/deps.sh" "$@" 2>&1 | head -1
}
like "$(lacks)" " libbpf-dev .*" "building installs what building needs"
is "$(lacks | grep -oE 'prometheus|coccinelle|clang-tidy-14|libcmocka-dev')" "" "building installs no test tools"
like "$(lacks --test)" " prometheus .*" "testing installs test tools"
is "$(grep -nE '^(all|demo|install|bundle|bench):.*test-deps' "$top/Makefile")" "" "only test targets ask for test tools"

mkdir -p "$scratch"/kept/{sys/fs/bpf/gpusched,var/lib/gpusched}
is "$("$top/tools/remains.sh" "$scratch/kept" | cut -d: -f1,2)" "still watching: the taps pinned in /sys/fs/bpf/gpusched
kept: /var/lib/gpusched" "remains.sh names what an uninstall leaves behind"
is "$("$top/tools/remains.sh" "$scratch/there_is_none")" "" "remains.sh names nothing where nothing is left"
exits 0 "make uninstall succeeds" make --no-print-directory -C "$top" BUILD="$build" uninstall
is "$(find "$scratch$prefix" ! -type d)" "" "make uninstall leaves no file"
is "$(find "$scratch$prefix" -name '*gpusched*')" "" "make uninstall leaves no folder of gpusched's"

# Installs on the machine itself, into overlays of /usr and /etc in a mount namespace.
on_machine() {
	mkdir -p "$scratch/over" && mount -t tmpfs none "$scratch/over" && mkdir -p "$scratch"/over/{usr,etc}/{up,work} &&
		for dir in usr etc; do
			mount -t overlay none -o "lowerdir=/$dir,upperdir=$scratch/over/$dir/up,workdir=$scratch/over/$dir/work" /$dir || return
		done &&
		meson install --no-rebuild --quiet -C "$build" && getent passwd gpusched-exporter
}
export -f on_machine
export scratch build
if [ "$prefix" = /usr ] && ! getent passwd gpusched-exporter >/dev/null; then
	like "$(unshare --mount bash -c on_machine 2>&1 | tail -1)" "^gpusched-exporter:" "the exporter's user is made at install"
	is "$(getent passwd gpusched-exporter)" "" "an install with DESTDIR makes no user"
else
	skip_optional "the exporter's user is made at install" "the prefix is not /usr, or the user is there"
fi
done_testing
