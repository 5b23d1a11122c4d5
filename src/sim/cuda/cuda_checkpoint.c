/* SPDX-License-Identifier: MIT */
/*
 * cuda_checkpoint.c - simulates the checkpoint calls, which move a process's memory off the GPU
 *
 * Each process with CUDA has a thread that takes requests over a socket, from root and from
 * processes of its own user. The thread holds the library's lock from Lock to Unlock, so every call
 * that would reach the GPU waits meanwhile. Durations and failures of the calls are those seen on
 * an H200. If Restore finds too little memory, the process is lost; so is one that had another's
 * memory open. Managed memory is refused with 801. On a multicast object the call hangs.
 *
 * GPUSCHED_SIM_PARK="CALL=WHAT ..." makes a call fail; set it in the process that receives the
 * request. CALL is state, lock, out, in or unlock. WHAT is a CUresult, "hang", or "die" (the
 * process dies during the call).
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "sim/cuda/cuda_priv.h"

#define NS_PER_MS 1000000ull
#define LOOK_MS 1
#define MAIN_LOOK_MS 500
#define STACK_SIZE (256u << 10)

/* Durations on an H200, measured with 1.8 to 21 GB. */
#define OUT_MS 500u
#define OUT_MS_PER_GB 460u
#define IN_MS 300u
#define IN_MS_PER_GB 150u

enum state { RUNNING, LOCKED, CHECKPOINTED, FAILED }; /* CUprocessState */

enum op { GET_STATE, GET_THREAD, LOCK, CHECKPOINT, RESTORE, UNLOCK };

struct request {
	uint32_t op, timeout_ms;
};

struct answer {
	int32_t result;
	uint32_t value;
};

static struct {
	int fd; /* the listening socket; -1: none */
	enum state state;
	bool lost; /* a restore found too little memory, so the process is lost */
} self = { .fd = -1 };

/* ---- in the process that receives requests --------------------------------------------------- */

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / NS_PER_MS;
}

static void sleep_ms(double ms)
{
	struct timespec t = { .tv_sec = (time_t)(ms / 1000) };

	t.tv_nsec = (long)((ms - (double)t.tv_sec * 1000) * 1e6);
	while (nanosleep(&t, &t) && errno == EINTR)
		;
}

static void take_time(unsigned int base, unsigned int per_gb, size_t bytes)
{
	sleep_ms((base + per_gb * ((double)bytes / 1e9)) * cu.facts.dilate);
}

/* True if the caller has hung up, and so no longer waits for the answer. */
static bool is_left(int conn)
{
	struct pollfd p = { .fd = conn, .events = POLLRDHUP };

	return poll(&p, 1, 0) > 0;
}

/*
 * Takes the library's lock once all launched work is done. Work of a suspended TSG never gets done.
 */
static CUresult lock(int conn, uint32_t timeout_ms)
{
	uint64_t begun = now_ms();
	bool locked = false;

	while (!(locked = locked || !pthread_mutex_trylock(&cu.lock)) || !cu_contexts_done()) {
		if ((!timeout_ms || now_ms() - begun < timeout_ms) && !is_left(conn)) {
			sleep_ms(LOOK_MS);
			continue;
		}
		if (locked)
			pthread_mutex_unlock(&cu.lock);
		return CUDA_ERROR_NOT_READY;
	}
	self.state = LOCKED;
	return CUDA_SUCCESS;
}

static void moves_out(size_t bytes)
{
	take_time(0, OUT_MS_PER_GB, bytes);
}

static void moves_in(size_t bytes)
{
	take_time(0, IN_MS_PER_GB, bytes);
}

static CUresult checkpoint(void)
{
	if (cu_shares.multicast)
		for (;;)
			pause();
	if (cu_shares.managed)
		return CUDA_ERROR_NOT_SUPPORTED;
	take_time(OUT_MS, 0, 0);
	cu_memory_out(moves_out);
	cu_contexts_out();
	self.state = CHECKPOINTED;
	return CUDA_SUCCESS;
}

static CUresult restore(void)
{
	if (self.lost)
		return CUDA_ERROR_OPERATING_SYSTEM;
	if (cu_shares.imported) /* its state stays, and unlock answers 401 */
		return CUDA_ERROR_INVALID_VALUE;
	if (cu_memory_in(moves_in)) {
		self.lost = true;
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	take_time(IN_MS, 0, 0);
	if (cu_contexts_in()) {
		self.state = FAILED;
		return CUDA_ERROR_UNKNOWN;
	}
	self.state = LOCKED;
	return CUDA_SUCCESS;
}

static CUresult unlock(void)
{
	self.state = RUNNING;
	pthread_mutex_unlock(&cu.lock);
	return CUDA_SUCCESS;
}

/* The failure that a test wants for this call; 0: none. */
static CUresult fault(enum op op)
{
	static const char *const names[] = {
		[GET_STATE] = "state=", [GET_THREAD] = "thread=", [LOCK] = "lock=",
		[CHECKPOINT] = "out=",  [RESTORE] = "in=",        [UNLOCK] = "unlock=",
	};
	const char *at = getenv("GPUSCHED_SIM_PARK");

	at = at ? strstr(at, names[op]) : NULL;
	if (!at)
		return CUDA_SUCCESS;
	at += strlen(names[op]);
	if (!strncmp(at, "hang", 4))
		for (;;)
			pause();
	if (!strncmp(at, "die", 3)) {
		take_time(OUT_MS / 4, 0, 0);
		kill(getpid(), SIGKILL);
	}
	return (CUresult)atoi(at);
}

static CUresult perform(int conn, const struct request *rq, uint32_t *ret)
{
	static const enum state needed[] = {
		[LOCK] = RUNNING,
		[CHECKPOINT] = LOCKED,
		[RESTORE] = CHECKPOINTED,
		[UNLOCK] = LOCKED,
	};

	CUresult wrong;

	if (rq->op > UNLOCK)
		return CUDA_ERROR_INVALID_VALUE;
	wrong = fault((enum op)rq->op);
	if (wrong)
		return wrong;
	if (rq->op >= LOCK && self.state != needed[rq->op])
		return CUDA_ERROR_ILLEGAL_STATE;
	switch (rq->op) {
	case GET_STATE:
		*ret = self.state;
		return CUDA_SUCCESS;
	case GET_THREAD:
		*ret = (uint32_t)syscall(SYS_gettid);
		return CUDA_SUCCESS;
	case LOCK:
		return lock(conn, rq->timeout_ms);
	case CHECKPOINT:
		return checkpoint();
	case RESTORE:
		return restore();
	default:
		return unlock();
	}
}

static void answer(int conn)
{
	struct answer a = { .result = CUDA_ERROR_NOT_PERMITTED };
	socklen_t size = sizeof(struct ucred);
	struct ucred who;
	struct request rq;

	if (recv(conn, &rq, sizeof(rq), MSG_WAITALL) != sizeof(rq) ||
	    getsockopt(conn, SOL_SOCKET, SO_PEERCRED, &who, &size))
		return;
	if (!who.uid || who.uid == geteuid())
		a.result = perform(conn, &rq, &a.value);
	send(conn, &a, sizeof(a), MSG_NOSIGNAL);
}

/*
 * True if the main thread has ended. The program should end with its last other thread, so this
 * thread must not stay.
 */
static bool main_has_ended(void)
{
	char line[128] = "";
	const char *state;
	FILE *f = fopen("/proc/self/stat", "re");

	if (!f)
		return false;
	if (!fgets(line, sizeof(line), f))
		line[0] = 0;
	fclose(f);
	state = strrchr(line, ')');
	return state && !strncmp(state, ") Z", 3);
}

/* Handles requests one after the other, as the real library does. */
static void *serve(void *arg)
{
	struct pollfd in = { .fd = self.fd, .events = POLLIN };

	for (;;) {
		int n = poll(&in, 1, MAIN_LOOK_MS);
		int conn = n > 0 ? accept4(self.fd, NULL, NULL, SOCK_CLOEXEC) : -1;

		if (conn >= 0) {
			answer(conn);
			close(conn);
		} else if (n > 0 && (errno == EBADF || errno == EINVAL)) {
			return NULL;
		} else if (n) {
			sleep_ms(LOOK_MS);
		} else if (main_has_ended()) {
			return NULL;
		}
	}
}

/*
 * The socket address of process @pid. It contains device and inode of @ctl, the simulated driver's
 * file, since each world of simulated GPUs has its own pids.
 */
static socklen_t address(int pid, const struct stat *ctl, struct sockaddr_un *ret)
{
	int n;

	*ret = (struct sockaddr_un){ .sun_family = AF_UNIX };
	n = snprintf(ret->sun_path + 1, sizeof(ret->sun_path) - 1, "gpusched-sim-cuda.%llx.%llx.%d",
		     (unsigned long long)ctl->st_dev, (unsigned long long)ctl->st_ino, pid);
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n);
}

static int serve_in_thread(void)
{
	sigset_t all, old;
	pthread_attr_t attr;
	pthread_t thread;
	int r;

	sigfillset(&all); /* signals go to the program's own threads */
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_SIZE);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	r = pthread_create(&thread, &attr, serve, NULL);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	pthread_attr_destroy(&attr);
	return r;
}

void cu_checkpoint_start(void)
{
	struct sockaddr_un a;
	struct stat ctl;
	socklen_t size;

	if (fstat(cu.ctl, &ctl))
		return;
	size = address((int)getpid(), &ctl, &a);
	self.fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (self.fd < 0)
		return;
	if (bind(self.fd, (struct sockaddr *)&a, size) || listen(self.fd, 8) || serve_in_thread()) {
		close(self.fd);
		self.fd = -1;
	}
}

/* Closes the socket in a forked child: the child is a process of its own, without the thread. */
void cu_checkpoint_in_child(void)
{
	if (self.fd >= 0)
		close(self.fd);
	self.fd = -1;
}

/* ---- in the process that sends requests ------------------------------------------------------ */

static CUresult ask(int pid, enum op op, uint32_t timeout_ms, uint32_t *ret)
{
	const struct request rq = { .op = op, .timeout_ms = timeout_ms };
	struct answer a = { .result = CUDA_ERROR_OPERATING_SYSTEM };
	socklen_t size = sizeof(struct ucred);
	struct sockaddr_un to;
	struct ucred who;
	struct stat ctl;
	int fd;

	if (pid <= 0 || stat("/dev/nvidiactl", &ctl))
		return CUDA_ERROR_INVALID_VALUE;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return CUDA_ERROR_OPERATING_SYSTEM;
	if (connect(fd, (struct sockaddr *)&to, address(pid, &ctl, &to)) ||
	    getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &size) || who.pid != pid)
		/* there is no such process, or it does not use CUDA */
		a.result = CUDA_ERROR_INVALID_VALUE;
	else if (send(fd, &rq, sizeof(rq), MSG_NOSIGNAL) != sizeof(rq) ||
		 recv(fd, &a, sizeof(a), MSG_WAITALL) != sizeof(a))
		a.result = CUDA_ERROR_OPERATING_SYSTEM; /* the process died */
	close(fd);
	if (!a.result && ret)
		*ret = a.value;
	return (CUresult)a.result;
}

struct lock_args { /* CUcheckpointLockArgs */
	unsigned int timeout_ms, reserved0;
	uint64_t reserved[7];
};

API CUresult cuCheckpointProcessGetState(int pid, int *state)
{
	uint32_t value = 0;
	CUresult r = ask(pid, GET_STATE, 0, &value);

	if (!r)
		*state = (int)value;
	return r;
}

API CUresult cuCheckpointProcessGetRestoreThreadId(int pid, int *tid)
{
	uint32_t value = 0;
	CUresult r = ask(pid, GET_THREAD, 0, &value);

	if (!r)
		*tid = (int)value;
	return r;
}

/* @args NULL or timeout 0: waits without limit. */
API CUresult cuCheckpointProcessLock(int pid, const struct lock_args *args)
{
	return ask(pid, LOCK, args ? args->timeout_ms : 0, NULL);
}

API CUresult cuCheckpointProcessCheckpoint(int pid, void *args)
{
	return ask(pid, CHECKPOINT, 0, NULL);
}

API CUresult cuCheckpointProcessRestore(int pid, void *args)
{
	return ask(pid, RESTORE, 0, NULL);
}

API CUresult cuCheckpointProcessUnlock(int pid, void *args)
{
	return ask(pid, UNLOCK, 0, NULL);
}
