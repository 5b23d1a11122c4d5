/* SPDX-License-Identifier: MIT */
/*
 * cleanup.h - releases resources at the end of a scope, unless they are handed on
 *
 * A resource that a function owns carries a cleanup attribute; a resource that it hands on goes
 * through TAKE_PTR() or TAKE_FD(). So a reader sees that the function leaks nothing, without
 * reading its callees.
 */
#ifndef GPUSCHED_BASIC_CLEANUP_H
#define GPUSCHED_BASIC_CLEANUP_H

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define CLEANUP(fn) __attribute__((cleanup(fn)))

static inline void gs_free_(void *p)
{
	free(*(void **)p);
}

static inline void gs_close_(int *fd)
{
	if (*fd >= 0) {
		int saved = errno;

		close(*fd);
		errno = saved;
	}
}

static inline void gs_fclose_(FILE **f)
{
	if (*f)
		fclose(*f);
}

static inline void gs_closedir_(DIR **d)
{
	if (*d)
		closedir(*d);
}

#define CLEANUP_FREE CLEANUP(gs_free_)
#define CLEANUP_FD CLEANUP(gs_close_)
#define CLEANUP_FILE CLEANUP(gs_fclose_)
#define CLEANUP_DIR CLEANUP(gs_closedir_)

#define TAKE_PTR(p) \
	({ \
		__typeof__(p) taken_ = (p); \
		(p) = NULL; \
		taken_; \
	})

#define TAKE_FD(fd) \
	({ \
		int taken_ = (fd); \
		(fd) = -1; \
		taken_; \
	})

#define GS_COUNT(a) (sizeof(a) / sizeof((a)[0]))

#endif /* GPUSCHED_BASIC_CLEANUP_H */
