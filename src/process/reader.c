// SPDX-License-Identifier: MIT
/*
 * reader.c - reads /proc in child processes, and kills a child that takes too long
 *
 * A user can make such a read block for ever. Then only SIGKILL ends it, and with it the whole
 * process that reads. So forks of the daemon, the readers, do the reads. A reader has a limited
 * time for each answer.
 */
#include "process/reader.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utlist.h>

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "basic/log.h"
#include "basic/share.h"
#include "basic/user_limits.h"

#define MAX_READERS 8 /* the first one reads only about root's processes */
#define MAX_SLOW 256
#define MAX_LEFT_OF 64
#define MAX_WAITING 4096
#define MAX_AGAIN 2 /* readers that may repeat reads that took too long before */
#define WAIT_MS 20  /* how long a caller waits for an answer */
/* after a wait longer than SHORT_NS, no caller waits for this multiple of the wait's length */
#define PAUSE_FACTOR 3
#define SHORT_NS (NS_PER_MS)         /* a wait of at most this length causes no such pause */
#define GIVE_UP_NS (3 * NS_PER_S)    /* a reader that takes longer is killed */
#define NOT_AGAIN_NS (30 * NS_PER_S) /* its account then gets no reader for this time */
#define SAY_AGAIN_NS (60 * NS_PER_S) /* least time between two log lines */
#define REAP_NS NS_PER_S             /* time between two checks whether killed readers ended */

#define TOO_LONG \
	"reading them takes too long, as it does when somebody holds a lock of that process"
#define ENDED "the process that reads them ended"

enum state {
	NONE,
	IDLE,
	ASKED,  /* it reads, and a caller waits for the answer */
	LATE,   /* it reads, and no caller waits any more */
	HERE,   /* gs_reader_dispatch() reports its late answer right now */
	KILLED, /* killed, but has not ended yet */
};

struct reader {
	enum state state;
	pid_t child;
	int sock;
	/* the members below are not valid in the states NONE and IDLE */
	struct gs_reader_request rq;
	int64_t account; /* to which the read is charged: see account_of() */
	bool again;      /* the same read took too long before */
	int pidfd;       /* shows whether the process still lives when a late answer comes */
	uint64_t since_ns;
	struct gs_reader_answer answer;
};

/* A queued request, which waits for a free reader. */
struct waiting {
	struct gs_reader_request rq;
	int64_t account;
	bool again;
	struct waiting *prev, *next;
};

static struct {
	pthread_mutex_t lock;
	bool begun;
	int ep_fd, timer_fd;
	struct reader readers[MAX_READERS];
	/* accounts with a read that took too long; they get no reader until then */
	struct {
		int64_t account;
		uint64_t until_ns;
	} slow[MAX_SLOW];
	unsigned int next_slow;
	struct waiting *waiting;
	int64_t turn;                /* account of the last queued request that got a reader */
	uint64_t impatient_until_ns; /* until this time, callers do not wait for answers */
	uint64_t left, said_ns;      /* for gs_reader_left(); time of the last log line */
	struct {
		uid_t uid;
		uint64_t times;
	} left_of[MAX_LEFT_OF]; /* counts that gs_reader_take_left() has not reported yet */
} all = { .lock = PTHREAD_MUTEX_INITIALIZER, .ep_fd = -1, .timer_fd = -1 };

/* ---- readers --------------------------------------------------------------------------------- */

static void unwatch(const struct reader *r)
{
	epoll_ctl(all.ep_fd, EPOLL_CTL_DEL, r->sock, NULL);
}

static void set_idle(struct reader *r)
{
	close(r->pidfd);
	r->pidfd = -1;
	r->state = IDLE;
}

/* Kills a reader. SIGKILL ends a wait for the execve() lock; other waits end some time later. */
static void kill_reader(struct reader *r)
{
	kill(r->child, SIGKILL);
	close(r->sock);
	if (r->state != IDLE)
		close(r->pidfd);
	r->state = KILLED;
}

/* Reaps killed readers that have ended. Returns how many have not ended yet. */
static unsigned int reap(void)
{
	unsigned int n = 0;

	for (size_t i = 0; i < MAX_READERS; i++) {
		struct reader *r = &all.readers[i];

		if (r->state == KILLED && waitpid(r->child, NULL, WNOHANG))
			r->state = NONE;
		n += r->state == KILLED;
	}
	return n;
}

static bool is_roots(int64_t account)
{
	return account < 0;
}

static struct reader *free_reader(int64_t account)
{
	struct reader *none = NULL;

	for (size_t i = is_roots(account) ? 0 : 1; i < MAX_READERS; i++) {
		struct reader *r = &all.readers[i];

		if (r->state == IDLE)
			return r;
		if (r->state == NONE && !none)
			none = r;
	}
	if (!none)
		return NULL;
	none->child = gs_reader_fork(&none->sock);
	if (none->child < 0)
		return NULL;
	none->state = IDLE;
	return none;
}

/*
 * Sets the timer for the next time at which a reader must be killed or reaped, or a slow account
 * gets readers again. @stuck: a request waits, and no reader could be started for it.
 */
static void set_timer(bool stuck)
{
	uint64_t now = gs_now_ns(), next = stuck ? now + REAP_NS : 0;
	struct itimerspec t = { 0 };

	for (size_t i = 0; i < MAX_READERS; i++) {
		const struct reader *r = &all.readers[i];
		uint64_t at = r->state == KILLED ? now + REAP_NS : r->since_ns + GIVE_UP_NS;

		if ((r->state == KILLED || r->state == LATE) && (!next || at < next))
			next = at;
	}
	for (size_t i = 0; all.waiting && i < MAX_SLOW; i++)
		if (all.slow[i].until_ns > now && (!next || all.slow[i].until_ns < next))
			next = all.slow[i].until_ns;
	t.it_value.tv_sec = (time_t)(next / NS_PER_S);
	t.it_value.tv_nsec = (long)(next % NS_PER_S);
	timerfd_settime(all.timer_fd, TFD_TIMER_ABSTIME, &t, NULL);
}

/* ---- accounts, and slow ones ----------------------------------------------------------------- */

/* The account to which a read is charged: the process's uid, or for root's processes, -pid. */
static int account_of(pid_t pid, int64_t *ret)
{
	uid_t uid;
	int r = gs_process_uid(pid, &uid);

	if (!r)
		*ret = uid ? (int64_t)uid : -(int64_t)pid;
	return r;
}

/* True if a read for this account took too long within the last NOT_AGAIN_NS. */
static bool is_slow(int64_t account)
{
	uint64_t now = gs_now_ns();

	for (size_t i = 0; i < MAX_SLOW; i++)
		if (all.slow[i].account == account && now < all.slow[i].until_ns)
			return true;
	return false;
}

/* True if a reader is late with an answer for this account. */
static bool is_late(int64_t account)
{
	for (size_t i = 0; i < MAX_READERS; i++)
		if (all.readers[i].state >= LATE && all.readers[i].account == account)
			return true;
	return false;
}

/* Counts a read that was left, by user. With too many users, the last row counts the rest. */
static void count_left(uid_t uid)
{
	size_t i = 0;

	while (i + 1 < MAX_LEFT_OF && all.left_of[i].times && all.left_of[i].uid != uid)
		i++;
	all.left_of[i].uid = uid;
	all.left_of[i].times++;
}

static void leave(pid_t pid, int64_t account, const char *why)
{
	uint64_t now = gs_now_ns();

	all.left++;
	if (!is_roots(account))
		count_left((uid_t)account);
	if (all.said_ns && now - all.said_ns < SAY_AGAIN_NS)
		return;
	all.said_ns = now;
	gs_log(LOG_WARNING, "program, arguments or libraries of process %d are not known: %s",
	       (int)pid, why);
}

static void note_slow(int64_t account)
{
	size_t at = all.next_slow;

	for (size_t i = 0; i < MAX_SLOW; i++)
		if (all.slow[i].account == account)
			at = i;
	if (at == all.next_slow)
		all.next_slow = (all.next_slow + 1) % MAX_SLOW;
	all.slow[at].account = account;
	all.slow[at].until_ns = gs_now_ns() + NOT_AGAIN_NS;
}

/* ---- the queue of requests ------------------------------------------------------------------- */

/* Puts a request into the queue, if it is not there yet. False: too many are queued. */
static bool enqueue(const struct gs_reader_request *rq, int64_t account, bool again)
{
	unsigned int n = 0, own = 0;
	struct waiting *w;

	DL_FOREACH(all.waiting, w) {
		if (w->rq.pid == rq->pid && w->rq.what == rq->what)
			return true;
		n++;
		own += w->account == account;
	}
	if (own >= GS_USER_MAY_READS ||
	    !gs_share_allows(is_roots(account) ? 0 : (uid_t)account, own, n, MAX_WAITING))
		return false;
	w = malloc(sizeof(*w));
	if (!w)
		return false;
	*w = (struct waiting){ .rq = *rq, .account = account, .again = again };
	DL_APPEND(all.waiting, w);
	return true;
}

static bool is_before(const struct waiting *a, const struct waiting *b)
{
	bool a_above = a->account > all.turn, b_above = b->account > all.turn;

	if (a->again != b->again)
		return b->again;
	return a_above != b_above ? a_above : a->account < b->account;
}

static bool may_have(int64_t account)
{
	for (size_t i = is_roots(account) ? 0 : 1; i < MAX_READERS; i++)
		if (all.readers[i].state <= IDLE)
			return true;
	return false;
}

/*
 * Finds the next queued request that may get a reader. Users take turns in the order of their uids;
 * requests that took too long before come last.
 */
static struct waiting *next_waiting(void)
{
	struct waiting *w, *best = NULL;
	unsigned int again = 0;

	for (size_t i = 0; i < MAX_READERS; i++)
		again += all.readers[i].state == LATE && all.readers[i].again;
	DL_FOREACH(all.waiting, w) {
		if ((best && !is_before(w, best)) || (w->again && again >= MAX_AGAIN))
			continue;
		if (may_have(w->account) && !is_late(w->account) && !is_slow(w->account))
			best = w;
	}
	return best;
}

static void give_up(struct reader *r, const char *why)
{
	unwatch(r);
	note_slow(r->account);
	enqueue(&r->rq, r->account, true);
	leave(r->rq.pid, r->account, why);
	kill_reader(r);
}

/* ---- asking ----------------------------------------------------------------------------------- */

static bool is_readable(int fd, int ms)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	int r;

	do
		r = poll(&p, 1, ms);
	while (r < 0 && errno == EINTR);
	return r > 0;
}

/* Takes an answer that has come. */
static int finish(struct reader *r, struct gs_reader_answer *ret)
{
	int code = gs_reader_receive(r->sock, ret);

	if (code) {
		leave(r->rq.pid, r->account, ENDED);
		kill_reader(r);
		return -EIO;
	}
	set_idle(r);
	return ret->code;
}

static void watch(struct reader *r)
{
	struct epoll_event ev = { .events = EPOLLIN, .data.ptr = r };

	r->state = LATE;
	if (epoll_ctl(all.ep_fd, EPOLL_CTL_ADD, r->sock, &ev))
		give_up(r, TOO_LONG); /* its late answer would never be noticed */
}

/*
 * Waits for an answer, but not soon after another wait: a caller with many slow answers would
 * otherwise be delayed by each.
 */
static int wait_for(struct reader *r, struct gs_reader_answer *ret)
{
	bool there = is_readable(r->sock, r->since_ns < all.impatient_until_ns ? 0 : WAIT_MS);
	uint64_t now = gs_now_ns();

	if (now - r->since_ns > SHORT_NS && r->since_ns >= all.impatient_until_ns)
		all.impatient_until_ns = now + PAUSE_FACTOR * (now - r->since_ns);
	if (there)
		return finish(r, ret);
	watch(r);
	return -EAGAIN;
}

/* Sends a request to a reader. -ESRCH: the process is gone; other errors: lack of resources. */
static int send_request(struct reader *r, const struct gs_reader_request *rq, int64_t account,
			bool again)
{
	CLEANUP_FD int pidfd = (int)syscall(SYS_pidfd_open, rq->pid, 0);

	if (pidfd < 0)
		return errno == EMFILE || errno == ENFILE || errno == ENOMEM ? -errno : -ESRCH;
	r->state = ASKED;
	r->rq = *rq;
	r->account = account;
	r->again = again;
	r->pidfd = TAKE_FD(pidfd);
	r->since_ns = gs_now_ns();
	/* -EPIPE: the reader has ended; that is noticed when its answer is read */
	send(r->sock, rq, sizeof(*rq), MSG_NOSIGNAL | MSG_DONTWAIT);
	return 0;
}

/* Sends queued requests to free readers; users take turns. */
static void ask_waiting(void)
{
	struct waiting *w;
	struct reader *r;
	int code;

	while ((w = next_waiting()) && (r = free_reader(w->account))) {
		code = send_request(r, &w->rq, w->account, w->again);
		if (code && code != -ESRCH)
			break;
		all.turn = w->account;
		if (!code)
			watch(r);
		DL_DELETE(all.waiting, w);
		free(w);
	}
	set_timer(w);
}

/* Finds a reader that works on the same request, or has just answered it. */
static struct reader *find(const struct gs_reader_request *rq)
{
	for (size_t i = 0; i < MAX_READERS; i++) {
		struct reader *r = &all.readers[i];

		if ((r->state == LATE || r->state == HERE) && r->rq.pid == rq->pid &&
		    r->rq.what == rq->what)
			return r;
	}
	return NULL;
}

static int begin_to_ask(const struct gs_reader_request *rq, struct gs_reader_answer *ret)
{
	bool slow, enqueued;
	int64_t account;
	struct reader *r;
	int code = account_of(rq->pid, &account);

	if (code)
		return code;
	slow = is_slow(account);
	r = slow || is_late(account) ? NULL : free_reader(account);
	if (r) {
		code = send_request(r, rq, account, false);
		return code ? code : wait_for(r, ret);
	}
	enqueued = enqueue(rq, account, slow);
	if (slow || !enqueued)
		leave(rq->pid, account,
		      slow ? "reading takes too long of another of that user's processes"
			   : "too many of that user's processes wait for it");
	return enqueued ? -EAGAIN : -EBUSY;
}

static int ask(const struct gs_reader_request *rq, struct gs_reader_answer *ret)
{
	struct reader *r;
	int code;

	pthread_mutex_lock(&all.lock);
	if (!all.begun) {
		pthread_mutex_unlock(&all.lock);
		gs_reader_read(rq, ret);
		return ret->code;
	}
	reap();
	r = find(rq);
	if (!r) {
		code = begin_to_ask(rq, ret);
		ask_waiting();
	} else if (r->state == LATE) {
		code = -EAGAIN;
	} else {
		*ret = r->answer;
		code = ret->code;
		r->answer.nmaps = 0; /* the first caller gets the descriptors */
	}
	pthread_mutex_unlock(&all.lock);
	return code;
}

int gs_reader_program(pid_t pid, struct gs_program *ret)
{
	const struct gs_reader_request rq = { GS_READER_PROGRAM, pid };
	struct gs_reader_answer answer;
	int r = ask(&rq, &answer);

	if (!r)
		*ret = answer.program;
	return r;
}

int gs_reader_maps(pid_t pid, int (*fn)(pid_t pid, const struct gs_cuda_map *map, void *user),
		   void *user)
{
	const struct gs_reader_request rq = { GS_READER_CUDA_MAPS, pid };
	struct gs_reader_answer answer;
	int r = ask(&rq, &answer);
	size_t n = r ? 0 : answer.nmaps;

	for (size_t i = 0; i < n; i++) {
		if (!r)
			r = fn(pid, &answer.maps[i], user);
		close(answer.maps[i].place);
	}
	return r;
}

int gs_reader_waiters(pid_t pid, uint32_t *ret)
{
	const struct gs_reader_request rq = { GS_READER_WAITERS, pid };
	struct gs_reader_answer answer;
	int r = ask(&rq, &answer);

	if (!r)
		*ret = answer.waiters;
	return r;
}

int gs_reader_ranks(pid_t pid, uint32_t *ret)
{
	const struct gs_reader_request rq = { GS_READER_RANKS, pid };
	struct gs_reader_answer answer;
	int r = ask(&rq, &answer);

	if (!r)
		*ret = answer.ranks;
	return r;
}

int gs_reader_room(pid_t pid, struct gs_cgroup_room *ret)
{
	const struct gs_reader_request rq = { GS_READER_ROOM, pid };
	struct gs_reader_answer answer;
	int r = ask(&rq, &answer);

	if (!r)
		*ret = answer.room;
	return r;
}

int gs_reader_mps(pid_t pid)
{
	struct gs_program program;
	int r = gs_reader_program(pid, &program);

	return r ? r : program.life ? program.mps : -ESRCH;
}

bool gs_reader_is_mps(pid_t pid)
{
	return gs_reader_mps(pid) == 1;
}

/* ---- reporting late answers ------------------------------------------------------------------- */

static void tell(struct reader *r, gs_reader_fn fn, void *user)
{
	struct gs_reader_request rq = r->rq;

	if (gs_reader_receive(r->sock, &r->answer)) {
		give_up(r, ENDED);
		return;
	}
	unwatch(r);
	r->state = HERE;
	if (!is_readable(r->pidfd, 0)) { /* the process lives, so no other one got its pid */
		pthread_mutex_unlock(&all.lock);
		fn(rq.what, rq.pid, user);
		pthread_mutex_lock(&all.lock);
	}
	gs_reader_drop(&r->answer);
	set_idle(r);
}

void gs_reader_dispatch(gs_reader_fn fn, void *user)
{
	uint64_t ticks;

	pthread_mutex_lock(&all.lock);
	if (read(all.timer_fd, &ticks, sizeof(ticks)) < 0 && errno != EAGAIN)
		gs_log(LOG_WARNING, "timer: %s", strerror(errno));
	for (size_t i = 0; i < MAX_READERS; i++) {
		struct reader *r = &all.readers[i];

		if (r->state != LATE)
			continue;
		if (is_readable(r->sock, 0))
			tell(r, fn, user);
		else if (gs_now_ns() >= r->since_ns + GIVE_UP_NS)
			give_up(r, TOO_LONG);
	}
	reap();
	ask_waiting();
	pthread_mutex_unlock(&all.lock);
}

uint64_t gs_reader_left(void)
{
	uint64_t n;

	pthread_mutex_lock(&all.lock);
	n = all.left;
	pthread_mutex_unlock(&all.lock);
	return n;
}

void gs_reader_take_left(gs_reader_left_fn fn, void *user)
{
	typeof(all.left_of) left;

	pthread_mutex_lock(&all.lock);
	memcpy(left, all.left_of, sizeof(left));
	memset(all.left_of, 0, sizeof(all.left_of));
	pthread_mutex_unlock(&all.lock);
	for (size_t i = 0; i < MAX_LEFT_OF && left[i].times; i++)
		fn(left[i].uid, left[i].times, user);
}

/* ---- begin and end ---------------------------------------------------------------------------- */

int gs_reader_begin(int *ret_fd)
{
	struct epoll_event ev = { .events = EPOLLIN };
	CLEANUP_FD int ep = epoll_create1(EPOLL_CLOEXEC);
	CLEANUP_FD int timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);

	if (ep < 0 || timer < 0 || epoll_ctl(ep, EPOLL_CTL_ADD, timer, &ev))
		return -errno;
	pthread_mutex_lock(&all.lock);
	*ret_fd = all.ep_fd = TAKE_FD(ep);
	all.timer_fd = TAKE_FD(timer);
	memset(all.slow, 0, sizeof(all.slow));
	all.impatient_until_ns = all.left = all.said_ns = 0;
	memset(all.left_of, 0, sizeof(all.left_of));
	all.begun = true;
	pthread_mutex_unlock(&all.lock);
	return 0;
}

void gs_reader_end(void)
{
	struct waiting *w;

	pthread_mutex_lock(&all.lock);
	for (size_t i = 0; all.begun && i < MAX_READERS; i++) {
		struct reader *r = &all.readers[i];

		if (r->state == HERE)
			gs_reader_drop(&r->answer);
		if (r->state != NONE && r->state != KILLED)
			kill_reader(r);
	}
	for (int i = 0; all.begun && i < 50 && reap(); i++)
		gs_sleep_ns(NS_PER_MS);
	if (all.begun) {
		close(all.ep_fd);
		close(all.timer_fd);
	}
	all.ep_fd = all.timer_fd = -1;
	while ((w = all.waiting)) {
		DL_DELETE(all.waiting, w);
		free(w);
	}
	all.begun = false;
	pthread_mutex_unlock(&all.lock);
}
