/* SPDX-License-Identifier: MIT */
/*
 * helper.h - declares the verbs of the tests' helper, and their common functions
 *
 * A verb gets the words after its name. main.c has checked their number. Its result is the exit
 * status.
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
VERB(draw);
VERB(flood);
VERB(forge);
VERB(hostile);
/* life.c */
VERB(fork);
VERB(pass);
VERB(bequeath);
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
VERB(shares);
/* slip.c */
VERB(inflight);
VERB(compat);
VERB(uring);
VERB(dups);
VERB(slices);
VERB(named);
/* table.c */
VERB(share);
VERB(version);
/* each of these in the file of its name; ping in crowd.c */
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
/* peers.c */
VERB(entries);
VERB(watches);
VERB(unblock);
VERB(runtime);

/* Word @i as a number, in any of C's notations; 0 if there are fewer words. */
uint32_t number(int n, char **words, int i);

/* Ends the program with @what and errno's reason. */
void die(const char *what) __attribute__((noreturn));

/* Prints @line and flushes. */
void say(const char *line);

/* Prints "ready PID" and waits for the end of stdin; returns 0. */
int until_eof(void);

/* Send a descriptor over a socket, and receive it at the other end. */
void send_fd(int sock, int fd);
int take_fd(int sock);

#endif /* GPUSCHED_TESTS_HELPER_H */
