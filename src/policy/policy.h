/* SPDX-License-Identifier: MIT */
/*
 * policy.h - opens, checks, links, starts, switches and stops policies
 */
#ifndef GPUSCHED_POLICY_POLICY_H
#define GPUSCHED_POLICY_POLICY_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "basic/error.h"
#include "gpusched/abi.h"
#include "gpusched/policy_types.h"
#include "table/table.h"

#define GS_POLICY_NAME_LEN 32

enum gs_policy_exit_kind {
	GS_POLICY_EXIT_NONE = 0, /* still running, or never started */
	GS_POLICY_EXIT_STOPPED,  /* by a person or by the daemon's end */
	GS_POLICY_EXIT_SWITCHED, /* another policy took over */
	GS_POLICY_EXIT_VERIFIER, /* the kernel refused it; dump: end of the verifier's log */
	GS_POLICY_EXIT_REFUSED,  /* gpusched refused it: wrong ABI, forbidden helpers or programs */
	GS_POLICY_EXIT_ERROR,    /* the policy itself failed: gpusched_fail(), or init < 0 */
	GS_POLICY_EXIT_STALLED,  /* a tick exceeded its timeout */
	GS_POLICY_EXITS
};
const char *gs_policy_exit_name(enum gs_policy_exit_kind kind);

struct gs_policy_exit {
	enum gs_policy_exit_kind kind;
	int code;
	char policy[GS_POLICY_NAME_LEN];
	char message[256];
	char *dump; /* malloc'd or NULL */
	uint64_t ns;
};

#define GS_POLICY_OPTIONS_MAX 64 /* most key=value pairs of one start */

struct gs_policy_option {
	char name[32];
	char type[16]; /* gs_u32, gs_u64, gs_s32, gs_s64, gs_bool */
	char help[120];
	uint32_t size;
	bool is_signed;    /* if true, def, value, min and max have the bits of an int64_t */
	uint64_t min, max; /* accepted range */
	uint64_t def;
	uint64_t value;
};

/* Facts about a policy that are known without running it. */
struct gs_policy_info {
	char name[GS_POLICY_NAME_LEN];
	char about[GPUSCHED_ABOUT_LEN];     /* what it does; "": unknown */
	char classes[GPUSCHED_CLASSES_LEN]; /* the classes on which it acts; "": it does not say */
	char path[256];                     /* path of the .bpf.o */
	char callbacks[256];                /* "task_init tick" */
	uint32_t abi;
	uint32_t tick_us; /* 0: no tick */
	uint32_t timeout_ms;
	uint32_t flags;
	/* Facts about a TSG that the policy reads: bits for gs_reads_text(), and GS_READS_... */
	uint32_t reads;
	bool reads_more;   /* it may read further facts, which the analysis did not find */
	bool never_admits; /* it holds TSGs, and no callback can admit one */
	uint32_t stack;    /* bytes that callback @deepest needs; up to GS_CALLBACK_STACK is safe */
	char deepest[32];  /* the callback that needs the most stack */
	struct gs_policy_option *options; /* malloc'd */
	size_t noptions;
};
void gs_policy_info_free(struct gs_policy_info *info);
/*
 * True if the policy declares the classes on which it acts, and @name is not among them. @name
 * "none" stands for programs without a class.
 */
bool gs_policy_info_ignores(const struct gs_policy_info *info, const char *name);
/* Returns the policy's JSON object as in docs/api.md. @running: adds its options' values. */
json_t *gs_policy_info_json(const struct gs_policy_info *info, bool running);

/* Lists the policies of the search path: $GPUSCHED_POLICIES, next to the executable, libdir. */
int gs_policy_list(struct gs_policy_info **ret, size_t *ret_n, struct gs_error *err);
/*
 * Reads a policy's facts. @name_or_path: a name in the search path, or the path of an object or of
 * a .bpf.c (which is built first, see gs_policy_build()).
 */
int gs_policy_info(const char *name_or_path, struct gs_policy_info *ret, struct gs_error *err);
#define GS_READS_FACTS (1u << 31) /* the policy calls gpusched_facts() */
#define GS_READS_GPU (1u << 30)   /* the policy calls gpusched_gpu() */
/*
 * Lists the names of the fields in @reads that a host does not know. @known: the host's facts
 * (GPUSCHED_KNOWN_*). Returns false if there are no such fields.
 */
bool gs_reads_text(uint32_t reads, uint32_t known, char *ret, size_t size);
/*
 * A BPF call chain has 512 bytes of stack. A callback may use this many; the host's functions need
 * the rest (tests/check/stack.sh).
 */
#define GS_CALLBACK_STACK 256u
/*
 * Writes the @n-th lint warning, from 0 on, about code that is legal but probably unintended.
 * Returns false if there are only @n warnings.
 */
bool gs_policy_remark(const struct gs_policy_info *info, unsigned int n, char *ret, size_t size);
/*
 * Checks that gpusched does not refuse the policy, and has the kernel's verifier check the linked
 * object, which needs root. Nothing is attached. *ret_info (may be NULL) is filled on success.
 */
int gs_policy_check(const char *name_or_path, struct gs_policy_info *ret_info,
		    struct gs_policy_exit *ret_exit, struct gs_error *err);
/* Checks that the policy exists and has these options ("key=value"). Loads nothing. */
int gs_policy_check_options(const char *name_or_path, const char *const *options, size_t n,
			    struct gs_error *err);
/* ---- the running policy ------------------------------------------------------------------- */

struct gs_policy;

/*
 * Builds @name if it is a source, links it with the stock host's glue (glue.h), sets @options
 * ("key=value"), loads it with the table's maps and runs init. @hooked: the driver's hooks will
 * call the policy too (hooked.h). Compiler and verifier may take long; since the running policy is
 * not touched, another thread may call this.
 */
int gs_policy_prepare(struct gs_table *o, bool hooked, const char *name, const char *const *options,
		      size_t noptions, struct gs_policy **ret, struct gs_policy_exit *ret_exit,
		      struct gs_error *err);
/* Frees a policy that was prepared but never acted, or that has ended. */
void gs_policy_discard(struct gs_policy *p);
/*
 * Puts @p's dispatcher into the slot, where the taps call it, and runs task_init for every TSG. @p
 * replaces @prev (may be NULL); the two never act together. On success @prev is freed with exit
 * kind SWITCHED. On failure @prev goes on, and the caller frees @p by gs_policy_discard().
 */
int gs_policy_take_over(struct gs_policy *p, struct gs_policy *prev,
			struct gs_policy_exit *ret_exit, struct gs_error *err);
/*
 * Ends the policy: calls its exit callback and clears all its wishes. The caller then frees it by
 * gs_policy_discard(), which waits 0.1 s for RCU and may run in any thread. Returns false if a
 * round does not end: the round's thread then frees @p.
 */
bool gs_policy_end(struct gs_policy *p, enum gs_policy_exit_kind kind);
/* Calls gs_policy_end() and, if that returns true, gs_policy_discard(). */
void gs_policy_stop(struct gs_policy *p, enum gs_policy_exit_kind kind);
const struct gs_policy_info *gs_policy_running(const struct gs_policy *p);
/* Returns the object file from which the policy was loaded. */
const void *gs_stock_object(const struct gs_policy *p, size_t *ret_len);

/* Calls a callback for one TSG (adopted, class changed, ended). */
int gs_stock_ask(struct gs_policy *p, enum gpusched_run_op op, const struct gpusched_key *key,
		 uint64_t arg);
/*
 * Called after a tap called the policy, or after its work_submit changed a wish: ends the tick's
 * rest, and runs a round if the policy asked for one.
 */
void gs_stock_nudge(struct gs_policy *p);
/* Returns the policy's last gpusched_log() line, and when we read it; malloc'd, NULL: none. */
char *gs_stock_said(const struct gs_policy *p, uint64_t *ret_ns);
/* Counts the rounds that gpusched_kick() has caused so far, and its calls past the limits. */
void gs_stock_kicks(const struct gs_policy *p, uint64_t *ret_granted, uint64_t *ret_refused);
/* True if nothing has happened to any TSG since the last round, and the policy rests. */
bool gs_stock_rests(const struct gs_policy *p);
/* Calls @fn for each user whose TSGs' callbacks called gpusched_kick() past the limits lately. */
typedef void (*gs_policy_refused_fn)(uid_t uid, uint32_t times, void *user);
void gs_stock_take_refused(struct gs_policy *p, gs_policy_refused_fn fn, void *user);
/*
 * The tick runs in a separate thread. The descriptor becomes readable after each tick that changed
 * a wish, and when the policy has failed. The loop then calls gs_stock_dispatch(), which returns
 * the number of records changed. If it returns a negative errno with *ret_exit filled, the caller
 * must stop the policy and restore.
 */
int gs_stock_fd(const struct gs_policy *p);
int gs_stock_dispatch(struct gs_policy *p, struct gs_policy_exit *ret_exit);

#endif /* GPUSCHED_POLICY_POLICY_H */
