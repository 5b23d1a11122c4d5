#!/bin/bash
# SPDX-License-Identifier: MIT
# Which descriptors leave a process of ours by SCM_RIGHTS or into another program, and which files make calls on a user's
# socket?
# A new place fails: see docs/security.md, and src/hub/lanes.h for the daemon.
. "$(dirname "$0")/lib.sh"
cd "$top" || exit 1

# FILE: what it sends, to whom, and why a user can do no harm with it
sends='src/agent/serve.c: a page of memory, by the agent in a program to its own user
src/control/waker.c: a page of memory, and an end of a socket pair whose other end the daemon keeps
src/process/reader_child.c: what a child has opened, to the daemon that forked it'
found=$(grep -rlE "cmsg_type = SCM_RIGHTS" src --include='*.[ch]' | grep -v '^src/sim/' | sort)
is "$found" "$(cut -d: -f1 <<<"$sends")" "every file that sends descriptors is listed"

# the daemon's own: accepts users' connections, and hands them to lanes
found=$(grep -rlE '\baccept4?\(' src/daemon src/control src/hub src/service src/requests | sort)
is "$found" 'src/control/agents.c
src/daemon/api_accept.c' "every file that accepts connections is listed"
for file in src/control/agents.c src/daemon/api_accept.c src/daemon/api.c src/control/told_requests.c; do
	is "$(grep -nE '(^|[^_a-z.>])(send|sendmsg|recv|recvmsg|shutdown|read|write)\(' "$file")" "" \
		"$file makes no call on a user's socket"
done
is "$(grep -nE 'EFD_|eventfd\(' src/control/waker.c src/control/told_requests.c src/control/agents.c)" "" \
	"no eventfd goes to a program"

# FILE: what it runs, and what that keeps of the daemon's
runs="src/mps/control.c: NVIDIA's control program: two pipes, as its standard streams
src/mps/keeper.c: NVIDIA's control daemon: /dev/null and its log
src/park/helper.c: our own helper: one end of a socket pair
src/policy/build.c: the compiler, a child's: /dev/null, and a pipe for its errors
src/policy/hooked.c: bpftool, for root: a program's and its maps' descriptors, and pipes"
others='^src/(cli|bench|load|sim|agent|qualify|trace)/'
found=$(grep -rlE '[^a-z_](execv|execvp|execvpe|execl|execlp|fexecve|posix_spawnp?)\(' src --include='*.c' | grep -vE "$others" |
	grep -v src/process/command.c | sort)
is "$found" "$(cut -d: -f1 <<<"$runs")" "every file that runs another program is listed"
# These run before a program is executed, and make the descriptor a standard stream; pidfd_open() always closes.
is "$(grep -rlE '[^a-z_](open|openat|socket|socketpair|pipe2?|epoll_create1?|timerfd_create|memfd_create|inotify_init1?|eventfd)\(' \
	src --include='*.c' | grep -vE "$others" | sort | while read -r file; do
	tr '\n' ' ' <"$file" | grep -oP '[^a-z_.>](open|openat|socket|socketpair|pipe2?|epoll_create1?|timerfd_create|memfd_create|inotify_init1?|eventfd)\([^;"]*("[^"]*")?[^;]*;' |
		grep -vE 'CLOEXEC|^.open\(\)|^.open\("/dev/null", O_RD(ONLY|WR)\)' | sed "s|^|$file:|"
done)" "" "every other descriptor is closed when a program is executed"
done_testing
