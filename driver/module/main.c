// SPDX-License-Identifier: GPL-2.0-only
/*
 * gpusched.ko - changes settings of GPU TSGs in the kernel, as a BPF policy or the daemon wants
 *
 *   hooks   listens to the driver's hooks, if it has them (driver/hooks);
 *   call    tracks a program's schedule call, which may have to wait;
 *   policy  runs the BPF programs (struct_ops) that decide;
 *   kfunc   has the functions that these programs can call;
 *   node    executes the daemon's commands, through /dev/gpusched;
 *   hold    tracks the daemon that has the node open, and its heartbeat;
 *   say     tells whether wishes of daemon and policy count now;
 *   tsg     has the table of TSGs and of wishes for their settings;
 *   share   has the quotas;
 *   act     has the worker that makes calls;
 *   rm      has the entry to the driver for these calls.
 */
#include <linux/module.h>

#include "act.h"
#include "hold.h"
#include "hooks.h"
#include "kfunc.h"
#include "node.h"
#include "policy.h"
#include "rm.h"

static int __init gpusched_init(void)
{
	int r = rm_attach();

	if (r)
		return r;
	r = act_start();
	if (r)
		goto no_act;
	r = kfunc_start() ?: policy_start();
	if (r)
		goto no_policy;
	r = hooks_start();
	if (r)
		goto no_policy;
	r = node_start(); /* last, since a program that opens the node keeps the module loaded */
	if (r)
		goto no_node;
	pr_info("gpusched: driver %s, %s hooks\n", rm_version(), hooks_are_there() ? "with" : "no");
	return 0;

no_node:
	hooks_stop();
no_policy:
	act_stop();
no_act:
	rm_detach();
	return r;
}

/* No policy and no open node is left, since both keep the module loaded. */
static void __exit gpusched_exit(void)
{
	node_stop();
	hooks_stop();
	policy_stop();
	hold_stop();
	act_stop();
	tsg_forget_all();
	rm_detach();
}

module_init(gpusched_init);
module_exit(gpusched_exit);
MODULE_DESCRIPTION("GPU scheduling policies in BPF, beside the open NVIDIA driver");
MODULE_LICENSE("GPL");
