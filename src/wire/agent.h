/* SPDX-License-Identifier: MIT */
/*
 * agent.h - the messages on the socket of a program's agent, and its page of memory
 *
 * The agent (src/agent) listens on a SOCK_SEQPACKET socket, agent-PID in gs_agent_dir(), for its
 * own user and root. One message asks, one answers. Both sides must have the same version: the
 * agent refuses others.
 */
#ifndef GPUSCHED_WIRE_AGENT_H
#define GPUSCHED_WIRE_AGENT_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "basic/error.h"
#include "gpusched/abi.h"
#include "rm/way.h"

#define GS_AGENT_MAGIC 0x47414731u /* "1GAG": raise it with any change below */
#define GS_AGENT_TSGS 64u          /* the most TSGs in one answer */

enum gs_agent_ask {
	GS_AGENT_LIST = 1, /* asks for facts about the program, and for its TSGs */
	GS_AGENT_CALL,     /* makes one call for one TSG */
	GS_AGENT_PAGE,     /* asks for the page; its descriptor comes beside the answer */
	GS_AGENT_ASK_MAX
};

struct gs_agent_request {
	uint32_t magic, ask;
	uint32_t client, tsg; /* CALL: as LIST named them */
	uint32_t op, arg;     /* CALL: enum gs_rm_op, but not GS_RM_SCHEDULE */
	/* CALL: the setting is the program's own again, and no longer a wish. */
	uint32_t clear;
	uint32_t pad;
};

struct gs_agent_facts {
	uint32_t pid, more; /* more: number of TSGs that did not fit */
	uint64_t launches, graph_launches;
	uint64_t hints, holds; /* requests that the program announced; pre-switches for these */
	uint64_t held_ns;      /* GPU time of the pre-switches */
	uint64_t deadline_us;  /* as the program itself said; 0: none */
	char class_[GPUSCHED_COMM_LEN];
	char blind[96]; /* why launches are not counted; "": they are counted */
};

struct gs_agent_answer {
	uint32_t magic;
	int32_t err; /* 0 or a negative errno, as in gs_rm_result */
	uint32_t status, value, calls, n;
	uint64_t ns;
	struct gs_agent_facts facts; /* LIST */
	/* LIST: @n TSGs, with the settings that people made through the agent in their @manual. */
	struct gpusched_tsg tsgs[];
};

/*
 * The page lets its holder ask without the socket. It names TSGs by their number in LIST, from 1; 0
 * means all compute TSGs. To ask, write op, number and arg, count @asked up, wake its futex, and
 * wait until @answered has the same value. With GPUSCHED_AGENT_SIGNAL=N send signal SIGRTMIN+N
 * instead.
 */
struct gs_agent_page {
	uint32_t magic, size;
	_Atomic uint32_t asked, answered;
	_Atomic uint32_t op, number, arg;
	_Atomic int32_t err;
	_Atomic uint32_t status;
	_Atomic uint32_t yield; /* how often somebody asked the program to give way on the GPU */
	_Atomic uint64_t launches;
};

/*
 * The sheet: where a daemon runs, it gives each agent sealed memory of its own. The agent writes
 * its figures there, and reads how much the daemon allows. The two do not trust each other: each
 * word is read once, and none that the daemon reads is an address, a handle or a size. The daemon
 * shows the agent's figures unchecked.
 */
#define GS_AGENT_SHEET_MAGIC 0x53414736u /* "6GAS" */
#define GS_AGENT_SHEET_BYTES 4096        /* on kernels with larger pages, too */
#define GS_AGENT_SHEET_SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)
/* A daemon that has not read the sheet for this long is gone. */
#define GS_AGENT_BEAT_NS 3000000000ull

struct gs_agent_sheet {
	uint32_t magic, size;
	/* written by the daemon */
	_Atomic uint64_t looked_ns; /* CLOCK_MONOTONIC */
	_Atomic uint64_t share_ns;  /* how much of any second pre-switches may take */
	/* when the daemon last preempted or suspended the program; 0: never */
	_Atomic uint64_t yield_ns;
	_Atomic uint64_t lead_us; /* how long a switch takes */
	/* written by the agent */
	_Atomic uint64_t launches, graph_launches, hints, holds, held_ns, deadline_us;
	/* Number of calls of libcuda that the agent looks at, launches among them. */
	_Atomic uint64_t calls;
	/* When @launches was last updated, CLOCK_MONOTONIC; 0: launches are not counted. */
	_Atomic uint64_t counted_ns;
	/*
	 * The next members are about the program's requests. A request is a sequence of launches
	 * and waits. It ends with a rest of quiet_us or more.
	 */
	/* Since when the program rests; 0: it launches, or a thread waits. */
	_Atomic uint64_t rest_ns;
	_Atomic uint32_t begins; /* number of requests that began; each wakes the daemon */
	/* Learned from the program's rests; 0: unknown, or the program is never quiet. */
	_Atomic uint32_t quiet_us;
	_Atomic uint32_t hinted;   /* 1: a request is under way, as the program itself says */
	_Atomic uint32_t arrivals; /* requests that the program announced */
	/* Requests announced while another was under way: their ends cannot be told apart. */
	_Atomic uint32_t blurs;
};

/*
 * The socket on which a daemon of this instance gives out sheets: SOCK_SEQPACKET, one message.
 * -ENAMETOOLONG.
 */
int gs_agent_daemon_path(char *ret, size_t size);
/*
 * For an agent: maps the sheet as *ret. A write to *ret_wake wakes the daemon. No daemon: -ENOENT,
 * -ECONNREFUSED. The peer is not root's, or its sheet is not sealed: -EPERM. It sent something else:
 * -EPROTO. It sent nothing: -ETIMEDOUT.
 */
int gs_agent_sheet_get(struct gs_agent_sheet **ret, int *ret_wake);

/* The user's folder of agents: XDG_RUNTIME_DIR/gpusched, else /tmp/gpusched-UID. Returns @buf. */
const char *gs_agent_dir(char *buf, size_t size);
/*
 * Makes the folder, or checks it if @make is false: it must be this user's, and closed to others.
 * 0, -ENOENT, -EPERM.
 */
int gs_agent_dir_check(const char *dir, int make);

/*
 * Connects to the agent of a process; the caller closes the descriptor. -ENOENT, -ECONNREFUSED;
 * -EPERM: the agent is another user's.
 */
int gs_agent_connect(pid_t pid);
/*
 * Sends a request, and waits 5 s at most. @answer has room for @size bytes; a longer answer gives
 * -EPROTO. *ret_fd (may be NULL): the descriptor that came with it, or -1.
 */
int gs_agent_ask(int fd, const struct gs_agent_request *rq, struct gs_agent_answer *answer,
		 size_t size, int *ret_fd);

/*
 * Calls through the agent in the TSG's own program, for a user without a daemon
 * (src/local/agents.c).
 */
extern const struct gs_way gs_way_agent;

#endif /* GPUSCHED_WIRE_AGENT_H */
