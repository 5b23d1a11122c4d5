// SPDX-License-Identifier: MIT
#include "policy/slots.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const struct gs_policy *holder; /* NULL: the slots are empty */

static int put(struct gs_policy *p, const char *slot, int prog_fd)
{
	uint32_t zero = 0;
	int fd = gs_table_map_fd(p->world.table, slot);

	if (fd < 0)
		return fd;
	return bpf_map_update_elem(fd, &zero, &prog_fd, BPF_ANY) < 0 ? -errno : 0;
}

static void empty(struct gs_policy *p, const char *slot)
{
	uint32_t zero = 0;
	int fd = gs_table_map_fd(p->world.table, slot);

	if (fd >= 0)
		bpf_map_delete_elem(fd, &zero);
}

static int put_or_empty(struct gs_policy *p, const char *slot, int prog_fd)
{
	if (prog_fd >= 0)
		return put(p, slot, prog_fd);
	empty(p, slot);
	return 0;
}

int gs_slots_take(struct gs_policy *p)
{
	int r;

	pthread_mutex_lock(&lock);
	holder = p;
	r = put(p, "gs_slot", p->loaded.dispatch_fd);
	if (r == 0)
		r = put_or_empty(p, "gs_work_slot", p->loaded.work_fd);
	if (r == 0)
		r = put_or_empty(p, "gs_gate_slot", p->loaded.gate_fd);
	pthread_mutex_unlock(&lock);
	return r;
}

void gs_slots_leave(struct gs_policy *p)
{
	pthread_mutex_lock(&lock);
	if (holder == p) {
		empty(p, "gs_gate_slot");
		empty(p, "gs_slot");
		empty(p, "gs_work_slot");
		holder = NULL;
	}
	pthread_mutex_unlock(&lock);
}
