/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * kernel.bpf.h - declares the few kernel fields that the taps read, relocated at load (CO-RE)
 *
 * This is not a vmlinux.h, since one build must run on every kernel from 6.1 on.
 */
#ifndef GPUSCHED_TABLE_KERNEL_BPF_H
#define GPUSCHED_TABLE_KERNEL_BPF_H

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct super_block {
	unsigned int s_dev;
};

struct inode {
	unsigned short i_mode;
	unsigned int i_rdev;
	unsigned long i_ino;
	struct super_block *i_sb;
};

struct file {
	struct inode *f_inode;
	void *private_data;
};

/* A file's reference count: f_count up to Linux 6.12, f_ref in later versions. */
struct gs_word {
	unsigned long long value;
};

struct file___count {
	struct gs_word f_count;
};

struct file___ref {
	struct gs_word f_ref;
};

struct fdtable {
	unsigned int max_fds;
	struct file **fd;
};

struct files_struct {
	struct fdtable *fdt;
};

struct ns_common {
	unsigned int inum;
};

struct pid_namespace {
	struct ns_common ns;
};

struct upid {
	int nr;
	struct pid_namespace *ns;
};

struct pid {
	unsigned int level;
	struct upid numbers[1];
};

typedef struct {
	int counter;
} gs_atomic_t;

struct signal_struct {
	gs_atomic_t live;
};

typedef struct {
	unsigned int val;
} gs_kuid_t;

struct cred {
	gs_kuid_t uid;
};

struct task_struct {
	int pid;
	int tgid;
	struct task_struct *group_leader;
	struct pid *thread_pid;
	const struct cred *cred;
	unsigned long long start_boottime;
	char comm[16];
	struct files_struct *files;
	struct signal_struct *signal;
};

struct seq_file;

struct bpf_iter_meta {
	struct seq_file *seq;
};

struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
};

struct bpf_iter__task_file {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
	unsigned int fd;
	struct file *file;
};

#pragma clang attribute pop

#endif /* GPUSCHED_TABLE_KERNEL_BPF_H */
