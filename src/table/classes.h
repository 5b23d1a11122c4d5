/* SPDX-License-Identifier: MIT */
/*
 * classes.h - reads and writes the classes that the taps know
 */
#ifndef GPUSCHED_TABLE_CLASSES_H
#define GPUSCHED_TABLE_CLASSES_H

#include "table/table.h"

int gs_procs_class_get(struct gs_table *t, uint32_t id, struct gpusched_class *ret);
int gs_procs_class_set(struct gs_table *t, uint32_t id, const struct gpusched_class *cls);

#endif /* GPUSCHED_TABLE_CLASSES_H */
