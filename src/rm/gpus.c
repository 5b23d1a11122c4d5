// SPDX-License-Identifier: MIT
/* gpus.c - asks RM for the machine's GPUs, through an RM client that we allocate */
#include "rm/rm.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "basic/cleanup.h"
#include "basic/parse.h"
#include "rm/abi.h"
#include "rm/sys.h"

struct client {
	int fd;
	uint32_t handle;
};

static int by_pci(const void *a, const void *b)
{
	const struct nv_card *x = a, *y = b;

	if (x->domain != y->domain)
		return x->domain < y->domain ? -1 : 1;
	if (x->bus != y->bus)
		return x->bus < y->bus ? -1 : 1;
	if (x->slot != y->slot)
		return x->slot < y->slot ? -1 : 1;
	return (int)x->function - (int)y->function;
}

/* Makes an RM control that some drivers may not support. Returns true if it succeeded. */
static bool ask(const struct client *c, uint32_t object, uint32_t cmd, void *params, uint32_t size)
{
	uint32_t status = 0;

	return !gs_rm_call_control(c->fd, c->handle, object, cmd, params, size, &status) &&
	       status == GS_NV_OK;
}

static void ask_vbios(const struct client *c, uint32_t subdevice, struct gs_gpu *g)
{
	struct nv_bios_info b = {
		.n = 2, .list = { { .index = NV_BIOS_REVISION }, { .index = NV_BIOS_OEM_REVISION } }
	};
	uint32_t rev;

	if (!ask(c, subdevice, NV_CMD_BIOS_INFO, &b, sizeof(b)))
		return;
	rev = b.list[0].data;
	snprintf(g->vbios, sizeof(g->vbios), "%02X.%02X.%02X.%02X.%02X", rev >> 24,
		 rev >> 16 & 0xff, rev >> 8 & 0xff, rev & 0xff, b.list[1].data & 0xff);
}

/*
 * Asks for UUID, name and VBIOS. These controls need a device and a subdevice, which we allocate
 * here, and the GPU's device file open.
 */
static void ask_names(const struct client *c, struct gs_gpu *g)
{
	struct nv_device_params dp = { .device = g->dev_instance };
	struct nv_gpu_gid gid = { 0 };
	struct nv_gpu_name name = { 0 };
	uint32_t device = 0, subdevice = 0, status = 0, sub = g->sub_instance;

	if (gs_rm_call_alloc(c->fd, c->handle, c->handle, &device, NV_CLASS_DEVICE, &dp, sizeof(dp),
			     &status) ||
	    status)
		return;
	if (!gs_rm_call_alloc(c->fd, c->handle, device, &subdevice, NV_CLASS_SUBDEVICE, &sub,
			      sizeof(sub), &status) &&
	    !status) {
		if (ask(c, subdevice, NV_CMD_GPU_GID, &gid, sizeof(gid)) &&
		    memchr(gid.data, '\0', sizeof(gid.data)))
			snprintf(g->uuid, sizeof(g->uuid), "%.47s", gid.data);
		if (ask(c, subdevice, NV_CMD_GPU_NAME, &name, sizeof(name)) ||
		    ask(c, subdevice, NV_CMD_GPU_NAME, &name, NV_GPU_NAME_SIZE_595))
			snprintf(g->name, sizeof(g->name), "%.*s", NV_GPU_NAME_LEN, name.name);
		ask_vbios(c, subdevice, g);
	}
	gs_rm_call_free(c->fd, c->handle, c->handle, device, &status);
}

static void fill(const struct client *c, const struct nv_card *card, unsigned int index,
		 struct gs_gpu *g)
{
	struct nv_id_info id = { .gpu_id = card->gpu_id };
	CLEANUP_FD int keep = -1;

	*g = (struct gs_gpu){ .index = index, .minor = card->minor, .gpu_id = card->gpu_id };
	snprintf(g->pci, sizeof(g->pci), "%08X:%02X:%02X.%X", card->domain, card->bus, card->slot,
		 card->function & 7u);
	/* RM knows the GPU's device and subdevice instance only while the GPU's file is open */
	keep = gs_rm_driver_open_gpu(card->minor);
	if (ask(c, c->handle, NV_CMD_ID_INFO, &id, sizeof(id))) {
		g->dev_instance = id.device;
		g->sub_instance = id.subdevice;
		ask_names(c, g);
	} else {
		g->dev_instance = GPUSCHED_GPU_UNKNOWN;
	}
}

static int read_cards(int fd, struct nv_card *cards, size_t *ret_n)
{
	size_t n = 0;
	int r;

	memset(cards, 0, NV_MAX_CARDS * sizeof(*cards));
	r = gs_rm_sys.ioctl(fd,
			    _IOC(_IOC_READ | _IOC_WRITE, NV_IOCTL_TYPE, NV_ESC_CARD_INFO,
				 NV_MAX_CARDS * sizeof(*cards)),
			    cards);
	if (r < 0)
		return r;
	for (size_t i = 0; i < NV_MAX_CARDS; i++)
		if (cards[i].valid)
			cards[n++] = cards[i];
	qsort(cards, n, sizeof(*cards), by_pci);
	*ret_n = n;
	return 0;
}

int gs_gpus_read(struct gs_gpu **ret, size_t *ret_n, struct gs_error *err)
{
	struct nv_card cards[NV_MAX_CARDS];
	CLEANUP_FREE struct gs_gpu *gpus = NULL;
	CLEANUP_FD int fd = gs_rm_driver_open_control();
	struct client c = { .fd = fd };
	uint32_t status = 0;
	size_t n = 0;
	int r;

	if (fd < 0)
		return gs_fail(err, fd == -EACCES ? -EACCES : -ENODEV,
			       "%s cannot be opened (%s): load the NVIDIA driver and run as root",
			       NV_CTL_PATH, strerror(-fd));
	r = read_cards(fd, cards, &n);
	if (r < 0)
		return gs_fail(err, r, "the driver does not list its GPUs: %s", strerror(-r));
	r = gs_rm_call_alloc(fd, 0, 0, &c.handle, NV_CLASS_ROOT, NULL, 0, &status);
	if (r < 0 || status)
		return gs_fail(err, r < 0 ? r : -EREMOTEIO,
			       "the driver refuses a client of ours (status 0x%x)", status);
	gpus = calloc(n ? n : 1, sizeof(*gpus));
	if (!gpus)
		return gs_fail(err, -ENOMEM, "out of memory");
	for (size_t i = 0; i < n; i++)
		fill(&c, &cards[i], (unsigned int)i, &gpus[i]);
	gs_rm_call_free(fd, c.handle, c.handle, c.handle, &status);
	*ret = TAKE_PTR(gpus);
	*ret_n = n;
	return 0;
}

/* True if @selector is the address @pci, as "0000:3b:00.0", "3b:00.0" or "00000000:3B:00.0". */
static bool pci_matches(const char *pci, const char *selector)
{
	unsigned int d1, b1, s1, f1, d2 = 0, b2, s2, f2 = 0;
	int end = -1;

	if (sscanf(pci, "%x:%x:%x.%x", &d1, &b1, &s1, &f1) != 4)
		return false;
	if (sscanf(selector, "%8x:%2x:%2x.%1x%n", &d2, &b2, &s2, &f2, &end) != 4 || selector[end]) {
		d2 = 0;
		end = -1;
		if (sscanf(selector, "%2x:%2x.%1x%n", &b2, &s2, &f2, &end) != 3 || selector[end])
			return false;
	}
	return d1 == d2 && b1 == b2 && s1 == s2 && f1 == f2;
}

const struct gs_gpu *gs_gpu_find(const struct gs_gpu *gpus, size_t n, const char *selector)
{
	const struct gs_gpu *found = NULL;
	size_t len = strlen(selector);
	uint64_t index;

	if (!gs_parse_u64(selector, 0, UINT32_MAX, &index, NULL)) {
		for (size_t i = 0; i < n; i++)
			if (gpus[i].index == index)
				return &gpus[i];
		return NULL;
	}
	for (size_t i = 0; i < n; i++) {
		bool uuid = len > 4 && gpus[i].uuid[0] && !strncasecmp(gpus[i].uuid, selector, len);

		if (!uuid && !pci_matches(gpus[i].pci, selector))
			continue;
		if (found)
			return NULL;
		found = &gpus[i];
	}
	return found;
}
