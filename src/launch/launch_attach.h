/* SPDX-License-Identifier: MIT */
/*
 * launch_attach.h - private to the launch probes: their programs, and attaching them to one library
 */
#ifndef GPUSCHED_LAUNCH_LAUNCH_ATTACH_H
#define GPUSCHED_LAUNCH_LAUNCH_ATTACH_H

#include <stddef.h>
#include <stdint.h>

#include "basic/error.h"
#include "launch/launch.bpf.h"
/* needs the types above */
#include "launch/launch.skel.h"
#include "table/table.h"

/* The programs of src/launch/launch.bpf.c that are attached, in the order of attaching. */
enum gs_launch_prog { GS_LAUNCH_MADE, GS_LAUNCH_CONTEXT, GS_LAUNCH_LAUNCH, GS_LAUNCH_PROGS };

#define GS_MAX_PROBES 32

/* The probes of one library. */
struct gs_probes {
	struct bpf_link *single[GS_MAX_PROBES];
	int multi[GS_LAUNCH_PROGS]; /* -1: none */
	unsigned int n;             /* functions that are probed */
};

/* Loads the programs on @t's maps. -EPERM, or -ENOTSUP with the reason. */
int gs_launch_load(struct gs_table *t, struct launch_bpf **ret, struct gs_error *err);

/*
 * Attaches to the functions of the library @fd, cookies of library number @lib: all or none.
 * -ENOEXEC: none of them is in it. @said gets libbpf's words.
 */
int gs_probes_attach(struct gs_probes *p, struct launch_bpf *skel, uint32_t lib, int fd, char *said,
		     size_t size);
/* Quick while another process has the same probes. Fine when there are none. */
void gs_probes_detach(struct gs_probes *p);
/* Descriptors of all links; returns how many, at most GS_MAX_PROBES. */
size_t gs_probes_fds(const struct gs_probes *p, int *fds);

#endif /* GPUSCHED_LAUNCH_LAUNCH_ATTACH_H */
