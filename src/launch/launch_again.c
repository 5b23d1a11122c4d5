// SPDX-License-Identifier: MIT
#include "launch/launch_again.h"

#include <errno.h>

#include "basic/clock.h"
#include "basic/share.h"
#include "basic/user_limits.h"

#define MAX_TRIES 6    /* after this many tries the pause no longer grows */
#define COST_FACTOR 20 /* after a look that took T, the next one waits for this many T */

bool gs_again_passes(int r)
{
	switch (r) {
	case -EACCES:
	case -EINVAL:
	case -ENOENT:
	case -ENOEXEC:
	case -ENOTSUP:
	case -EPERM:
	case -ESRCH:
		return false;
	default:
		return r < 0;
	}
}

void gs_again_put_off(struct gs_again *a, uint64_t now_ns)
{
	a->due_ns = now_ns + (NS_PER_S << (a->tries < MAX_TRIES ? a->tries : MAX_TRIES));
	a->tries++;
}

/* Returns l->n if the process is not in the list. */
static size_t find(const struct gs_again_list *l, pid_t pid)
{
	size_t i = 0;

	while (i < l->n && l->all[i].pid != pid)
		i++;
	return i;
}

bool gs_again_has(const struct gs_again_list *l, pid_t pid)
{
	return find(l, pid) < l->n;
}

bool gs_again_add(struct gs_again_list *l, pid_t pid, uid_t uid, uint64_t now_ns)
{
	size_t own = 0;

	if (gs_again_has(l, pid))
		return true;
	for (size_t i = 0; i < l->n; i++)
		own += l->all[i].uid == uid;
	if ((uid && own >= GS_USER_MAY_AGAIN) ||
	    !gs_share_allows(uid, own, l->n, GS_AGAIN_PROCESSES))
		return false;
	l->all[l->n] = (struct gs_again_process){ .pid = pid, .uid = uid };
	gs_again_put_off(&l->all[l->n++].again, now_ns);
	return true;
}

void gs_again_drop(struct gs_again_list *l, pid_t pid)
{
	size_t i = find(l, pid);

	if (i < l->n)
		l->all[i] = l->all[--l->n];
}

static size_t first(const struct gs_again_list *l)
{
	size_t k = 0;

	for (size_t i = 1; i < l->n; i++)
		if (l->all[i].again.due_ns < l->all[k].again.due_ns)
			k = i;
	return k;
}

pid_t gs_again_next(struct gs_again_list *l, uint64_t now_ns)
{
	size_t i = first(l);

	if (now_ns < gs_again_due(l))
		return 0;
	gs_again_put_off(&l->all[i].again, now_ns);
	return l->all[i].pid;
}

void gs_again_took(struct gs_again_list *l, uint64_t now_ns, uint64_t ns)
{
	l->not_before_ns = now_ns + COST_FACTOR * ns;
}

uint64_t gs_again_due(const struct gs_again_list *l)
{
	uint64_t due;

	if (!l->n)
		return UINT64_MAX;
	due = l->all[first(l)].again.due_ns;
	return due > l->not_before_ns ? due : l->not_before_ns;
}
