/* SPDX-License-Identifier: MIT */
/*
 * agent.h - inside of libgpusched-agent.so: what its files share
 *
 * The library lives in another program, which must not notice it. Before that program's cuInit()
 * the library only looks names up. Every function leaves errno alone. Files are opened only in
 * threads that have descriptors of their own. Nothing is printed; failures are ignored.
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

/* Settings from the environment, read once when the library is loaded. */
struct agent_settings {
	bool inert;     /* AT_SECURE */
	bool hint_auto; /* GPUSCHED_AGENT_HINT=auto */
	bool lc;        /* GPUSCHED_AGENT_CLASS=lc: may pre-switch */
	int signal;     /* GPUSCHED_AGENT_SIGNAL: SIGRTMIN+N; 0: none */
	char class_[GPUSCHED_COMM_LEN];
	char blind[96]; /* why launches are left alone; "": they are counted */
	bool blocking;  /* CUDA_LAUNCH_BLOCKING: a launch waits for its end */
};
extern struct agent_settings agent_settings;

/* ---- settings.c ------------------------------------------------------------------------------ */
void agent_settings_read(void);

/* ---- thread.c: threads of ours --------------------------------------------------------------- */

/* True if the agent has begun in this process, and not in the process that forked it. */
bool agent_is_up(void);
/* Marks the agent as begun in this process. Returns false if it was. */
bool agent_take_process(void);
/* Starts a detached thread that takes no signal and shares no descriptor. */
int agent_thread(void *(*fn)(void *));
/* True in threads of the agent: CUDA calls there are no requests of the program. */
extern __attribute__((visibility("hidden"), tls_model("initial-exec"))) __thread bool agent_own;
/* Runs first in such a thread. Returns 0, or the thread must end. */
int agent_thread_begin(const char *name);

/* ---- agent.c: life --------------------------------------------------------------------------- */

/* The program uses CUDA: makes socket and threads, again in a child of fork(). */
void agent_start(void);

/* ---- serve.c: the socket --------------------------------------------------------------------- */
void *agent_serve(void *unused);
/*
 * Leaves a thread of the program behind, which ends the program when all its own threads have
 * ended.
 */
void agent_leave_last(void);

/* ---- tsgs.c: the program's own TSGs ---------------------------------------------------------- */

/* For threads of the agent only, since these functions open and copy descriptors. */
unsigned int agent_tsgs_list(struct gpusched_tsg *ret, unsigned int max, uint32_t *ret_more);
/* These two return true if the program is to give way on the GPU. */
bool agent_tsgs_call(const struct gs_agent_request *rq, struct gs_agent_answer *ret);
/* The same for a request through the page: number 0 means all compute TSGs. */
bool agent_tsgs_call_number(uint32_t number, uint32_t op, uint32_t arg, struct gs_agent_answer *a);
/* For a signal handler: SET_TIMESLICE and PREEMPT alone, on the program's own descriptor. */
int agent_tsgs_call_at_once(uint32_t number, uint32_t op, uint32_t arg);
void agent_tsgs_after_fork(void);

/* ---- page.c: the page, its thread, its signal ------------------------------------------------ */

/* For the serving thread, once. */
int agent_page_make(void);
/* A descriptor of the page in the calling thread's table, for the caller to close; or -errno. */
int agent_page_open(void);
/* One request of the program itself through the page: waits until it is done, or 1 s. */
int agent_page_ask(uint32_t op, uint32_t number, uint32_t arg);
void agent_page_yield(void); /* another program wants the GPU */
bool agent_page_yield_asked(void);
void agent_page_yielded(void);
void agent_page_after_fork(void);

/* ---- sheet.c: beside a daemon ----------------------------------------------------------------- */

/* For the serving thread, about once a second. */
void agent_sheet_turn(const struct gs_agent_facts *facts);
/* The part of any second that pre-switches may take: a quarter, or as a living daemon allows. */
uint64_t agent_share_ns(uint64_t now_ns);
/* When the daemon last preempted or suspended this program (CLOCK_MONOTONIC); 0: never. */
uint64_t agent_sheet_yield_ns(void);
/* How long a switch takes, as a daemon says; without one an H200's. */
uint32_t agent_lead_us(void);
void agent_sheet_after_fork(void);

#endif /* GPUSCHED_AGENT_AGENT_H */
