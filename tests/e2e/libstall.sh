#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 120
# needs: root bpf fuse
# asan: yes
# A program's libcuda would make the daemon wait in open(), or there are very many of them. The
# daemon does not look at these, counts and reports them, and goes on.
. "$(dirname "$0")/lib.sh"
enter_sim
mkdir "$scratch/lib"
chmod 777 "$scratch" "$scratch/lib"
mkfifo "$scratch/fifo"
exec 9<>"$scratch/fifo"
trusting
start_daemon || not_ok "a daemon starts"
check "launches are counted" "$gpusched" observe launches on

left() {
	"$gpusched" stats --json | jq .service.launch_libs_left
}
libs() {
	"$gpusched" observe launches --json | jq '.libraries | length'
}
answers() {
	curl -sf --max-time 3 --unix-socket "$GPUSCHED_SIM/run/api" -d '{}' http://gpusched/v1/list >"$scratch/answer"
}
# begin WHAT...: a program of that kind, in the background; $PROGRAM
begin() {
	rm -f "$scratch/out"
	"${as[@]}" "$helper" library "$@" <&9 9<&- >"$scratch/out" 2>&1 &
	PROGRAM=$!
	at_end+=($PROGRAM)
	check "$1: the program is there" wait_for 10 grep -q ready "$scratch/out" ||
		diag "$(cat "$scratch/out")"
}
end() {
	kill "$PROGRAM"
	wait "$PROGRAM" 2>/dev/null
}
as=()
libs=$(libs)

mount -t tmpfs -o mode=755 none /mnt
mkdir /mnt/at
printf '%01048576d' 0 >/mnt/libcuda.so.1
# A program that calls itself an MPS server, whose executable's path is in the FUSE for us and on a tmpfs for itself.
mps_beside() {
	unshare --mount bash -c 'mount -t tmpfs none /mnt/at && cp "$0" /mnt/at/nvidia-cuda-mps-server &&
		exec /mnt/at/nvidia-cuda-mps-server tsgs 1' "$helper" <&9 9<&- >"$scratch/mps" 2>&1 &
	at_end+=($!)
	check "a would-be MPS server is there" wait_for 10 grep -q ready "$scratch/mps"
	check "the daemon answers" answers
	check "the daemon lists it" wait_tsgs "pid:$!" 1
	is "$(list_json "pid:$!" '.[0].mps')" false "as an ordinary program"
	is "$(grep -cx lookup "$scratch/out")" 0 "the FUSE was not asked for it"
	kill $!
	wait $! 2>/dev/null
}

before=$(left)
for what in fuse gone lease; do
	at=/mnt/at
	[ $what != lease ] || at=/mnt/libcuda.so.1
	begin $what "$at"
	check "$what: the daemon answers" answers
	check "$what: and lists the program" wait_tsgs "pid:$PROGRAM" 1
	check "$what: its library is left alone, which is counted" wait_for 5 eval '[ "$(left)" -gt '"$before"' ]'
	before=$(left)
	[ $what != fuse ] || mps_beside
	is "$(grep -cx read "$scratch/out")" 0 "$what: nobody has read from it"
	check "$what: the daemon goes on" answers
	end
	umount -l /mnt/at 2>/dev/null
done

# what is under an overlay that a user has made might be his FUSE
mkdir /mnt/low /mnt/up /mnt/work
as=(unshare --mount bash -c 'mount -t overlay -o lowerdir=/mnt/low,upperdir=/mnt/up,workdir=/mnt/work none "$0" &&
	exec "$@"' /mnt/at)
if "${as[@]}" true 2>"$scratch/overlay.out"; then
	begin many /mnt/at 1
	check "overlay: its library is left alone" wait_for 5 eval '[ "$(left)" -gt '"$before"' ]'
	is "$(libs)" "$libs" "without a look into it"
	end
	as=(unshare --mount bash -c 'mount -t tmpfs none "$0" && exec "$@"' /mnt/at)
	begin many /mnt/at 1
	check "a library on a container's own tmpfs is taken" wait_for 5 eval '[ "$(libs)" = '$((libs + 1))' ]'
	end
	check "the library on tmpfs is let go" wait_for 5 eval '[ "$(libs)" = '"$libs"' ]'
else
	skip_optional "overlay" "$(cat "$scratch/overlay.out")"
fi
as=()
is "$(libs)" "$libs" "none of them is listed"
is "$(grep -c 'are not counted: its file system' "$scratch/daemon.log")" 1 "the file system is told once"
like "$(grep 'are not counted' "$scratch/daemon.log")" "/mnt/libcuda.so.1 are not counted: Resource temp" "so is the lease"

# ---- users' own, and one user's share of root's ----------------------------------------------------------

as=(setpriv --reuid 4711 --regid 4711 --clear-groups)
before=$(left)
begin many "$scratch/lib" 1
check "a user's own library is left alone" wait_for 5 eval '[ "$(left)" -gt '"$before"' ]'
is "$(libs)" "$libs" "without a look into it"
like "$(grep 'are not counted' "$scratch/daemon.log")" "are not counted: it is not root's alone" "the reason is told"
end
mkdir "$scratch/roots"
touch "$scratch/roots"/libcuda.so.{1..48}
before=$(left)
all=()
for i in 0 8 16 24 32 40; do
	# shellcheck disable=SC2086 # eight words
	begin of $(seq -f "$scratch/roots/libcuda.so.%.0f" $((i + 1)) $((i + 8)))
	all+=($PROGRAM)
	check "is listed" wait_tsgs "pid:$PROGRAM" 1
done
check "what is past a user's share is counted" wait_for 5 eval '[ "$(left)" -ge '$((before + 48))' ]'
is "$(libs)" $((libs + 32)) "the others have their numbers"
is "$(grep -c 'too many libraries' "$scratch/daemon.log")" 1 "it is told once"
as=()
begin many "$scratch/lib" 1
check "root's own is taken" wait_for 5 eval '[ "$(libs)" = '$((libs + 33))' ]'
end
kill "${all[@]}"
check "they are let go" wait_for 5 eval '[ "$(libs)" = '"$libs"' ]'
stop_daemon
done_testing
