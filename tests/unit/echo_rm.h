/* SPDX-License-Identifier: MIT */
/*
 * echo_rm.h - serve an "nvidiactl" that accepts every call
 *
 * A FUSE file's ioctl returns the caller's data unchanged, so a test writes RM's answers into its
 * calls. The taps must stay correct whatever the caller's memory says. The server speaks FUSE's raw
 * protocol in a separate process, since a process that serves its own open files cannot end.
 */
#ifndef GPUSCHED_TESTS_ECHO_RM_H
#define GPUSCHED_TESTS_ECHO_RM_H

#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define ECHO_INO 2 /* the inode of the only file */

struct echo_rm {
	char dir[64];   /* directory of the gpusched instance: bpf/, simfiles, dev/nvidiactl */
	char path[128]; /* path of the file */
	int fuse;
	pid_t server;
};

static inline void echo_attr(struct fuse_attr *a, uint64_t ino)
{
	a->ino = ino;
	a->mode = ino == ECHO_INO ? S_IFREG | 0666 : S_IFDIR | 0755;
	a->nlink = 1;
	a->blksize = 4096;
}

static inline void echo_reply(int fd, uint64_t unique, int error, const void *data, size_t size)
{
	char buf[32768];
	struct fuse_out_header *out = (void *)buf;

	if (size)
		memcpy(buf + sizeof(*out), data, size);
	out->len = sizeof(*out) + size;
	out->error = error;
	out->unique = unique;
	if (write(fd, buf, out->len) < 0)
		return; /* the caller was killed before it had its answer */
}

static inline void echo_ioctl(int fd, const struct fuse_in_header *in, const char *body)
{
	const struct fuse_ioctl_in *q = (const void *)body;
	char buf[20000];
	struct fuse_ioctl_out *out = (void *)buf;

	memset(out, 0, sizeof(*out));
	if (q->out_size > 16384) {
		echo_reply(fd, in->unique, -EINVAL, NULL, 0);
		return;
	}
	memset(buf + sizeof(*out), 0, q->out_size);
	memcpy(buf + sizeof(*out), q + 1, q->in_size < q->out_size ? q->in_size : q->out_size);
	echo_reply(fd, in->unique, 0, buf, sizeof(*out) + q->out_size);
}

static inline void echo_one(int fd, const struct fuse_in_header *in, const char *body)
{
	struct fuse_init_out init = { .major = FUSE_KERNEL_VERSION,
				      .minor = 31,
				      .max_write = 16384 };
	struct fuse_entry_out entry = { .nodeid = ECHO_INO, .attr_valid = 60, .entry_valid = 60 };
	struct fuse_attr_out attr = { .attr_valid = 60 };
	struct fuse_open_out opened = { .fh = 1 };

	switch (in->opcode) {
	case FUSE_INIT:
		echo_reply(fd, in->unique, 0, &init, sizeof(init));
		break;
	case FUSE_LOOKUP:
		echo_attr(&entry.attr, ECHO_INO);
		if (strcmp(body, "nvidiactl"))
			echo_reply(fd, in->unique, -ENOENT, NULL, 0);
		else
			echo_reply(fd, in->unique, 0, &entry, sizeof(entry));
		break;
	case FUSE_GETATTR:
		echo_attr(&attr.attr, in->nodeid);
		echo_reply(fd, in->unique, 0, &attr, sizeof(attr));
		break;
	case FUSE_OPEN:
	case FUSE_OPENDIR:
		echo_reply(fd, in->unique, 0, &opened, sizeof(opened));
		break;
	case FUSE_IOCTL:
		echo_ioctl(fd, in, body);
		break;
	case FUSE_FLUSH:
	case FUSE_RELEASE:
	case FUSE_RELEASEDIR:
		echo_reply(fd, in->unique, 0, NULL, 0);
		break;
	case FUSE_FORGET:
	case FUSE_BATCH_FORGET:
	case FUSE_INTERRUPT:
		break;
	default:
		echo_reply(fd, in->unique, -ENOSYS, NULL, 0);
	}
}

static inline void echo_loop(int fuse)
{
	char *buf = malloc(1 << 17);

	for (;;) {
		ssize_t n = read(fuse, buf, 1 << 17);
		const struct fuse_in_header *in = (const void *)buf;

		if (n < 0 && (errno == EINTR || errno == EAGAIN || errno == ENOENT))
			continue;
		if (n < (ssize_t)sizeof(*in))
			break; /* unmounted */
		echo_one(fuse, in, buf + sizeof(*in));
	}
	free(buf);
}

/*
 * Starts the server. Moves the caller into a private mount namespace, and sets GPUSCHED_SIM: call
 * this before the first gs_env(). Returns -errno if FUSE or a privilege is missing.
 */
static inline int echo_start(struct echo_rm *e)
{
	char dev[128], options[128], list[128];
	struct stat st;
	FILE *f;

	snprintf(e->dir, sizeof(e->dir), "/tmp/gs-echo-XXXXXX");
	if (!mkdtemp(e->dir))
		return -errno;
	snprintf(dev, sizeof(dev), "%s/dev", e->dir);
	snprintf(e->path, sizeof(e->path), "%s/dev/nvidiactl", e->dir);
	snprintf(list, sizeof(list), "%s/simfiles", e->dir);
	setenv("GPUSCHED_SIM", e->dir, 1);
	e->fuse = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	if (e->fuse < 0 || mkdir(dev, 0755))
		return -errno;
	snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=0,group_id=0,allow_other",
		 e->fuse);
	if (mount("echo", dev, "fuse", MS_NOSUID | MS_NODEV, options))
		return -errno;
	e->server = fork();
	if (!e->server) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		echo_loop(e->fuse);
		_exit(0);
	}
	close(e->fuse);
	if (e->server < 0)
		return -EAGAIN;
	if (stat(e->path, &st))
		return -errno;
	f = fopen(list, "we");
	if (!f)
		return -errno;
	fprintf(f, "%llu %llu %s\n", (unsigned long long)st.st_dev, (unsigned long long)st.st_ino,
		e->path);
	return fclose(f) ? -errno : 0;
}

static inline void echo_stop(struct echo_rm *e)
{
	char path[128];

	if (e->server > 0) {
		kill(e->server, SIGKILL);
		waitpid(e->server, NULL, 0);
	}
	snprintf(path, sizeof(path), "%s/dev", e->dir);
	umount2(path, MNT_DETACH);
	rmdir(path);
	snprintf(path, sizeof(path), "%s/bpf", e->dir);
	umount2(path, MNT_DETACH);
	rmdir(path);
	snprintf(path, sizeof(path), "%s/simfiles", e->dir);
	unlink(path);
	rmdir(e->dir);
}

#endif /* GPUSCHED_TESTS_ECHO_RM_H */
