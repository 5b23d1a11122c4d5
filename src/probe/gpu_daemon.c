// SPDX-License-Identifier: MIT
/*
 * gpu_daemon.c - checks the driver, the GPUs, gpusched.ko, the policies, the daemon and its
 * guardian
 */
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "basic/cleanup.h"
#include "basic/env.h"
#include "basic/json_sheet.h"
#include "gpusched/gpusched.h"
#include "probe/probe.h"
#include "local/ask.h"
#include "policy/policy.h"
#include "process/process.h"
#include "rm/branches.h"
#include "rm/module.h"
#include "rm/rm.h"

void gs_probe_gpu_driver(struct gs_probe *k)
{
	char version[64] = "", tested[128];
	struct gs_error err = {};
	unsigned int branch = 0;
	int r;

	r = gs_rm_driver(&branch, version, sizeof(version), &err);
	if (r) {
		snprintf(k->detail, sizeof(k->detail), "%.200s",
			 err.text[0] ? err.text : "no NVIDIA driver");
		gs_rm_driver_branches_text(tested, sizeof(tested), NULL, " to ");
		snprintf(k->remedy, sizeof(k->remedy),
			 "install NVIDIA's driver (%s), or use 'gpusched sim shell'", tested);
		return;
	}
	snprintf(k->detail, sizeof(k->detail), "%s%s", version,
		 gs_env()->sim ? " (simulated)" : "");
	k->ok = nv_branch(branch)->branch == branch && nv_branch_tested(nv_branch(branch));
	gs_rm_driver_branches_text(tested, sizeof(tested), ", ", " or ");
	if (!gs_rm_driver_branch_known(branch))
		snprintf(k->remedy, sizeof(k->remedy),
			 "gpusched only watches with this branch: use one from %d to %d, or set "
			 "UnknownDriver=yes for a trial with 'gpusched qualify -o DIR'",
			 NV_BRANCH_FIRST, NV_BRANCH_LAST);
	else if (!k->ok)
		snprintf(k->remedy, sizeof(k->remedy), "use branch %s: others are not tested",
			 tested);
}

void gs_probe_gpus(struct gs_probe *k)
{
	CLEANUP_FREE struct gs_gpu *gpus = NULL;
	struct gs_error err = {};
	size_t n = 0;
	int r;

	r = gs_gpus_read(&gpus, &n, &err);
	k->ok = !r && n;
	if (k->ok)
		snprintf(k->detail, sizeof(k->detail), "%zu: %s%s", n,
			 gpus[0].name[0] ? gpus[0].name : gpus[0].pci, n > 1 ? ", ..." : "");
	else
		snprintf(k->detail, sizeof(k->detail), "%.200s", err.text[0] ? err.text : "none");
	if (!k->ok)
		snprintf(k->remedy, sizeof(k->remedy),
			 "see 'nvidia-smi'; without a GPU use 'gpusched sim shell'");
}

/*
 * Checks for gpusched.ko, which makes calls without the owner's descriptor. If the driver has the
 * hooks, policies can also decide before the driver acts.
 */
void gs_probe_gpu_module(struct gs_probe *k)
{
	struct gs_error err = {};
	struct gs_module m;

	if (gs_module_about(&m, &err)) {
		snprintf(k->detail, sizeof(k->detail), "%.160s: calls borrow descriptors",
			 err.text);
		snprintf(k->remedy, sizeof(k->remedy),
			 "nothing, unless you want calls from inside the kernel: --host in "
			 "gpusched-policy(8)");
		return;
	}
	k->ok = true;
	snprintf(
		k->detail, sizeof(k->detail),
		"gpusched.ko, version %u of its node, driver %s: %s; %u TSGs known, %u changed%s%s",
		m.abi, m.driver,
		m.hooks ? "hooks, decisions before the driver acts by 'policy start --host hooked'"
			: "no hooks, calls from inside the kernel by 'policy start --host module'",
		m.tsgs, m.changed, m.policy[0] ? ", policy " : "", m.policy);
}

void gs_probe_daemon_policies(struct gs_probe *k)
{
	struct gs_policy_info *infos = NULL;
	struct gs_error err = {};
	size_t n = 0, at = 0;
	int r;

	r = gs_policy_list(&infos, &n, &err);
	k->ok = !r && n;
	for (size_t i = 0; i < n; i++) {
		if (at < sizeof(k->detail))
			at += (size_t)snprintf(k->detail + at, sizeof(k->detail) - at, "%s%s",
					       i ? " " : "", infos[i].name);
		gs_policy_info_free(&infos[i]);
	}
	free(infos);
	if (k->ok)
		return;
	snprintf(k->detail, sizeof(k->detail), "%.200s", err.text[0] ? err.text : "none found");
	snprintf(k->remedy, sizeof(k->remedy), "install gpusched, or set GPUSCHED_POLICIES");
}

/*
 * The daemon's answer to ping; NULL: none. Asks only once, and keeps the result: with a daemon that
 * does not respond, each ping would wait for its timeout.
 */
static const json_t *ping(int *ret_code, const char **ret_why)
{
	static char why[256];
	static json_t *pong;
	static int code = 1;
	CLEANUP(gs_closep) struct gpusched *g = NULL;

	if (code > 0) {
		code = gpusched_open(NULL, &g);
		if (!code)
			code = gs_ask(g, "ping", NULL, &pong);
		if (code)
			snprintf(why, sizeof(why), "%.250s",
				 g && *gpusched_error(g) ? gpusched_error(g) : strerror(-code));
	}
	*ret_code = code;
	*ret_why = why;
	return pong;
}

bool gs_probe_daemon_mute(const char **ret_why)
{
	int code;

	return !ping(&code, ret_why) && code == -EHOSTDOWN;
}

/* Describes how the previous daemon's crash was repaired; "": it did not crash. */
static void put_crash(const json_t *past, char *ret, size_t size)
{
	*ret = '\0';
	if (json_is_true(json_object_get(past, "crashed")))
		snprintf(ret, size,
			 "; the one before crashed: %" JSON_INTEGER_FORMAT
			 " TSGs put back, %" JSON_INTEGER_FORMAT " set again%s",
			 json_integer_value(json_object_get(past, "restored")),
			 json_integer_value(json_object_get(past, "reapplied")),
			 json_is_true(json_object_get(past, "forgotten"))
				 ? " (two crashes within 60 s: see the log)"
				 : "");
}

void gs_probe_daemon(struct gs_probe *k)
{
	const char *why;
	int code;
	const json_t *pong = ping(&code, &why);
	char crash[160];

	k->ok = pong != NULL;
	put_crash(json_object_get(pong, "past"), crash, sizeof(crash));
	if (k->ok)
		snprintf(k->detail, sizeof(k->detail), "pid %" JSON_INTEGER_FORMAT "%s%s",
			 json_integer_value(json_object_get(pong, "pid")),
			 json_is_true(json_object_get(pong, "dry_run")) ? ", dry run" : "", crash);
	else
		snprintf(k->detail, sizeof(k->detail), "%s", why);
	if (!k->ok && code != -EHOSTDOWN) /* for -EHOSTDOWN, the detail already has a remedy */
		snprintf(k->remedy, sizeof(k->remedy),
			 "%s; without it root's verbs act by themselves", gs_env_start_daemon());
}

/* Finds the daemon's guardian, which is a child of the daemon; 0: there is none. */
static pid_t find_guardian(json_int_t daemon)
{
	CLEANUP_DIR DIR *proc = opendir("/proc");
	struct dirent *d;

	while (proc && (d = readdir(proc))) {
		char comm[GPUSCHED_COMM_LEN];
		pid_t pid = atoi(d->d_name);

		if (pid > 0 && gs_process_parent(pid) == daemon && !gs_process_comm(pid, comm) &&
		    !strcmp(comm, "gpusched-guard"))
			return pid;
	}
	return 0;
}

void gs_probe_daemon_guardian(struct gs_probe *k)
{
	const char *why;
	int code;
	const json_t *pong = ping(&code, &why);
	pid_t pid = pong ? find_guardian(json_integer_value(json_object_get(pong, "pid"))) : 0;

	k->ok = pid > 0;
	if (k->ok) {
		snprintf(k->detail, sizeof(k->detail), "pid %d", pid);
		return;
	}
	snprintf(k->detail, sizeof(k->detail), "%s",
		 pong ? "the daemon has none" : "comes with the daemon");
	snprintf(k->remedy, sizeof(k->remedy), "%s",
		 pong ? "restart gpuschedd and see its log" : "start gpuschedd");
}
