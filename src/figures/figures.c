// SPDX-License-Identifier: MIT
#include "figures/figures.h"

#include <errno.h>
#include <stdlib.h>

#include "figures/gpu_time.h"
#include "figures/ledger.h"
#include "figures/memory.h"

int gs_figures_new(struct gs_hub *hub, struct gs_figures **ret)
{
	struct gs_figures *fig = calloc(1, sizeof(*fig));

	if (!fig)
		return -ENOMEM;
	fig->hub = hub;
	*ret = fig;
	return 0;
}

void gs_figures_free(struct gs_figures *fig)
{
	free(fig);
}

int gs_figures_start(struct gs_figures *fig, uint32_t (*server_of)(uint32_t pid, void *user),
		     void *user, struct gs_error *err)
{
	int r;

	fig->server_of = server_of;
	fig->server_user = user;
	r = gs_gpu_time_start(fig, err);
	if (!r)
		r = gs_ledger_start(fig, err);
	return r ? r : gs_memory_start(fig, err);
}
