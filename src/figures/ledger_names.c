// SPDX-License-Identifier: MIT
/* Reads names that were unknown when a TSG came: the name of its pod, and of its batch job. */
#include <errno.h>
#include <string.h>

#include "figures/ledger_priv.h"

static void learn_pod(struct kept *k)
{
	struct gs_pod_names now;

	if (*k->who.pod.uid && !*k->who.pod.pod && gs_pod_names(k->who.cgroup, &now) && *now.pod)
		k->who.pod = now;
}

/*
 * Reads a process's batch job, once for all its TSGs, since that goes through all ancestors. The
 * job stays the same for the process's life.
 */
static void learn_job(struct kept *k)
{
	struct proc *p = k->proc;

	if (k->job_known)
		return;
	if (!p->job_asked)
		p->job_asked = gs_batch_job(p->pid, p->job) != -EAGAIN;
	memcpy(k->who.job, p->job, sizeof(k->who.job));
	k->job_known = p->job_asked;
}

void ledger_learn(struct gs_ledger *l, struct kept *k)
{
	learn_pod(k);
	learn_job(k);
	l->unlearned |= !k->job_known;
}

void gs_ledger_answered(void *self, enum gs_reader_what what, pid_t pid)
{
	const struct gs_figures *fig = self;
	struct gs_ledger *l = fig->ledger;

	if (!l || !l->unlearned || what != GS_READER_PROGRAM)
		return;
	l->unlearned = false;
	for (struct kept *k = l->all; k; k = k->hh.next)
		if (!k->job_known)
			ledger_learn(l, k);
}
