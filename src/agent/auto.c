// SPDX-License-Identifier: MIT
/*
 * auto.c - hints by themselves: what arrives on a socket, and the launch that follows it
 *
 * The functions by which a server hears of a request call the real ones. With --hint=auto they then
 * note the arrival; without, that is all.
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "agent/agent.h"
#include "agent/foresee.h"
#include "basic/clock.h"

enum kind { READ, RECV, ACCEPT, EPOLL, KINDS };

static struct foresee kinds[KINDS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* tried only: what is missed is missed */
static _Atomic bool made;                                /* the hold that is on is ours */

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

	if (pthread_mutex_trylock(&lock))
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

/* ---- the real ones --------------------------------------------------------------------------- */

static void __attribute__((constructor)) watch_launches(void)
{
	if (agent_settings.hint_auto && !agent_settings.inert)
		agent_hooks_watch();
}

/* Looked up at its first call, which may come before any constructor. */
#define REAL(name) \
	({ \
		static __typeof__(&name) real_; \
		__typeof__(&name) f_ = __atomic_load_n(&real_, __ATOMIC_RELAXED); \
		if (__builtin_expect(!f_, 0)) { \
			f_ = (__typeof__(&name))dlvsym(RTLD_NEXT, #name, "GLIBC_2.2.5") \
				     ?: (__typeof__(&name))agent_next(#name); \
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
