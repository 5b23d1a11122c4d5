// SPDX-License-Identifier: MIT
#include "requests/requests.h"

#include <errno.h>
#include <stdlib.h>

#include "requests/metrics.h"
#include "requests/watch.h"

int gs_requests_new(struct gs_hub *hub, struct gs_intake *intake, struct gs_figures *figures,
		    struct gs_control *control, struct gs_requests **ret)
{
	struct gs_requests *rs = calloc(1, sizeof(*rs));

	if (!rs)
		return -ENOMEM;
	rs->hub = hub;
	rs->intake = intake;
	rs->figures = figures;
	rs->control = control;
	*ret = rs;
	return 0;
}

void gs_requests_free(struct gs_requests *rs)
{
	if (!rs)
		return;
	gs_watch_free_all(rs);
	gs_metrics_free(rs);
	free(rs);
}
