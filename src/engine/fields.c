// SPDX-License-Identifier: MIT
#include "engine/fields.h"

#include <string.h>

#include "gpusched/module.h"

struct gpusched_settings gs_fields_asked(const struct gpusched_tsg *rec)
{
	struct gpusched_settings all = { 0 };

	for (unsigned int i = 0; i < GS_NFIELDS; i++) {
		uint32_t value = gs_field_get(&rec->task.asked, GS_BIT(i));
		/*
		 * An owner can change the call's memory before a tap reads it. RM accepts no value
		 * out of range, so such a value is ignored.
		 */
		bool said =
			(rec->task.asked.valid & GS_BIT(i)) && gs_field_in_range(GS_BIT(i), value);

		gs_field_put(&all, GS_BIT(i), said ? value : gs_settings[i].def);
	}
	return all;
}

void gs_fields_poke(struct gpusched_tsg *rec, const struct gpusched_poke *p)
{
	if (p->what & GPUSCHED_POKE_IS)
		rec->task.is = p->rec.task.is;
	if (p->what & GPUSCHED_POKE_MANUAL)
		rec->manual = p->rec.manual;
	if (p->what & GPUSCHED_POKE_CHANGED)
		rec->changed = p->rec.changed;
	if (p->what & GPUSCHED_POKE_SUSPEND) {
		rec->suspend_by = p->rec.suspend_by;
		rec->suspended_ns = p->rec.suspended_ns;
		rec->suspend_until_ns = p->rec.suspend_until_ns;
	}
	if (p->what & GPUSCHED_POKE_ERRORS) {
		rec->errors = p->rec.errors;
		rec->last_status = p->rec.last_status;
	}
	if (p->what & GPUSCHED_POKE_OWNER)
		rec->owner_fd = p->rec.owner_fd;
	if (p->what & GPUSCHED_POKE_FLAGS)
		rec->flags = (rec->flags & ~p->flags_mask) | (p->rec.flags & p->flags_mask);
	if (p->what & GPUSCHED_POKE_ADMIT) {
		rec->flags &= ~GPUSCHED_TSG_HELD;
		rec->task.want.valid &= ~GPUSCHED_RUNNABLE;
	}
	if (p->what & GPUSCHED_POKE_WANT_CLEAR)
		rec->task.want.valid = 0;
}

/* A TSG that MIG does not bind has the whole GPU. */
static uint32_t instance_of(const struct gpusched_tsg *rec, uint32_t id)
{
	return rec->flags & GPUSCHED_TSG_MIG ? id : GPUSCHED_MODULE_WHOLE;
}

void gs_fields_fill_tsg(struct gs_rm_tsg *t, const struct gpusched_tsg *rec, unsigned int branch)
{
	*t = (struct gs_rm_tsg){
		.pid = (pid_t)rec->task.pid,
		.uid = rec->task.uid,
		.start_ns = rec->owner_start_ns,
		.fd = (int)rec->owner_fd,
		.file = rec->key.file,
		.client = rec->key.client,
		.tsg = rec->key.handle,
		.subdevice = rec->h_subdevice,
		.class_id = rec->task.class_id,
		.weight = rec->task.weight,
		.gpu_instance = instance_of(rec, gpusched_gpu_instance(rec->task.engine)),
		.compute_instance = instance_of(rec, gpusched_compute_instance(rec->task.engine)),
		.branch = branch,
		.own = gs_fields_asked(rec),
	};
}

void gs_fields_fill_channels(struct gs_rm_tsg *t, const struct gpusched_channels *ch)
{
	t->nchannels = ch->n < GPUSCHED_MAX_CHANNELS ? ch->n : GPUSCHED_MAX_CHANNELS;
	memcpy(t->channels, ch->ch, t->nchannels * sizeof(t->channels[0]));
}
