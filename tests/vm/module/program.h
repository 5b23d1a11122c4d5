/* SPDX-License-Identifier: MIT */
/*
 * program.h - a program with a GPU context, as far as the stand-in driver goes; and what the driver
 * holds by its own word (debugfs), which gpusched never writes
 */
#ifndef PROGRAM_H
#define PROGRAM_H

#include <stdbool.h>
#include <stdint.h>

#include "gpusched/module.h"

#define SUBDEVICE 0x5c000002u
#define PATIENCE_S 60

/* Every function ends the test where the driver itself fails. */
struct program {
	int fd;
	uint32_t client;
};
struct program program_new(void);
void program_end(struct program *p);
/* Channels are HANDLE + 0x100000, and so on. */
void tsg_new(struct program *p, uint32_t tsg, unsigned int nchannels);
uint32_t tsg_try(struct program *p, uint32_t tsg); /* without channels; RM's status */
uint32_t channel_of(uint32_t tsg, unsigned int i);
void tsg_free(struct program *p, uint32_t tsg);
/* RM's status. */
uint32_t tsg_schedule(struct program *p, uint32_t tsg, bool enable);
/* @words: its parameters, which somebody may change meanwhile; @size: what is said of them. */
uint32_t tsg_schedule_by(struct program *p, uint32_t tsg, void *words, uint32_t size);
uint32_t tsg_set_timeslice(struct program *p, uint32_t tsg, uint64_t us);
uint32_t tsg_set_interleave(struct program *p, uint32_t tsg, uint32_t level);
uint32_t tsg_preempt(struct program *p, uint32_t tsg);
uint64_t tsg_timeslice(struct program *p, uint32_t tsg);
uint32_t channel_token(struct program *p, uint32_t channel);

/* Of what GSP was told; -1: it knows no such object. */
long gsp(uint32_t client, uint32_t handle, const char *key);
void gsp_refuses(bool all);
/* Of new TSGs: 256 * (GPU instance + 1) + compute instance + 1, 0 there: in none; 0: it is whole. */
void rm_divides(uint32_t partition);
/* RM reads a control's parameters so much later. */
void rm_delays(unsigned int ms);
/* It comes to be so within PATIENCE_S. */
bool gsp_becomes(uint32_t client, uint32_t handle, const char *key, long value);

/* ---- the node; 0 or -errno ------------------------------------------------------------------- */

int node_open(void); /* ends the test if it cannot */
int node_hold(int node);
int node_beat(int node);
void node_keep(int node);  /* holds it, and a thread beats until it is closed */
void node_rest(bool rest); /* that thread does not beat meanwhile */
int node_about(int node, struct gpusched_module_about *about);
struct gpusched_module_tell telling(struct program *p, uint32_t tsg, uint32_t *channels,
				    unsigned int n);
int node_tell(int node, struct program *p, uint32_t tsg, unsigned int nchannels);
int node_forget(int node, struct program *p, uint32_t tsg);
/* One setting; @status may be NULL. */
int node_set(int node, struct program *p, uint32_t tsg, uint32_t bit, uint32_t value,
	     uint32_t *status);
int node_unset(int node, struct program *p, uint32_t tsg, uint32_t bit);
int node_preempt(int node, struct program *p, uint32_t tsg, uint32_t us);
/* How many there are of that pid and thread; the first is in *ret. */
int node_list(int node, uint32_t pid, uint32_t tid, struct gpusched_module_entry *ret);

/* ---- points ---------------------------------------------------------------------------------- */

void pass(bool good, const char *format, ...) __attribute__((format(printf, 2, 3)));
void is(long got, long want, const char *name);
_Noreturn void die(const char *what);

/* The parts of the tests: suites.c, hooked.c, hostile.c, types.c, examples.c, cost.c, text.c. */
void suite_node(void);
void owner(void); /* makes a TSG, says its names, and does what each line says */
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
void text(const char *name); /* prints its code as it lies in memory */

#endif /* PROGRAM_H */
