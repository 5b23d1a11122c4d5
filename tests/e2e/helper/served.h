/* SPDX-License-Identifier: MIT */
/* served.h - serves a FUSE file system with one file, whose answers a test gives or withholds */
#ifndef GPUSCHED_TESTS_HELPER_SERVED_H
#define GPUSCHED_TESTS_HELPER_SERVED_H

#define FUSE_USE_VERSION 35
#include <fuse_lowlevel.h>
#include <sys/types.h>

struct served {
	const char *name;
	size_t size;
	mode_t mode;
	const char *option; /* mount option, or NULL */
	/* lookup of any other name: returns true if it has dealt with the request; NULL: ENOENT */
	int (*other)(fuse_req_t req, const char *name);
	void (*read)(fuse_req_t req, fuse_ino_t ino, size_t size, off_t at,
		     struct fuse_file_info *fi);
	void (*write)(fuse_req_t req, fuse_ino_t ino, const char *buf, size_t size, off_t at,
		      struct fuse_file_info *fi);
};

/* Mounts @what on @dir. A child serves it, with SIGUSR1 blocked, until the caller's death. */
void serve_on(const char *dir, const struct served *what);

#endif /* GPUSCHED_TESTS_HELPER_SERVED_H */
