// SPDX-License-Identifier: MIT
/* driver.c - finds the driver's version and control file */
#include "rm/rm.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "basic/cleanup.h"
#include "basic/env.h"
#include "rm/abi.h"
#include "rm/sys.h"

/* Finds the first word of @text that looks like a version, such as 580.159.04. */
static int find_version(const char *text, char *ret, size_t size)
{
	for (const char *p = text; *p; p++) {
		size_t digits = strspn(p, "0123456789"), all = strspn(p, "0123456789.");

		if (p > text && !isspace((unsigned char)p[-1])) /* not at the start of a word */
			continue;
		if (digits >= 2 && all > digits && all < size &&
		    (isspace((unsigned char)p[all]) || !p[all])) {
			memcpy(ret, p, all);
			ret[all] = '\0';
			return 0;
		}
	}
	return -ENODATA;
}

/* Checks the file before opening it: opening a FUSE file would wait for the FUSE server. */
int gs_rm_driver_open_control(void)
{
	struct statx st;
	int fd;

	if (statx(AT_FDCWD, NV_CTL_PATH, AT_STATX_DONT_SYNC, STATX_BASIC_STATS, &st))
		return -errno;
	if (!gs_rm_sys.accept(&st))
		return -ENODEV;
	fd = open(NV_CTL_PATH, O_RDWR | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int gs_rm_driver_open_gpu(unsigned int minor)
{
	struct statx st;
	char path[32];
	int fd;

	snprintf(path, sizeof(path), "/dev/nvidia%u", minor);
	if (statx(AT_FDCWD, path, AT_STATX_DONT_SYNC, STATX_BASIC_STATS, &st))
		return -errno;
	if (!gs_env()->sim && (!S_ISCHR(st.stx_mode) || st.stx_rdev_major != NV_MAJOR))
		return -ENODEV;
	fd = open(path, O_RDWR | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static int ask_device(char *ret, size_t size)
{
	struct nv_version v = { .cmd = NV_VERSION_QUERY };
	CLEANUP_FD int fd = gs_rm_driver_open_control();
	int r;

	if (fd < 0)
		return fd;
	r = gs_rm_sys.ioctl(fd, _IOWR(NV_IOCTL_TYPE, NV_ESC_VERSION, struct nv_version), &v);
	if (r < 0)
		return r;
	v.version[sizeof(v.version) - 1] = '\0';
	return find_version(v.version, ret, size);
}

static int ask_proc(char *ret, size_t size)
{
	CLEANUP_FILE FILE *f = fopen("/proc/driver/nvidia/version", "re");
	char line[256];

	if (!f)
		return -errno;
	if (!fgets(line, sizeof(line), f))
		return -ENODATA;
	return find_version(line, ret, size);
}

bool gs_rm_driver_branch_leaves(unsigned int branch)
{
	return nv_branch(branch)->branch == branch && nv_branch(branch)->witness == NV_GPU;
}

bool gs_rm_driver_branch_known(unsigned int branch)
{
	return branch >= NV_BRANCH_FIRST && branch <= NV_BRANCH_LAST;
}

void gs_rm_driver_branches_text(char *ret, size_t size, const char *between,
				const char *before_last)
{
	const struct nv_branch *row, *last = NULL;
	size_t n = 0;

	for (unsigned int i = 0; (row = nv_branch_at(i)); i++)
		if (nv_branch_tested(row))
			last = row;
	*ret = '\0';
	for (unsigned int i = 0; (row = nv_branch_at(i)) && n < size; i++) {
		const char *join = row == last ? before_last : between;

		if (nv_branch_tested(row) && (join || !n))
			n += (size_t)snprintf(ret + n, size - n, "%s%u", n ? join : "",
					      row->branch);
	}
}

int gs_rm_driver(unsigned int *ret_branch, char *ret_version, size_t size, struct gs_error *err)
{
	char version[64];
	int r = ask_device(version, sizeof(version));

	/* In a simulated instance, /proc describes the real driver, not the simulated one. */
	if (r < 0 && !gs_env()->sim)
		r = ask_proc(version, sizeof(version)) < 0 ? r : 0;
	if (r == -EACCES || r == -EPERM)
		return gs_fail(err, r, "%s may not be opened (%s): run as root", NV_CTL_PATH,
			       strerror(-r));
	if (r < 0)
		return gs_fail(
			err, -ENODEV,
			"no NVIDIA driver answers at %s (%s): load it, or use 'gpusched sim shell'",
			NV_CTL_PATH, strerror(-r));
	if (ret_branch)
		*ret_branch = (unsigned int)strtoul(version, NULL, 10);
	if (ret_version && size)
		snprintf(ret_version, size, "%s", version);
	return 0;
}
