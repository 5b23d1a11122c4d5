/* SPDX-License-Identifier: MIT */
/*
 * program.h - act as a program with a GPU context, and read the stand-in driver's state
 *
 * The driver's state comes from its debugfs files, which gpusched never writes.
 */
#ifndef PROGRAM_H
#define PROGRAM_H

#include <stdbool.h>
#include <stdint.h>

#include "gpusched/module.h"

#define SUBDEVICE 0x5c000002u
#define PATIENCE_S 60

/* Every function below ends the test if the driver itself fails. */
struct program {
	int fd;
	uint32_t client;
};
struct program program_new(void);
void program_end(struct program *p);
/* Makes a TSG and its channels; the first channel's handle is @tsg + 0x100000. */
void tsg_new(struct program *p, uint32_t tsg, unsigned int nchannels);
uint32_t tsg_try(struct program *p, uint32_t tsg); /* makes one, no channels; RM's status */
uint32_t channel_of(uint32_t tsg, unsigned int i);
void tsg_free(struct program *p, uint32_t tsg);
/* Returns RM's status, as the next four functions do. */
uint32_t tsg_schedule(struct program *p, uint32_t tsg, bool enable);
/*
 * @words: the call's parameters, which another thread may change meanwhile; @size: the size that
 * the call states.
 */
uint32_t tsg_schedule_by(struct program *p, uint32_t tsg, void *words, uint32_t size);
uint32_t tsg_set_timeslice(struct program *p, uint32_t tsg, uint64_t us);
uint32_t tsg_set_interleave(struct program *p, uint32_t tsg, uint32_t level);
uint32_t tsg_preempt(struct program *p, uint32_t tsg);
uint64_t tsg_timeslice(struct program *p, uint32_t tsg);
uint32_t channel_token(struct program *p, uint32_t channel);

/* Returns a value of an object from the GSP's state, or -1 if the GSP knows no such object. */
long gsp(uint32_t client, uint32_t handle, const char *key);
void gsp_refuses(bool all);
/*
 * Puts new TSGs into a MIG partition: 256 * (GPU instance + 1) + compute instance + 1. A compute
 * instance part of 0 means none; 0 as a whole means that the GPU is not divided.
 */
void rm_divides(uint32_t partition);
/* Makes RM wait @ms before it reads a control's parameters. */
void rm_delays(unsigned int ms);
/* Waits up to PATIENCE_S until gsp() returns @value. */
bool gsp_becomes(uint32_t client, uint32_t handle, const char *key, long value);

/* ---- the node: functions return 0 or -errno -------------------------------------------------- */

int node_open(void); /* returns a descriptor, or ends the test */
int node_hold(int node);
int node_beat(int node);
void node_keep(int node);  /* holds the node; a thread sends heartbeats until @node is closed */
void node_rest(bool rest); /* true: the thread pauses its heartbeats; false: it goes on */
int node_about(int node, struct gpusched_module_about *about);
struct gpusched_module_tell telling(struct program *p, uint32_t tsg, uint32_t *channels,
				    unsigned int n);
int node_tell(int node, struct program *p, uint32_t tsg, unsigned int nchannels);
int node_forget(int node, struct program *p, uint32_t tsg);
/* Sets one setting. @status gets RM's status; it may be NULL. */
int node_set(int node, struct program *p, uint32_t tsg, uint32_t bit, uint32_t value,
	     uint32_t *status);
int node_unset(int node, struct program *p, uint32_t tsg, uint32_t bit);
int node_preempt(int node, struct program *p, uint32_t tsg, uint32_t us);
/* Returns how many entries this process and thread have; *ret gets the first. */
int node_list(int node, uint32_t pid, uint32_t tid, struct gpusched_module_entry *ret);

/* ---- points ---------------------------------------------------------------------------------- */

void pass(bool good, const char *format, ...) __attribute__((format(printf, 2, 3)));
void is(long got, long want, const char *name);
_Noreturn void die(const char *what);

/* The parts of the tests: suites.c, hooked.c, hostile.c, types.c, examples.c, cost.c, text.c. */
void suite_node(void);
void owner(void); /* makes a TSG, prints its client and handle, and obeys lines of input */
void suite_beat(void);
void suite_policy(int loader);
void suite_slow(void);
void suite_hooks(void);
void suite_types(void);
void suite_example(const char *name);
void suite_hostile(unsigned int seconds);
_Noreturn void storm(void);
_Noreturn void hold_and_wait(void);
_Noreturn void tell_and_wait(unsigned int n);
void cost(void);
void text(const char *name); /* prints the code of a function or module in memory */

#endif /* PROGRAM_H */
