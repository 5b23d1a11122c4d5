// SPDX-License-Identifier: MIT
/*
 * auto.c - automatic hints: foresees a launch from data that arrives on a socket
 *
 * These functions replace those by which a server gets a request. They call the real function. With
 * --hint=auto they then note the arrival; otherwise they do nothing more.
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <poll.h>
#include <stddef.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "agent/agent.h"
#include "agent/hold.h"
#include "agent/launches.h"
#include "agent/foresee.h"
#include "basic/clock.h"

enum kind { READ, RECV, ACCEPT, EPOLL, POLL, SELECT, KINDS };

static struct foresee kinds[KINDS];
/* Taken with trylock only: arrivals may be missed. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* The present hold was started by an automatic hint. */
static _Atomic bool made;

void auto_launched(void)
{
	uint64_t now;

	if (!agent_settings.hint_auto)
		return;
	if (made && hold_is_on()) {
		made = false;
		hold_release();
	}
	if (pthread_mutex_trylock(&lock))
		return;
	now = gs_now_ns();
	for (unsigned int i = 0; i < KINDS; i++)
		foresee_launch(&kinds[i], now);
	pthread_mutex_unlock(&lock);
}

static void arrived(enum kind kind)
{
	int saved = errno;
	bool act;

	if (agent_own || pthread_mutex_trylock(&lock))
		return;
	act = foresee_arrival(&kinds[kind], gs_now_ns());
	pthread_mutex_unlock(&lock);
	if (act && !hold_is_on() && hold_begin(FORESEE_NS) == HOLD_MADE)
		made = true;
	errno = saved;
}

static bool is_socket(int fd)
{
	int saved = errno, type;
	socklen_t len = sizeof(type);
	bool is = !getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &len);

	errno = saved;
	return is;
}

/*
 * Only ready sockets count as arrivals: poll() and select() wait for other files as well, and
 * libcuda's own threads call poll().
 */
#define LOOKED_AT 16 /* ready descriptors that are checked; a server gets one or two at a time */

static bool polled_socket(const struct pollfd *fds, nfds_t n)
{
	unsigned int looks = 0;

	for (nfds_t i = 0; i < n && looks < LOOKED_AT; i++)
		if (fds[i].revents & POLLIN && (looks++, is_socket(fds[i].fd)))
			return true;
	return false;
}

static bool selected_socket(int n, const fd_set *readable)
{
	unsigned int looks = 0;

	for (int fd = 0; readable && fd < n && looks < LOOKED_AT; fd++)
		if (FD_ISSET(fd, readable) && (looks++, is_socket(fd)))
			return true;
	return false;
}

/* ---- the real ones --------------------------------------------------------------------------- */

static void __attribute__((constructor)) watch_launches(void)
{
	if (agent_settings.hint_auto && !agent_settings.inert)
		launches_watch();
}

/* The real function is looked up at its first call, which may come before any constructor. */
#define REAL(name) \
	({ \
		static __typeof__(&name) real_; \
		__typeof__(&name) f_ = __atomic_load_n(&real_, __ATOMIC_RELAXED); \
		if (__builtin_expect(!f_, 0)) { \
			f_ = (__typeof__(&name))dlvsym(RTLD_NEXT, #name, "GLIBC_2.2.5") \
				     ?: (__typeof__(&name))agent_real_next(#name); \
			__atomic_store_n(&real_, f_, __ATOMIC_RELAXED); \
		} \
		f_; \
	})

#define HEARD(kind, call, yes) \
	({ \
		__typeof__(call) r_ = (call); \
		if (__builtin_expect(agent_settings.hint_auto, 0) && (yes)) \
			arrived(kind); \
		r_; \
	})

EXPORT ssize_t read(int fd, void *buf, size_t n)
{
	return HEARD(READ, REAL(read)(fd, buf, n), r_ > 0 && is_socket(fd));
}

EXPORT ssize_t readv(int fd, const struct iovec *iov, int n)
{
	return HEARD(READ, REAL(readv)(fd, iov, n), r_ > 0 && is_socket(fd));
}

EXPORT ssize_t recv(int fd, void *buf, size_t n, int flags)
{
	return HEARD(RECV, REAL(recv)(fd, buf, n, flags), r_ > 0);
}

EXPORT ssize_t recvfrom(int fd, void *buf, size_t n, int flags, struct sockaddr *from,
			socklen_t *len)
{
	return HEARD(RECV, REAL(recvfrom)(fd, buf, n, flags, from, len), r_ > 0);
}

EXPORT ssize_t recvmsg(int fd, struct msghdr *msg, int flags)
{
	return HEARD(RECV, REAL(recvmsg)(fd, msg, flags), r_ > 0);
}

EXPORT int recvmmsg(int fd, struct mmsghdr *msgs, unsigned int n, int flags, struct timespec *t)
{
	return HEARD(RECV, REAL(recvmmsg)(fd, msgs, n, flags, t), r_ > 0);
}

EXPORT int accept(int fd, struct sockaddr *from, socklen_t *len)
{
	return HEARD(ACCEPT, REAL(accept)(fd, from, len), r_ >= 0);
}

EXPORT int accept4(int fd, struct sockaddr *from, socklen_t *len, int flags)
{
	return HEARD(ACCEPT, REAL(accept4)(fd, from, len, flags), r_ >= 0);
}

EXPORT int epoll_wait(int fd, struct epoll_event *events, int n, int ms)
{
	return HEARD(EPOLL, REAL(epoll_wait)(fd, events, n, ms), r_ > 0);
}

EXPORT int epoll_pwait(int fd, struct epoll_event *events, int n, int ms, const sigset_t *mask)
{
	return HEARD(EPOLL, REAL(epoll_pwait)(fd, events, n, ms, mask), r_ > 0);
}

/* glibc has epoll_pwait2() since 2.35. */
EXPORT int epoll_pwait2(int fd, struct epoll_event *events, int n, const struct timespec *t,
			const sigset_t *mask)
{
	if (!REAL(epoll_pwait2)) {
		errno = ENOSYS;
		return -1;
	}
	return HEARD(EPOLL, REAL(epoll_pwait2)(fd, events, n, t, mask), r_ > 0);
}

EXPORT int poll(struct pollfd *fds, nfds_t n, int ms)
{
	return HEARD(POLL, REAL(poll)(fds, n, ms), r_ > 0 && polled_socket(fds, n));
}

EXPORT int ppoll(struct pollfd *fds, nfds_t n, const struct timespec *t, const sigset_t *mask)
{
	return HEARD(POLL, REAL(ppoll)(fds, n, t, mask), r_ > 0 && polled_socket(fds, n));
}

EXPORT int select(int n, fd_set *in, fd_set *out, fd_set *other, struct timeval *t)
{
	return HEARD(SELECT, REAL(select)(n, in, out, other, t), r_ > 0 && selected_socket(n, in));
}

EXPORT int pselect(int n, fd_set *in, fd_set *out, fd_set *other, const struct timespec *t,
		   const sigset_t *mask)
{
	return HEARD(SELECT, REAL(pselect)(n, in, out, other, t, mask),
		     r_ > 0 && selected_socket(n, in));
}

/* ---- what programs call that were built with _FORTIFY_SOURCE --------------------------------- */

ssize_t __read_chk(int fd, void *buf, size_t n, size_t room);
ssize_t __recv_chk(int fd, void *buf, size_t n, size_t room, int flags);
ssize_t __recvfrom_chk(int fd, void *buf, size_t n, size_t room, int flags, struct sockaddr *from,
		       socklen_t *len);
int __poll_chk(struct pollfd *fds, nfds_t n, int ms, size_t room);
int __ppoll_chk(struct pollfd *fds, nfds_t n, const struct timespec *t, const sigset_t *mask,
		size_t room);

EXPORT ssize_t __read_chk(int fd, void *buf, size_t n, size_t room)
{
	return HEARD(READ, REAL(__read_chk)(fd, buf, n, room), r_ > 0 && is_socket(fd));
}

EXPORT ssize_t __recv_chk(int fd, void *buf, size_t n, size_t room, int flags)
{
	return HEARD(RECV, REAL(__recv_chk)(fd, buf, n, room, flags), r_ > 0);
}

EXPORT ssize_t __recvfrom_chk(int fd, void *buf, size_t n, size_t room, int flags,
			      struct sockaddr *from, socklen_t *len)
{
	return HEARD(RECV, REAL(__recvfrom_chk)(fd, buf, n, room, flags, from, len), r_ > 0);
}

EXPORT int __poll_chk(struct pollfd *fds, nfds_t n, int ms, size_t room)
{
	return HEARD(POLL, REAL(__poll_chk)(fds, n, ms, room), r_ > 0 && polled_socket(fds, n));
}

EXPORT int __ppoll_chk(struct pollfd *fds, nfds_t n, const struct timespec *t, const sigset_t *mask,
		       size_t room)
{
	return HEARD(POLL, REAL(__ppoll_chk)(fds, n, t, mask, room),
		     r_ > 0 && polled_socket(fds, n));
}
