// SPDX-License-Identifier: MIT
/*
 * libstall.c - RM's clients whose libcuda is not for others to open
 *
 *   libstall fuse DIR        served by itself on DIR, where no read is ever answered, nor who looks for nvidia-*
 *   libstall gone DIR        the same, and DIR is unmounted
 *   libstall lease FILE      with a lease, for which whoever opens it waits (45 s)
 *   libstall many DIR N      N of them, made in DIR
 *
 * Prints "ready", then waits for the end of its input. The server prints "read" or "lookup" when it is asked.
 */
#define FUSE_USE_VERSION 35
#include <fcntl.h>
#include <fuse_lowlevel.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rm_process.h"

#define NAME "libcuda.so.1"
#define SIZE (1 << 20)
#define INO 2
#define FOREVER 3600.0

/* ---- the server ------------------------------------------------------------------------------ */

static struct stat attributes(fuse_ino_t ino)
{
	return (struct stat){ .st_ino = ino,
			      .st_mode = ino == INO ? S_IFREG | 0755 : S_IFDIR | 0755,
			      .st_nlink = 1,
			      .st_size = SIZE };
}

static void said(const char *what)
{
	puts(what);
	fflush(stdout);
}

static void on_lookup(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	struct fuse_entry_param e = { .ino = INO,
				      .attr = attributes(INO),
				      .attr_timeout = FOREVER,
				      .entry_timeout = FOREVER };

	(void)parent;
	if (!strncmp(name, "nvidia-", 7))
		said("lookup");
	else if (strcmp(name, NAME) != 0)
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
	(void)req, (void)ino, (void)size, (void)at, (void)fi;
	said("read");
}

static const struct fuse_lowlevel_ops ops = {
	.lookup = on_lookup,
	.getattr = on_getattr,
	.read = on_read,
};

/* @told gets a byte when it is mounted. */
static int serve(const char *dir, int told)
{
	char *argv[] = { "libstall", NULL };
	struct fuse_args args = FUSE_ARGS_INIT(1, argv);
	struct fuse_session *s;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	s = fuse_session_new(&args, &ops, sizeof(ops), NULL);
	if (!s || fuse_session_mount(s, dir) || write(told, "", 1) != 1)
		return 1;
	return fuse_session_loop(s);
}

static void mount_on(const char *dir)
{
	int told[2];
	char c;

	if (pipe(told))
		exit(1);
	switch (fork()) {
	case -1:
		exit(1);
	case 0:
		close(told[0]);
		_exit(serve(dir, told[1]));
	}
	close(told[1]);
	if (read(told[0], &c, 1) != 1) {
		fprintf(stderr, "libstall: nothing can be mounted on %s\n", dir);
		exit(1);
	}
}

/* ---- the client ------------------------------------------------------------------------------ */

static int map(const char *path, int flags)
{
	int fd = open(path, O_CLOEXEC | flags, 0644);

	if (fd < 0 || mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) == MAP_FAILED) {
		fprintf(stderr, "libstall: %s: %s\n", path, strerror(errno));
		exit(1);
	}
	return fd;
}

static void map_many(const char *dir, int n)
{
	char path[256];

	for (int i = 0; i < n; i++) {
		snprintf(path, sizeof(path), "%s/libcuda.so.%d.%d", dir, (int)getpid(), i);
		close(map(path, O_RDWR | O_CREAT));
	}
}

static int until_eof(void)
{
	int fd = open_ctl(O_CLOEXEC);
	char c;

	new_tsg(fd, new_client(fd, 0), RC_TSG);
	puts("ready");
	fflush(stdout);
	while (read(0, &c, 1) > 0)
		;
	return 0;
}

int main(int argc, char **argv)
{
	const char *what = argc > 2 ? argv[1] : "";
	bool gone = !strcmp(what, "gone");
	char path[256];

	if (gone || !strcmp(what, "fuse")) {
		mount_on(argv[2]);
		snprintf(path, sizeof(path), "%s/%s", argv[2], NAME);
		map(path, O_RDONLY);
		if (gone)
			umount2(argv[2], MNT_DETACH);
		until_eof();
		return gone ? 0 : umount2(argv[2], MNT_DETACH);
	}
	if (!strcmp(what, "lease")) {
		signal(SIGIO, SIG_IGN);
		if (fcntl(map(argv[2], O_RDONLY), F_SETLEASE, F_WRLCK)) {
			perror("libstall: lease");
			return 1;
		}
		return until_eof();
	}
	if (!strcmp(what, "many") && argc > 3) {
		map_many(argv[2], atoi(argv[3]));
		return until_eof();
	}
	fprintf(stderr, "usage: see the beginning of libstall.c\n");
	return 2;
}
