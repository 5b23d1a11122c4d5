// SPDX-License-Identifier: MIT
#include "basic/file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "basic/cleanup.h"

static int vet(const char *path, const struct stat *st, size_t max, struct gs_error *err)
{
	if (S_ISDIR(st->st_mode))
		return gs_fail(err, -EISDIR, "%s: %s", path, strerror(EISDIR));
	if (!S_ISREG(st->st_mode))
		return gs_fail(err, -ENOEXEC, "%s: not a regular file", path);
	if ((unsigned long long)st->st_size > max)
		return gs_fail(err, -EFBIG, "%s: too large: at most %zu KiB", path, max >> 10);
	return 0;
}

int gs_read_file(const char *path, size_t max, unsigned char **ret, size_t *ret_len,
		 struct gs_error *err)
{
	/* O_NONBLOCK: opening a FIFO waits for its writer */
	CLEANUP_FD int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	CLEANUP_FREE unsigned char *data = NULL;
	struct stat st;
	size_t at = 0;
	int r;

	if (fd < 0 || fstat(fd, &st) < 0)
		return gs_fail(err, -errno, "%s: %s", path, strerror(errno));
	r = vet(path, &st, max, err);
	if (r < 0)
		return r;
	data = malloc((size_t)st.st_size + 1);
	if (!data)
		return gs_fail(err, -ENOMEM, "out of memory");
	while (at < (size_t)st.st_size) {
		ssize_t n = read(fd, data + at, (size_t)st.st_size - at);

		if (n < 0)
			return gs_fail(err, -errno, "%s: %s", path, strerror(errno));
		if (n == 0)
			break;
		at += (size_t)n;
	}
	data[at] = 0;
	*ret = TAKE_PTR(data);
	*ret_len = at;
	return 0;
}
