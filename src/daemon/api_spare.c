// SPDX-License-Identifier: MIT
/* api_spare.c - keeps a descriptor to refuse connections with, and listens only while it has one */
#include <fcntl.h>

#include "daemon/api_priv.h"
#include "daemon/api_spare.h"

static void listen_or_not(struct api *a, bool listens)
{
	const int enabled = listens ? SD_EVENT_ON : SD_EVENT_OFF;

	a->deaf = !listens;
	if (a->listen)
		sd_event_source_set_enabled(a->listen, enabled);
	if (a->listen_pods)
		sd_event_source_set_enabled(a->listen_pods, enabled);
}

int api_spare_open(struct api *a)
{
	if (a->spare_fd < 0)
		a->spare_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	return a->spare_fd;
}

void api_spare_lack(struct api *a)
{
	listen_or_not(a, false);
}

void api_spare_back(struct api *a)
{
	api_spare_open(a);
	if (a->deaf)
		listen_or_not(a, true);
}
