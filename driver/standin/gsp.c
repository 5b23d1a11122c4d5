// SPDX-License-Identifier: GPL-2.0-only
/* gsp.c - records each control that reaches GSP for a TSG or channel, so that tests can check it */
#include <linux/debugfs.h>
#include <linux/slab.h>

#include "standin.h"

static bool refuse; /* set in debugfs: GSP refuses all controls */

struct held {
	struct list_head list;
	u32 client, handle;
	/* @scheduled_us: timeslice when the TSG last went onto its runlist */
	u64 timeslice_us, scheduled_us;
	u32 interleave, mode, preempts, scheduled, waits;
	bool tsg, disabled;
};
static LIST_HEAD(all);

static struct held *of(u32 client, u32 handle)
{
	struct held *h;

	list_for_each_entry(h, &all, list) if (h->client == client && h->handle == handle) return h;
	h = kzalloc(sizeof(*h), GFP_KERNEL);
	if (!h)
		return NULL;
	h->client = client;
	h->handle = handle;
	h->timeslice_us = 1024;
	h->interleave = 1;
	h->mode = 2;
	list_add_tail(&h->list, &all);
	return h;
}

static u32 disable(const struct nv_disable_channels *d)
{
	if (d->n > NV_DISABLE_MAX)
		return NV_ERR_INVALID_ARGUMENT;
	for (u32 i = 0; i < d->n; i++) {
		struct held *h;

		if (!rm_find(d->clients[i], d->channels[i]))
			return NV_ERR_OBJECT_NOT_FOUND;
		h = of(d->clients[i], d->channels[i]);
		if (!h)
			continue;
		h->disabled = d->disable;
		h->waits += d->disable && !d->only_scheduling;
	}
	return NV_OK;
}

NV_STATUS mini_gsp_control(OBJGPU *gpu, NvHandle client, NvHandle object, NvU32 cmd, void *params,
			   NvU32 size)
{
	struct nv_preempt_mode *mode = params;
	struct held *h;

	if (refuse)
		return NV_ERR_INVALID_STATE;
	if (cmd == NV_CMD_DISABLE_CHANNELS)
		return disable(params);
	h = of(client, cmd == NV_CMD_SET_PREEMPT_MODE ? mode->channel : object);
	if (!h)
		return NV_ERR_INSUFFICIENT_RESOURCES;
	switch (cmd) {
	case NV_CMD_SET_TIMESLICE:
		h->timeslice_us = *(u64 *)params;
		break;
	case NV_CMD_SET_INTERLEAVE:
		h->interleave = *(u32 *)params;
		break;
	case NV_CMD_SET_PREEMPT_MODE:
		h->mode = mode->compute;
		break;
	case NV_CMD_PREEMPT:
		h->preempts++;
		break;
	case NV_CMD_SCHEDULE:
		h->scheduled = *(u8 *)params;
		h->scheduled_us = h->timeslice_us;
		break;
	case 0: /* the object was made */
		h->tsg = true;
		break;
	}
	return NV_OK;
}

void gsp_forget(u32 client, u32 handle)
{
	struct held *h, *next;

	list_for_each_entry_safe(h, next, &all, list)
	{
		if (h->client == client && h->handle == handle) {
			list_del(&h->list);
			kfree(h);
		}
	}
}

/*
 * Prints a line per object: "tsg CLIENT HANDLE us=... ..." or "channel CLIENT HANDLE disabled=...
 * mode=... waits=...": how often it was disabled by a call that waits
 */
void gsp_show(struct seq_file *m)
{
	struct held *h;

	list_for_each_entry(h, &all, list)
	{
		seq_printf(m, "%s %x %x ", h->tsg ? "tsg" : "channel", h->client, h->handle);
		if (h->tsg)
			seq_printf(m,
				   "us=%llu interleave=%u preempts=%u scheduled=%u "
				   "scheduled_us=%llu\n",
				   h->timeslice_us, h->interleave, h->preempts, h->scheduled,
				   h->scheduled_us);
		else
			seq_printf(m, "disabled=%d mode=%u waits=%u\n", h->disabled, h->mode,
				   h->waits);
	}
}

void gsp_debugfs(struct dentry *dir)
{
	debugfs_create_bool("refuse", 0600, dir, &refuse);
}
