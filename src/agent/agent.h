/* SPDX-License-Identifier: MIT */
/*
 * agent.h - declares what the files of libgpusched-agent.so share
 *
 * The library runs inside another program, which must not notice it. Until that program calls
 * cuInit(), the library only looks up names. No function changes errno. Files are opened only in
 * threads with their own descriptor table. Nothing is printed; failures are ignored.
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
	bool inert;     /* AT_SECURE (a set-user-id program): the agent does nothing */
	bool hint_auto; /* GPUSCHED_AGENT_HINT=auto */
	bool lc;        /* GPUSCHED_AGENT_CLASS=lc: may pre-switch */
	int signal;     /* GPUSCHED_AGENT_SIGNAL=N: requests come by SIGRTMIN+N; 0: by futex */
	char class_[GPUSCHED_COMM_LEN];
	char blind[96]; /* why launches are not counted; "": they are */
	bool blocking;  /* CUDA_LAUNCH_BLOCKING: a launch waits until its kernel has ended */
};
extern struct agent_settings agent_settings;

/* ---- settings.c ------------------------------------------------------------------------------ */
void agent_settings_read(void); /* and settles which children have the agent */

/* ---- thread.c: threads of ours --------------------------------------------------------------- */

/* True if the agent was started in this process, not only in its parent before a fork. */
bool agent_thread_is_up(void);
/* Marks the agent as started in this process. Returns false if it was started already. */
bool agent_thread_take_process(void);
/*
 * Starts a detached thread with all signals blocked. It shares the caller's descriptor table until
 * it calls agent_thread_begin().
 */
int agent_thread(void *(*fn)(void *));
/* True in threads of the agent: CUDA calls there are no requests of the program. */
extern __attribute__((visibility("hidden"), tls_model("initial-exec"))) __thread bool agent_own;
/* Gives the calling thread its own descriptor table. If this fails, the thread must end. */
int agent_thread_begin(const char *name);

/* ---- agent.c: life --------------------------------------------------------------------------- */

/*
 * Called when the program begins to use CUDA: makes the socket and the threads. A child of fork()
 * gets its own.
 */
void agent_start(void);

/* ---- serve.c: the socket --------------------------------------------------------------------- */
void *agent_serve(void *unused);
/* Starts a thread that ends the program once all of the program's own threads have ended. */
void agent_serve_leave_last(void);

/* ---- tsgs.c: the program's own TSGs ---------------------------------------------------------- */

/* For threads of the agent only, since these functions open and copy descriptors. */
unsigned int agent_tsgs_list(struct gpusched_tsg *ret, unsigned int max, uint32_t *ret_more);
/* Makes the requested call for one TSG. Returns true if the program should give way on the GPU. */
bool agent_tsgs_call(const struct gs_agent_request *rq, struct gs_agent_answer *ret);
/* The same for a request through the page: number 0 means all compute TSGs. */
bool agent_tsgs_call_number(uint32_t number, uint32_t op, uint32_t arg, struct gs_agent_answer *a);
/*
 * For a signal handler. Makes only SET_TIMESLICE and PREEMPT calls, by the program's own
 * descriptor.
 */
int agent_tsgs_call_at_once(uint32_t number, uint32_t op, uint32_t arg);
void agent_tsgs_after_fork(void);

/* ---- page.c: the page, its thread, its signal ------------------------------------------------ */

/* Makes the page. The serving thread calls this once. */
int agent_page_make(void);
/*
 * Returns a descriptor of the page in the calling thread's table, which the caller closes; or
 * -errno.
 */
int agent_page_open(void);
/* Makes a request of the program itself through the page. Waits until it is done, at most 1 s. */
int agent_page_ask(uint32_t op, uint32_t number, uint32_t arg);
void agent_page_yield(void); /* notes that another program wants the GPU */
bool agent_page_yield_asked(void);
void agent_page_yielded(void);
void agent_page_after_fork(void);

/* ---- sheet.c: beside a daemon ----------------------------------------------------------------- */

/* Exchanges figures with the daemon. The serving thread calls this about once a second. */
void agent_sheet_turn(const struct gs_agent_facts *facts);
/* How much of any second pre-switches may take: 250 ms, or what a living daemon allows. */
uint64_t agent_sheet_share_ns(uint64_t now_ns);
/* When the daemon last preempted or suspended this program (CLOCK_MONOTONIC); 0: never. */
uint64_t agent_sheet_yield_ns(void);
/* How long a switch takes, us, as the daemon reports; without a daemon, the time of an H200. */
uint32_t agent_sheet_lead_us(void);
void agent_sheet_after_fork(void);

#endif /* GPUSCHED_AGENT_AGENT_H */
