// SPDX-License-Identifier: MIT
#include "park/ranks.h"

#include <errno.h>
#include <string.h>

#include "basic/clock.h"
#include "park/parked.h"
#include "process/reader.h"

#define AWAIT_NS (5 * NS_PER_S) /* more than the reader takes before it gives up */
#define AGAIN_NS (100 * NS_PER_MS)

int gs_park_ranks_judge(int r, uint32_t ranks, struct gs_error *err)
{
	if (r == -EAGAIN || r == -EBUSY)
		return -EAGAIN;
	if (r)
		return gs_fail(err, -ENOTSUP,
			       "its environment, which says whether it is one rank of several, "
			       "cannot be read (%s): --force parks it all the same",
			       strerror(-r));
	if (ranks > 1)
		return gs_fail(err, -ENOTSUP,
			       "it is one rank of several, which wait for it, and PyTorch ends "
			       "ranks that wait for 480 s: --force parks it all the same");
	return 0;
}

/* -EAGAIN: not read yet. After the time for that, there is room for nothing. */
static int look_at_room(struct gs_parked *p, bool in_time)
{
	int r = p->cgroups_known ? 0 : gs_reader_room(p->pid, &p->cgroups);

	if ((r == -EAGAIN || r == -EBUSY) && in_time)
		return -EAGAIN;
	if (r == -EAGAIN || r == -EBUSY)
		p->cgroups = (struct gs_cgroup_room){ .free_bytes = 0 };
	p->cgroups_known = true;
	return 0;
}

int gs_park_ranks_look(struct gs_parked *p, uint64_t now_ns, uint64_t *ret_ns, struct gs_error *err)
{
	uint32_t ranks = 0;
	int r;

	p->ranks_by_ns = p->ranks_by_ns ? p->ranks_by_ns : now_ns + AWAIT_NS;
	if (look_at_room(p, now_ns < p->ranks_by_ns)) {
		*ret_ns = now_ns + AGAIN_NS;
		return -EAGAIN;
	}
	if (p->cgroups.frozen)
		return gs_fail(err, -ENOTSUP, "its cgroup is frozen");
	if (p->alone)
		return 0;
	r = gs_reader_ranks(p->pid, &ranks);
	if ((r == -EAGAIN || r == -EBUSY) && now_ns >= p->ranks_by_ns)
		r = -ETIMEDOUT;
	r = gs_park_ranks_judge(r, ranks, err);
	p->alone = !r;
	if (r == -EAGAIN)
		*ret_ns = now_ns + AGAIN_NS;
	return r;
}
