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
# FILE CALL...: on what. Each call in the rooms that meet users' sockets; a kind of call that occurs twice is there twice.
calls="src/control/agents.c CLEANUP_FD:fd: a page of memory
src/control/agents.c CLEANUP_FD:fd close(a->fd: the listening socket
src/control/agents.c close(fd: a page of memory
src/control/host_watch.c CLEANUP_FD:lock: a lock of the instance
src/control/klog.c close(fd read(k->fd: the kernel's log, in a thread
src/control/klog.c recv(k->from send(k->to shutdown(k->from shutdown(k->to: a pair of sockets that nobody else has
src/control/lock.c CLEANUP_FD:fd: a connection to the daemon's own socket
src/control/lock.c CLEANUP_FD:fd: a lock of the instance
src/control/waker.c close(ends[0] close(ends[1]: a pair of sockets that nobody else has yet
src/control/waker.c close(w->fd recv(w->fd: the daemon's end of the pair
src/control/waker.c close(w->fds[0] close(w->fds[1]: the page and the program's end, in the lane
src/control/waker.c close(w->peer sendmsg(w->peer: the user's socket, in the lane
src/daemon/api_accept.c CLEANUP_FD:fd CLEANUP_FD:fd close(a->fd close(a->pods_fd: listening sockets
src/daemon/api_accept.c close(TAKE_FD(a->spare_fd close(a->spare_fd: /dev/null
src/daemon/api_link.c close(a->links->fd read(fd write(wake: an eventfd of the daemon's own
src/daemon/api_link.c close(ends[0] close(ends[1]: a pair of sockets that nobody else has
src/daemon/api_link.c close(l->w.fds[i] recv(from send(to shutdown(to: the user's socket and the pair, in the lane
src/daemon/api_link.c shutdown(l->w.fds[OURS]: an end of the pair, in the lane
src/daemon/api_pods.c CLEANUP_FD:pidfd: a process
src/daemon/guardian.c CLEANUP_FD:fd: a connection to the daemon's own socket
src/daemon/guardian.c CLEANUP_FD:pidfd close(fd: the daemon's process
src/daemon/guardian.c CLEANUP_FD:watch read(watch: a watch of the folder of the daemon's socket
src/hub/lanes.c close(c->fd: a user's socket, in the lane
src/hub/lanes.c close(fd: a user's socket if no thread can be had; lanes_left counts it
src/hub/lanes.c close(lane->epoll close(lane->wake close(lane->epoll close(lane->wake read(lane->wake write(lane->wake: the lane's own
src/hub/loop.c CLEANUP_FD:lock: a lock of the instance
src/hub/pace.c close(t->schedstat: a file of /proc
src/hub/task.c close(e->fd close(e->fd write(e->fd: an eventfd of the daemon's own
src/requests/verbs_class.c CLEANUP_FD:pidfd: a process
src/requests/verbs_observe.c CLEANUP_FD:lock CLEANUP_FD:lock: a lock of the instance
src/requests/verbs_pool.c CLEANUP_FD:fd: a folder
src/service/service.c close(s->lock_fd close(s->table_fd: locks of the instance"
of_sockets='(send|sendto|sendmsg|sendmmsg|sendfile|splice|recv|recvfrom|recvmsg|recvmmsg|readv?|writev?|shutdown|close|close_range|dup[23]?)'
wanted=$(sed -E 's/: .*//' <<<"$calls" | awk '{ for (i = 2; i <= NF; i++) print $1, $i }' | sort)
found=$(grep -roE --include='*.c' "(^|[^_a-zA-Z.>])($of_sockets\\([^,) ]*|CLEANUP_FD int [a-z_]+)" src/daemon src/control src/hub src/service src/requests |
	sed -E 's/:.*CLEANUP_FD int /:CLEANUP_FD:/; s/:[^a-zA-Z]/:/; s/:/ /' | sort)
is "$(diff <(echo "$wanted") <(echo "$found"))" "" "every call that a user's socket could get in the daemon's rooms is listed"
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
