/* SPDX-License-Identifier: MIT */
/* probe.h - single checks of this machine: what works, and what to do if it does not */
#ifndef GPUSCHED_PROBE_H
#define GPUSCHED_PROBE_H

#include <stdbool.h>
#include <stddef.h>

struct gs_error;

#define GS_NEED_REAL (1u << 0)   /* acting on a GPU */
#define GS_NEED_SIM (1u << 1)    /* the simulated GPU */
#define GS_NEED_DAEMON (1u << 2) /* the daemon's services, for any user */
#define GS_NEED_POD (1u << 3)    /* everything, in a pod */
#define GS_NEED_ALL (GS_NEED_REAL | GS_NEED_SIM)

struct gs_probe {
	bool ok;
	char detail[256];
	char remedy[256];
};

void gs_probe_root(struct gs_probe *k);
void gs_probe_btf(struct gs_probe *k);
void gs_probe_bpf(struct gs_probe *k);
void gs_probe_references(struct gs_probe *k);
void gs_probe_bpffs(struct gs_probe *k);
void gs_probe_pidfd(struct gs_probe *k);
void gs_probe_driver(struct gs_probe *k);
void gs_probe_gpus(struct gs_probe *k);
void gs_probe_module(struct gs_probe *k);
void gs_probe_fuse(struct gs_probe *k);
void gs_probe_namespace(struct gs_probe *k);
void gs_probe_policies(struct gs_probe *k);
void gs_probe_uprobes(struct gs_probe *k);
void gs_probe_gate(struct gs_probe *k);
void gs_probe_park(struct gs_probe *k);
void gs_probe_daemon(struct gs_probe *k);
void gs_probe_guardian(struct gs_probe *k);
/* in kubernetes.c: for a pod */
void gs_probe_hostpid(struct gs_probe *k);
void gs_probe_cgroups(struct gs_probe *k);
void gs_probe_pods(struct gs_probe *k);
void gs_probe_lockdown(struct gs_probe *k);
void gs_probe_run(struct gs_probe *k);

/* Names what a simulated GPU needs and this machine lacks; "": nothing. */
void gs_probe_sim_missing(char *ret, size_t size);
/* 0, or why @verb cannot use the real GPU. */
int gs_probe_need_gpu(const char *verb, struct gs_error *err);
/* True if a daemon runs and does not respond: *ret_why says so, and what to do. */
bool gs_probe_mute(const char **ret_why);

#endif /* GPUSCHED_PROBE_H */
