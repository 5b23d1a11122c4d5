// SPDX-License-Identifier: MIT
/*
 * lock.c - an RM's client one of whose locks is held
 *
 *   helper lock DIR UID WORD...        as that user; words are only there to be read
 *   helper lock DIR UID exec [SECONDS [AGENTS]]
 *   helper stall DIR UID FILE MS       maps FILE executable, says "mapped" and begins at a line
 *   helper stall DIR UID fork MS       maps no library; one of its threads is in a fork() meanwhile
 *
 * It serves a FUSE on DIR, maps a file of it and writes to that mapping. Then a thread replaces it:
 * the kernel holds the lock of the process's memory for that, and waits until the server has
 * answered the write. With exec it executes another program: likewise, with the lock of the execve();
 * after so many seconds, or at a character of its standard input. Before that it takes an agent's
 * page from the daemon's socket AGENTS. The server prints "ready PID", its own, and answers when it
 * is sent SIGUSR1, or after MS.
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

/* Runs as user @uid, with the file of @dir mapped, and writes to it. */
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

/* Made before the lock is held, which a new thread's stack needs too. */
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
