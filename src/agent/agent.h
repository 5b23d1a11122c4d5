/* SPDX-License-Identifier: MIT */
/*
 * agent.h - inside of libgpusched-agent.so: what its files share
 *
 * The library lives in somebody else's program. So: nothing happens before that program's cuInit()
 * but looking names up; every function leaves errno alone; what it opens, it opens in threads with
 * descriptors of their own; nothing is printed; failures are ignored.
 */
#ifndef GPUSCHED_AGENT_AGENT_H
#define GPUSCHED_AGENT_AGENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "wire/agent.h"
#include "rm/way.h"

#define EXPORT __attribute__((visibility("default")))

/* From the environment, read once when the library is loaded. */
struct agent_settings {
	bool inert;     /* AT_SECURE */
	bool hint_auto; /* GPUSCHED_AGENT_HINT=auto */
	bool lc;        /* GPUSCHED_AGENT_CLASS=lc: may pre-switch */
	int signal;     /* GPUSCHED_AGENT_SIGNAL: SIGRTMIN+N; 0: none */
	char class_[GPUSCHED_COMM_LEN];
	char blind[96]; /* why launches are left alone; "": they are not */
	bool blocking;  /* CUDA_LAUNCH_BLOCKING: a launch waits for its end */
};
extern struct agent_settings agent_settings;

/* ---- settings.c ------------------------------------------------------------------------------ */
void agent_settings_read(void);

/* ---- thread.c: threads of ours --------------------------------------------------------------- */

/* The agent has begun in this process, not in the one that forked it. */
bool agent_is_up(void);
/* From now on it has. false: it had. */
bool agent_take_process(void);
/* A detached thread that takes no signal and shares no descriptor. */
int agent_thread(void *(*fn)(void *));
/* The calling thread is one of those: what it hears is no request. */
extern __attribute__((visibility("hidden"), tls_model("initial-exec"))) __thread bool agent_own;
/* For the beginning of such a thread: 0, or it must end. */
int agent_thread_begin(const char *name);

/* ---- agent.c: life --------------------------------------------------------------------------- */

/* The program uses CUDA: socket and threads. Again in a child of fork(). */
void agent_start(void);

/* ---- serve.c: the socket --------------------------------------------------------------------- */
void *agent_serve(void *unused);
/* A thread of the program that ends it when all its own have ended. */
void agent_leave_last(void);

/* ---- tsgs.c: the program's own TSGs ---------------------------------------------------------- */

/* In a thread of ours only, since these open and copy descriptors. */
unsigned int agent_tsgs_list(struct gpusched_tsg *ret, unsigned int max, uint32_t *ret_more);
/* These two: true: the program is to give way. */
bool agent_tsgs_call(const struct gs_agent_request *rq, struct gs_agent_answer *ret);
/* As the page asks: number 0 means all compute TSGs. */
bool agent_tsgs_call_number(uint32_t number, uint32_t op, uint32_t arg, struct gs_agent_answer *a);
/* In a signal handler: SET_TIMESLICE and PREEMPT alone, on the program's own descriptor. */
int agent_tsgs_call_at_once(uint32_t number, uint32_t op, uint32_t arg);
void agent_tsgs_after_fork(void);

/* ---- page.c: the page, its thread, its signal ------------------------------------------------ */

/* In the serving thread, once. */
int agent_page_make(void);
/* A descriptor of the page in the calling thread's table, close() it. -errno. */
int agent_page_open(void);
/* One request through the page by the program itself, until it is done or 1 s has passed. */
int agent_page_ask(uint32_t op, uint32_t number, uint32_t arg);
void agent_page_yield(void); /* somebody wants the GPU */
bool agent_page_yield_asked(void);
void agent_page_yielded(void);
void agent_page_after_fork(void);

/* ---- sheet.c: beside a daemon ----------------------------------------------------------------- */

/* In the serving thread, about once a second. */
void agent_sheet_turn(const struct gs_agent_facts *facts);
/* How much of any second pre-switches may take: a quarter, or what a living daemon allows. */
uint64_t agent_share_ns(uint64_t now_ns);
/* The daemon preempted or suspended this program last; 0: not yet. CLOCK_MONOTONIC. */
uint64_t agent_sheet_yield_ns(void);
/* How long a switch takes, as a daemon says; without one an H200's. */
uint32_t agent_lead_us(void);
void agent_sheet_after_fork(void);

#endif /* GPUSCHED_AGENT_AGENT_H */
