// SPDX-License-Identifier: MIT
#include "basic/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
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

static int read_file(const char *path, int flags, size_t max, unsigned char **ret, size_t *ret_len,
		     struct gs_error *err)
{
	/* O_NONBLOCK: otherwise opening a FIFO waits for a writer */
	CLEANUP_FD int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | flags);
	CLEANUP_FREE unsigned char *data = NULL;
	struct stat st;
	size_t at = 0;
	int r;

	if (fd < 0 || fstat(fd, &st) < 0)
		return gs_fail(err, -errno, "%s: %s", path, strerror(errno));
	r = vet(path, &st, max, err);
	if (r < 0)
		return r;
	if (flags & O_NOFOLLOW && ((st.st_uid && st.st_uid != geteuid()) || st.st_mode & 022))
		return gs_fail(err, -EPERM, "%s: others may write it: it is not read", path);
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

int gs_read_file(const char *path, size_t max, unsigned char **ret, size_t *ret_len,
		 struct gs_error *err)
{
	return read_file(path, 0, max, ret, ret_len, err);
}

int gs_file_read_own(const char *path, size_t max, unsigned char **ret, size_t *ret_len,
		     struct gs_error *err)
{
	return read_file(path, O_NOFOLLOW, max, ret, ret_len, err);
}

static int write_new(const char *path, const char *data, size_t len)
{
	CLEANUP_FD int fd = -1;

	unlink(path);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	while (len) {
		ssize_t n = write(fd, data, len);

		if (n < 0 && errno != EINTR)
			return -errno;
		data += n < 0 ? 0 : n;
		len -= n < 0 ? 0 : (size_t)n;
	}
	return 0;
}

int gs_file_replace(const char *path, const void *data, size_t len, struct gs_error *err)
{
	char new[PATH_MAX];
	int r;

	if (snprintf(new, sizeof(new), "%s.new", path) >= (int)sizeof(new))
		return gs_fail(err, -ENAMETOOLONG, "%s: the name is too long", path);
	r = write_new(new, data, len);
	if (!r && rename(new, path))
		r = -errno;
	if (r)
		unlink(new);
	return r ? gs_fail(err, r, "%s cannot be written: %s", path, strerror(-r)) : 0;
}

int gs_file_boot_id(char ret[GS_BOOT_ID_LEN])
{
	CLEANUP_FILE FILE *f = fopen("/proc/sys/kernel/random/boot_id", "re");

	if (!f || !fgets(ret, GS_BOOT_ID_LEN, f))
		return -EIO;
	ret[strcspn(ret, "\n")] = '\0';
	return 0;
}
