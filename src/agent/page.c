// SPDX-License-Identifier: MIT
/*
 * page.c - serves requests in a page of shared memory, one at a time, by futex or signal
 *
 * The page is a memory file that is sealed before it is given to another process, so no process can
 * shrink it. Processes that have it belong to this user or root. Each word is read only once, since
 * they may change it meanwhile.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "agent/agent.h"
#include "agent/launches.h"
#include "basic/cleanup.h"
#include "basic/clock.h"

#define PAGE_BYTES 4096 /* the kernel maps whole pages of its own size */
#define WAIT_NS NS_PER_S

static struct gs_agent_page *_Atomic page;
static int page_fd = -1; /* a descriptor in the serving thread's table */
static _Atomic bool working;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic uint32_t yielded; /* value of @yields when the program last gave way */
/* How often the program was asked to yield; the page has a copy. */
static _Atomic uint32_t yields;
/* When the program last gave way: earlier preempts of a daemon are followed already. */
static _Atomic uint64_t yielded_ns;

void agent_page_after_fork(void)
{
	page = NULL; /* a child does not have the page (MADV_DONTFORK) */
	page_fd = -1;
	working = false;
	pthread_mutex_init(&lock, NULL);
}

static long futex(_Atomic uint32_t *word, int op, uint32_t value, const struct timespec *t)
{
	return syscall(SYS_futex, word, op, value, t, NULL, 0);
}

static void answer_one(struct gs_agent_page *p, uint32_t asked)
{
	struct gs_agent_answer a = { 0 };
	uint32_t op = p->op, number = p->number, arg = p->arg;

	if (agent_tsgs_call_number(number, op, arg, &a))
		agent_page_yield();
	p->err = a.err;
	p->status = a.status;
	p->answered = asked;
	futex(&p->answered, FUTEX_WAKE, INT32_MAX, NULL);
}

static void *work(void *unused)
{
	struct gs_agent_page *p = page;

	if (agent_thread_begin("gpusched-page"))
		return NULL;
	for (;;) {
		uint32_t asked = p->asked;

		/*
		 * Serve whatever request number the page has: a corrupted page harms only this
		 * program.
		 */
		if (asked == p->answered)
			futex(&p->asked, FUTEX_WAIT, asked, NULL);
		else
			answer_one(p, asked);
	}
}

/* Uses only words of the page and one ioctl, so it disturbs nothing that the thread was doing. */
static void on_signal(int sig)
{
	struct gs_agent_page *p = page;
	int saved = errno;
	uint32_t asked;

	if (!p || !agent_thread_is_up())
		return;
	asked = p->asked;
	if (asked != p->answered) {
		p->err = agent_tsgs_call_at_once(p->number, p->op, p->arg);
		p->answered = asked;
		futex(&p->answered, FUTEX_WAKE, INT32_MAX, NULL);
	}
	errno = saved;
}

/*
 * Handles the signal by which the page's holder announces a request. No thread of ours is needed
 * then.
 */
static void take_signal(void)
{
	struct sigaction sa = { .sa_handler = on_signal, .sa_flags = SA_RESTART }, was;

	if (!sigaction(agent_settings.signal, NULL, &was) && was.sa_handler == SIG_DFL)
		sigaction(agent_settings.signal, &sa, NULL);
}

static int make_page(int *ret_fd)
{
	CLEANUP_FD int fd = memfd_create("gpusched-agent", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	struct gs_agent_page *p;

	if (fd < 0 || ftruncate(fd, PAGE_BYTES) ||
	    fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL))
		return -errno;
	p = mmap(NULL, PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED)
		return -errno;
	madvise(p, PAGE_BYTES, MADV_DONTFORK);
	p->magic = GS_AGENT_MAGIC;
	p->size = sizeof(*p);
	p->yield = yields;
	page = p;
	*ret_fd = TAKE_FD(fd);
	return 0;
}

int agent_page_make(void)
{
	return page ? 0 : make_page(&page_fd);
}

/*
 * Starts the thread that serves the page, or takes the signal, at the first request. Called with
 * the lock held.
 */
static int ready(void)
{
	int r = 0;

	if (!page)
		return -ENODEV;
	if (working)
		return 0;
	if (agent_settings.signal)
		take_signal();
	else
		r = agent_thread(work);
	working = !r;
	return r;
}

int agent_page_open(void)
{
	uint64_t graphs, launches;
	int r;

	pthread_mutex_lock(&lock);
	r = ready();
	if (!r) {
		launches_counts(&launches, &graphs);
		page->launches = launches;
		r = fcntl(page_fd, F_DUPFD_CLOEXEC, 3);
		r = r < 0 ? -errno : r;
	}
	pthread_mutex_unlock(&lock);
	return r;
}

/* ---- the program's own ----------------------------------------------------------------------- */

static int ask(struct gs_agent_page *p, uint32_t op, uint32_t number, uint32_t arg)
{
	uint64_t end = gs_now_ns() + WAIT_NS;
	uint32_t mine, is;

	p->op = op;
	p->number = number;
	p->arg = arg;
	mine = ++p->asked;
	futex(&p->asked, FUTEX_WAKE, INT32_MAX, NULL);
	while ((is = p->answered) != mine) {
		uint64_t now = gs_now_ns(), left = now < end ? end - now : 0;
		struct timespec t = { .tv_sec = (time_t)(left / NS_PER_S),
				      .tv_nsec = (long)(left % NS_PER_S) };

		if (!left)
			return -ETIMEDOUT;
		futex(&p->answered, FUTEX_WAIT, is, &t);
	}
	return p->err;
}

int agent_page_ask(uint32_t op, uint32_t number, uint32_t arg)
{
	int r;

	if (!agent_thread_is_up())
		return -ENODEV;
	pthread_mutex_lock(&lock);
	r = ready();
	if (!r && agent_settings.signal)
		r = agent_tsgs_call_at_once(number, op, arg);
	else if (!r)
		r = ask(page, op, number, arg);
	pthread_mutex_unlock(&lock);
	return r;
}

void agent_page_yield(void)
{
	yields++;
	if (page)
		page->yield = yields;
}

bool agent_page_yield_asked(void)
{
	return yields != yielded || (agent_thread_is_up() && agent_sheet_yield_ns() > yielded_ns);
}

void agent_page_yielded(void)
{
	yielded = yields;
	yielded_ns = gs_now_ns();
}
