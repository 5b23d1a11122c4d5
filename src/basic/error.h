/* SPDX-License-Identifier: MIT */
/*
 * error.h - describes a failure in one clear line: what went wrong and what to do
 *
 * Functions that can fail for a reason worth telling take `struct gs_error *err` (may be NULL) as
 * their last argument and return a negative errno. The first message that is set stays, since the
 * innermost function knows most.
 */
#ifndef GPUSCHED_BASIC_ERROR_H
#define GPUSCHED_BASIC_ERROR_H

struct gs_error {
	int code; /* negative errno, 0: none */
	char text[512];
};

/* Returns @code, so that `return gs_fail(err, -ENOENT, "...")` reads well. */
int gs_fail(struct gs_error *err, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Exit codes of our programs. */
enum gs_exit {
	GS_EXIT_OK = 0,
	GS_EXIT_FAILED = 1,
	GS_EXIT_USAGE = 2,
	GS_EXIT_IMPOSSIBLE = 3, /* this machine cannot do it */
	GS_EXIT_PARTLY = 4,
	GS_EXIT_WRONG = 5, /* for `status`: something is wrong */
};

/*
 * The exit code for an errno: -EINVAL, -ERANGE: USAGE; -ENOTSUP, -EPERM, -EACCES, -ENOSYS, -ENODEV,
 * -ECONNREFUSED: IMPOSSIBLE; others, such as -EREMOTEIO: FAILED.
 */
enum gs_exit gs_error_exit(int code);

#endif /* GPUSCHED_BASIC_ERROR_H */
