// SPDX-License-Identifier: MIT
#include "preempt/board.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "wire/agent.h"

#define LINES 128u
#define VERSION 1u /* in the file's name, so that different versions do not share a page */
#define PRIORITY_BITS 4

/* One line of the page. Only the process that owns it writes the claim and the levels. */
struct line {
	/* upper half: pid; lower half: tells the lines of one process apart; 0: the line is free */
	_Atomic uint64_t owner;
	_Atomic uint64_t gpu; /* the number given to board_new() */
	/* lower 4 bits: priority + 1; upper bits: when the claim lapses, in ns; 0: no claim */
	_Atomic uint64_t claim;
	_Atomic uint64_t since_ns; /* since when the claim's work has made no progress */
	_Atomic uint32_t levels;   /* one bit for each priority of the process's queues */
};

struct page {
	_Atomic uint32_t changes; /* counts changes; threads sleep on this word (futex) */
	struct line lines[LINES];
};

struct board {
	struct page *page;
	struct line *mine; /* NULL: no line was free */
	uint64_t gpu;
	const char *why_alone; /* see board_why_alone() */
};

/* ---- the page -------------------------------------------------------------------------------- */

static int open_page(void)
{
	char dir[80], path[120];
	CLEANUP_FD int fd = -1;
	struct stat st;
	int r = gs_agent_way_dir_check(gs_agent_way_dir(dir, sizeof(dir)), 1);

	if (r)
		return r;
	snprintf(path, sizeof(path), "%s/gpreempt-%u", dir, VERSION);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0 || fstat(fd, &st))
		return -errno;
	if (!S_ISREG(st.st_mode) || st.st_uid != geteuid() || st.st_mode & 077)
		return -EPERM;
	if (st.st_size < (off_t)sizeof(struct page) && ftruncate(fd, sizeof(struct page)))
		return -errno;
	return TAKE_FD(fd);
}

static void map_page(struct board *b)
{
	CLEANUP_FD int fd = open_page();
	int flags = fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED;
	void *p =
		mmap(NULL, sizeof(struct page), PROT_READ | PROT_WRITE, flags, fd < 0 ? -1 : fd, 0);

	if (fd < 0)
		b->why_alone = "no folder of this user's (XDG_RUNTIME_DIR)";
	b->page = p == MAP_FAILED ? NULL : p;
}

/* True if a line has no owner, or its owner has ended. */
static bool is_free(uint64_t owner)
{
	return !owner || (kill((pid_t)(owner >> 32), 0) && errno == ESRCH);
}

static void take_line(struct board *b)
{
	uint64_t me = (uint64_t)getpid() << 32 | (uint32_t)(uintptr_t)b >> 4 | 1;

	for (unsigned int i = 0; i < LINES && !b->mine; i++) {
		struct line *l = &b->page->lines[i];
		uint64_t was = l->owner;

		if (!is_free(was))
			continue;
		if (!__atomic_compare_exchange_n((uint64_t *)&l->owner, &was, me, false,
						 __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
			continue;
		l->claim = 0;
		l->levels = 0;
		l->gpu = b->gpu;
		b->mine = l;
	}
	if (!b->mine)
		b->why_alone = "too many of this user's processes";
}

int board_new(uint64_t gpu, struct board **ret)
{
	CLEANUP_FREE struct board *b = calloc(1, sizeof(*b));

	if (!b)
		return -ENOMEM;
	b->gpu = gpu;
	map_page(b);
	if (!b->page)
		return -ENOMEM;
	take_line(b);
	*ret = TAKE_PTR(b);
	return 0;
}

void board_free(struct board *b)
{
	if (!b)
		return;
	if (b->mine) {
		b->mine->claim = 0;
		b->mine->levels = 0;
		b->mine->owner = 0;
	}
	board_wake(b);
	munmap(b->page, sizeof(*b->page));
	free(b);
}

const char *board_why_alone(const struct board *b)
{
	return b->why_alone;
}

/* ---- lines ----------------------------------------------------------------------------------- */

static int priority_of(uint64_t claim)
{
	return (int)(claim & ((1u << PRIORITY_BITS) - 1)) - 1;
}

void board_tell(struct board *b, uint32_t levels, int priority, uint64_t since_ns, uint64_t now)
{
	uint64_t until = (now + BOARD_CLAIM_NS) >> PRIORITY_BITS << PRIORITY_BITS;
	uint64_t claim = priority < 0 ? 0 : until | (uint64_t)(priority + 1);
	bool changed;

	if (!b->mine)
		return;
	changed = priority_of(b->mine->claim) != priority || b->mine->levels != levels;
	b->mine->since_ns = since_ns;
	b->mine->claim = claim;
	b->mine->levels = levels;
	if (changed)
		board_wake(b);
}

struct board_others board_read(const struct board *b, uint64_t now)
{
	struct board_others o = { .priority = -1 };

	for (unsigned int i = 0; i < LINES; i++) {
		const struct line *l = &b->page->lines[i];
		uint64_t claim = l->claim, since = l->since_ns;
		int priority = priority_of(claim);

		if (l == b->mine || !l->levels || l->gpu != b->gpu || is_free(l->owner))
			continue;
		o.levels |= l->levels;
		if (claim <= now || claim > now + 2 * BOARD_CLAIM_NS || priority < o.priority)
			continue;
		if (priority > o.priority || since < o.since_ns)
			o.since_ns = since;
		o.priority = priority;
	}
	return o;
}

/* ---- sleeping -------------------------------------------------------------------------------- */

uint32_t board_seen(const struct board *b)
{
	return b->page->changes;
}

void board_sleep(struct board *b, uint32_t seen, uint64_t ns)
{
	struct timespec t = { .tv_sec = (time_t)(ns / NS_PER_S), .tv_nsec = (long)(ns % NS_PER_S) };

	syscall(SYS_futex, &b->page->changes, FUTEX_WAIT, seen, &t, NULL, 0);
}

void board_wake(struct board *b)
{
	b->page->changes++;
	syscall(SYS_futex, &b->page->changes, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}
