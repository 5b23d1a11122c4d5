/* SPDX-License-Identifier: MIT */
/*
 * rm.c - handles open files and escapes (ioctls) of the simulated RM
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "rm/branches.h"
#include "sim/rm_memory.h"
#include "sim/rm_object.h"

#define PCI_VENDOR 0x10de
#define PCI_DEVICE 0x2335

bool sim_rm_branch_known(unsigned int branch)
{
	const struct nv_branch *row = nv_branch(branch);

	return branch == SIM_BRANCH_UNKNOWN || (row->branch == branch && nv_branch_tested(row));
}

uint32_t sim_rm_gpu_id(unsigned int gpu)
{
	return (sim_rm_bus(gpu)) << 8;
}

unsigned int sim_rm_bus(unsigned int gpu)
{
	return 0x19 + 0x11 * gpu % 0xe0;
}

/* A UUID that is constant for each GPU number, in the form of version 4. */
void sim_rm_uuid(unsigned int gpu, uint8_t ret[16])
{
	uint64_t x = 0x9e3779b97f4a7c15ull * (gpu + 1);

	for (int i = 0; i < 16; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		ret[i] = (uint8_t)(x >> 24);
	}
	ret[6] = (ret[6] & 0x0f) | 0x40;
	ret[8] = (ret[8] & 0x3f) | 0x80;
}

int sim_rm_new(const struct sim_rm_config *config, struct sim_model *model, struct sim_rm **ret)
{
	struct sim_rm *rm;

	if (!config->gpus || config->gpus > SIM_MAX_GPUS || !sim_rm_branch_known(config->branch))
		return -EINVAL;
	rm = calloc(1, sizeof(*rm));
	if (!rm)
		return -ENOMEM;
	rm->config = *config;
	rm->model = model;
	rm->log_due = UINT64_MAX;
	rm->noise = 1;
	snprintf(rm->gpu_name, sizeof(rm->gpu_name), "%s",
		 config->gpu_name ? config->gpu_name : "NVIDIA H200");
	snprintf(rm->version, sizeof(rm->version), "%s",
		 config->branch == SIM_BRANCH_UNKNOWN ? "999.99.99"
						      : nv_branch(config->branch)->last);
	*ret = rm;
	return 0;
}

void sim_rm_free(struct sim_rm *rm)
{
	struct sim_count *k, *next;

	if (!rm)
		return;
	while (rm->files)
		sim_rm_release(rm, rm->files);
	HASH_ITER(hh, rm->counts, k, next) {
		HASH_DEL(rm->counts, k);
		free(k);
	}
	free(rm);
}

void sim_rm_on_channel_gone(struct sim_rm *rm, void (*fn)(void *user, struct sim_channel *ch),
			    void *user)
{
	rm->channel_gone = fn;
	rm->channel_gone_user = user;
}

int sim_rm_open(struct sim_rm *rm, enum sim_node node, unsigned int minor,
		const struct sim_caller *c, struct sim_file **ret)
{
	struct sim_file *f = calloc(1, sizeof(*f));

	if (!f)
		return -ENOMEM;
	f->node = node;
	f->minor = minor;
	f->pid = c->tgid;
	f->next = rm->files;
	if (rm->files)
		rm->files->prev = f;
	rm->files = f;
	*ret = f;
	return 0;
}

void sim_rm_release(struct sim_rm *rm, struct sim_file *f)
{
	struct sim_client *client, *next;

	HASH_ITER(hh, rm->clients, client, next) {
		if (client->file == f)
			sim_object_free(rm, client->root);
	}
	if (f->prev)
		f->prev->next = f->next;
	else
		rm->files = f->next;
	if (f->next)
		f->next->prev = f->prev;
	free(f);
}

pid_t sim_rm_file_opener(const struct sim_file *f)
{
	return f->pid;
}

struct sim_channel *sim_rm_channel(struct sim_rm *rm, struct sim_file *f, uint32_t client,
				   uint32_t handle)
{
	struct sim_client *cl = sim_object_find_client(rm, client);
	struct sim_object *o = cl && cl->file == f ? sim_object_find(cl, handle) : NULL;

	return o ? o->channel : NULL;
}

/* ---- escapes -------------------------------------------------------------------------------- */

static int esc_card_info(struct sim_rm *rm, void *data, size_t size)
{
	struct sim_card *cards = data;

	if (size < rm->config.gpus * sizeof(*cards))
		return -EINVAL;
	memset(data, 0, size);
	for (unsigned int i = 0; i < rm->config.gpus; i++) {
		cards[i].valid = 1;
		cards[i].bus = (uint8_t)sim_rm_bus(i);
		cards[i].vendor = PCI_VENDOR;
		cards[i].device = PCI_DEVICE;
		cards[i].gpu_id = sim_rm_gpu_id(i);
		cards[i].fb_size = SIM_GPU_MEMORY;
		cards[i].minor = i;
	}
	return 0;
}

/* cmd '2': only asks for the version. '1': accepts any version. 0: accepts exactly this version. */
static int esc_version(struct sim_rm *rm, void *data, size_t size)
{
	struct sim_version *v = data;
	bool same;

	if (size != sizeof(*v))
		return -EINVAL;
	same = !strncmp(v->text, rm->version, sizeof(v->text));
	memset(v->text, 0, sizeof(v->text));
	memcpy(v->text, rm->version, strlen(rm->version));
	v->reply = same || v->cmd == '2' || v->cmd == '1';
	return v->reply ? 0 : -EINVAL;
}

/* Frees the TSGs that were made with this address space; the real RM does so too. */
static void free_dependants(struct sim_rm *rm, struct sim_object *vaspace)
{
	struct sim_object *o = vaspace->parent ? vaspace->parent->first : NULL, *next;

	for (; o; o = next) {
		next = o->next;
		if (o->cls == SIM_CLASS_TSG && o->vaspace == vaspace->handle)
			sim_object_free(rm, o);
	}
}

static uint32_t do_free(struct sim_rm *rm, struct sim_file *f, const struct sim_os_free *os)
{
	struct sim_client *client =
		sim_object_find_client(rm, os->client ? os->client : os->object);
	struct sim_object *o;

	if (!client || client->file != f)
		return SIM_NV_INVALID_CLIENT;
	o = sim_object_find(client, os->object);
	if (!o)
		return SIM_NV_NOT_FOUND;
	if (o->cls == SIM_CLASS_VASPACE)
		free_dependants(rm, o);
	sim_object_free(rm, o);
	return SIM_NV_OK;
}

/* True for objects with no state except their place in the tree, and for TSGs; see docs/sim.md. */
static bool can_dup(uint32_t cls)
{
	return cls == SIM_CLASS_MEM_LOCAL || cls == SIM_CLASS_MEM_SYSTEM ||
	       cls == SIM_CLASS_VASPACE || cls == SIM_CLASS_EVENT || cls == SIM_CLASS_TSG;
}

/*
 * True within one process, and for what its process has shared. A client may also duplicate a TSG
 * of another client of the same user, as an MPS server's clients do.
 */
static bool may_dup(const struct sim_client *from, const struct sim_client *to,
		    const struct sim_object *src, const struct sim_caller *c)
{
	return from->pid == c->tgid || src->shared ||
	       (src->cls == SIM_CLASS_TSG && from->uid == to->uid);
}

static uint32_t do_share(struct sim_rm *rm, struct sim_file *f, const struct sim_os_share *os)
{
	struct sim_client *client = sim_object_find_client(rm, os->client);
	struct sim_object *o;

	if (!client || client->file != f)
		return SIM_NV_INVALID_CLIENT;
	o = sim_object_find(client, os->object);
	if (!o)
		return SIM_NV_NOT_FOUND;
	o->shared = os->type == SIM_SHARE_TYPE_ALL;
	return SIM_NV_OK;
}

/* Duplicates an object, if may_dup() allows it. */
static uint32_t do_dup(struct sim_rm *rm, struct sim_file *f, struct sim_os_dup *os,
		       const struct sim_caller *c)
{
	struct sim_client *to = sim_object_find_client(rm, os->client);
	struct sim_client *from = sim_object_find_client(rm, os->client_src);
	struct sim_object *parent, *src, *o;
	uint32_t status;

	if (!to || to->file != f || !from)
		return SIM_NV_INVALID_CLIENT;
	src = sim_object_find(from, os->object_src);
	if (!src)
		return from->pid == c->tgid ? SIM_NV_NOT_FOUND : SIM_NV_NO_PERMISSION;
	if (!may_dup(from, to, src, c))
		return SIM_NV_NO_PERMISSION;
	parent = sim_object_find(to, os->parent);
	if (!parent)
		return SIM_NV_INVALID_PARENT;
	if (!can_dup(src->cls))
		return SIM_NV_NOT_SUPPORTED;
	status = sim_object_new(rm, to, parent, os->object, src->cls, &o);
	if (status)
		return status;
	os->object = o->handle;
	o->info = src->info;
	sim_memory_local_dup(o, src);
	if (src->info) {
		o->gpu = src->gpu;
		o->engine = src->engine;
		o->instance = src->instance;
		o->compute = src->compute;
	}
	return SIM_NV_OK;
}

static int esc_alloc(struct sim_rm *rm, struct sim_file *f, void *data, size_t size,
		     const struct sim_caller *c)
{
	struct sim_os_alloc *os = data;
	uint32_t status, handle;

	if (size != sizeof(*os) && size != sizeof(struct sim_os_alloc64))
		return -EINVAL;
	handle = os->object;
	status = sim_rm_alloc(rm, f, os->client, os->parent, &handle, os->cls, os->params, c);
	if (!status)
		os->object = handle;
	if (size == sizeof(*os))
		os->status = status;
	else
		((struct sim_os_alloc64 *)data)->status = status;
	return 0;
}

/*
 * Maps or unmaps memory. Only deviceless memory is simulated. Maps of other memory succeed and do
 * nothing, since CUDA makes some at its start.
 */
static int esc_memory(struct sim_rm *rm, struct sim_file *f, unsigned int nr, void *data,
		      size_t size, const struct sim_caller *c)
{
	struct sim_os_map *map = data;
	struct sim_os_unmap *unmap = data;
	struct sim_client *client;
	struct sim_object *o;
	uint32_t status = SIM_NV_OK;

	if (size != (nr == SIM_ESC_MAP ? sizeof(*map) : sizeof(*unmap)))
		return -EINVAL;
	client = sim_object_find_client(rm, map->client);
	o = client && client->file == f ? sim_object_find(client, map->memory) : NULL;
	if (!client || client->file != f)
		status = SIM_NV_INVALID_CLIENT;
	else if (!o)
		status = SIM_NV_NOT_FOUND;
	else if (o->memory)
		status = nr == SIM_ESC_MAP ? sim_memory_map(o, map, c) : sim_memory_unmap(o);
	if (nr == SIM_ESC_MAP)
		map->status = status;
	else
		unmap->status = status;
	return 0;
}

static int escape(struct sim_rm *rm, struct sim_file *f, unsigned int nr, void *data, size_t size,
		  const struct sim_caller *c)
{
	switch (nr) {
	case SIM_ESC_CARD_INFO:
		return esc_card_info(rm, data, size);
	case SIM_ESC_CHECK_VERSION:
		return esc_version(rm, data, size);
	case SIM_ESC_REGISTER_FD:
		return size == sizeof(int) ? 0 : -EINVAL;
	case SIM_ESC_SYS_PARAMS:
		if (size != 8)
			return -EINVAL;
		memset(data, 0, 8);
		return 0;
	case SIM_ESC_ATTACH_GPUS:
		return 0;
	case SIM_ESC_ALLOC_EVENT:
	case SIM_ESC_FREE_EVENT:
		return size == 16 ? 0 : -EINVAL;
	case SIM_ESC_ALLOC:
		return esc_alloc(rm, f, data, size, c);
	case SIM_ESC_FREE:
		if (size != sizeof(struct sim_os_free))
			return -EINVAL;
		((struct sim_os_free *)data)->status = do_free(rm, f, data);
		return 0;
	case SIM_ESC_DUP:
		if (size != sizeof(struct sim_os_dup))
			return -EINVAL;
		((struct sim_os_dup *)data)->status = do_dup(rm, f, data, c);
		return 0;
	case SIM_ESC_SHARE:
		if (size != sizeof(struct sim_os_share))
			return -EINVAL;
		((struct sim_os_share *)data)->status = do_share(rm, f, data);
		return 0;
	case SIM_ESC_CONTROL:
		if (size != sizeof(struct sim_os_control))
			return -EINVAL;
		((struct sim_os_control *)data)->status = sim_rm_control(rm, f, data, c);
		return 0;
	case SIM_ESC_MAP:
	case SIM_ESC_UNMAP:
		return esc_memory(rm, f, nr, data, size, c);
	default:
		return -EINVAL;
	}
}

static bool is_uvm(const struct sim_file *f)
{
	return f->node == SIM_NODE_UVM || f->node == SIM_NODE_UVM_TOOLS;
}

int sim_rm_ioctl(struct sim_rm *rm, struct sim_file *f, unsigned int cmd, void *data, size_t size,
		 const struct sim_caller *c)
{
	f->calls++;
	if (is_uvm(f))
		return 0; /* UVM has its own protocol; our programs need only that it starts */
	if (_IOC_TYPE(cmd) != SIM_IOC_MAGIC)
		return -EINVAL;
	return escape(rm, f, _IOC_NR(cmd), data, size, c);
}

/* ---- cost ----------------------------------------------------------------------------------- */

static int gpu_of(struct sim_rm *rm, uint32_t client, uint32_t handle)
{
	struct sim_client *cl = sim_object_find_client(rm, client);
	struct sim_object *o = cl ? sim_object_find(cl, handle) : NULL;

	return o ? o->gpu : -1;
}

struct sim_cost sim_rm_cost(struct sim_rm *rm, struct sim_file *f, unsigned int cmd,
			    const void *data, size_t size)
{
	struct sim_cost cost = { .call = SIM_CALL_OTHER, .gpu = -1 };
	const struct sim_os_alloc *alloc = data;
	const struct sim_os_free *fr = data;
	const struct sim_os_control *ctl = data;

	if (is_uvm(f) || _IOC_TYPE(cmd) != SIM_IOC_MAGIC)
		return cost;
	if (_IOC_NR(cmd) == SIM_ESC_ALLOC && size >= sizeof(*alloc)) {
		if (alloc->cls == SIM_CLASS_TSG || sim_object_is_channel(alloc->cls)) {
			cost.call = SIM_CALL_ALLOC;
			cost.gpu = gpu_of(rm, alloc->client, alloc->parent);
		}
	} else if (_IOC_NR(cmd) == SIM_ESC_FREE && size == sizeof(*fr)) {
		cost.gpu = gpu_of(rm, fr->client, fr->object);
		cost.call = cost.gpu >= 0 ? SIM_CALL_FREE : SIM_CALL_OTHER;
	} else if (_IOC_NR(cmd) == SIM_ESC_CONTROL && size == sizeof(*ctl)) {
		cost.gpu = gpu_of(rm, ctl->client, ctl->object);
		cost.call = sim_control_call(ctl->cmd, NULL);
		for (const struct sim_fault *x = rm->config.faults; x->cmd; x++)
			cost.hang |= x->cmd == ctl->cmd && x->hang;
		cost.any = ctl->cmd == SIM_CTRL_SUB_PIDS || ctl->cmd == SIM_CTRL_SUB_PID_INFO;
	}
	return cost;
}

int sim_rm_faults(struct sim_rm *rm, const char *text, size_t size, struct gs_error *err)
{
	return sim_fault_list(rm->config.faults, text, size, err);
}
