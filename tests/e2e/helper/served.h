/* SPDX-License-Identifier: MIT */
/* served.h - a FUSE of the test's own with one file, whose answers the test gives or withholds */
#ifndef GPUSCHED_TESTS_HELPER_SERVED_H
#define GPUSCHED_TESTS_HELPER_SERVED_H

#define FUSE_USE_VERSION 35
#include <fuse_lowlevel.h>
#include <sys/types.h>

struct served {
	const char *name;
	size_t size;
	mode_t mode;
	const char *option; /* of the mount, or NULL */
	/* somebody looks for another name: true if that was dealt with */
	int (*other)(fuse_req_t req, const char *name);
	void (*read)(fuse_req_t req, fuse_ino_t ino, size_t size, off_t at,
		     struct fuse_file_info *fi);
	void (*write)(fuse_req_t req, fuse_ino_t ino, const char *buf, size_t size, off_t at,
		      struct fuse_file_info *fi);
};

/* Mounts @what on @dir; a child serves it, with SIGUSR1 blocked, as long as we live. */
void serve_on(const char *dir, const struct served *what);

#endif /* GPUSCHED_TESTS_HELPER_SERVED_H */
