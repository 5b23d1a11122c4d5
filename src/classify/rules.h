// SPDX-License-Identifier: MIT
/*
 * rules.h - classes of cgroups that commands set
 */
#ifndef GPUSCHED_CLASSIFY_RULES_H
#define GPUSCHED_CLASSIFY_RULES_H

#include "classify/classify.h"

/*
 * Sets the class of present and future processes in or below a cgroup (a path as in cgroup.h), as a
 * command says. The nearest cgroup counts. A class that the process itself was given comes first.
 * @weight 0: that of the class. -ENOSPC: more than GS_MAX_CGROUPS.
 */
#define GS_MAX_CGROUPS 64
int gs_rules_set_cgroup(struct gs_classes *c, const char *path, uint32_t class_id, uint32_t weight);
/* Removes a cgroup's class. Returns false if it has none. */
bool gs_rules_clear_cgroup(struct gs_classes *c, const char *path);
/* How many cgroups have a class; @clear: takes them back. */
size_t gs_rules_count_cgroups(struct gs_classes *c, bool clear);
/* The @i-th cgroup that has the class; NULL: no more. */
const char *gs_rules_cgroup(const struct gs_classes *c, uint32_t class_id, size_t i);

#endif /* GPUSCHED_CLASSIFY_RULES_H */
