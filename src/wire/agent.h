/* SPDX-License-Identifier: MIT */
/*
 * agent.h - defines messages on the socket of a program's agent, and memory shared with the agent
 *
 * The agent (src/agent) listens on a SOCK_SEQPACKET socket, agent-PID in gs_agent_way_dir(), for
 * its own user and root. Each request is one message, and so is each answer. Both sides must have
 * the same version: the agent refuses others.
 */
#ifndef GPUSCHED_WIRE_AGENT_H
#define GPUSCHED_WIRE_AGENT_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "basic/error.h"
#include "gpusched/abi.h"
#include "rm/way.h"

#define GS_AGENT_MAGIC 0x47414731u /* "1GAG": increase it with any change below */
#define GS_AGENT_TSGS 64u          /* most TSGs in one answer */

enum gs_agent_ask {
	GS_AGENT_LIST = 1, /* facts about the program, and its TSGs */
	GS_AGENT_CALL,     /* makes one RM call for one TSG */
	GS_AGENT_PAGE,     /* the page below; its descriptor comes with the answer */
	GS_AGENT_ASK_MAX
};

struct gs_agent_request {
	uint32_t magic, ask;
	uint32_t client, tsg; /* CALL: handles from LIST */
	uint32_t op, arg;     /* CALL: enum gs_rm_op, but not GS_RM_SCHEDULE */
	/* CALL: 1: the program's own setting applies again, so forgets the one made by hand. */
	uint32_t clear;
	uint32_t pad;
};

struct gs_agent_facts {
	uint32_t pid, more; /* @more: number of TSGs that did not fit into the answer */
	uint64_t launches, graph_launches;
	/* @hints: requests that the program announced; @holds: pre-switches for these requests */
	uint64_t hints, holds;
	uint64_t held_ns;     /* GPU time of the pre-switches */
	uint64_t deadline_us; /* deadline as the program itself announced it; 0: none */
	char class_[GPUSCHED_COMM_LEN];
	char blind[96]; /* why launches are not counted; "": they are counted */
};

struct gs_agent_answer {
	uint32_t magic;
	int32_t err; /* 0 or a negative errno, as in gs_rm_result */
	uint32_t status, value, calls, n;
	uint64_t ns;
	struct gs_agent_facts facts; /* LIST */
	/* LIST: @n TSGs. Their @manual has settings that were made by hand through the agent. */
	struct gpusched_tsg tsgs[];
};

/*
 * The page: a process that holds it can make calls without the socket. @number is a TSG's position
 * in LIST, from 1; 0 means all compute TSGs. To make a call, write op, number and arg, increment
 * @asked, wake its futex, and wait until @answered equals @asked. With GPUSCHED_AGENT_SIGNAL=N,
 * send signal SIGRTMIN+N in place of the futex wake.
 */
struct gs_agent_page {
	uint32_t magic, size;
	_Atomic uint32_t asked, answered;
	_Atomic uint32_t op, number, arg;
	_Atomic int32_t err;
	_Atomic uint32_t status;
	_Atomic uint32_t yield; /* how often some process has asked the program to yield the GPU */
	_Atomic uint64_t launches;
};

/*
 * The sheet: sealed memory that a daemon shares with one agent. The agent writes its figures there,
 * and reads how much GPU time the daemon allows it. The two do not trust each other. Each reads
 * every word once, and the daemon reads no address, handle or size from it. The daemon shows the
 * agent's figures unchecked.
 */
#define GS_AGENT_SHEET_MAGIC 0x53414737u /* "7GAS" */
#define GS_AGENT_SHEET_BYTES 4096        /* on kernels with larger pages, too */
#define GS_AGENT_SHEET_SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)
/* A daemon that has not updated looked_ns for this long no longer runs. */
#define GS_AGENT_BEAT_NS 3000000000ull

struct gs_agent_sheet {
	uint32_t magic, size;
	/* written by the daemon */
	_Atomic uint64_t looked_ns; /* CLOCK_MONOTONIC */
	_Atomic uint64_t share_ns;  /* how much of each second pre-switches may take, in ns */
	/* when the daemon last preempted or suspended the program; 0: never */
	_Atomic uint64_t yield_ns;
	_Atomic uint64_t lead_us; /* how long a switch takes */
	/* written by the agent */
	_Atomic uint64_t launches, graph_launches, hints, holds, held_ns, deadline_us;
	/* Number of libcuda calls that the agent intercepts, including launches. */
	_Atomic uint64_t calls;
	/* When @launches was last updated, CLOCK_MONOTONIC; 0: launches are not counted. */
	_Atomic uint64_t counted_ns;
	/*
	 * The next members describe the program's requests. A request is a sequence of launches and
	 * waits. It ends when the program is idle for quiet_us or more.
	 */
	/* Since when the program has been idle; 0: it launches, or a thread waits for the GPU. */
	_Atomic uint64_t rest_ns;
	/* number of requests that have begun; each increment also wakes the daemon */
	_Atomic uint32_t begins;
	/*
	 * Learned from the program's idle times; 0: unknown, or the program is never idle for long.
	 */
	_Atomic uint32_t quiet_us;
	_Atomic uint32_t hinted;   /* 1: by the program's own hints, a request is in progress */
	_Atomic uint32_t arrivals; /* requests that the program announced */
	/* Requests announced while another was in progress: their ends cannot be told apart. */
	_Atomic uint32_t blurs;
};

/*
 * The path of the socket on which this instance's daemon hands out sheets: SOCK_SEQPACKET, one
 * message. -ENAMETOOLONG.
 */
int gs_agent_sheet_path(char *ret, size_t size);
/*
 * For an agent: maps the sheet as *ret. A byte sent to *ret_wake, a socket, wakes the daemon; use
 * MSG_DONTWAIT and MSG_NOSIGNAL, since the daemon may have ended. Errors are:
 *  - -ENOENT, -ECONNREFUSED: no daemon
 *  - -EPERM: the peer is not root, or its sheet is not sealed
 *  - -EPROTO: the peer sent something else
 *  - -ETIMEDOUT: the peer sent nothing
 */
int gs_agent_sheet_get(struct gs_agent_sheet **ret, int *ret_wake);

/*
 * The folder with the user's agents: XDG_RUNTIME_DIR/gpusched, or /tmp/gpusched-UID. Returns @buf.
 */
const char *gs_agent_way_dir(char *buf, size_t size);
/*
 * Checks that the folder belongs to this user and is closed to others. @make: makes it first if it
 * does not exist. 0, -ENOENT, -EPERM.
 */
int gs_agent_way_dir_check(const char *dir, int make);

/*
 * Connects to the agent of a process; the caller closes the descriptor. -ENOENT or -ECONNREFUSED:
 * no agent. -EPERM: the agent is another user's.
 */
int gs_agent_way_connect(pid_t pid);
/*
 * Sends a request, and waits up to 5 s for the answer. @size: size of @answer in bytes; a longer
 * answer gives -EPROTO. *ret_fd (may be NULL): the descriptor that came with the answer, or -1.
 */
int gs_agent_way_ask(int fd, const struct gs_agent_request *rq, struct gs_agent_answer *answer,
		     size_t size, int *ret_fd);

/*
 * Makes calls through the agent in the TSG's own program, for a user without a daemon
 * (src/local/agents.c).
 */
extern const struct gs_way gs_way_agent;

#endif /* GPUSCHED_WIRE_AGENT_H */
