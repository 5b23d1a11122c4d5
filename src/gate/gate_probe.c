// SPDX-License-Identifier: MIT
/*
 * gate_probe.c - finds out whether this kernel runs BPF LSM programs
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/random.h>

#include "basic/cleanup.h"
#include "table/hush.h"
#include "table/table.h"
#include "gate/gate.h"

#define KERNEL_ENOTSUPP 524 /* the kernel's ENOTSUPP, which user space does not define */
#define PROBE_CMD 0x4670u   /* a command that no driver uses */

/*
 * Loads a program that answers our own ioctl, known by its random argument, and lets all others
 * pass.
 */
static int load_probe(uint64_t nonce)
{
	const struct bpf_insn insns[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 0 },
		{ .code = BPF_LDX | BPF_MEM | BPF_DW, .dst_reg = 2, .src_reg = 1, .off = 8 },
		{ .code = BPF_JMP | BPF_JNE | BPF_K, .dst_reg = 2, .off = 5, .imm = PROBE_CMD },
		{ .code = BPF_LDX | BPF_MEM | BPF_DW, .dst_reg = 3, .src_reg = 1, .off = 16 },
		{ .code = BPF_LD | BPF_IMM | BPF_DW, .dst_reg = 4, .imm = (int32_t)nonce },
		{ .imm = (int32_t)(nonce >> 32) },
		{ .code = BPF_JMP | BPF_JNE | BPF_X, .dst_reg = 3, .src_reg = 4, .off = 1 },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 0, .imm = -ECANCELED },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .expected_attach_type = BPF_LSM_MAC);
	int id = libbpf_find_vmlinux_btf_id("file_ioctl", BPF_LSM_MAC);

	if (id < 0)
		return id;
	opts.attach_btf_id = (uint32_t)id;
	return bpf_prog_load(BPF_PROG_TYPE_LSM, "gs_gate_probe", "GPL", insns, GS_COUNT(insns),
			     &opts);
}

static int refused(int code, struct gs_error *err)
{
	if (geteuid())
		return gs_fail(err, -EPERM, "needs root");
	if (code == -EPERM || code == -EACCES)
		return gs_fail(err, -EPERM,
			       "this kernel, or the container's profile, refuses BPF LSM programs");
	if (code == -KERNEL_ENOTSUPP)
		return gs_fail(err, -ENOTSUP,
			       "this kernel cannot attach BPF LSM programs; on arm64 Linux 6.4 is "
			       "the first that can");
	return gs_fail(err, -ENOTSUP, "no BPF LSM in this kernel (CONFIG_BPF_LSM): %s",
		       strerror(-code));
}

int gs_gate_probe(struct gs_error *err)
{
	CLEANUP_FD int prog = -1, link = -1, fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	uint64_t nonce = 0;

	if (fd < 0 || getrandom(&nonce, sizeof(nonce), 0) < 0)
		return gs_fail(err, -errno, "/dev/null: %s", strerror(errno));
	gs_hush_begin(NULL, 0);
	prog = load_probe(nonce);
	gs_hush_end();
	if (prog < 0)
		return refused(prog, err);
	link = bpf_raw_tracepoint_open(NULL, prog);
	if (link < 0)
		return refused(link, err);
	if (ioctl(fd, PROBE_CMD, nonce) && errno == ECANCELED)
		return 0;
	return gs_fail(
		err, -ENOTSUP,
		"bpf is not among the active LSMs: add it to lsm= on the kernel's command line");
}
