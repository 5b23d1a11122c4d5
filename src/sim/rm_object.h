/* SPDX-License-Identifier: MIT */
/*
 * rm_object.h - keeps the tree of RM objects, and state shared by the files of the simulated RM
 */
#ifndef GPUSCHED_SIM_RM_OBJECT_H
#define GPUSCHED_SIM_RM_OBJECT_H

#include <uthash.h>

#include "sim/rm.h"
#include "sim/rm_abi.h"

/* RM's own state of a TSG. Everything else about the TSG is in the model. */
struct sim_tsg_info {
	struct sim_tsg *tsg;
	uint32_t grp_id;
	uint64_t timeslice_us; /* the value that GET_TIMESLICE answers */
	bool realtime;
};

struct sim_object {
	uint32_t handle, cls;
	struct sim_client *client;
	/* children: @first, then each @next */
	struct sim_object *parent, *first, *last, *next, *prev;
	int gpu; /* number of the GPU; -1: none */
	/* engine number within the object's MIG instance, if any */
	uint32_t engine;
	uint32_t cid;
	/*
	 * MIG instances of a subscription or a TSG; 0: none. @compute is the instance number + 1.
	 */
	uint32_t instance, compute;
	/* for a TSG; also for a bare channel, which has a TSG for itself alone */
	struct sim_tsg_info *info;
	struct sim_channel *channel; /* for a channel */
	struct sim_memory *memory;   /* for deviceless memory */
	struct sim_piece *piece;     /* for memory of a GPU */
	bool shared;                 /* other processes may duplicate it */
	/*
	 * For a TSG: handle of the address space with which it is freed; 0: it is freed with its
	 * device.
	 */
	uint32_t vaspace;
	struct sim_log *log; /* for an event buffer */
	UT_hash_handle hh;
};

struct sim_client {
	uint32_t handle;
	struct sim_file *file;
	pid_t pid;
	uid_t uid;
	struct sim_object *objects; /* hash by handle; contains the root */
	struct sim_object *root;
	unsigned int n;
	uint32_t next_handle;
	UT_hash_handle hh;
};

struct sim_file {
	enum sim_node node;
	unsigned int minor;
	pid_t pid;
	uint64_t calls;
	struct sim_file *next, *prev;
};

struct sim_count {
	uint32_t cmd;
	uint64_t n, failed;
	UT_hash_handle hh;
};

/* A GPU's log records that RM has not copied yet. */
struct sim_gpu_log {
	struct sim_pending *at;
	size_t n, cap;
	uint16_t lost;
};

struct sim_rm {
	struct sim_rm_config config;
	char gpu_name[64], version[24];
	struct sim_model *model;
	struct sim_client *clients; /* by handle */
	struct sim_file *files;
	struct sim_count *counts;
	uint32_t next_client, next_cid, next_grp;
	unsigned int objects;
	size_t memory_bytes;
	uint64_t gpu_bytes[SIM_MAX_GPUS]; /* bytes in use */
	struct sim_log *logs;
	unsigned int nlogs;
	struct sim_gpu_log gpu_log[SIM_MAX_GPUS];
	/* model time at which RM copies the GPUs' records next; UINT64_MAX: never */
	uint64_t log_due;
	uint64_t noise;
	void (*channel_gone)(void *user, struct sim_channel *ch);
	void *channel_gone_user;
};

struct sim_client *sim_object_find_client(struct sim_rm *rm, uint32_t handle);
struct sim_object *sim_object_find(struct sim_client *client, uint32_t handle);
/* Make a client, or an object below @parent. Return SIM_NV_*. @handle 0: RM chooses the handle. */
uint32_t sim_object_new_client(struct sim_rm *rm, struct sim_file *f, uint32_t handle,
			       const struct sim_caller *c, struct sim_client **ret);
uint32_t sim_object_new(struct sim_rm *rm, struct sim_client *client, struct sim_object *parent,
			uint32_t handle, uint32_t cls, struct sim_object **ret);
/* Frees the object and all below it, leaves first. For a root, frees the client too. */
void sim_object_free(struct sim_rm *rm, struct sim_object *o);
/* The nearest object of that class, from @o upwards; it may be @o itself. */
struct sim_object *sim_object_up(struct sim_object *o, uint32_t cls);
bool sim_object_is_channel(uint32_t cls);
bool sim_object_is_root(uint32_t cls);
/* The TSG that @o is or belongs to; NULL: none. */
struct sim_tsg_info *sim_object_tsg(struct sim_object *o);

uint32_t sim_rm_gpu_id(unsigned int gpu);
unsigned int sim_rm_bus(unsigned int gpu);
void sim_rm_uuid(unsigned int gpu, uint8_t ret[16]);

/* RM_ALLOC and RM_CONTROL. They return SIM_NV_*. @handle 0: RM chooses the handle. */
uint32_t sim_rm_alloc(struct sim_rm *rm, struct sim_file *f, uint32_t client, uint32_t parent,
		      uint32_t *handle, uint32_t cls, uint64_t params, const struct sim_caller *c);
uint32_t sim_rm_control(struct sim_rm *rm, struct sim_file *f, const struct sim_os_control *os,
			const struct sim_caller *c);
enum sim_call sim_control_call(uint32_t cmd, const void *params);

/* rm_mig.c */
#define SIM_MIG_ALL UINT32_MAX
uint32_t sim_mig_gpu_instance(struct sim_rm *rm, struct sim_object *o, uint64_t params,
			      const struct sim_caller *c);
uint32_t sim_mig_compute_instance(struct sim_rm *rm, struct sim_object *o, uint64_t params,
				  const struct sim_caller *c);
/*
 * The GPU instance that the client has chosen on @o's device. 0: none; SIM_MIG_ALL: the client only
 * observes.
 */
uint32_t sim_mig_instance(struct sim_object *o);
/* The number of the compute instance that the client has chosen, + 1; 0: none. */
uint32_t sim_mig_compute(struct sim_object *o);
/*
 * Converts the engine number that @o's client uses in its MIG instance to the GPU's own number.
 * Also sets @o's instances.
 */
uint32_t sim_mig_engine(struct sim_rm *rm, struct sim_object *o, uint32_t *engine);

/* Handlers of controls: @p is the kernel's copy of the parameters. */
struct sim_ctrl_args {
	struct sim_rm *rm;
	struct sim_object *o;
	void *p;
	size_t size;
	const struct sim_caller *c;
};
uint32_t sim_rm_control_root(uint32_t cmd, struct sim_ctrl_args *a);
uint32_t sim_rm_control_subdevice(uint32_t cmd, struct sim_ctrl_args *a);
uint32_t sim_rm_control_tsg(uint32_t cmd, struct sim_ctrl_args *a);
uint32_t sim_rm_control_channel(uint32_t cmd, struct sim_ctrl_args *a);

#endif /* GPUSCHED_SIM_RM_OBJECT_H */
