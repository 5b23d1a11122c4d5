// SPDX-License-Identifier: MIT
#include "service/pools.h"

#include <string.h>

#include "process/process.h"
#include "service/internal.h"
#include "table/procs.h"

const struct gs_pool *gs_pool_of_server(const struct gs_service *s, pid_t pid)
{
	for (size_t i = 0; i < s->pools.n; i++)
		if (s->pools.all[i].server == pid)
			return &s->pools.all[i];
	return NULL;
}

const struct gs_pool *gs_pool_of_client(const struct gs_service *s, pid_t pid)
{
	for (size_t i = 0; i < s->pools.n; i++)
		for (size_t k = 0; k < s->pools.all[i].nclients; k++)
			if (s->pools.all[i].clients[k] == pid)
				return &s->pools.all[i];
	return NULL;
}

bool gs_pool_drop(struct gs_service *s, pid_t server)
{
	for (size_t i = 0; i < s->pools.n; i++) {
		if (s->pools.all[i].server != server)
			continue;
		s->pools.all[i] = s->pools.all[--s->pools.n];
		return true;
	}
	return false;
}

uint32_t gs_pool_mps_of(const struct gs_service *s, pid_t pid, bool mps)
{
	if (!mps)
		return 0;
	return gs_pool_of_server(s, pid) ? GPUSCHED_MPS_POOL : GPUSCHED_MPS_FOREIGN;
}

json_t *gs_pool_json(const struct gs_service *s, pid_t server)
{
	const struct gs_pool *p = s ? gs_pool_of_server(s, server) : NULL;
	json_t *clients;

	if (!p)
		return json_null();
	clients = json_array();
	for (size_t i = 0; i < p->nclients; i++) {
		char comm[GPUSCHED_COMM_LEN] = "";
		struct gpusched_proc proc;
		const char *class_name = NULL;

		gs_process_comm(p->clients[i], comm);
		if (!gs_proc_get(s->o, p->clients[i], &proc) && proc.class_id)
			class_name = gs_class_name(s->classes, proc.class_id);
		json_array_append_new(
			clients, json_pack("{s:i, s:o, s:s?}", "pid", (int)p->clients[i], "comm",
					   gs_json_text(comm) ?: json_null(), "class", class_name));
	}
	return json_pack("{s:s, s:b, s:o}", "name", p->name, "share", p->share, "clients", clients);
}
