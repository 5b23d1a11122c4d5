// SPDX-License-Identifier: MIT
#include "means/remembered.h"

#include <stdlib.h>

#include "basic/user_limits.h"

#define NO_GRAPHS 12u /* windows (of 5 s) without CUDA graphs after which these are forgotten */
#define LATELY 64u    /* most observations of one kind: beyond this, all counts are halved */

struct gs_remembered *gs_remembered_find(const struct gs_memory_of_programs *m,
					 const struct gs_program_id *id)
{
	struct gs_remembered *r;

	HASH_FIND(hh, m->all, id, sizeof(*id), r);
	return r;
}

static unsigned int count_of(const struct gs_memory_of_programs *m, uid_t uid)
{
	unsigned int n = 0;

	for (const struct gs_remembered *r = m->all; r; r = r->hh.next)
		n += r->id.uid == uid;
	return n;
}

/* Returns the user with the most programs. */
static uid_t richest(const struct gs_memory_of_programs *m)
{
	unsigned int most = 0;
	uid_t ret = 0;

	for (const struct gs_remembered *r = m->all; r; r = r->hh.next) {
		unsigned int n = r->id.uid == ret && most ? 0 : count_of(m, r->id.uid);

		if (n > most) {
			most = n;
			ret = r->id.uid;
		}
	}
	return ret;
}

static void drop_oldest(struct gs_memory_of_programs *m, uid_t uid)
{
	struct gs_remembered *oldest = NULL;

	for (struct gs_remembered *r = m->all; r; r = r->hh.next)
		if (r->id.uid == uid && (!oldest || r->used_s < oldest->used_s))
			oldest = r;
	if (!oldest)
		return;
	HASH_DEL(m->all, oldest);
	free(oldest);
}

struct gs_remembered *gs_remembered_meet(struct gs_memory_of_programs *m,
					 const struct gs_program_id *id, unsigned int *ret_dropped)
{
	struct gs_remembered *r = gs_remembered_find(m, id);
	bool full;

	*ret_dropped = 0;
	if (r)
		return r;
	r = calloc(1, sizeof(*r));
	if (!r)
		return NULL;
	full = count_of(m, id->uid) >= GS_USER_MAY_REMEMBERED;
	if (full || HASH_COUNT(m->all) >= GS_REMEMBERED_MAX) {
		drop_oldest(m, full ? id->uid : richest(m));
		*ret_dropped = 1;
	}
	r->id = *id;
	HASH_ADD(hh, m->all, id, sizeof(r->id), r);
	m->dirty = true;
	return r;
}

static void keep_known(uint32_t *inout, uint32_t now)
{
	if (now)
		*inout = now;
}

void gs_remembered_service(struct gs_memory_of_programs *m, struct gs_remembered *r,
			   const struct gs_service_work *work)
{
	if (work->us)
		r->seen.lc_turn_us = work->us;
	if (work->graphs) {
		r->seen.lc_graphs = 1;
		r->no_graphs = 0;
	} else if (work->told && ++r->no_graphs >= NO_GRAPHS) {
		r->seen.lc_graphs = 0;
	}
	m->dirty = true;
}

void gs_remembered_look(struct gs_memory_of_programs *m, struct gs_remembered *r,
			const struct gs_evidence *seen, enum gs_role role, int64_t now_s)
{
	if (gs_program_kind_is_known(seen->kind) && ++r->looks[seen->kind] > LATELY)
		for (int k = 0; k < GS_PROGRAM_KIND_MAX; k++)
			r->looks[k] /= 2;
	for (int k = 0; k < GS_PROGRAM_KIND_MAX; k++)
		if (r->looks[k] > r->looks[r->seen.kind])
			r->seen.kind = k;
	keep_known(&r->seen.leave_cilp_us, seen->leave_cilp_us);
	keep_known(&r->seen.leave_cta_us, seen->leave_cta_us);
	keep_known(&r->seen.switch_us, seen->switch_us);
	keep_known(&r->seen.turns_a_request, seen->turns_a_request);
	if (seen->be_beside > r->seen.be_beside)
		r->seen.be_beside = seen->be_beside;
	r->role = role;
	r->looked = true;
	gs_remembered_used(m, r, now_s);
}

/* A clock that was set back does not make the program that is used now its user's oldest. */
void gs_remembered_used(struct gs_memory_of_programs *m, struct gs_remembered *r, int64_t now_s)
{
	r->used_s = now_s;
	for (const struct gs_remembered *x = m->all; x; x = x->hh.next)
		if (x->id.uid == r->id.uid && x->used_s > r->used_s)
			r->used_s = x->used_s;
	m->dirty = true;
}

void gs_remembered_done(struct gs_memory_of_programs *m)
{
	struct gs_remembered *r, *next;

	HASH_ITER(hh, m->all, r, next) {
		HASH_DEL(m->all, r);
		free(r);
	}
}
