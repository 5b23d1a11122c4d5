// SPDX-License-Identifier: MIT
/* served.c - serves a FUSE file system with one file */
#include "served.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "helper.h"

#define INO 2
#define FOREVER 3600.0

static const struct served *served;

static struct stat attributes(fuse_ino_t ino)
{
	return (struct stat){ .st_ino = ino,
			      .st_mode = ino == INO ? S_IFREG | served->mode : S_IFDIR | 0755,
			      .st_nlink = 1,
			      .st_size = (off_t)served->size };
}

static void on_lookup(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	struct fuse_entry_param e = { .ino = INO,
				      .attr = attributes(INO),
				      .attr_timeout = FOREVER,
				      .entry_timeout = FOREVER };

	(void)parent;
	if (!strcmp(name, served->name))
		fuse_reply_entry(req, &e);
	else if (!served->other || !served->other(req, name))
		fuse_reply_err(req, ENOENT);
}

static void on_getattr(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct stat st = attributes(ino);

	(void)fi;
	fuse_reply_attr(req, &st, FOREVER);
}

/* Writes a byte to @told when the file system is mounted. */
static int serve(const char *dir, int told)
{
	char *argv[] = { "helper", (char *)(uintptr_t)served->option, NULL };
	struct fuse_args args = FUSE_ARGS_INIT(served->option ? 2 : 1, argv);
	const struct fuse_lowlevel_ops ops = { .lookup = on_lookup,
					       .getattr = on_getattr,
					       .read = served->read,
					       .write = served->write };
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

void serve_on(const char *dir, const struct served *what)
{
	int told[2];
	pid_t server;
	char c;

	served = what;
	if (pipe(told))
		die("pipe");
	server = fork();
	if (server == 0) {
		close(told[0]);
		_exit(serve(dir, told[1]));
	}
	close(told[1]);
	if (server < 0 || read(told[0], &c, 1) != 1)
		die("nothing can be mounted");
	close(told[0]);
}
