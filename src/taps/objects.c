// SPDX-License-Identifier: MIT
/* objects.c - tries handles until a client's objects are known */
#include "taps/adopt.h"

#include <errno.h>
#include <stdlib.h>

#include "basic/cleanup.h"
#include "basic/grow.h"
#include "rm/decode.h"

#define CUDA_BASE 0x5c000000u
#define RM_BASE 0xcaf00000u
#define WINDOW 0x4000u /* handles tried from one base */
/* this many unused handles in a row end a window that is known to have objects */
#define GAP 192u
#define GAP_ELSEWHERE 32u  /* the same for a window that may have no objects */
#define MAX_OBJECTS 20000u /* upper limit of objects read per client */

static bool is_channel(uint32_t class_)
{
	return (class_ & 0xff) == 0x6f;
}

/* Compute classes end in c0, copy classes in b5 (Kepler to Blackwell), 3D classes in 97. */
static bool is_engine_object(uint32_t class_)
{
	return gs_class_draws(class_) ||
	       (class_ > 0xa000 && ((class_ & 0xff) == 0xc0 || (class_ & 0xff) == 0xb5));
}

static bool known(const struct gs_objects *s, uint32_t handle)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->all[i].handle == handle)
			return true;
	return false;
}

static int add(struct gs_objects *s, const struct gs_object *o)
{
	if (GS_GROW(s->all, s->size, s->n + 1))
		return -ENOMEM;
	s->all[s->n++] = *o;
	return 0;
}

static int window(const struct gs_object_source *src, uint32_t client, uint32_t base, uint32_t gap,
		  struct gs_objects *s)
{
	uint32_t missed = 0;

	for (uint32_t h = base; h < base + WINDOW && missed < gap; h++) {
		struct gs_object o = { .handle = h };
		int r;

		if (src->query(src->user, client, h, GS_INDEX_CLASS, &o.class_)) {
			missed++;
			continue;
		}
		missed = 0;
		if (!gs_class_matters(o.class_) && !is_engine_object(o.class_))
			continue;
		if (s->n >= MAX_OBJECTS || known(s, h) ||
		    src->query(src->user, client, h, GS_INDEX_PARENT, &o.parent))
			continue;
		r = add(s, &o);
		if (r < 0)
			return r;
	}
	return 0;
}

/*
 * Asks RM for the first child of a class, and tries the handles around it unless that child is
 * known already. -ENOENT: RM names no child.
 */
static int around(const struct gs_object_source *src, uint32_t client, uint32_t parent,
		  uint32_t internal, uint32_t class_, struct gs_objects *s)
{
	uint32_t handle, base;

	if (src->child(src->user, client, parent, internal, &handle) &&
	    src->child(src->user, client, parent, class_, &handle))
		return -ENOENT;
	if (known(s, handle))
		return 0;
	base = handle & ~0xfffu;
	/* a long unused range may come before a distant handle: begin at the handle */
	return window(src, client, handle - base > GAP ? handle : base, GAP, s);
}

static int below_devices(const struct gs_object_source *src, uint32_t client, struct gs_objects *s)
{
	int r = 0;

	for (size_t i = 0; i < s->n && (!r || r == -ENOENT); i++) {
		uint32_t device = s->all[i].handle;

		if (s->all[i].class_ != GS_CLASS_DEVICE)
			continue;
		r = around(src, client, device, GS_INTERNAL_TSG, GS_CLASS_TSG, s);
		if (!r || r == -ENOENT)
			r = around(src, client, device, GS_INTERNAL_SUBDEVICE, GS_CLASS_SUBDEVICE,
				   s);
	}
	return r == -ENOENT ? 0 : r;
}

int gs_objects_near(const struct gs_object_source *src, uint32_t client, uint32_t handle,
		    struct gs_objects *s)
{
	int r = known(s, handle) ? 0 : window(src, client, handle, GAP_ELSEWHERE, s);
	uint32_t parent;

	if (r || src->query(src->user, client, handle, GS_INDEX_PARENT, &parent) ||
	    parent == client || known(s, parent))
		return r;
	return window(src, client, parent, GAP_ELSEWHERE, s);
}

int gs_objects_scan(const struct gs_object_source *src, uint32_t client, struct gs_objects *ret)
{
	int r = around(src, client, client, GS_INTERNAL_DEVICE, GS_CLASS_DEVICE, ret);
	/* if RM names no device, one may still exist: allow a longer gap */
	uint32_t gap = r == -ENOENT ? GAP : GAP_ELSEWHERE;

	if (!r || r == -ENOENT)
		r = window(src, client, CUDA_BASE, gap, ret);
	if (!r)
		r = window(src, client, RM_BASE, GAP_ELSEWHERE, ret);
	return r ? r : below_devices(src, client, ret);
}

uint32_t gs_objects_child(const struct gs_objects *s, uint32_t parent, uint32_t class_)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->all[i].parent == parent && s->all[i].class_ == class_)
			return s->all[i].handle;
	return 0;
}

bool gs_objects_has(const struct gs_objects *s, uint32_t class_)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->all[i].class_ == class_)
			return true;
	return false;
}

void gs_objects_channels(const struct gs_objects *s, uint32_t tsg, struct gpusched_channels *ret)
{
	for (size_t i = 0; i < s->n; i++) {
		if (s->all[i].parent != tsg || !is_channel(s->all[i].class_))
			continue;
		if (ret->n < GPUSCHED_MAX_CHANNELS)
			ret->ch[ret->n++].handle = s->all[i].handle;
		else
			ret->dropped++;
	}
}

/* A 3D object comes first, then a compute object: such contexts have the later ones as well. */
static unsigned int rank_object(const struct gs_object *o)
{
	return gs_class_draws(o->class_) ? 3 : (o->class_ & 0xff) == 0xc0 ? 2 : 1;
}

const struct gs_object *gs_objects_engine(const struct gs_objects *s, uint32_t tsg)
{
	const struct gs_object *found = NULL;

	for (size_t i = 0; i < s->n; i++) {
		const struct gs_object *ch = &s->all[i];

		if (ch->parent != tsg || !is_channel(ch->class_))
			continue;
		for (size_t j = 0; j < s->n; j++) {
			const struct gs_object *o = &s->all[j];

			if (o->parent == ch->handle && is_engine_object(o->class_) &&
			    (!found || rank_object(o) > rank_object(found)))
				found = o;
		}
	}
	return found;
}

enum gpusched_kind gs_objects_kind(const struct gs_objects *s, uint32_t tsg)
{
	const struct gs_object *o = gs_objects_engine(s, tsg);

	if (!o)
		return GPUSCHED_KIND_OTHER;
	return rank_object(o) > 1 ? GPUSCHED_KIND_COMPUTE : GPUSCHED_KIND_COPY;
}
