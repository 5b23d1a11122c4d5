// SPDX-License-Identifier: MIT
#include "control/control.h"

#include <errno.h>
#include <stdlib.h>

int gs_control_new(struct gs_hub *hub, struct gs_control **ret)
{
	struct gs_control *ctl = calloc(1, sizeof(*ctl));

	if (!ctl)
		return -ENOMEM;
	ctl->hub = hub;
	*ret = ctl;
	return 0;
}

void gs_control_free(struct gs_control *ctl)
{
	if (!ctl)
		return;
	gs_saved_free(&ctl->saved);
	free(ctl->wanted.runs);
	free(ctl->started_as);
	free(ctl->last_exit.dump);
	free(ctl);
}
