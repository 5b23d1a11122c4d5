// SPDX-License-Identifier: MIT
/*
 * tapcost.c - measures how long system calls take
 *
 *   tapcost [--json]
 *
 * Run it once with the taps off and once with them on: the difference is what the taps cost. Prints
 * the fastest of many short rounds of each call, since only an undisturbed round shows what the
 * taps add. Leaves out calls on /dev/nvidiactl where there is none.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS 300

struct alloc { /* NVOS21 */
	uint32_t root, parent, handle, class_;
	uint64_t params;
	uint32_t size, status;
};
struct control { /* NVOS54 */
	uint32_t client, object, cmd, flags;
	uint64_t params;
	uint32_t size, status;
};
struct free_ { /* NVOS00 */
	uint32_t root, parent, object, status;
};

static int ctl = -1, null = -1;
static uint32_t client;

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000ull + (uint64_t)t.tv_nsec;
}

static void do_getppid(void)
{
	syscall(SYS_getppid);
}

static void do_open(void)
{
	close(open("/dev/null", O_RDONLY | O_CLOEXEC));
}

static void do_other_ioctl(void)
{
	ioctl(null, _IOWR('F', 0x2a, struct control), NULL);
}

/* A control that the taps ignore: it asks for the class of a handle. */
static void do_control(void)
{
	uint64_t p[2] = { client | 2ull << 32 };
	struct control c = { client, client, 0xd02, 0, (uintptr_t)p, sizeof(p), 0 };

	ioctl(ctl, _IOWR('F', 0x2a, struct control), &c);
}

/* A control that the taps look up, on a TSG that does not exist. */
static void do_tsg_control(void)
{
	uint64_t us = 0;
	struct control c = { client, 0x5cffffff, 0xa06c0103, 0, (uintptr_t)&us, sizeof(us), 0 };

	ioctl(ctl, _IOWR('F', 0x2a, struct control), &c);
}

/* Makes and frees a client: the taps report an event for each of these two calls. */
static void do_client(void)
{
	struct alloc a = { .class_ = 0x41 };
	struct free_ f = { 0 };

	ioctl(ctl, _IOWR('F', 0x2b, struct alloc), &a);
	f.root = f.parent = f.object = a.handle;
	ioctl(ctl, _IOWR('F', 0x29, struct free_), &f);
}

static double measure(void (*fn)(void), unsigned int n)
{
	uint64_t best = UINT64_MAX;

	for (int r = 0; r < ROUNDS; r++) {
		uint64_t from = now(), took;

		for (unsigned int i = 0; i < n; i++)
			fn();
		took = now() - from;
		if (took < best)
			best = took;
	}
	return (double)best / n;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*fn)(void);
		unsigned int n;
		int nvidia;
	} cases[] = {
		{ "getppid", do_getppid, 5000, 0 },
		{ "open_close", do_open, 500, 0 },
		{ "other_ioctl", do_other_ioctl, 5000, 0 },
		{ "nvidia_ioctl_control", do_control, 100, 1 },
		{ "nvidia_ioctl_tsg_control", do_tsg_control, 5, 1 },
		{ "nvidia_ioctl_client", do_client, 50, 1 },
	};
	int json = argc > 1 && !strcmp(argv[1], "--json");
	struct alloc a = { .class_ = 0x41 };
	const char *sep = "{";

	if (argc > 1 + json) {
		fprintf(stderr, "usage: tapcost [--json]\n");
		return 2;
	}
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	ctl = open("/dev/nvidiactl", O_RDWR | O_CLOEXEC);
	if (ctl >= 0 && !ioctl(ctl, _IOWR('F', 0x2b, struct alloc), &a))
		client = a.handle;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (cases[i].nvidia && !client)
			continue;
		if (json)
			printf("%s\"%s_ns\":%.1f", sep, cases[i].name,
			       measure(cases[i].fn, cases[i].n));
		else
			printf("%-26s %10.1f ns\n", cases[i].name,
			       measure(cases[i].fn, cases[i].n));
		sep = ",";
	}
	if (json)
		printf("}\n");
	return 0;
}
