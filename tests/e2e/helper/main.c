// SPDX-License-Identifier: MIT
/* main.c - runs helper VERB WORDS: programs that end-to-end tests need in addition to gsload */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "helper.h"

static const struct {
	const char *name;
	int (*run)(int n, char **words);
	int min, max; /* how many words may follow the verb */
	const char *words, *what;
} verbs[] = {
	{ "tsgs", verb_tsgs, 1, 2, "N [GPU]", "has N scheduled TSGs" },
	{ "fall", verb_fall, 1, 1, "N", "has had N TSGs, freed with their client" },
	{ "leave", verb_leave, 0, 0, "", "has had a client and a device, closed without a word" },
	{ "drop", verb_drop, 1, 1, "N", "has N TSGs, freed with their client when a line comes" },
	{ "frees", verb_frees, 1, 1, "N", "N TSGs made and freed one after the other" },
	{ "churn", verb_churn, 2, 2, "N AT-ONCE",
	  "N processes coming and going in three ways: free, exit, SIGKILL" },
	{ "hoard", verb_hoard, 2, 2, "devices|clients|files|channels|tsgs N", "has N of them" },
	{ "alias", verb_alias, 2, 2, "CLIENT TSG",
	  "has that TSG of another process under a handle of its own; sets its slice at a word" },
	{ "noise", verb_noise, 1, 1, "N",
	  "at a word, a compute TSG sets its timeslice N times, and is scheduled" },
	{ "draw", verb_draw, 0, 0, "", "at a word, one of its two TSGs gets an object that draws" },
	{ "flood", verb_flood, 2, 2, "MS THREADS",
	  "threads that make and free clients as fast as they can" },
	{ "forge", verb_forge, 2, 2, "CLIENT TSG",
	  "names another process's objects through a descriptor of its own" },
	{ "hostile", verb_hostile, 2, 2, "MS SEED",
	  "bad pointers, wrong sizes, memory rewritten during the call" },
	{ "fork", verb_fork, 0, 0, "", "a child makes a TSG through an inherited descriptor" },
	{ "pass", verb_pass, 0, 1, "[work]",
	  "the maker gives its descriptor away, with work to do or without, and is killed" },
	{ "bequeath", verb_bequeath, 2, 2, "MIB tsg|bare",
	  "the maker of a client with memory, and with a TSG or without, is killed at a word" },
	{ "renumber", verb_renumber, 0, 0, "", "the descriptor's number is another file's by now" },
	{ "exec", verb_exec, 1, 1, "HELPER", "executes that copy, which keeps the descriptor" },
	{ "execclose", verb_execclose, 1, 1, "HELPER", "executes that copy, which does not" },
	{ "hold", verb_hold, 0, 0, "", "does nothing with what it has inherited" },
	{ "leaderless", verb_leaderless, 0, 0, "", "the main thread has ended, another goes on" },
	{ "late", verb_late, 1, 1, "MIB",
	  "ends later than its exit is told: so much is freed then" },
	{ "threads", verb_threads, 1, 1, "N", "N threads, each with a TSG, at the same time" },
	{ "words", verb_words, 0, 0, "",
	  "does as its input says: s swaps a channel, f frees the subdevice" },
	{ "stopthread", verb_stopthread, 1, 1, "TID",
	  "stops one thread of a process, as long as it runs itself" },
	{ "holdcall", verb_holdcall, 2, 2, "PID NR",
	  "stops the first new thread of it that makes that system call, as long as it runs" },
	{ "lie", verb_lie, 3, 3, "CLIENT TSG CHANNEL", "failed calls that look successful" },
	{ "cuda", verb_cuda, 1, 2, "MODE [LAUNCHES]", "launches exactly so often: see cuda.c" },
	{ "graph", verb_graph, 0, 0, "", "CUDA graphs, as TAP" },
	{ "calls", verb_calls, 1, 3, "WORD [PID [N]]", "RM and engine alone: see calls.c" },
	{ "runtime", verb_runtime, 1, 1, "SOCKET",
	  "a container runtime with a plugin: see runtime.c" },
	{ "library", verb_library, 2, 9, "fuse|gone DIR | lease FILE | of FILE... | many DIR N",
	  "maps a libcuda that is not for others to open" },
	{ "day", verb_day, 3, 3, "DIR PID START",
	  "a history of a day, in which that process was: see day.c" },
	{ "lock", verb_lock, 3, 5, "DIR UID WORD... | DIR UID exec [SECONDS [AGENTS]]",
	  "one of its locks is held: see lock.c" },
	{ "stall", verb_stall, 4, 4, "DIR UID FILE|fork MS",
	  "holds the lock of its memory so long" },
	{ "share", verb_share, 2, 2, "DIR N", "gives each process N TSGs in the table there" },
	{ "version", verb_version, 2, 2, "DIR N",
	  "has the table there say that it is of version N" },
	{ "user", verb_user, 1, 1, "TARGET", "uses libgpusched" },
	{ "switches", verb_switches, 0, 0, "", "reads the GPU's own log of context switches" },
	{ "unblock", verb_unblock, 2, 2, "SOCKET MS",
	  "takes O_NONBLOCK from what wakes the daemon: see peers.c" },
	{ "entries", verb_entries, 3, 3, "SOCKET DUPS SETS",
	  "asks over a connection that stands in so many epoll sets" },
	{ "watches", verb_watches, 3, 64, "DUPS SETS FILE...",
	  "watches files with a descriptor that stands in so many epoll sets" },
	{ "beat", verb_beat, 0, 0, "",
	  "prints how old the heartbeat was at most, in ms, at SIGTERM" },
	{ "forks", verb_forks, 0, 0, "", "... how long a fork() took at most" },
	{ "ask", verb_ask, 4, 4, "SOCKET CONNECTIONS VERB BODY",
	  "asks the API without a pause; prints how many answers came, at SIGTERM" },
	{ "bus", verb_bus, 2, 2, "SOCKET PROGRAM",
	  "the system's bus, with a systemd that starts units: see bus.c" },
	{ "garbage", verb_garbage, 3, 3, "SOCKET TIMES SEED", "hostile requests to the API" },
	{ "crowd", verb_crowd, 4, 5, "SOCKET CONNECTIONS burst|again|unread PATH [BODY]",
	  "asks the API at its worst: see crowd.c" },
	{ "ping", verb_ping, 2, 2, "SOCKET TIMES",
	  "prints how long a ping took, the median and at most, in ms" },
	{ "elf", verb_elf, 3, 3, "FILE SECTIONS BYTES", "makes a library that is dear to read" },
	{ "park", verb_park, 2, 9, "PID WORD...", "checkpoint calls on a process: see park.c" },
	{ "shares", verb_shares, 2, 2, "KIND FILE", "holds memory, some of it of a special kind" },
	{ "memory", verb_memory, 1, 1, "MIB", "holds so much of a GPU's memory" },
	{ "inflight", verb_inflight, 1, 1, "US",
	  "between two words its file is in a message only" },
	{ "uring", verb_uring, 0, 0, "",
	  "a TSG on a file that io_uring opened, anew at each word" },
	{ "compat", verb_compat, 0, 1, "[schedule]",
	  "a TSG made, and scheduled, by the 32-bit system call" },
	{ "dups", verb_dups, 1, 1, "N", "N descriptors before its TSG's, which moves at a word" },
	{ "slices", verb_slices, 2, 2, "N US", "N TSGs that ask for slices of US" },
	{ "named", verb_named, 1, 1, "NAME", "has that name and more objects than its share" },
	{ "replay", verb_replay, 1, 1, "FILE",
	  "feeds a trace of the engine's core to another one" },
	{ "ring", verb_ring, 0, 0, "", "hands the simulated driver odd descriptors, as TAP" },
};

#define COUNT (sizeof(verbs) / sizeof(verbs[0]))

uint32_t number(int n, char **words, int i)
{
	return i < n ? (uint32_t)strtoul(words[i], NULL, 0) : 0;
}

void die(const char *what)
{
	fprintf(stderr, "helper: %s: %s\n", what, strerror(errno));
	exit(1);
}

void say(const char *line)
{
	puts(line);
	fflush(stdout);
}

int until_eof(void)
{
	char c;

	printf("ready %d\n", (int)getpid());
	fflush(stdout);
	while (read(0, &c, 1) > 0)
		;
	return 0;
}

/* A message of one byte with space for one descriptor. */
struct one_fd {
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int))];
	char byte;
	struct iovec iov;
	struct msghdr msg;
};

static void one_fd_init(struct one_fd *m)
{
	memset(m, 0, sizeof(*m));
	m->iov = (struct iovec){ &m->byte, 1 };
	m->msg = (struct msghdr){ .msg_iov = &m->iov,
				  .msg_iovlen = 1,
				  .msg_control = m->control,
				  .msg_controllen = sizeof(m->control) };
}

void send_fd(int sock, int fd)
{
	struct one_fd m;
	struct cmsghdr *c;

	one_fd_init(&m);
	c = CMSG_FIRSTHDR(&m.msg);
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	if (sendmsg(sock, &m.msg, 0) < 0)
		die("sendmsg");
}

int take_fd(int sock)
{
	struct one_fd m;
	int fd;

	one_fd_init(&m);
	if (recvmsg(sock, &m.msg, MSG_CMSG_CLOEXEC) < 1 || !CMSG_FIRSTHDR(&m.msg))
		die("no descriptor came");
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&m.msg)), sizeof(fd));
	return fd;
}

int main(int argc, char **argv)
{
	for (size_t i = 0; argc > 1 && i < COUNT; i++) {
		if (strcmp(argv[1], verbs[i].name) != 0)
			continue;
		if (argc - 2 >= verbs[i].min && argc - 2 <= verbs[i].max)
			return verbs[i].run(argc - 2, argv + 2);
	}
	fprintf(stderr, "usage: helper VERB WORDS; those that hold something say \"ready PID\" and "
			"wait for the end of their input\n");
	for (size_t i = 0; i < COUNT; i++)
		fprintf(stderr, "  %s %s\n\t%s\n", verbs[i].name, verbs[i].words, verbs[i].what);
	return 2;
}
