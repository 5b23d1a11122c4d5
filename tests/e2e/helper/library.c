// SPDX-License-Identifier: MIT
/*
 * library.c - maps, as a client of the RM, a libcuda that blocks other processes
 *
 *   helper library fuse DIR        maps a file of its own FUSE on DIR, which answers no read and no
 *                                  lookup of nvidia-*
 *   helper library gone DIR        the same, then unmounts DIR
 *   helper library lease FILE      takes a lease on FILE, so that an open() by others waits (45 s);
 *                                  SIGUSR1 ends the lease
 *   helper library many DIR N      makes N files in DIR, and maps them
 *   helper library of FILE...      maps these files
 *
 * The FUSE server prints "read" or "lookup" when it gets such a request.
 */
#include "served.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <unistd.h>

#include "helper.h"
#include "rm.h"

#define NAME "libcuda.so.1"

static int on_other(fuse_req_t req, const char *name)
{
	(void)req;
	if (strncmp(name, "nvidia-", 7) != 0)
		return false;
	say("lookup");
	return true;
}

static void on_read(fuse_req_t req, fuse_ino_t ino, size_t size, off_t at,
		    struct fuse_file_info *fi)
{
	(void)req, (void)ino, (void)size, (void)at, (void)fi;
	say("read");
}

static const struct served libcuda = {
	.name = NAME,
	.size = 1 << 20,
	.mode = 0755,
	.other = on_other,
	.read = on_read,
};

static int map(const char *path, int flags)
{
	int fd = open(path, O_CLOEXEC | flags, 0644);

	if (fd < 0 || mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) == MAP_FAILED)
		die(path);
	return fd;
}

static void map_many(const char *dir, uint32_t n)
{
	char path[256];

	for (uint32_t i = 0; i < n; i++) {
		snprintf(path, sizeof(path), "%s/libcuda.so.%d.%u", dir, (int)getpid(), i);
		close(map(path, O_RDWR | O_CREAT));
	}
}

static int leased;

static void end_lease(int sig)
{
	(void)sig;
	fcntl(leased, F_SETLEASE, F_UNLCK);
}

static void lease(const char *path)
{
	signal(SIGIO, SIG_IGN);
	signal(SIGUSR1, end_lease);
	leased = map(path, O_RDONLY);
	if (fcntl(leased, F_SETLEASE, F_WRLCK))
		die("lease");
}

static int client(void)
{
	int fd = open_ctl(O_CLOEXEC);

	new_tsg(fd, new_client(fd, 0), RC_TSG);
	return until_eof();
}

static int in_fuse(const char *dir, bool gone)
{
	char path[256];

	serve_on(dir, &libcuda);
	snprintf(path, sizeof(path), "%s/%s", dir, NAME);
	map(path, O_RDONLY);
	if (gone)
		umount2(dir, MNT_DETACH);
	client();
	return gone ? 0 : umount2(dir, MNT_DETACH);
}

int verb_library(int nwords, char **words)
{
	const char *what = words[0];

	if (!strcmp(what, "fuse") || !strcmp(what, "gone"))
		return in_fuse(words[1], !strcmp(what, "gone"));
	if (!strcmp(what, "lease")) {
		lease(words[1]);
	} else if (!strcmp(what, "many")) {
		map_many(words[1], number(nwords, words, 2));
	} else if (!strcmp(what, "of")) {
		for (int i = 1; i < nwords; i++)
			close(map(words[i], O_RDONLY));
	} else {
		return 2;
	}
	return client();
}
