// SPDX-License-Identifier: MIT
/*
 * fuzz_rm.c - a hostile client of the simulated RM: any ioctls, any sizes, any user memory
 *
 * Input: records of {number, size, length of bytes, bytes}. Pointers in the bytes name user memory
 * that is the input itself again, so that nested parameters are hostile as well.
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "sim/params.h"
#include "sim/rm.h"

struct memory {
	const uint8_t *at;
	size_t n;
};

static int user_read(const struct sim_caller *c, uint64_t address, void *to, size_t n)
{
	const struct memory *m = c->user;

	/* Small addresses lie in the input; all others fault, as bad pointers do. */
	if (address >= 65536 || n > m->n || address > m->n - n)
		return -EFAULT;
	memcpy(to, m->at + address, n);
	return 0;
}

static int user_write(const struct sim_caller *c, uint64_t address, const void *from, size_t n)
{
	return address >= 65536 || n > 65536 ? -EFAULT : 0;
}

static bool capable(const struct sim_caller *c, int capability)
{
	return c->tid & 1;
}

static int user_map(const struct sim_caller *c, int fd, size_t size, void **ret)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (fd < 0 || p == MAP_FAILED)
		return -ENOTSUP;
	*ret = p;
	return 0;
}

/* There is no work, but turns of a log all the same. */
static void switched(struct sim_rm *rm, struct sim_file *f, const uint8_t *data)
{
	struct sim_channel *ch = sim_rm_channel(rm, f, 0xc1d00001, 0xcaf00000u | data[0]);
	struct sim_switch sw = { .gpu = data[1] & 1, .engine = 1 + data[2] % 12, .start = true };

	if (!ch)
		return;
	sw.user = sim_model_tsg_user(sim_model_channel_tsg(ch));
	sim_rm_switched(rm, &sw);
	if (sim_rm_next(rm) != UINT64_MAX)
		sim_rm_run(rm, sim_rm_next(rm));
}

static void ioctls(struct sim_rm *rm, struct sim_file **files, const uint8_t *data, size_t n)
{
	struct memory m = { data, n };
	struct sim_caller caller = { .tid = 11,
				     .tgid = 11,
				     .uid = 0,
				     .read = user_read,
				     .write = user_write,
				     .capable = capable,
				     .map = user_map,
				     .user = &m };

	while (n >= 4) {
		unsigned int nr = data[0], which = data[1] & 1;
		size_t size = data[2], have = data[3];
		uint8_t *arg;

		data += 4;
		n -= 4;
		if (have > n)
			have = n;
		arg = calloc(1, size ? size : 1);
		if (!arg)
			return;
		memcpy(arg, data, have < size ? have : size);
		(void)sim_rm_cost(rm, files[which], (unsigned int)(size << 16 | 'F' << 8 | nr), arg,
				  size);
		(void)sim_rm_ioctl(rm, files[which], (unsigned int)(size << 16 | 'F' << 8 | nr),
				   arg, size, &caller);
		free(arg);
		if (n >= 3)
			switched(rm, files[which], data);
		data += have;
		n -= have;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static const unsigned int branches[] = { 535, 550, 570, 580, 595 };
	struct sim_rm_config config = { .gpus = 2,
					.branch = branches[n ? data[0] % 5 : 0],
					.max_objects = 64,
					.mig = n > 1 && data[1] & 1 ? 2 : 0,
					.copy_engines = 10 };
	struct memory none = { data, 0 };
	struct sim_caller caller = { .tid = 11,
				     .tgid = 11,
				     .read = user_read,
				     .write = user_write,
				     .capable = capable,
				     .user = &none };
	struct sim_model *model = NULL;
	struct sim_rm *rm = NULL;
	struct sim_file *files[2] = { NULL, NULL };
	struct sim_params params;
	char *json;

	sim_params_default(&params);
	if (config.mig)
		params.gr_engines = config.mig;
	if (sim_model_new(&params, 2, 1, NULL, &model))
		return 0;
	if (!sim_rm_new(&config, model, &rm)) {
		if (!sim_rm_open(rm, SIM_NODE_CTL, 255, &caller, &files[0]) &&
		    !sim_rm_open(rm, SIM_NODE_CTL, 255, &caller, &files[1])) {
			ioctls(rm, files, data, n);
			json = sim_rm_state_json(rm);
			free(json);
		}
		for (int i = 0; i < 2; i++)
			if (files[i])
				sim_rm_release(rm, files[i]);
		sim_rm_free(rm);
	}
	sim_model_free(model);
	return 0;
}
