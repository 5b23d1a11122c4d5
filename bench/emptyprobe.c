/* SPDX-License-Identifier: MIT */
/*
 * emptyprobe.c - attach a BPF program that does nothing to a function of libcuda.so.1
 *
 *   emptyprobe FUNCTION
 *
 * The time that the empty probe adds to a launch is the kernel's part in the cost of counting: no
 * probe can cost less. Once attached, emptyprobe prints its PID and goes into the background. It
 * ends when killed, or after ten minutes. Needs root, Linux 6.6 or later, libc and a libcuda.so.1.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <linux/bpf.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LIFE_S 600
/* BPF_TRACE_UPROBE_MULTI, which Linux has since 6.6; the headers of the build may be older. */
#define ATTACH_UPROBE_MULTI 48

struct multi_attr {
	uint32_t prog_fd, target_fd, attach_type, flags;
	uint64_t path, offsets, ref_ctr_offsets, cookies;
	uint32_t n, uprobe_flags, pid, pad;
};

struct place {
	uintptr_t address;
	uint64_t offset; /* in the file */
	char path[4096];
};

static void fail(const char *what, const char *why)
{
	fprintf(stderr, "emptyprobe: %s: %s\n", what, why);
	exit(1);
}

static uint64_t number(const void *p)
{
	return (uint64_t)(uintptr_t)p;
}

static int on_object(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct place *p = arg;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *h = &info->dlpi_phdr[i];
		uintptr_t start = info->dlpi_addr + h->p_vaddr;

		if (h->p_type != PT_LOAD || p->address < start || p->address >= start + h->p_filesz)
			continue;
		p->offset = p->address - start + h->p_offset;
		snprintf(p->path, sizeof(p->path), "%s", info->dlpi_name);
		return 1;
	}
	return 0;
}

static int load_nothing(void)
{
	static const struct bpf_insn nothing[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K }, /* r0 = 0 */
		{ .code = BPF_JMP | BPF_EXIT },
	};
	union bpf_attr attr = { 0 };

	attr.prog_type = BPF_PROG_TYPE_KPROBE;
	attr.expected_attach_type = ATTACH_UPROBE_MULTI;
	attr.insns = number(nothing);
	attr.insn_cnt = 2;
	attr.license = number("GPL");
	return (int)syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr));
}

static int attach(int prog, const struct place *p)
{
	struct multi_attr attr = {
		.prog_fd = (uint32_t)prog,
		.attach_type = ATTACH_UPROBE_MULTI,
		.path = number(p->path),
		.offsets = number(&p->offset),
		.n = 1,
	};

	return (int)syscall(SYS_bpf, BPF_LINK_CREATE, &attr, sizeof(attr));
}

int main(int argc, char **argv)
{
	struct place p = { 0 };
	void *lib, *function;
	int prog, null;
	pid_t pid;

	if (argc != 2) {
		fprintf(stderr, "usage: emptyprobe FUNCTION\n");
		return 2;
	}
	lib = dlopen("libcuda.so.1", RTLD_NOW);
	function = lib ? dlsym(lib, argv[1]) : NULL;
	if (!function)
		fail(argv[1], dlerror());
	p.address = (uintptr_t)function;
	if (!dl_iterate_phdr(on_object, &p))
		fail(argv[1], "in no object's file");
	prog = load_nothing();
	if (prog < 0)
		fail("loading a program", strerror(errno));
	if (attach(prog, &p) < 0)
		fail(p.path, strerror(errno));
	pid = fork();
	if (pid < 0)
		fail("fork", strerror(errno));
	if (pid) {
		printf("%d\n", (int)pid);
		return 0;
	}
	/*
	 * Close the output, or a process that reads it to the end waits for this background
	 * process.
	 */
	null = open("/dev/null", O_RDWR);
	if (setsid() < 0 || null < 0 || dup2(null, 0) < 0 || dup2(null, 1) < 0 || dup2(null, 2) < 0)
		return 1;
	alarm(LIFE_S);
	for (;;)
		pause();
}
