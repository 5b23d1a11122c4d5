// SPDX-License-Identifier: MIT
#include "hub/hub.h"

#include <errno.h>
#include <stdlib.h>

#include "hub/lanes.h"
#include "hub/limited.h"
#include "hub/loop.h"

int gs_hub_new(const struct gs_config *config, const struct gs_hub_opts *opts, struct gs_hub **ret)
{
	struct gs_hub *hub = calloc(1, sizeof(*hub));

	if (!hub)
		return -ENOMEM;
	hub->config = config;
	hub->opts = *opts;
	if (gs_lanes_new(&hub->lanes)) {
		free(hub);
		return -ENOMEM;
	}
	gs_pace_init(&hub->pace);
	*ret = hub;
	return 0;
}

void gs_hub_free(struct gs_hub *hub)
{
	if (!hub)
		return;
	gs_observers_free(&hub->observers);
	gs_limited_free(hub);
	gs_lanes_free(hub->lanes);
	gs_loop_free(hub);
	gs_pace_done(&hub->pace);
	gs_table_close(hub->table);
	gs_classes_free(hub->classes);
	gs_config_clear_texts(&hub->waiting);
	free(hub->gpus);
	free(hub);
}
