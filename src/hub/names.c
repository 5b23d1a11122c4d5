// SPDX-License-Identifier: MIT
/* Gives the names under which output shows numbers of the table. */
#include <stdio.h>

#include "basic/cleanup.h"
#include "hub/hub.h"
#include "hub/json.h"

static const char *const kinds[] = { "other", "compute", "copy" };
static const char *const sources[] = { "default", "rule", "cgroup", "command", "owner" };

static const char *name_of(const char *const *names, size_t n, unsigned int i)
{
	return i < n ? names[i] : NULL;
}

const char *gs_kind_name(uint16_t kind)
{
	return name_of(kinds, GS_COUNT(kinds), kind);
}

const char *gs_source_name(unsigned int source)
{
	return name_of(sources, GS_COUNT(sources), source);
}

/*
 * Names NV2080_ENGINE_TYPE_*: GR0..7 are 1..8, COPY0..9 are 9..18, COPY10 and up are 0x34 and up.
 */
const char *gs_engine_name(uint16_t of_partition, char buffer[12])
{
	uint32_t engine = gpusched_engine_type(of_partition);

	if (engine >= 1 && engine <= 8)
		snprintf(buffer, 12, "GR%u", engine - 1u);
	else if (engine >= 9 && engine <= 18)
		snprintf(buffer, 12, "CE%u", engine - 9u);
	else if (engine >= 0x34 && engine <= 0x3d)
		snprintf(buffer, 12, "CE%u", engine - 0x34u + 10u);
	else if (engine)
		snprintf(buffer, 12, "0x%x", engine);
	else
		return NULL;
	return buffer;
}
