/* SPDX-License-Identifier: MIT */
/* probe.h - single checks of this machine, for doctor and demo */
#ifndef GPUSCHED_CLI_PROBE_H
#define GPUSCHED_CLI_PROBE_H

#include <stdbool.h>
#include <stddef.h>

#define CLI_NEED_REAL (1u << 0)   /* acting on a GPU */
#define CLI_NEED_SIM (1u << 1)    /* the simulated GPU */
#define CLI_NEED_DAEMON (1u << 2) /* what the daemon does for any user */
#define CLI_NEED_POD (1u << 3)    /* all of it, in a pod */
#define CLI_NEED_ALL (CLI_NEED_REAL | CLI_NEED_SIM)

struct cli_check {
	bool ok;
	char detail[256];
	char remedy[256];
};

void cli_probe_root(struct cli_check *k);
void cli_probe_btf(struct cli_check *k);
void cli_probe_bpf(struct cli_check *k);
void cli_probe_references(struct cli_check *k);
void cli_probe_bpffs(struct cli_check *k);
void cli_probe_pidfd(struct cli_check *k);
void cli_probe_driver(struct cli_check *k);
void cli_probe_gpus(struct cli_check *k);
void cli_probe_module(struct cli_check *k);
void cli_probe_fuse(struct cli_check *k);
void cli_probe_namespace(struct cli_check *k);
void cli_probe_policies(struct cli_check *k);
void cli_probe_uprobes(struct cli_check *k);
void cli_probe_gate(struct cli_check *k);
void cli_probe_park(struct cli_check *k);
void cli_probe_daemon(struct cli_check *k);
void cli_probe_guardian(struct cli_check *k);
/* probe_kubernetes.c: of a pod */
void cli_probe_hostpid(struct cli_check *k);
void cli_probe_cgroups(struct cli_check *k);
void cli_probe_pods(struct cli_check *k);
void cli_probe_lockdown(struct cli_check *k);
void cli_probe_run(struct cli_check *k);

/* The things that a simulated GPU needs and this machine lacks; "": none. */
void cli_path_missing(char *ret, size_t size);
/* 0; else why the real GPU cannot be used was said, and this is the exit code. */
int cli_need_gpu(const char *verb);
/* A daemon is there and does not answer: *ret_why says so, and what to do. */
bool cli_probe_mute(const char **ret_why);

#endif /* GPUSCHED_CLI_PROBE_H */
