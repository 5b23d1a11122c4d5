// SPDX-License-Identifier: MIT
#include "program.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "rm/abi.h"

#define DEBUGFS "/sys/kernel/debug/nvidia-standin/"

void die(const char *what)
{
	printf("FAIL %s: %s\n", what, strerror(errno));
	exit(1);
}

void pass(bool good, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fputs(good ? "PASS " : "FAIL ", stdout);
	vprintf(format, args);
	putchar('\n');
	fflush(stdout);
	va_end(args);
}

void is(long got, long want, const char *name)
{
	if (got == want)
		pass(true, "%s", name);
	else
		pass(false, "%s: got %ld, wanted %ld", name, got, want);
}

/* ---- the driver ------------------------------------------------------------------------------ */

static uint32_t alloc(struct program *p, uint32_t parent, uint32_t handle, uint32_t class_,
		      uint32_t *ret_handle)
{
	/*
	 * Parameters as the taps read them: GPU 0, and for a TSG the compute engine in the fourth
	 * word.
	 */
	const uint32_t words[16] = { [3] = class_ == 0xa06c };
	struct nv_alloc a = { .client = p->client,
			      .parent = parent,
			      .handle = handle,
			      .class_ = class_,
			      .params = class_ == NV_CLASS_ROOT ? 0 : (uintptr_t)words };

	if (ioctl(p->fd, _IOWR(NV_IOCTL_TYPE, NV_ESC_ALLOC, struct nv_alloc), &a))
		die("RM_ALLOC");
	if (ret_handle)
		*ret_handle = a.handle;
	return a.status;
}

static uint32_t control(struct program *p, uint32_t object, uint32_t cmd, void *params,
			uint32_t size)
{
	struct nv_control c = {
		.client = p->client,
		.object = object,
		.cmd = cmd,
		.params = (uintptr_t)params,
		.params_size = size,
	};

	if (ioctl(p->fd, _IOWR(NV_IOCTL_TYPE, NV_ESC_CONTROL, struct nv_control), &c))
		die("RM_CONTROL");
	return c.status;
}

struct program program_new(void)
{
	struct program p = { .fd = open(NV_CTL_PATH, O_RDWR | O_CLOEXEC) };
	uint32_t client = 0;

	if (p.fd < 0 || alloc(&p, 0, 0, NV_CLASS_ROOT, &client))
		die("a client");
	p.client = client;
	if (alloc(&p, client, SUBDEVICE - 1, NV_CLASS_DEVICE, NULL) ||
	    alloc(&p, SUBDEVICE - 1, SUBDEVICE, NV_CLASS_SUBDEVICE, NULL))
		die("a device");
	return p;
}

void program_end(struct program *p)
{
	close(p->fd);
}

uint32_t channel_of(uint32_t tsg, unsigned int i)
{
	return tsg + 0x100000 * (i + 1);
}

uint32_t tsg_try(struct program *p, uint32_t tsg)
{
	return alloc(p, SUBDEVICE - 1, tsg, 0xa06c, NULL);
}

void tsg_new(struct program *p, uint32_t tsg, unsigned int nchannels)
{
	if (tsg_try(p, tsg))
		die("a TSG");
	for (unsigned int i = 0; i < nchannels; i++)
		if (alloc(p, tsg, channel_of(tsg, i), 0xc36f, NULL))
			die("a channel");
}

void tsg_free(struct program *p, uint32_t tsg)
{
	struct nv_free f = { .client = p->client, .object = tsg };

	if (ioctl(p->fd, _IOWR(NV_IOCTL_TYPE, NV_ESC_FREE, struct nv_free), &f))
		die("RM_FREE");
}

uint32_t tsg_schedule(struct program *p, uint32_t tsg, bool enable)
{
	struct nv_schedule s = { .enable = enable };

	return control(p, tsg, NV_CMD_SCHEDULE, &s, 2);
}

uint32_t tsg_schedule_by(struct program *p, uint32_t tsg, void *words, uint32_t size)
{
	return control(p, tsg, NV_CMD_SCHEDULE, words, size);
}

uint32_t tsg_set_timeslice(struct program *p, uint32_t tsg, uint64_t us)
{
	return control(p, tsg, NV_CMD_SET_TIMESLICE, &us, sizeof(us));
}

uint64_t tsg_timeslice(struct program *p, uint32_t tsg)
{
	uint64_t us = 0;

	if (control(p, tsg, NV_CMD_GET_TIMESLICE, &us, sizeof(us)))
		die("GET_TIMESLICE");
	return us;
}

uint32_t tsg_set_interleave(struct program *p, uint32_t tsg, uint32_t level)
{
	return control(p, tsg, NV_CMD_SET_INTERLEAVE, &level, sizeof(level));
}

uint32_t tsg_preempt(struct program *p, uint32_t tsg)
{
	struct nv_preempt a = { .wait = 1, .manual_timeout = 1, .timeout_us = 1000 };

	return control(p, tsg, NV_CMD_PREEMPT, &a, sizeof(a));
}

uint32_t channel_token(struct program *p, uint32_t channel)
{
	uint32_t token = 0;

	if (control(p, channel, 0xc36f0108, &token, sizeof(token)))
		die("GET_WORK_SUBMIT_TOKEN");
	return token;
}

/* ---- the GSP's state ------------------------------------------------------------------------- */

long gsp(uint32_t client, uint32_t handle, const char *key)
{
	FILE *f = fopen(DEBUGFS "state", "r");
	char line[256], kind[16], *at;
	unsigned int c, h;
	long value = -1;
	size_t len = strlen(key);

	if (!f)
		die(DEBUGFS "state");
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%15s %x %x", kind, &c, &h) != 3 || c != client || h != handle)
			continue;
		for (at = strchr(line, ' '); at; at = strchr(at + 1, ' '))
			if (!strncmp(at + 1, key, len) && at[1 + len] == '=')
				value = strtol(at + 2 + len, NULL, 10);
	}
	fclose(f);
	return value;
}

static void write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		die(path);
	close(fd);
}

void gsp_refuses(bool all)
{
	write_file(DEBUGFS "refuse", all ? "1" : "0");
}

void rm_delays(unsigned int ms)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", ms);
	write_file(DEBUGFS "delay_ms", text);
}

void rm_divides(uint32_t partition)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", partition);
	write_file(DEBUGFS "partition", text);
}

bool gsp_becomes(uint32_t client, uint32_t handle, const char *key, long value)
{
	for (int i = 0; i < PATIENCE_S * 20; i++) {
		if (gsp(client, handle, key) == value)
			return true;
		usleep(50000);
	}
	printf("# %s of %x is %ld, not %ld\n", key, handle, gsp(client, handle, key), value);
	return false;
}

/* ---- the node -------------------------------------------------------------------------------- */

static int call(int node, unsigned long cmd, void *arg)
{
	return ioctl(node, cmd, arg) ? -errno : 0;
}

int node_open(void)
{
	int fd = open("/dev/gpusched", O_RDWR | O_CLOEXEC);

	if (fd < 0)
		die("/dev/gpusched");
	return fd;
}

int node_hold(int node)
{
	return call(node, GPUSCHED_MODULE_HOLD, NULL);
}

int node_beat(int node)
{
	return call(node, GPUSCHED_MODULE_BEAT, NULL);
}

static volatile bool rests;

static void *heart(void *node)
{
	while (rests || !node_beat(*(int *)node))
		usleep(500000);
	return NULL;
}

void node_rest(bool rest)
{
	rests = rest;
}

void node_keep(int node)
{
	static int kept;
	pthread_t thread;

	kept = node;
	if (node_hold(node) || pthread_create(&thread, NULL, heart, &kept))
		die("held");
	pthread_detach(thread);
}

int node_about(int node, struct gpusched_module_about *about)
{
	memset(about, 0, sizeof(*about));
	return call(node, GPUSCHED_MODULE_ABOUT, about);
}

struct gpusched_module_tell telling(struct program *p, uint32_t tsg, uint32_t *channels,
				    unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		channels[i] = channel_of(tsg, i);
	return (struct gpusched_module_tell){
		.client = p->client,
		.tsg = tsg,
		.subdevice = SUBDEVICE,
		.pid = (uint32_t)getpid(),
		.tid = (uint32_t)syscall(SYS_gettid),
		.nchannels = n,
		.channels = (uintptr_t)channels,
		.own = { .valid = GPUSCHED_INTERLEAVE | GPUSCHED_PREEMPT_MODE,
			 .interleave = GPUSCHED_INTERLEAVE_MEDIUM,
			 .preempt_mode = GPUSCHED_PREEMPT_CILP },
		.class_id = GPUSCHED_CLASS_BE,
		.weight = 250,
		.gpu_instance = 2,
		.compute_instance = 1,
	};
}

int node_tell(int node, struct program *p, uint32_t tsg, unsigned int nchannels)
{
	uint32_t channels[GPUSCHED_MAX_CHANNELS];
	struct gpusched_module_tell t = telling(p, tsg, channels, nchannels);

	return call(node, GPUSCHED_MODULE_TELL, &t);
}

int node_forget(int node, struct program *p, uint32_t tsg)
{
	struct gpusched_module_name n = { p->client, tsg };

	return call(node, GPUSCHED_MODULE_FORGET, &n);
}

int node_set(int node, struct program *p, uint32_t tsg, uint32_t bit, uint32_t value,
	     uint32_t *status)
{
	struct gpusched_module_set s = { .client = p->client,
					 .tsg = tsg,
					 .set = bit,
					 .want = { .valid = bit,
						   .timeslice_us = value,
						   .interleave = (uint8_t)value,
						   .preempt_mode = (uint8_t)value,
						   .runnable = (uint8_t)value } };
	int r = call(node, GPUSCHED_MODULE_SET, &s);

	if (status)
		*status = s.status;
	return r;
}

int node_unset(int node, struct program *p, uint32_t tsg, uint32_t bit)
{
	struct gpusched_module_set s = { .client = p->client, .tsg = tsg, .set = bit };

	return call(node, GPUSCHED_MODULE_SET, &s);
}

int node_preempt(int node, struct program *p, uint32_t tsg, uint32_t us)
{
	struct gpusched_module_preempt a = { .client = p->client, .tsg = tsg, .timeout_us = us };

	return call(node, GPUSCHED_MODULE_PREEMPT, &a);
}

int node_list(int node, uint32_t pid, uint32_t tid, struct gpusched_module_entry *ret)
{
	struct gpusched_module_list l = {
		.pid = pid, .tid = tid, .n = 1, .entries = (uintptr_t)ret
	};
	int r = call(node, GPUSCHED_MODULE_LIST, &l);

	return r ?: (int)l.n;
}
