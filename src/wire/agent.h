/* SPDX-License-Identifier: MIT */
/*
 * agent.h - what is said on the socket of a program's own agent, and in its page of memory
 *
 * The agent (src/agent) listens on a SOCK_SEQPACKET socket, agent-PID in gs_agent_dir(), for its
 * own user and root. One message asks, one answers. Both sides are of one version: the agent
 * refuses others.
 */
#ifndef GPUSCHED_WIRE_AGENT_H
#define GPUSCHED_WIRE_AGENT_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "basic/error.h"
#include "gpusched/abi.h"
#include "rm/way.h"

#define GS_AGENT_MAGIC 0x47414731u /* "1GAG": raise with any change below */
#define GS_AGENT_TSGS 64u          /* most TSGs of one answer */

enum gs_agent_ask {
	GS_AGENT_LIST = 1, /* facts and TSGs */
	GS_AGENT_CALL,     /* one operation on one TSG */
	GS_AGENT_PAGE,     /* the page, as a descriptor beside the answer */
	GS_AGENT_ASK_MAX
};

struct gs_agent_request {
	uint32_t magic, ask;
	uint32_t client, tsg; /* CALL: as LIST named them */
	uint32_t op, arg;     /* CALL: enum gs_rm_op, but not GS_RM_SCHEDULE */
	uint32_t clear;       /* CALL: the setting is the program's own again, nobody's wish */
	uint32_t pad;
};

struct gs_agent_facts {
	uint32_t pid, more; /* more: TSGs that did not fit */
	uint64_t launches, graph_launches;
	uint64_t hints, holds; /* requests announced; pre-switches made for them */
	uint64_t held_ns;      /* what those took */
	uint64_t deadline_us;  /* told by the program; 0: none */
	char class_[GPUSCHED_COMM_LEN];
	char blind[96]; /* why launches are not counted; "": they are */
};

struct gs_agent_answer {
	uint32_t magic;
	int32_t err; /* 0 or a negative errno, as gs_rm_result has it */
	uint32_t status, value, calls, n;
	uint64_t ns;
	struct gs_agent_facts facts; /* LIST */
	struct gpusched_tsg tsgs[];  /* LIST: n of them; manual: what people have set through it */
};

/*
 * The page: who has it may ask without the socket. It names TSGs by their number in LIST, from 1;
 * 0 means all compute TSGs. Write op, number and arg, count @asked up, wake it (futex), and wait for
 * @answered to become the same. With GPUSCHED_AGENT_SIGNAL=N send signal SIGRTMIN+N instead.
 */
struct gs_agent_page {
	uint32_t magic, size;
	_Atomic uint32_t asked, answered;
	_Atomic uint32_t op, number, arg;
	_Atomic int32_t err;
	_Atomic uint32_t status;
	_Atomic uint32_t yield; /* how often somebody has asked the program to give way */
	_Atomic uint64_t launches;
};

/*
 * Beside a daemon: a page of the daemon's own, sealed, that each agent is given for its process.
 * The agent tells in it, and reads how much the daemon allows. Neither believes more than that:
 * each word is read once, and none is an address, a handle or a size. The daemon shows these words
 * as told.
 */
#define GS_AGENT_SHEET_MAGIC 0x53414736u /* "6GAS" */
#define GS_AGENT_SHEET_BYTES 4096
#define GS_AGENT_SHEET_SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)
#define GS_AGENT_BEAT_NS 3000000000ull /* a daemon that has not looked for this long has gone */

struct gs_agent_sheet {
	uint32_t magic, size;
	/* the daemon's */
	_Atomic uint64_t looked_ns; /* CLOCK_MONOTONIC */
	_Atomic uint64_t share_ns;  /* of any second, for pre-switches */
	_Atomic uint64_t yield_ns;  /* it preempted or suspended the program last; 0: not yet */
	_Atomic uint64_t lead_us;   /* that a switch takes */
	/* the agent's */
	_Atomic uint64_t launches, graph_launches, hints, holds, held_ns, deadline_us;
	_Atomic uint64_t counted_ns; /* when @launches was right; 0: they are not counted */
	/* its requests: a stretch of launches and waits without a rest of quiet */
	_Atomic uint64_t rest_ns;  /* since when it rests; 0: it launches, or a thread waits */
	_Atomic uint32_t begins;   /* how many began; the daemon is woken for each */
	_Atomic uint32_t quiet_us; /* as its rests have taught; 0: not known, or never quiet */
	_Atomic uint32_t hinted;   /* 1: a request is under way, as the program itself says */
	_Atomic uint32_t arrivals; /* requests it has said were coming */
	_Atomic uint32_t blurs;    /* ... while another was under way: their ends are mixed up */
};

/* Where a daemon of this instance gives them away: SOCK_SEQPACKET, one message. -ENAMETOOLONG. */
int gs_agent_daemon_path(char *ret, size_t size);
/*
 * By an agent: *ret is mapped, and a write to *ret_wake wakes the daemon. -ENOENT, -ECONNREFUSED: no
 * daemon; -EPERM: not root's, or no sheet.
 */
int gs_agent_sheet_get(struct gs_agent_sheet **ret, int *ret_wake);

/* The user's folder of agents: XDG_RUNTIME_DIR/gpusched, else /tmp/gpusched-UID. Returns @buf. */
const char *gs_agent_dir(char *buf, size_t size);
/*
 * Makes it, or with @make false only looks: must be a folder of this user's that nobody else may
 * enter. 0, -ENOENT, -EPERM.
 */
int gs_agent_dir_check(const char *dir, int make);

/* A connection to the agent of a process; close() it. -ENOENT, -ECONNREFUSED, -EPERM: not ours. */
int gs_agent_connect(pid_t pid);
/*
 * Asks and waits 5 s at most. @answer has room for @size bytes; a longer one is -EPROTO. *ret_fd
 * (may be NULL): the descriptor that came with it, or -1.
 */
int gs_agent_ask(int fd, const struct gs_agent_request *rq, struct gs_agent_answer *answer,
		 size_t size, int *ret_fd);

/* By the agent in the TSG's own program: for a user without a daemon (src/local/agents.c). */
extern const struct gs_way gs_way_agent;

#endif /* GPUSCHED_WIRE_AGENT_H */
