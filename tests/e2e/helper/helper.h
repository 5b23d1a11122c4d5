/* SPDX-License-Identifier: MIT */
/*
 * helper.h - the verbs of the tests' helper, and what they share
 *
 * A verb gets its own words alone, as many as main.c's table asks for at least; its result is the exit status.
 */
#ifndef GPUSCHED_TESTS_HELPER_H
#define GPUSCHED_TESTS_HELPER_H

#include <stdbool.h>
#include <stdint.h>

#define VERB(name) int verb_##name(int n, char **words)

/* client.c */
VERB(tsgs);
VERB(fall);
VERB(leave);
VERB(drop);
VERB(frees);
VERB(churn);
VERB(hoard);
VERB(alias);
VERB(noise);
VERB(flood);
VERB(forge);
VERB(hostile);
/* life.c */
VERB(fork);
VERB(pass);
VERB(renumber);
VERB(exec);
VERB(execclose);
VERB(hold);
VERB(leaderless);
VERB(late);
VERB(threads);
VERB(words);
VERB(lie);
VERB(stopthread);
VERB(holdcall);
/* day.c */
VERB(day);
/* lock.c */
VERB(lock);
VERB(stall);
/* meter.c */
VERB(beat);
VERB(forks);
/* park.c */
VERB(park);
VERB(memory);
/* slip.c */
VERB(inflight);
VERB(compat);
VERB(uring);
VERB(dups);
VERB(slices);
VERB(named);
/* table.c */
VERB(oldtable);
VERB(share);
VERB(version);
/* the others: a file each */
VERB(ask);
VERB(bus);
VERB(crowd);
VERB(garbage);
VERB(ping);
VERB(elf);
VERB(replay);
VERB(cuda);
VERB(graph);
VERB(calls);
VERB(library);
VERB(user);
VERB(switches);
VERB(ring);
VERB(runtime);

/* Word @i as a number, in any of C's notations; 0 if there are fewer words. */
uint32_t number(int n, char **words, int i);

/* Ends the program with @what and errno's reason. */
void die(const char *what) __attribute__((noreturn));

/* Prints @line at once. */
void say(const char *line);

/* Says "ready PID" and waits for the end of the input; returns 0. */
int until_eof(void);

/* Hands an open file to another process, and takes it there. */
void send_fd(int sock, int fd);
int take_fd(int sock);

#endif /* GPUSCHED_TESTS_HELPER_H */
