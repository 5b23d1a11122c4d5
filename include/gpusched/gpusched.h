/* SPDX-License-Identifier: MIT */
/*
 * gpusched.h - libgpusched: lets other programs see and decide which process has the GPU
 *
 * Every call goes through the daemon's socket (/run/gpusched/api) and may be made by any user: the
 * daemon checks what the caller may touch. The library itself touches no GPU and needs no root.
 *
 * Handles are opaque. Structures that the caller fills begin with their size, so that they can
 * grow. Functions return 0 or a negative errno; gpusched_error() then holds one clear line. A
 * handle is for one thread at a time.
 *
 * Errors common to all: -EPERM (not yours), -ENOENT (no such target), -EINVAL (usage, with what),
 * -ERANGE (a value, with its range), -EBUSY (another instance has the lock), -ENODEV (no driver),
 * -ENOTSUP (not possible here, with the reason), -EREMOTEIO (RM refused, with its status).
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
	const char *socket; /* NULL: the instance's own socket */
	uint64_t wait_us;   /* longest wait for a daemon of this machine that is starting */
};

/* -ECONNREFUSED: no daemon answers. @options may be NULL. On failure *ret is set all the same when
 * memory allows, so that gpusched_error(*ret) tells why; close it too. */
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
	size_t size; /* filled in by the library: the size that it knows */
	/*
	 * Fields of another user's process that the caller may not see are 0, "", or GPUSCHED_UNSET
	 * (uid: -1).
	 */
	uint64_t id;
	int gpu; /* index, or GPUSCHED_UNSET */
	char gpu_uuid[48];
	int32_t pid;
	uint32_t uid;
	char comm[16];
	char kind[12];        /* "compute", "copy", "other" */
	char engine[12];      /* "GR0", "CE1" */
	char class_name[32];  /* "" none */
	char known_by[12];    /* "tap", "scan" */
	uint32_t client, tsg; /* RM handles */
	int channels;
	struct gpusched_values asked, is, want;
	/* Memory of that GPU that the TSG's process holds; or GPUSCHED_UNSET. */
	int64_t memory_bytes;
	int32_t tid; /* the thread that made it; GPUSCHED_UNSET: made before the taps were on */
};

/* Calls @fn for every TSG of @target (NULL: all); a non-zero return ends the walk and is returned.
 * Target: pid:N tid:N tsg:N uid:N user:NAME comm:NAME cgroup:PATH class:NAME gpu:SELECTOR, up to
 * four with a comma between (all must hold), or all */
typedef int (*gpusched_tsg_fn)(const struct gpusched_tsg_info *tsg, void *user);
GPUSCHED_API int gpusched_list(struct gpusched *g, const char *target, gpusched_tsg_fn fn,
			       void *user);

/*
 * Makes settings of a person, which come before the policy's until they are cleared. Unset fields
 * stay as they are. *ret_n (may be NULL): number of TSGs changed. If some failed, returns
 * -EREMOTEIO: see *ret_n.
 */
GPUSCHED_API int gpusched_set(struct gpusched *g, const char *target,
			      const struct gpusched_values *values, unsigned int *ret_n);
/* Clears all manual settings of the target. */
GPUSCHED_API int gpusched_unset(struct gpusched *g, const char *target, unsigned int *ret_n);
GPUSCHED_API int gpusched_preempt(struct gpusched *g, const char *target, unsigned int *ret_n);
/* @for_us: 0: until resume. */
GPUSCHED_API int gpusched_suspend(struct gpusched *g, const char *target, uint64_t for_us,
				  unsigned int *ret_n);
GPUSCHED_API int gpusched_resume(struct gpusched *g, const char *target, unsigned int *ret_n);
/*
 * Takes the GPU memory of programs out, and brings it back. @for_us: 0: until unpark. *ret_n:
 * number of processes. May take minutes. -EAGAIN: some programs wait for memory, and come back when
 * there is enough.
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

/* Gives the processes of @target (and their descendants from now on) a class. -EPERM: raising. */
GPUSCHED_API int gpusched_class_set(struct gpusched *g, const char *target, const char *class_name);
GPUSCHED_API int gpusched_class_clear(struct gpusched *g, const char *target);

/* ---- watching -------------------------------------------------------------------------------- */

/* Gets one event as a JSON object on one line, with keys as in `gpusched monitor --json`. */
typedef int (*gpusched_event_fn)(const char *json, void *user);
/*
 * Runs until @fn returns non-zero (which is returned), the daemon ends (0) or @timeout_us passed
 * (0: no limit).
 */
GPUSCHED_API int gpusched_watch(struct gpusched *g, gpusched_event_fn fn, void *user,
				uint64_t timeout_us);
/*
 * The same, with each turn of a TSG on a GPU and each GPU's counters, as described under /v1/trace
 * in docs/api.md. A handle has one stream.
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
