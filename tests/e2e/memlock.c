// SPDX-License-Identifier: MIT
/*
 * memlock.c - an RM's client one of whose locks is held
 *
 *   memlock DIR UID WORD...      as that user; words are only there to be read
 *   memlock DIR UID exec [SECONDS]
 *
 * It serves a FUSE on DIR, maps a file of it and writes to that mapping. Then a thread replaces it:
 * the kernel holds the lock of the process's memory for that, and waits until the server has
 * answered the write. With exec it executes another program, after so many seconds: likewise, with the lock of the
 * execve(). The server prints "ready PID", its own, and answers when it is sent SIGUSR1.
 */
#define FUSE_USE_VERSION 35
#include <fuse_lowlevel.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rm_process.h"

#define NAME "file"
#define SIZE 4096
#define INO 2
#define FOREVER 3600.0

/* ---- the server ------------------------------------------------------------------------------ */

static struct stat attributes(fuse_ino_t ino)
{
	return (struct stat){ .st_ino = ino,
			      .st_mode = ino == INO ? S_IFREG | 0666 : S_IFDIR | 0755,
			      .st_nlink = 1,
			      .st_size = SIZE };
}

static void on_lookup(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	struct fuse_entry_param e = { .ino = INO,
				      .attr = attributes(INO),
				      .attr_timeout = FOREVER,
				      .entry_timeout = FOREVER };

	(void)parent;
	if (strcmp(name, NAME) != 0)
		fuse_reply_err(req, ENOENT);
	else
		fuse_reply_entry(req, &e);
}

static void on_getattr(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct stat st = attributes(ino);

	(void)fi;
	fuse_reply_attr(req, &st, FOREVER);
}

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
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigwait(&set, &got);
	fuse_reply_write(req, size);
}

static const struct fuse_lowlevel_ops ops = {
	.lookup = on_lookup,
	.getattr = on_getattr,
	.read = on_read,
	.write = on_write,
};

/* @told gets a byte when it is mounted. */
static int serve(const char *dir, int told)
{
	char *argv[] = { "memlock", "-oallow_other", NULL };
	struct fuse_args args = FUSE_ARGS_INIT(2, argv);
	struct fuse_session *s;
	sigset_t set;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	s = fuse_session_new(&args, &ops, sizeof(ops), NULL);
	if (!s || fuse_session_mount(s, dir) || write(told, "", 1) != 1)
		return 1;
	return fuse_session_loop(s);
}

static void mount_on(const char *dir)
{
	int told[2];
	pid_t server;
	char c;

	if (pipe(told))
		exit(1);
	server = fork();
	if (server == 0) {
		close(told[0]);
		_exit(serve(dir, told[1]));
	}
	close(told[1]);
	if (server < 0 || read(told[0], &c, 1) != 1) {
		fprintf(stderr, "memlock: nothing can be mounted on %s\n", dir);
		exit(1);
	}
}

/* ---- the client ------------------------------------------------------------------------------ */

static void *replace(void *at)
{
	mmap(at, SIZE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	return NULL;
}

static void *map_in(const char *dir)
{
	char path[256], *at;
	int fd;

	snprintf(path, sizeof(path), "%s/" NAME, dir);
	fd = open(path, O_RDWR | O_CLOEXEC);
	at = fd < 0 ? MAP_FAILED : mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (at == MAP_FAILED) {
		perror(path);
		exit(1);
	}
	*at = 1;
	return at;
}

int main(int argc, char **argv)
{
	uid_t uid = argc > 2 ? (uid_t)atoi(argv[2]) : 0;
	pthread_t thread;
	void *at;
	int fd;

	if (argc < 4) {
		fprintf(stderr, "usage: see the beginning of memlock.c\n");
		return 2;
	}
	mount_on(argv[1]);
	if (setresgid(uid, uid, uid) || setresuid(uid, uid, uid)) {
		perror("memlock: setresuid");
		return 1;
	}
	at = map_in(argv[1]);
	fd = open_ctl(0);
	new_tsg(fd, new_client(fd, 0), RC_TSG);
	if (!strcmp(argv[3], "exec")) {
		sleep(argc > 4 ? (unsigned int)atoi(argv[4]) : 0);
		return execlp("sleep", "sleep", "1000", NULL);
	}
	if (pthread_create(&thread, NULL, replace, at))
		return 1;
	for (;;)
		pause();
}
