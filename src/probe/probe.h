/* SPDX-License-Identifier: MIT */
/* probe.h - checks whether parts of gpusched can work on this machine, and suggests remedies */
#ifndef GPUSCHED_PROBE_H
#define GPUSCHED_PROBE_H

#include <stdbool.h>
#include <stddef.h>

struct gs_error;

/* Uses of gpusched, each with its own set of checks. */
#define GS_NEED_REAL (1u << 0)   /* acting on a real GPU */
#define GS_NEED_SIM (1u << 1)    /* using the simulated GPU */
#define GS_NEED_DAEMON (1u << 2) /* using the daemon, as any user */
#define GS_NEED_POD (1u << 3)    /* running gpusched in a pod */
#define GS_NEED_ALL (GS_NEED_REAL | GS_NEED_SIM)

/* Result of one check. */
struct gs_probe {
	bool ok;
	char detail[256]; /* what was found */
	char remedy[256]; /* what to do if @ok is false */
};

void gs_probe_host_root(struct gs_probe *k);
void gs_probe_host_btf(struct gs_probe *k);
void gs_probe_host_bpf(struct gs_probe *k);
void gs_probe_host_references(struct gs_probe *k);
void gs_probe_host_bpffs(struct gs_probe *k);
void gs_probe_host_pidfd(struct gs_probe *k);
void gs_probe_host_config(struct gs_probe *k);
void gs_probe_gpu_driver(struct gs_probe *k);
void gs_probe_gpus(struct gs_probe *k);
void gs_probe_gpu_module(struct gs_probe *k);
void gs_probe_host_fuse(struct gs_probe *k);
void gs_probe_host_namespace(struct gs_probe *k);
void gs_probe_daemon_policies(struct gs_probe *k);
void gs_probe_host_uprobes(struct gs_probe *k);
void gs_probe_host_gate(struct gs_probe *k);
void gs_probe_host_kmsg(struct gs_probe *k);
void gs_probe_park(struct gs_probe *k);
void gs_probe_daemon(struct gs_probe *k);
void gs_probe_daemon_guardian(struct gs_probe *k);
/* for gpusched in a pod; in kubernetes.c */
void gs_probe_kubernetes_hostpid(struct gs_probe *k);
void gs_probe_kubernetes_cgroups(struct gs_probe *k);
void gs_probe_kubernetes_pods(struct gs_probe *k);
void gs_probe_kubernetes_lockdown(struct gs_probe *k);
void gs_probe_kubernetes_run(struct gs_probe *k);

/* Lists the needs of a simulated GPU that this machine lacks; "": nothing is missing. */
void gs_probe_host_sim_missing(char *ret, size_t size);
/* 0 if @verb can use the real GPU; -EPERM or -ENODEV with a message. */
int gs_probe_host_need_gpu(const char *verb, struct gs_error *err);
/* True if a daemon runs but does not respond; *ret_why then says that, and what to do. */
bool gs_probe_daemon_mute(const char **ret_why);

#endif /* GPUSCHED_PROBE_H */
