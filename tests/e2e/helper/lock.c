// SPDX-License-Identifier: MIT
/*
 * lock.c - holds, as a client of the RM, a kernel lock that readers of its /proc need
 *
 *   helper lock DIR UID WORD...        holds its mmap_lock; WORDs are only arguments to be read
 *   helper lock DIR UID exec [SECONDS [AGENTS]]    holds the lock of its execve()
 *   helper stall DIR UID FILE MS       maps FILE executable, prints "mapped", and after a line on
 *                                      stdin holds its mmap_lock
 *   helper stall DIR UID fork MS       maps no library; a thread of it is in fork() meanwhile
 *
 * As user UID it writes to a mapped file of a FUSE on DIR. Then a thread replaces the mapping: the
 * kernel takes mmap_lock for that, and holds it until the FUSE server has answered the write. With
 * exec it executes another program, after SECONDS or at a character on stdin, which holds the lock
 * of the execve() in the same way. Before that it fetches an agent's page from the daemon's socket
 * AGENTS. The server prints "ready" and its pid, and answers at SIGUSR1, or after MS.
 */
#include "served.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "helper.h"
#include "rm.h"

#define NAME "file"
#define SIZE 4096

static uint32_t answer_after_ms;

static void on_read(fuse_req_t req, fuse_ino_t ino, size_t size, off_t at,
		    struct fuse_file_info *fi)
{
	static const char zeros[SIZE];

	(void)ino, (void)at, (void)fi;
	fuse_reply_buf(req, zeros, size < SIZE ? size : SIZE);
}

static void on_write(fuse_req_t req, fuse_ino_t ino, const char *buf, size_t size, off_t at,
		     struct fuse_file_info *fi)
{
	sigset_t set;
	int got;

	(void)ino, (void)buf, (void)at, (void)fi;
	printf("ready %d\n", (int)getpid());
	fflush(stdout);
	if (answer_after_ms) {
		usleep(answer_after_ms * 1000);
	} else {
		sigemptyset(&set);
		sigaddset(&set, SIGUSR1);
		sigwait(&set, &got);
	}
	fuse_reply_write(req, size);
}

static const struct served file = {
	.name = NAME,
	.size = SIZE,
	.mode = 0666,
	.option = "-oallow_other",
	.read = on_read,
	.write = on_write,
};

static void *replace(void *at)
{
	mmap(at, SIZE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	return NULL;
}

/* Serves @dir, becomes user @uid, maps the file and writes to it. Returns the mapping. */
static void *served_as(const char *dir, uid_t uid)
{
	char path[256], *at;
	int fd;

	serve_on(dir, &file);
	if (setresgid(uid, uid, uid) || setresuid(uid, uid, uid))
		die("setresuid");
	snprintf(path, sizeof(path), "%s/" NAME, dir);
	fd = open(path, O_RDWR | O_CLOEXEC);
	at = fd < 0 ? MAP_FAILED : mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (at == MAP_FAILED)
		die(path);
	*at = 1;
	return at;
}

static int replaced(void *at)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, replace, at))
		return 1;
	for (;;)
		pause();
}

static void take_page(const char *agents)
{
	struct sockaddr_un sun = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	uint32_t word;

	snprintf(sun.sun_path, sizeof(sun.sun_path), "%s", agents);
	if (fd < 0 || connect(fd, (struct sockaddr *)&sun, sizeof(sun)) ||
	    recv(fd, &word, sizeof(word), 0) != sizeof(word))
		die(agents);
}

int verb_lock(int nwords, char **words)
{
	void *at = served_as(words[0], number(nwords, words, 1));
	int fd = open_ctl(0);
	char go;

	new_tsg(fd, new_client(fd, 0), RC_TSG);
	if (!strcmp(words[2], "exec")) {
		if (nwords > 3)
			sleep(number(nwords, words, 3));
		else if (read(0, &go, 1) != 1)
			return 1;
		if (nwords > 4)
			take_page(words[4]);
		return execlp("sleep", "sleep", "1000", NULL);
	}
	return replaced(at);
}

static void map_code(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || mmap(NULL, 65536, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) == MAP_FAILED)
		die(path);
}

/* The thread is made before the lock is held, since making its stack takes the lock, too. */
static void *fork_soon(void *unused)
{
	(void)unused;
	usleep(200000);
	if (!fork())
		_exit(0);
	return NULL;
}

int verb_stall(int nwords, char **words)
{
	bool forks = !strcmp(words[2], "fork");
	pthread_t thread;
	void *at;
	char c;

	answer_after_ms = number(nwords, words, 3);
	at = served_as(words[0], number(nwords, words, 1));
	if (!forks)
		map_code(words[2]);
	say("mapped");
	if (read(0, &c, 1) != 1 || (forks && pthread_create(&thread, NULL, fork_soon, NULL)))
		return 1;
	return replaced(at);
}
