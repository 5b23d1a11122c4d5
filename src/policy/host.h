/* SPDX-License-Identifier: MIT */
/*
 * host.h - a host: a place where policies run, and a policy there
 *
 * All hosts run one source and come to the same decisions (decide.h). They differ in how a policy
 * gets there, what calls it, and which facts it can have. One file each: host_stock.c (the kernel,
 * beside the unmodified driver), host_sim.c (the kernel, against the GPU model) and host_native.c
 * (ordinary C, without privilege).
 *
 * The last two are driven in virtual time by the maker of the world, in one thread. Calls change
 * want and priv of the tasks that they are given.
 */
#ifndef GPUSCHED_POLICY_HOST_H
#define GPUSCHED_POLICY_HOST_H

#include "policy/priv.h"
#include "policy/rest.h"

/* Where a policy is to run. */
struct gs_world {
	struct gs_table *table; /* real time: the TSGs are its. NULL: policies are checked only */
	bool hooked;            /* real time: the driver's hooks ask too (hooked.h), not the gate */
	/* virtual time */
	uint64_t (*now_ns)(void *user);
	/* all TSGs that exist; valid until the call returns */
	struct gpusched_task *const *(*tasks)(void *user, size_t *ret_n);
	/* May be NULL: none are known. 0 or -ENOENT. */
	int (*facts)(void *user, uint64_t id, struct gpusched_facts *ret);
	int (*runlist)(void *user, uint32_t runlist, struct gpusched_runlist_facts *ret);
	int (*gpu)(void *user, uint32_t gpu, struct gpusched_gpu *ret);
	uint64_t (*job)(void *user, uint64_t id); /* may be NULL; 0: not known */
	/* May be NULL: there are none. 0 or -ENOENT. */
	int (*limit)(void *user, uint64_t id, struct gpusched_limit *ret);
	int (*promise)(void *user, uint64_t id, struct gpusched_promise *ret);
	uint64_t seed;   /* of the policy's random numbers */
	uint32_t hidden; /* GPUSCHED_KNOWN_*: facts that the policy is not told */
	void *user;
};

struct gs_policy {
	const struct gs_host *host;
	struct gs_world world;
	struct gs_policy_info info;
	struct gs_polobj obj;    /* from vet on */
	struct gs_loaded loaded; /* in the kernel; nothing natively */
	int fail_code;
	char failure[200]; /* after a negative ask(): why */
	/* virtual time */
	uint64_t seq;
	struct gs_rest rest;
	uint64_t kicks, kicks_refused; /* of gpusched_kick(): granted, past its limits */
	uint64_t kicks_seen;
};

struct gs_host {
	const char *name;
	size_t size; /* of its policies, each of which begins with a struct gs_policy */
	bool virtual_time;
	uint32_t facts; /* GPUSCHED_KNOWN_*: what it can tell a policy */
	/* GPUSCHED_F_* that it honours in that world */
	uint32_t (*flags)(const struct gs_world *w);

	/* Finds the policy and refuses what may not run here. Fills @p->info. */
	int (*vet)(struct gs_policy *p, const char *name, struct gs_policy_exit *x,
		   struct gs_error *err);
	/* Joins it with the host's half, with the options of @p->info set: ask() works. */
	int (*link)(struct gs_policy *p, struct gs_policy_exit *x, struct gs_error *err);
	/* From here on it acts. In virtual time, and without @switch_over, there is nothing to do. */
	int (*attach)(struct gs_policy *p, struct gs_policy_exit *x, struct gs_error *err);
	/* The same, and @prev acts no more and is freed. A failure leaves @prev acting. */
	int (*switch_over)(struct gs_policy *p, struct gs_policy *prev, struct gs_policy_exit *x,
			   struct gs_error *err);
	/* It acts no more; exit is called. False: a round does not end, and its thread frees it. */
	bool (*detach)(struct gs_policy *p, enum gs_policy_exit_kind kind);
	/* Frees what vet and link have left, in whatever state. */
	void (*free)(struct gs_policy *p);
	/*
	 * One callback, or a whole round (GPUSCHED_RUN_TICK). Real time: for the record of @r->key.
	 * Virtual: for @t, or for all tasks of the world. Negative: it could not be asked, or has
	 * failed, and will not be asked again.
	 */
	int (*ask)(struct gs_policy *p, struct gpusched_run *r, struct gpusched_task *t);
};

extern const struct gs_host gs_host_stock, gs_host_sim, gs_host_native;
/* NULL: there is none of that name. */
const struct gs_host *gs_host_find(const char *name);

/* Vets and links policy @name with @options, and calls init. Nothing acts yet. */
int gs_policy_open(const struct gs_host *h, const struct gs_world *w, const char *name,
		   const char *const *options, size_t noptions, struct gs_policy **ret,
		   struct gs_policy_exit *ret_exit, struct gs_error *err);

/* ---- for the hosts ---------------------------------------------------------------------------- */

/* From @p->failure: fills the exit record and the error; returns the code. */
int gs_policy_failed(struct gs_policy *p, struct gs_policy_exit *x, struct gs_error *err);
/* vet, link and free of hosts with BPF objects as policies. */
int gs_polobj_vet(struct gs_policy *p, const char *name, struct gs_policy_exit *x,
		  struct gs_error *err);
int gs_polobj_load(struct gs_policy *p, const struct gs_load_opts *opts, struct gs_policy_exit *x,
		   struct gs_error *err);
void gs_polobj_unload(struct gs_policy *p);

/* ---- virtual time ---------------------------------------------------------------------------- */

/*
 * One callback for @t. Negative: the policy has failed. Else 0; of schedule what it answered.
 * @arg: timeslice_set: us; work_submit: GS_WORK_ARG(), and @t->launches counts them already.
 */
int gs_virtual_ask(struct gs_policy *p, enum gpusched_run_op op, struct gpusched_task *t,
		   uint64_t arg);
/* One whole round of the tick over all tasks, unless the policy rests. */
int gs_virtual_round(struct gs_policy *p);
/*
 * True once after calls of gpusched_kick(): the world's next round comes at once, rest or not, as
 * late as a thread wakes up.
 */
bool gs_virtual_kicked(struct gs_policy *p);
/* @t as the policy is shown it: without what the world hides. */
struct gpusched_task gs_virtual_shown(const struct gs_policy *p, const struct gpusched_task *t);

/* Its world's facts; -ENOENT with *ret zeroed. */
int gs_virtual_facts(const struct gs_policy *p, uint64_t id, struct gpusched_facts *ret);
int gs_virtual_runlist(const struct gs_policy *p, uint32_t runlist,
		       struct gpusched_runlist_facts *ret);
int gs_virtual_gpu(const struct gs_policy *p, uint32_t gpu, struct gpusched_gpu *ret);
/* As the policy is shown it; -ENOENT with *ret zeroed. */
int gs_virtual_find(const struct gs_policy *p, uint64_t id, struct gpusched_task *ret);
/* Its limit; -ENOENT with *ret zeroed. */
int gs_virtual_limit(const struct gs_policy *p, uint64_t id, struct gpusched_limit *ret);
int gs_virtual_promise(const struct gs_policy *p, uint64_t id, struct gpusched_promise *ret);
/* 0: not known. */
uint64_t gs_virtual_job(const struct gs_policy *p, uint64_t id);

#endif /* GPUSCHED_POLICY_HOST_H */
