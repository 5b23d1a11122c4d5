/* SPDX-License-Identifier: MIT */
/*
 * host.h - defines hosts, the places where policies run, and runs policies on them
 *
 * All hosts run the same source and make the same decisions (decide.h). They differ in how a policy
 * is loaded, what calls it, and which facts it gets. Each host has one file: host_stock.c (in the
 * kernel, with the unmodified driver), host_sim.c (in the kernel, against the GPU model) and
 * host_native.c (ordinary C, without privilege).
 *
 * Sim and native run in virtual time: the program that made the world (struct gs_world) calls them,
 * in one thread. A call changes want and priv of the task that it gets.
 */
#ifndef GPUSCHED_POLICY_HOST_H
#define GPUSCHED_POLICY_HOST_H

#include "policy/priv.h"
#include "policy/rest.h"

/* The surroundings in which a policy runs. */
struct gs_world {
	/* Real time: the table with the TSGs. NULL: policies are only checked. */
	struct gs_table *table;
	/* Real time: the driver's hooks call the policy (hooked.h), and the gate does not. */
	bool hooked;
	/* The next members are for virtual time. */
	uint64_t (*now_ns)(void *user);
	/* Returns all TSGs that exist; valid until the policy's callback returns. */
	struct gpusched_task *const *(*tasks)(void *user, size_t *ret_n);
	/* May be NULL: no facts are known. 0 or -ENOENT. */
	int (*facts)(void *user, uint64_t id, struct gpusched_facts *ret);
	int (*runlist)(void *user, uint32_t runlist, struct gpusched_runlist_facts *ret);
	int (*gpu)(void *user, uint32_t gpu, struct gpusched_gpu *ret);
	uint64_t (*job)(void *user, uint64_t id); /* may be NULL; 0: unknown */
	/* May be NULL: there are no limits. 0 or -ENOENT. */
	int (*limit)(void *user, uint64_t id, struct gpusched_limit *ret);
	int (*promise)(void *user, uint64_t id, struct gpusched_promise *ret);
	uint64_t seed;   /* for the policy's random numbers */
	uint32_t hidden; /* GPUSCHED_KNOWN_*: facts that are hidden from the policy */
	void *user;
};

struct gs_policy {
	const struct gs_host *host;
	struct gs_world world;
	struct gs_policy_info info;
	struct gs_polobj obj;    /* set by vet() */
	struct gs_loaded loaded; /* the programs and maps in the kernel; not in the native host */
	int fail_code;
	char failure[200]; /* after ask() returned a negative value: the reason */
	/* the next members are for virtual time */
	uint64_t seq;
	struct gs_rest rest;
	/* Calls of gpusched_kick() that caused a round, and calls refused past the limits. */
	uint64_t kicks, kicks_refused;
	uint64_t kicks_seen; /* @kicks at the last gs_virtual_kicked() */
};

/* A host, as a table of its operations. The two hosts in virtual time leave some NULL. */
struct gs_host {
	const char *name;
	size_t size; /* size of this host's policy struct, which begins with a struct gs_policy */
	bool virtual_time;
	uint32_t facts; /* GPUSCHED_KNOWN_*: facts that this host can give a policy */
	/* Returns the GPUSCHED_F_* that this host supports in world @w. */
	uint32_t (*flags)(const struct gs_world *w);

	/* Finds the policy, and refuses it if it may not run here. Fills @p->info. */
	int (*vet)(struct gs_policy *p, const char *name, struct gs_policy_exit *x,
		   struct gs_error *err);
	/*
	 * Links the policy with the host's glue, and gives its options the values in @p->info. From
	 * then on ask() works.
	 */
	int (*link)(struct gs_policy *p, struct gs_policy_exit *x, struct gs_error *err);
	/* Lets the policy act. NULL where there is nothing to do, as in virtual time. */
	int (*attach)(struct gs_policy *p, struct gs_policy_exit *x, struct gs_error *err);
	/*
	 * Lets @p act in place of @prev, which is ended and freed. After a failure @prev still
	 * acts.
	 */
	int (*switch_over)(struct gs_policy *p, struct gs_policy *prev, struct gs_policy_exit *x,
			   struct gs_error *err);
	/*
	 * Ends the policy and calls its exit callback. Returns false if a round does not end: the
	 * round's thread then frees the policy.
	 */
	bool (*detach)(struct gs_policy *p, enum gs_policy_exit_kind kind);
	/* Frees the policy in any state, also after vet() or link() has failed. */
	void (*free)(struct gs_policy *p);
	/*
	 * Runs one callback, or a whole round (GPUSCHED_RUN_TICK). Real time: for the record of
	 * @r->key. Virtual time: for @t, or for all tasks of the world. Negative: the callback
	 * could not run, or the policy has failed and none of its callbacks runs any more.
	 */
	int (*ask)(struct gs_policy *p, struct gpusched_run *r, struct gpusched_task *t);
};

extern const struct gs_host gs_host_stock, gs_host_sim, gs_host_native;
/* NULL: there is no host of that name. */
const struct gs_host *gs_policy_host(const char *name);

/* Vets and links policy @name with @options, and calls init. The policy does not act yet. */
int gs_policy_open(const struct gs_host *h, const struct gs_world *w, const char *name,
		   const char *const *options, size_t noptions, struct gs_policy **ret,
		   struct gs_policy_exit *ret_exit, struct gs_error *err);

/* ---- for the hosts ---------------------------------------------------------------------------- */

/* Fills the exit record and the error from @p->failure. Returns the code. */
int gs_host_failed(struct gs_policy *p, struct gs_policy_exit *x, struct gs_error *err);
/* Parts of vet(), link() and free() for the hosts that use BPF objects. */
int gs_policy_check_object(struct gs_policy *p, const char *name, struct gs_policy_exit *x,
			   struct gs_error *err);
int gs_polobj_load(struct gs_policy *p, const struct gs_load_opts *opts, struct gs_policy_exit *x,
		   struct gs_error *err);
void gs_polobj_unload(struct gs_policy *p);

/* ---- virtual time ---------------------------------------------------------------------------- */

/*
 * Runs one callback for @t. @arg: for timeslice_set, microseconds; for work_submit, GS_WORK_ARG(),
 * of which @t already counts the launches. Returns schedule's answer, and 0 for all other
 * callbacks. Negative: the policy has failed.
 */
int gs_virtual_ask(struct gs_policy *p, enum gpusched_run_op op, struct gpusched_task *t,
		   uint64_t arg);
/* Runs one whole round of the tick over all tasks, unless the policy rests. */
int gs_virtual_round(struct gs_policy *p);
/*
 * If gpusched_kick() was called since the last call, returns true and ends the policy's rest. The
 * world then runs a round as soon as a real thread would have woken up.
 */
bool gs_virtual_kicked(struct gs_policy *p);
/* Returns @t as the policy sees it: without facts that the world hides. */
struct gpusched_task gs_virtual_shown(const struct gs_policy *p, const struct gpusched_task *t);

/* Gets the world's facts about a TSG; if there are none, -ENOENT with *ret zeroed. */
int gs_virtual_facts(const struct gs_policy *p, uint64_t id, struct gpusched_facts *ret);
int gs_virtual_runlist(const struct gs_policy *p, uint32_t runlist,
		       struct gpusched_runlist_facts *ret);
int gs_virtual_gpu(const struct gs_policy *p, uint32_t gpu, struct gpusched_gpu *ret);
/* Gets the task with this id, as the policy sees it; -ENOENT with *ret zeroed. */
int gs_virtual_find(const struct gs_policy *p, uint64_t id, struct gpusched_task *ret);
/* Gets the task's limit or promise; if there is none, -ENOENT with *ret zeroed. */
int gs_virtual_limit(const struct gs_policy *p, uint64_t id, struct gpusched_limit *ret);
int gs_virtual_promise(const struct gs_policy *p, uint64_t id, struct gpusched_promise *ret);
/* Returns the task's job; 0: unknown. */
uint64_t gs_virtual_job(const struct gs_policy *p, uint64_t id);

#endif /* GPUSCHED_POLICY_HOST_H */
