/* SPDX-License-Identifier: MIT */
/*
 * rm.h - simulates the resource manager: clients, objects and controls over a GPU model
 *
 * It has no FUSE, threads or clock: fuse.c (real time) and the unit tests call it. Like the real
 * RM, it identifies a caller only by its open file. It reaches the caller's memory through struct
 * sim_caller, so that tests and fuzzers can supply any memory.
 */
#ifndef GPUSCHED_SIM_RM_H
#define GPUSCHED_SIM_RM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "sim/model.h"
#include "sim/model_time.h"
#include "sim/rm_fault.h"

#define SIM_MAX_GPUS 16

struct sim_rm;
struct sim_file; /* one open file of an NVIDIA device node */

enum sim_node { SIM_NODE_CTL, SIM_NODE_GPU, SIM_NODE_UVM, SIM_NODE_UVM_TOOLS };

struct sim_caller {
	pid_t tid, tgid;
	uid_t uid;
	/* @read and @write return 0 or -EFAULT */
	int (*read)(const struct sim_caller *c, uint64_t address, void *to, size_t n);
	int (*write)(const struct sim_caller *c, uint64_t address, const void *from, size_t n);
	/*
	 * True if the calling thread has this effective CAP_*. Checked at every call, as in the
	 * real RM.
	 */
	bool (*capable)(const struct sim_caller *c, int capability);
	/*
	 * Maps memory that the caller's descriptor @fd names; RM will munmap() it. May be NULL. 0;
	 * -ENOTSUP: @fd is of another kind; -errno.
	 */
	int (*map)(const struct sim_caller *c, int fd, size_t size, void **ret);
	void *user;
};

struct sim_rm_config {
	unsigned int gpus;   /* 1..SIM_MAX_GPUS */
	unsigned int branch; /* one that sim_rm_branch_known() knows */
	const char *gpu_name;
	/*
	 * @mig: GPU instances of each GPU (0: MIG is off). @compute: compute instances of each GPU
	 * instance (0: one). The model has a GR engine for each compute instance.
	 */
	unsigned int mig, compute;
	unsigned int copy_engines; /* copy engines of each GPU, as in the model */
	unsigned int max_objects;  /* limit for one client; 0: the default */
	struct sim_fault faults[SIM_MAX_FAULTS];
};

/* A test's new list of faults: sim_fault_list(). */
int sim_rm_faults(struct sim_rm *rm, const char *text, size_t size, struct gs_error *err);

/* Makes the simulated RM. The user pointer of each TSG in the model is its struct sim_object. */
int sim_rm_new(const struct sim_rm_config *config, struct sim_model *model, struct sim_rm **ret);
void sim_rm_free(struct sim_rm *rm);
/* A branch that gpusched does not know; its calls are those of the newest. */
#define SIM_BRANCH_UNKNOWN 999u
/* True for that one, and for the tested rows of rm/branches.h. */
bool sim_rm_branch_known(unsigned int branch);

int sim_rm_open(struct sim_rm *rm, enum sim_node node, unsigned int minor,
		const struct sim_caller *c, struct sim_file **ret);
void sim_rm_release(struct sim_rm *rm, struct sim_file *f);
pid_t sim_rm_file_opener(const struct sim_file *f);

/*
 * Makes one ioctl. @data is the argument structure, which is changed in place; @size comes from the
 * command number. Returns 0 or -errno, as ioctl() would. RM's own status is in the structure.
 */
int sim_rm_ioctl(struct sim_rm *rm, struct sim_file *f, unsigned int cmd, void *data, size_t size,
		 const struct sim_caller *c);

/* The cost of a call, computed before the call is made. */
struct sim_cost {
	enum sim_call call;
	int gpu;   /* the GPU that the call locks; -1: none */
	bool hang; /* the call never returns if the caller is not the file's opener */
	/*
	 * the call hangs for the opener as well; only for calls that no program makes at its start
	 */
	bool any;
};
struct sim_cost sim_rm_cost(struct sim_rm *rm, struct sim_file *f, unsigned int cmd,
			    const void *data, size_t size);

/* The model's on_switch: makes records of the context-switch log. */
void sim_rm_switched(struct sim_rm *rm, const struct sim_switch *sw);
/*
 * sim_rm_run() does RM's periodic work up to model time @now. sim_rm_next() says when it must be
 * called next.
 */
void sim_rm_run(struct sim_rm *rm, uint64_t now);
uint64_t sim_rm_next(const struct sim_rm *rm);

/* For the ring: the model's channel behind a handle; NULL unless @f made the client. */
struct sim_channel *sim_rm_channel(struct sim_rm *rm, struct sim_file *f, uint32_t client,
				   uint32_t handle);
/* Sets a function to be called before a channel is freed, so that no pointer to it stays. */
void sim_rm_on_channel_gone(struct sim_rm *rm, void (*fn)(void *user, struct sim_channel *ch),
			    void *user);

/* The simulated RM's own state as text; free() it. NULL: out of memory. */
char *sim_rm_state_json(struct sim_rm *rm);

#endif /* GPUSCHED_SIM_RM_H */
