#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 120
# needs: root bpf fuse
# asan: release
# Opening a program's libcuda would block the daemon (a hanging FUSE, a lease), or a program has
# very many of them. The daemon leaves these libraries alone, counts and reports them, and goes on.
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
	check "$1: the program runs" wait_for 10 grep -q ready "$scratch/out" ||
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
# A program by an MPS server's name. Its path leads into the FUSE for the daemon, and to a tmpfs for
# itself.
mps_beside() {
	unshare --mount bash -c 'mount -t tmpfs none /mnt/at && cp "$0" /mnt/at/nvidia-cuda-mps-server &&
		exec /mnt/at/nvidia-cuda-mps-server tsgs 1' "$helper" <&9 9<&- >"$scratch/mps" 2>&1 &
	at_end+=($!)
	check "a would-be MPS server runs" wait_for 10 grep -q ready "$scratch/mps"
	check "the daemon answers" answers
	check "the daemon lists that program" wait_tsgs "pid:$!" 1
	is "$(list_json "pid:$!" '.[0].mps')" false "the daemon lists it as an ordinary program"
	is "$(grep -cx lookup "$scratch/out")" 0 "the daemon has not looked it up in the FUSE"
	kill $!
	wait $! 2>/dev/null
}

before=$(left)
for what in fuse gone lease; do
	at=/mnt/at
	[ $what != lease ] || at=/mnt/libcuda.so.1
	begin $what "$at"
	check "$what: the daemon answers" answers
	check "$what: the daemon lists the program" wait_tsgs "pid:$PROGRAM" 1
	check "$what: its library is left alone and counted" wait_for 5 eval '[ "$(left)" -gt '"$before"' ]'
	before=$(left)
	[ $what != fuse ] || mps_beside
	is "$(grep -cx read "$scratch/out")" 0 "$what: nobody has read from that library"
	check "$what: the daemon goes on" answers
	end
	umount -l /mnt/at 2>/dev/null
done

# the layers of an overlay that a user has made might be that user's FUSE
mkdir /mnt/low /mnt/up /mnt/work
as=(unshare --mount bash -c 'mount -t overlay -o lowerdir=/mnt/low,upperdir=/mnt/up,workdir=/mnt/work none "$0" &&
	exec "$@"' /mnt/at)
if "${as[@]}" true 2>"$scratch/overlay.out"; then
	begin many /mnt/at 1
	check "overlay: its library is left alone" wait_for 5 eval '[ "$(left)" -gt '"$before"' ]'
	is "$(libs)" "$libs" "the library is not listed"
	end
	as=(unshare --mount bash -c 'mount -t tmpfs none "$0" && exec "$@"' /mnt/at)
	begin many /mnt/at 1
	check "a library on a container's own tmpfs is taken" wait_for 5 eval '[ "$(libs)" = '$((libs + 1))' ]'
	end
	check "the library on tmpfs is forgotten after its program's end" wait_for 5 eval '[ "$(libs)" = '"$libs"' ]'
else
	skip_optional "overlay" "$(cat "$scratch/overlay.out")"
fi
as=()
is "$(libs)" "$libs" "no library that was left alone is listed"
is "$(grep -c 'are not counted: its file system' "$scratch/daemon.log")" 1 "the log names the file system once"
like "$(grep 'are not counted' "$scratch/daemon.log")" "/mnt/libcuda.so.1 are not counted: Resource temp" "the log names the leased library, too"

# ---- users' own libraries, and one user's quota of root's libraries -------------------------------

as=(setpriv --reuid 4711 --regid 4711 --clear-groups)
before=$(left)
begin many "$scratch/lib" 1
check "a user's own library is left alone" wait_for 5 eval '[ "$(left)" -gt '"$before"' ]'
is "$(libs)" "$libs" "the library is not listed"
like "$(grep 'are not counted' "$scratch/daemon.log")" "are not counted: it is not root's alone" "the log has the reason"
end
mkdir "$scratch/roots"
touch "$scratch/roots"/libcuda.so.{1..48}
before=$(left)
all=()
for i in 0 8 16 24 32 40; do
	# shellcheck disable=SC2086 # eight words
	begin of $(seq -f "$scratch/roots/libcuda.so.%.0f" $((i + 1)) $((i + 8)))
	all+=($PROGRAM)
	check "a program with eight libraries is listed" wait_tsgs "pid:$PROGRAM" 1
done
check "libraries past a user's quota are counted" wait_for 5 eval '[ "$(left)" -ge '$((before + 48))' ]'
is "$(libs)" $((libs + 32)) "the 32 libraries within the quota are listed"
is "$(grep -c 'too many libraries' "$scratch/daemon.log")" 1 "the log says once that there are too many"
as=()
begin many "$scratch/lib" 1
check "a library of root's program is taken all the same" wait_for 5 eval '[ "$(libs)" = '$((libs + 33))' ]'
end
kill "${all[@]}"
check "all of them are forgotten after their programs' end" wait_for 5 eval '[ "$(libs)" = '"$libs"' ]'
stop_daemon
done_testing
