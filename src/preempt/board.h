/* SPDX-License-Identifier: MIT */
/*
 * board.h - a page of shared memory through which one user's processes share claims of a GPU
 *
 * A process writes only its own line: the priorities of its queues, and a claim. A claim has the
 * priority of the process's highest work, and the time since when that work has made no progress. A
 * claim lapses unless it is renewed. So a process that is killed or stopped holds nobody back. Any
 * process of the same uid may write the page: a user's programs are not protected from each other.
 */
#ifndef GPUSCHED_PREEMPT_BOARD_H
#define GPUSCHED_PREEMPT_BOARD_H

#include <stdbool.h>
#include <stdint.h>

#define BOARD_CLAIM_NS 500000000ull /* how long a claim holds */

struct board;

/*
 * Opens the page of a GPU; @gpu is a number that is the same in all processes. Without a folder the
 * page is for this process alone. -ENOMEM.
 */
int board_new(uint64_t gpu, struct board **ret);
void board_free(struct board *b);
/* Why other processes do not see the page; NULL: they see it. */
const char *board_why_alone(const struct board *b);

/*
 * Writes this process's line. Wakes all threads that sleep on the board if the priority or the
 * levels have changed.
 */
void board_tell(struct board *b, uint32_t levels, int priority, uint64_t since_ns, uint64_t now);
struct board_others {
	int priority; /* priority of the highest claim; -1: there is none */
	uint64_t since_ns;
	uint32_t levels; /* one bit for each priority of the other processes' queues */
};
struct board_others board_read(const struct board *b, uint64_t now);

/*
 * board_seen() tells the board's state. board_sleep() sleeps until that has changed since @seen, or
 * for @ns.
 */
uint32_t board_seen(const struct board *b);
void board_sleep(struct board *b, uint32_t seen, uint64_t ns);
void board_wake(struct board *b);

#endif /* GPUSCHED_PREEMPT_BOARD_H */
