/* SPDX-License-Identifier: MIT */
/*
 * board.h - shares claims of a GPU among one user's processes, through a page of shared memory
 *
 * Each process has one line in the page, with the priorities of its queues and a claim. The claim
 * says which priority the process's most important work has, and since when that work has made no
 * progress. A claim lapses unless it is renewed, so a killed or stopped process does not hold
 * others back. Any process of the same uid can write to the page: a user's programs are not
 * protected from each other.
 */
#ifndef GPUSCHED_PREEMPT_BOARD_H
#define GPUSCHED_PREEMPT_BOARD_H

#include <stdbool.h>
#include <stdint.h>

#define BOARD_CLAIM_NS 500000000ull /* how long a claim holds */

struct board;

/*
 * Opens the board for a GPU; @gpu is a number that identifies it in all processes. If the user has
 * no directory for the page, this process gets a private page. Returns 0 or -ENOMEM.
 */
int board_new(uint64_t gpu, struct board **ret);
void board_free(struct board *b);
/* Why other processes do not see this process's line; NULL: they see it. */
const char *board_why_alone(const struct board *b);

/*
 * Writes this process's line; @priority -1: no claim. If the priority or the levels have changed,
 * wakes all threads that sleep on the board.
 */
void board_tell(struct board *b, uint32_t levels, int priority, uint64_t since_ns, uint64_t now);
struct board_others {
	int priority;      /* priority of the highest claim; -1: there is none */
	uint64_t since_ns; /* since when the work of that claim has made no progress */
	uint32_t levels;   /* one bit for each priority of the other processes' queues */
};
/* Sums up the lines of all other processes for the same GPU. */
struct board_others board_read(const struct board *b, uint64_t now);

/*
 * board_seen() returns a counter of changes. board_sleep() sleeps until that counter is no longer
 * @seen, at most for @ns.
 */
uint32_t board_seen(const struct board *b);
void board_sleep(struct board *b, uint32_t seen, uint64_t ns);
void board_wake(struct board *b);

#endif /* GPUSCHED_PREEMPT_BOARD_H */
