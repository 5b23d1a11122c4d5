/* SPDX-License-Identifier: MIT */
/*
 * gpusched.h - libgpusched: lets other programs see and decide which process has the GPU
 *
 * Every call goes through the daemon's socket (/run/gpusched/api) and may be made by any user: the
 * daemon checks what the caller may touch. The library itself touches no GPU and needs no root.
 *
 * Handles are opaque. Structures that the caller fills begin with their size, so that later
 * versions can add fields. Functions return 0 or a negative errno; after a failure,
 * gpusched_error() returns one clear line. A handle may be used by one thread at a time.
 *
 * Errors of all functions:
 *  - -EPERM: the target is another user's.
 *  - -ENOENT: there is no such target.
 *  - -EINVAL: an argument is wrong; the line names it.
 *  - -ERANGE: a value is out of range; the line has the range.
 *  - -EBUSY: another instance of gpusched holds the lock.
 *  - -EHOSTDOWN: the daemon listens but does not respond.
 *  - -ENODEV: there is no NVIDIA driver.
 *  - -ENOTSUP: this is not possible here; the line says why.
 *  - -EREMOTEIO: the driver's resource manager refused; the line has its status.
 */
#ifndef GPUSCHED_GPUSCHED_H
#define GPUSCHED_GPUSCHED_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define GPUSCHED_API __attribute__((visibility("default")))

struct gpusched;

struct gpusched_open_options {
	size_t size;        /* sizeof(struct gpusched_open_options) */
	const char *socket; /* path of the daemon's socket; NULL: the default path */
	/* How long to wait for a daemon that is starting, if @socket is NULL; 0: do not wait. */
	uint64_t wait_us;
};

/*
 * @options may be NULL. -ECONNREFUSED: no daemon answers. After any failure except -ENOMEM, *ret is
 * a handle nevertheless: gpusched_error(*ret) gives the reason, and the caller must close the
 * handle.
 */
GPUSCHED_API int gpusched_open(const struct gpusched_open_options *options, struct gpusched **ret);
GPUSCHED_API void gpusched_close(struct gpusched *g);
/* One line about the last failure; "" if there was none. Valid until the next call. */
GPUSCHED_API const char *gpusched_error(const struct gpusched *g);
/* 1: a daemon answered when @g was opened. */
GPUSCHED_API int gpusched_has_daemon(const struct gpusched *g);

/* ---- TSGs ------------------------------------------------------------------------------------ */

/* An unknown or unset value of a setting. */
#define GPUSCHED_UNSET (-1)

struct gpusched_values {
	int64_t timeslice_us; /* 1..100000000 or GPUSCHED_UNSET */
	int interleave;       /* 0 low, 1 medium, 2 high, or GPUSCHED_UNSET */
	int preempt_mode;     /* 0 WFI, 1 CTA, 2 CILP, or GPUSCHED_UNSET */
	int runnable;         /* in answers only; gpusched_set() takes only GPUSCHED_UNSET */
};

struct gpusched_tsg_info {
	size_t size; /* sizeof(struct gpusched_tsg_info) in the library, which sets this field */
	/* If the process is another user's, fields that the caller may not see are 0, "", or
	 * GPUSCHED_UNSET (uid: -1). */
	uint64_t id;
	int gpu; /* index, or GPUSCHED_UNSET */
	char gpu_uuid[48];
	int32_t pid;
	uint32_t uid;
	char comm[16];
	char kind[12];        /* "compute", "copy", "other" */
	char engine[12];      /* "GR0", "CE1" */
	char class_name[32];  /* "": no class */
	char known_by[12];    /* "tap": gpusched saw its creation; "scan": a scan found it later */
	uint32_t client, tsg; /* handles of the driver's resource manager */
	int channels;
	/* Settings that the owner asked for, that are in force, and that the policy wants. */
	struct gpusched_values asked, is, want;
	/* GPU memory that the TSG's process has on the TSG's GPU; GPUSCHED_UNSET: unknown. */
	int64_t memory_bytes;
	int32_t tid; /* the thread that made the TSG; GPUSCHED_UNSET: unknown */
};

/*
 * Calls @fn for every TSG of @target (NULL: all). If @fn returns non-zero, the walk ends and that
 * value is returned. A target is "all", or up to four of these with commas between, all of which
 * must match: pid:N tid:N tsg:N uid:N user:NAME comm:NAME cgroup:PATH class:NAME gpu:SELECTOR.
 */
typedef int (*gpusched_tsg_fn)(const struct gpusched_tsg_info *tsg, void *user);
GPUSCHED_API int gpusched_list(struct gpusched *g, const char *target, gpusched_tsg_fn fn,
			       void *user);

/*
 * Makes manual settings, which override the policy's until they are cleared. Unset fields of
 * @values change nothing. *ret_n (@ret_n may be NULL) is the number of TSGs that were changed. If
 * the driver refused some changes, the function returns -EREMOTEIO, and *ret_n counts the others.
 */
GPUSCHED_API int gpusched_set(struct gpusched *g, const char *target,
			      const struct gpusched_values *values, unsigned int *ret_n);
/* Clears all manual settings of the target. */
GPUSCHED_API int gpusched_unset(struct gpusched *g, const char *target, unsigned int *ret_n);
/* Takes the TSGs off the GPU now. Their work goes on at their next turn. */
GPUSCHED_API int gpusched_preempt(struct gpusched *g, const char *target, unsigned int *ret_n);
/* Keeps the TSGs from running for @for_us microseconds; 0: until gpusched_resume(). */
GPUSCHED_API int gpusched_suspend(struct gpusched *g, const char *target, uint64_t for_us,
				  unsigned int *ret_n);
GPUSCHED_API int gpusched_resume(struct gpusched *g, const char *target, unsigned int *ret_n);
/*
 * gpusched_park() copies the GPU memory of programs to host memory and frees it on the GPU;
 * gpusched_unpark() brings it back. The programs stay parked for @for_us microseconds; 0: until
 * gpusched_unpark(). *ret_n is the number of processes. The two functions may take minutes.
 * gpusched_unpark() returns -EAGAIN if the GPU lacks memory for some of the programs; the daemon
 * brings these back when there is enough.
 */
GPUSCHED_API int gpusched_park(struct gpusched *g, const char *target, uint64_t for_us,
			       unsigned int *ret_n);
GPUSCHED_API int gpusched_unpark(struct gpusched *g, const char *target, unsigned int *ret_n);
/*
 * Stops the policy and restores every TSG to what its owner asked for. (Without a daemon: the
 * command gpusched restore.)
 */
GPUSCHED_API int gpusched_restore(struct gpusched *g, unsigned int *ret_n);

/* ---- classes --------------------------------------------------------------------------------- */

/*
 * Gives a class to the processes of @target, and to the children that they make from now on.
 * -EPERM: only root may raise a class.
 */
GPUSCHED_API int gpusched_class_set(struct gpusched *g, const char *target, const char *class_name);
GPUSCHED_API int gpusched_class_clear(struct gpusched *g, const char *target);

/* ---- watching -------------------------------------------------------------------------------- */

/* Gets one event as @json: a JSON object on one line, as in `gpusched monitor --json`. */
typedef int (*gpusched_event_fn)(const char *json, void *user);
/*
 * Calls @fn for each event. Returns @fn's result as soon as that is not 0; 0 if the daemon ends;
 * -ETIMEDOUT after @timeout_us (0: no limit); or -EINTR after a signal.
 */
GPUSCHED_API int gpusched_watch(struct gpusched *g, gpusched_event_fn fn, void *user,
				uint64_t timeout_us);
/*
 * Calls @fn for each turn of a TSG on a GPU and for each GPU's counters, as docs/api.md describes
 * under /v1/trace. Ends as gpusched_watch() does. A handle has one stream at a time.
 */
GPUSCHED_API int gpusched_trace(struct gpusched *g, gpusched_event_fn fn, void *user,
				uint64_t timeout_us);

/* ---- everything else, as the command line uses it -------------------------------------------- */

/* Sends one verb of the API with JSON arguments (NULL: {}); the caller frees *ret_json. */
GPUSCHED_API int gpusched_request(struct gpusched *g, const char *verb, const char *args_json,
				  char **ret_json);

GPUSCHED_API const char *gpusched_version(void);

#ifdef __cplusplus
}
#endif

#endif /* GPUSCHED_GPUSCHED_H */
