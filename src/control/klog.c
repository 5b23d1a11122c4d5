// SPDX-License-Identifier: MIT
#include "control/klog.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "basic/env.h"

#define AT_ONCE 512u
#define RECORD 8192u /* the kernel's own limit of a record, with its dictionary */

struct gs_klog {
	int fd;
	bool lines; /* a file of lines, of a simulated GPU */
	size_t n;   /* bytes of a line that has not ended yet */
	char text[RECORD];
};

int gs_klog_open(struct gs_klog **ret)
{
	const struct gs_env *env = gs_env();
	struct gs_klog *k = calloc(1, sizeof(*k));
	char path[256] = "/dev/kmsg";
	int r;

	if (!k)
		return -ENOMEM;
	k->lines = env->sim;
	if (env->sim)
		snprintf(path, sizeof(path), "%s/kmsg", env->sim_dir);
	k->fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY);
	r = k->fd < 0 || lseek(k->fd, 0, SEEK_END) < 0 ? -errno : 0;
	if (r) {
		gs_klog_close(k);
		return r;
	}
	*ret = k;
	return 0;
}

void gs_klog_close(struct gs_klog *k)
{
	if (!k)
		return;
	if (k->fd >= 0)
		close(k->fd);
	free(k);
}

/* Hands on whole lines, and keeps the rest. A line that does not fit is dropped. */
static unsigned int split(struct gs_klog *k, void (*fn)(const char *record, size_t n, void *user),
			  void *user, uint64_t *inout_lost)
{
	const char *at = k->text, *end = k->text + k->n, *line;
	unsigned int count = 0;

	for (; (line = memchr(at, '\n', (size_t)(end - at))); at = line + 1, count++)
		fn(at, (size_t)(line - at), user);
	k->n = (size_t)(end - at);
	memmove(k->text, at, k->n);
	if (k->n == sizeof(k->text)) {
		k->n = 0;
		++*inout_lost;
	}
	return count;
}

int gs_klog_read(struct gs_klog *k, void (*fn)(const char *record, size_t n, void *user),
		 void *user, uint64_t *inout_lost)
{
	for (unsigned int i = 0; i < AT_ONCE;) {
		ssize_t n = read(k->fd, k->text + k->n, sizeof(k->text) - k->n);

		if (!n || (n < 0 && errno == EAGAIN))
			return 0;
		/* EPIPE: records were overwritten; EINVAL: one is longer than we read */
		if (n < 0 && (errno == EPIPE || errno == EINVAL)) {
			++*inout_lost;
			i++;
		} else if (n < 0 && errno != EINTR) {
			return -errno;
		} else if (n > 0 && k->lines) {
			k->n += (size_t)n;
			i += split(k, fn, user, inout_lost) + 1;
		} else if (n > 0) {
			fn(k->text, (size_t)n, user);
			i++;
		}
	}
	return 0;
}
