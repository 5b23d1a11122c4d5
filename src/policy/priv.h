/* SPDX-License-Identifier: MIT */
/*
 * priv.h - declares functions that only the files of src/policy use
 */
#ifndef GPUSCHED_POLICY_PRIV_H
#define GPUSCHED_POLICY_PRIV_H

#include <bpf/libbpf.h>

#include "gpusched/policy_types.h"
#include "policy/policy.h"
#include "policy/pstate.h"

/* ---- exit_log.c ------------------------------------------------------------------------------ */

/* Fills an exit record (may be NULL) and the error; returns @code. Takes ownership of @dump. */
int gs_exit_fill(struct gs_policy_exit *x, struct gs_error *err, enum gs_policy_exit_kind kind,
		 int code, const char *policy, char *dump, const char *format, ...)
	__attribute__((format(printf, 7, 8)));

/* ---- polobj.c: a policy's object file, in memory ------------------------------------------ */

struct gs_polobj {
	char path[256]; /* the path that the user gave, or that the search path led to */
	unsigned char *data;
	size_t len;
};
/* @name_or_path: a name, or the path of an object or of a source, which is built into memory. */
int gs_polobj_open(const char *name_or_path, struct gs_polobj *ret, struct gs_error *err);
void gs_polobj_close(struct gs_polobj *obj);
#define GS_MAX_OBJECT (16u << 20) /* largest size of an object file in bytes */

/* ---- build.c ------------------------------------------------------------------------------ */

/* Longest time for a compiler in seconds; tests make it shorter. */
extern unsigned int gs_policy_build_limit_s;
/* Runs the C compiler over a policy's source, for the native host. */
int gs_policy_build_native(const char *source, const char *output, struct gs_error *err);

/* ---- declared.c: what an object declares -------------------------------------------------- */

int gs_polobj_declared(const struct gs_polobj *obj, struct gs_policy_info *ret,
		       struct gs_error *err);

/* ---- refuse.c: what an object may not contain --------------------------------------------- */

/* Returns 0 if the object is allowed, or -EINVAL with the first reason in @why. */
int gs_polobj_refuse(const struct gs_polobj *obj, char *why, size_t size);

/* ---- paths.c ------------------------------------------------------------------------------ */

/* Calls fn for each directory of the search path until it returns non-zero. */
int gs_policy_paths_each(int (*fn)(const char *dir, void *user), void *user);
/* Finds the first file @name with suffix @end (".bpf.o") in the search path; @ret has PATH_MAX. */
bool gs_policy_path_find(const char *name, const char *end, char *ret);
/* Fails, since there is no policy @name; names a similar one, and @else_do after it. */
int gs_policy_path_unknown(const char *name, const char *else_do, struct gs_error *err);
/* Finds the directory that contains gpusched/policy.bpf.h. -ENOENT. */
int gs_policy_path_include(char *ret, size_t size);
bool gs_policy_path_ok(const char *name);

/* ---- options.c ---------------------------------------------------------------------------- */

/* Reads the declarations of GPUSCHED_OPTION() into info->options. */
int gs_options_read(const struct gpusched_option_desc *d, size_t n, struct gs_policy_info *info);
/* -EINVAL: a default is outside its range. */
int gs_options_vet(const struct gs_policy_info *info, struct gs_error *err);
/* Sets info's option from "key=value". -EINVAL, -ERANGE; -ENOENT with the choices. */
int gs_option_set(struct gs_policy_info *info, const char *assignment, struct gs_error *err);
int gs_options_set(struct gs_policy_info *info, const char *const *options, size_t n,
		   struct gs_error *err);

/* ---- link.c, load.c ----------------------------------------------------------------------- */

/*
 * Links the policy, the default callbacks and the stock glue, in this order, into one object in a
 * memory file.
 */
int gs_policy_link(const struct gs_polobj *obj, int *ret_fd, char *ret_log, size_t log_size);

/* A policy's programs and maps in the kernel. */
struct gs_loaded {
	struct bpf_object *obj;
	int dispatch_fd, run_fd, tsgs_fd, facts_fd, runlists_fd, gpus_fd, jobs_fd;
	int work_fd;             /* dispatcher for launches; -1: the policy does not need them */
	int gate_fd;             /* dispatcher for the gate; -1: none */
	struct gs_pstate *state; /* the mapped map gs_pstate */
	int log_fd;
	uint32_t generation;
};
struct gs_load_opts {
	struct gs_table *o; /* NULL: use new maps, not the table's (check, sim host) */
	const struct gs_policy_info *info;
	bool run_only; /* sim host: load only the run program, not the dispatchers */
	bool gate;     /* the gate is in use: load its dispatcher */
	bool hooked;   /* the driver's hooks call the policy too */
};
/* Calls the policy's run program once; *r is in and out. 0, or -errno of the system call. */
int gs_loaded_ask(const struct gs_loaded *l, struct gpusched_run *r);
/* Logs the lines that gpusched_log() wrote after line *inout_seen. @when: "" or " at 1.5 s". */
void gs_loaded_logs(const struct gs_loaded *l, const char *name, const char *when,
		    uint64_t *inout_seen);
/* True if the policy has called gpusched_fail(), with the code and text. */
bool gs_loaded_failed(const struct gs_loaded *l, int *ret_code, char *ret_why, size_t size);
/* Returns the log line with this number; malloc'd, NULL: not written yet, or overwritten. */
char *gs_loaded_log_line(const struct gs_loaded *l, uint64_t seq);
/* Returns the policy's last log lines, for an exit record's dump; malloc'd, NULL: none. */
char *gs_loaded_log_text(const struct gs_loaded *l);
/* Checks tick, timeout and flags of GPUSCHED_POLICY(), the same for every host. */
int gs_policy_check_numbers(const struct gs_policy_info *info, struct gs_policy_exit *x,
			    struct gs_error *err);

#endif /* GPUSCHED_POLICY_PRIV_H */
