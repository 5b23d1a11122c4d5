/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * class.bpf.h - copies class, weight, deadline and limits of a TSG's process or class to the TSG
 */
#ifndef GPUSCHED_TABLE_CLASS_BPF_H
#define GPUSCHED_TABLE_CLASS_BPF_H

#include "table/maps.bpf.h"

static __always_inline void gs_fill_class(struct gpusched_task *t, const struct gpusched_proc *proc,
					  gs_u32 default_class)
{
	gs_u32 id = proc->source == GPUSCHED_SRC_DEFAULT ? default_class : proc->class_id;
	struct gpusched_class *cls = bpf_map_lookup_elem(&gs_classes, &id);
	gs_u64 deadline = proc->deadline_us;

	t->class_id = id;
	t->weight = proc->weight;
	if (cls) {
		if (!t->weight)
			t->weight = cls->weight;
		if (!deadline)
			deadline = cls->deadline_us;
	}
	if (!t->weight)
		t->weight = 100;
	t->deadline_us = deadline;
	if (deadline)
		t->known |= GPUSCHED_KNOWN_DEADLINE;
}

#endif /* GPUSCHED_TABLE_CLASS_BPF_H */
