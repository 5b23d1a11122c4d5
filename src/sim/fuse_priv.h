/* SPDX-License-Identifier: MIT */
#ifndef GPUSCHED_SIM_FUSE_PRIV_H
#define GPUSCHED_SIM_FUSE_PRIV_H

#define FUSE_USE_VERSION 314
#include <fuse_lowlevel.h>

#include "sim/fuse.h"
#include "sim/klog.h"
#include "sim/ring.h"

#define MAX_IOCTL 16384

struct call;

struct sim_server {
	const struct sim_server_config *config;
	struct sim_clock clock;
	struct sim_model *model;
	struct sim_rm *rm;
	struct sim_rings *rings;
	struct sim_klog klog;
	struct fuse_session *session;
	int epoll;
	struct call *calls; /* calls under way, sorted by due time */
	/* RM's locks: when that of all GPUs, and each GPU's own, are free again */
	uint64_t host_free, gpu_free[SIM_MAX_GPUS];
	bool stop;
};

/* An open file of the simulated file system; fi->fh points to it. */
struct handle {
	struct sim_file *file; /* NULL: the open file is state.json, faults or xid */
	int *doorbells;        /* eventfds of the rings on this file */
	unsigned int ndoorbells;
	char *text;
	size_t size;
};

/* in fuse_calls.c: starts an ioctl; its answer follows when its RM time is over */
void sim_call_start(struct sim_server *s, fuse_req_t req, struct handle *h, unsigned int cmd,
		    const void *in, size_t in_size, size_t out_size);
void sim_calls_run(struct sim_server *s, uint64_t now);
uint64_t sim_calls_next(const struct sim_server *s);
void sim_calls_free(struct sim_server *s);
void sim_caller_fill(struct sim_caller *c, fuse_req_t req, bool need_tgid);

/*
 * In fuse_fds.c: copy a descriptor of the caller. -ENOTSUP: another kind of file; -EBUSY; -errno.
 */
int sim_fuse_caller_memfd(const struct sim_caller *c, int number);
int sim_fuse_caller_eventfd(const struct sim_caller *c, int number);
/* Implements map() of struct sim_caller. */
int sim_fuse_caller_map(const struct sim_caller *c, int number, size_t size, void **ret);

#endif /* GPUSCHED_SIM_FUSE_PRIV_H */
