// SPDX-License-Identifier: MIT
#include "rm/wait.h"

#include <errno.h>
#include <stddef.h>
#include <unistd.h>

#include "basic/clock.h"
#include "basic/log.h"
#include "basic/user_limits.h"

#define PATIENCE_NS (300 * NS_PER_MS)
#define IMPATIENCE_NS (20 * NS_PER_MS)
#define IMPATIENT_FOR_NS (30 * NS_PER_S)
#define SAY_AGAIN_NS (60 * NS_PER_S)
#define MAX_STUCK 256
#define GIVEN_UP UINT64_MAX

/*
 * Threads that were given up. The word in the first field has our own pid in its upper half, and
 * the pid of the process for which the thread waits in its lower half. A forked child does not have
 * its parent's threads; its own pid differs, so it ignores their entries.
 */
static struct {
	_Atomic uint64_t who;
	_Atomic uint32_t uid;
} stuck[MAX_STUCK];
static _Atomic uint64_t impatient_until_ns, said_ns;

static uint64_t word_of(pid_t pid)
{
	return (uint64_t)getpid() << 32 | (uint32_t)pid;
}

static bool is_stuck(pid_t pid)
{
	uint64_t word = word_of(pid);

	for (size_t i = 0; i < MAX_STUCK; i++)
		if (atomic_load(&stuck[i].who) == word)
			return true;
	return false;
}

static unsigned int count(uid_t uid, bool all)
{
	uint64_t ours = word_of(0) >> 32;
	unsigned int n = 0;

	for (size_t i = 0; i < MAX_STUCK; i++)
		n += atomic_load(&stuck[i].who) >> 32 == ours &&
		     (all || atomic_load(&stuck[i].uid) == uid);
	return n;
}

static void put(const struct gs_wait *w)
{
	uint64_t word = word_of(w->pid);

	for (size_t i = 0; i < MAX_STUCK; i++) {
		uint64_t was = atomic_load(&stuck[i].who);

		if (was >> 32 == word >> 32 ||
		    !atomic_compare_exchange_strong(&stuck[i].who, &was, word))
			continue;
		atomic_store(&stuck[i].uid, w->uid);
		return;
	}
}

static void take(const struct gs_wait *w)
{
	const uint64_t word = word_of(w->pid);

	for (size_t i = 0; i < MAX_STUCK; i++) {
		uint64_t was = word;

		if (atomic_compare_exchange_strong(&stuck[i].who, &was, 0))
			return;
	}
}

static void say(pid_t pid)
{
	uint64_t now = gs_now_ns(), was = atomic_load(&said_ns);

	if ((was && now - was < SAY_AGAIN_NS) ||
	    !atomic_compare_exchange_strong(&said_ns, &was, now))
		return;
	gs_log(LOG_WARNING,
	       "process %d holds the lock of its execve(): it is not called; others are", (int)pid);
}

int gs_wait_begin(struct gs_wait *w, pid_t pid, uid_t uid)
{
	if (!w)
		return 0;
	if (atomic_load(&impatient_until_ns) &&
	    (is_stuck(pid) || count(uid, false) >= GS_USER_MAY_STUCK ||
	     count(uid, true) >= MAX_STUCK))
		return -ETIMEDOUT;
	w->pid = pid;
	w->uid = uid;
	atomic_store(&w->since_ns, gs_now_ns());
	return 0;
}

bool gs_wait_end(struct gs_wait *w)
{
	uint64_t since = w ? atomic_load(&w->since_ns) : 0;

	if (!w || (since != GIVEN_UP && atomic_compare_exchange_strong(&w->since_ns, &since, 0)))
		return true;
	take(w);
	return false;
}

uint64_t gs_wait_patience(void)
{
	return gs_now_ns() < atomic_load(&impatient_until_ns) ? IMPATIENCE_NS : PATIENCE_NS;
}

bool gs_wait_is_long(const struct gs_wait *w)
{
	uint64_t since = atomic_load(&w->since_ns);

	return since && since != GIVEN_UP && gs_now_ns() >= since + gs_wait_patience();
}

bool gs_wait_give_up(struct gs_wait *w, uint64_t patience_ns)
{
	uint64_t since = atomic_load(&w->since_ns), now = gs_now_ns();
	struct gs_wait who = { .pid = w->pid, .uid = w->uid };

	if (!since || since == GIVEN_UP || now < since + patience_ns)
		return false;
	put(&who); /* comes first: once given up, the thread may return and call take() at once */
	atomic_store(&impatient_until_ns, now + IMPATIENT_FOR_NS);
	if (!atomic_compare_exchange_strong(&w->since_ns, &since, GIVEN_UP)) {
		take(&who);
		return false;
	}
	say(who.pid);
	return true;
}

bool gs_wait_is_given_up(const struct gs_wait *w)
{
	return atomic_load(&w->since_ns) == GIVEN_UP;
}

bool gs_wait_is_slow(uid_t uid)
{
	return atomic_load(&impatient_until_ns) && count(uid, false);
}
