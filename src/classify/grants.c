// SPDX-License-Identifier: MIT
#include "classify/grants.h"

/* these bits keep the numbers of classes, cgroups, pods and commands' grants apart */
#define CLASS_GROUP (1ull << 60)
#define CGROUP_GROUP (1ull << 61)
#define PROGRAM_GROUP (1ull << 62)
#define POD_GROUP (PROGRAM_GROUP | CGROUP_GROUP)
#define NUMBER (CLASS_GROUP - 1)

static uint32_t pct_of_proc(const struct gpusched_proc *p, enum gs_part part)
{
	if (p->source < GPUSCHED_SRC_COMMAND)
		return 0;
	return part == GS_LIMIT ? p->limit_pct : p->request_pct;
}

static bool by_command(const struct gs_grant_facts *f, enum gs_part part, bool roots,
		       struct gs_grant *ret)
{
	uint64_t grant = part == GS_LIMIT ? f->own.limit_grant : f->own.request_grant;
	uint32_t pct = pct_of_proc(&f->own, part);
	bool by_root = grant & GPUSCHED_GRANT_ROOT;

	if (!pct || by_root != roots)
		return false;
	*ret = (struct gs_grant){ .group = PROGRAM_GROUP | (grant & NUMBER),
				  .pct = pct,
				  .to = GS_GRANTED_PROGRAM,
				  .by_root = by_root };
	return true;
}

static bool by_cgroup(const struct gs_grant_facts *f, enum gs_part part, bool roots,
		      struct gs_grant *ret)
{
	for (size_t i = 0; i < f->ncgroups; i++) {
		const struct gs_cgroup_parts *cg = &f->cgroup[i];

		if (!cg->pct[part] || cg->roots != roots)
			continue;
		*ret = (struct gs_grant){ .group = CGROUP_GROUP | (cg->id & NUMBER),
					  .pct = cg->pct[part],
					  .to = GS_GRANTED_CGROUP,
					  .by_root = roots };
		return true;
	}
	return false;
}

static bool by_pod(const struct gs_grant_facts *f, enum gs_part part, struct gs_grant *ret)
{
	if (!f->pod.pct[part])
		return false;
	*ret = (struct gs_grant){ .group = POD_GROUP | (f->pod.id & NUMBER),
				  .pct = f->pod.pct[part],
				  .to = GS_GRANTED_POD,
				  .by_root = true };
	return true;
}

static bool by_class(const struct gs_grant_facts *f, enum gs_part part, struct gs_grant *ret)
{
	uint32_t pct = part == GS_LIMIT ? f->cls.limit_pct : f->cls.request_pct;

	if (!pct)
		return false;
	*ret = (struct gs_grant){ .group = CLASS_GROUP | f->class_id,
				  .pct = pct,
				  .to = GS_GRANTED_CLASS,
				  .by_root = true };
	return true;
}

static struct gs_grant grant_of(const struct gs_grant_facts *f, enum gs_part part)
{
	struct gs_grant g = { 0 };

	if (by_command(f, part, true, &g) || by_cgroup(f, part, true, &g) || by_pod(f, part, &g) ||
	    by_class(f, part, &g) || part == GS_REQUEST)
		return g;
	if (!by_command(f, part, false, &g))
		by_cgroup(f, part, false, &g);
	return g;
}

struct gs_grants gs_grants_of(const struct gs_grant_facts *f)
{
	return (struct gs_grants){
		{ [GS_LIMIT] = grant_of(f, GS_LIMIT), [GS_REQUEST] = grant_of(f, GS_REQUEST) }
	};
}

/* Mixes time and job by the finalizer of splitmix64, so that near values give different numbers. */
uint64_t gs_grant_new(uint64_t now_ns, uint64_t job, bool by_root)
{
	uint64_t z = now_ns + job * 0x9e3779b97f4a7c15ull;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	z = (z ^ z >> 31) & NUMBER;
	return (z ? z : 1) | (by_root ? GPUSCHED_GRANT_ROOT : 0);
}
