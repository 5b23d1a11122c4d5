// SPDX-License-Identifier: MIT
/*
 * stub_config.c - the table that classes would be published into, and who reads a process: none,
 * when fuzzing their text
 */
#include <errno.h>

#include "table/table.h"
#include "process/reader.h"
#include "table/cfg.h"
#include "table/classes.h"
#include "table/procs.h"

int gs_procs_class_get(struct gs_table *o, uint32_t id, struct gpusched_class *ret)
{
	return -ENOENT;
}

int gs_procs_renumber(struct gs_table *o, const uint32_t to[GPUSCHED_MAX_CLASSES])
{
	return -ENOENT;
}

int gs_procs_class_set(struct gs_table *o, uint32_t id, const struct gpusched_class *cls)
{
	return -ENOENT;
}

int gs_cfg_default_class(struct gs_table *o, uint32_t class_id)
{
	return -ENOENT;
}

int gs_proc_get(struct gs_table *o, pid_t tgid, struct gpusched_proc *ret)
{
	return -ENOENT;
}

int gs_reader_program(pid_t pid, struct gs_program *ret)
{
	return -ESRCH;
}
