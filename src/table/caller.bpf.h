/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * caller.bpf.h - reads the caller of an ioctl, its file and its memory, for taps and gate
 */
#ifndef GPUSCHED_TABLE_CALLER_BPF_H
#define GPUSCHED_TABLE_CALLER_BPF_H

#include "rm/decode.h"
#include "table/record.bpf.h"

#define NVIDIA_MAJOR 195u
#define NVIDIA_MODESET_MINOR 254u
#define S_IFMT 0170000
#define S_IFCHR 0020000

static __always_inline int gs_read_user(void *dst, gs_u32 size, gs_u64 addr)
{
	if (!bpf_probe_read_user(dst, size, (const void *)addr))
		return 1;
	gs_tap_count(GPUSCHED_CNT_BAD_READ);
	return 0;
}

/* Returns 0 if the file is not one of the driver's, 2 for nvidiactl, 1 for its other files. */
static __always_inline int gs_file_accept(const struct gpusched_cfg *cfg, struct file *file)
{
	struct inode *inode = BPF_CORE_READ(file, f_inode);
	gs_u32 rdev, *control;

	if (cfg->sim) {
		struct gpusched_simfile sf = {
			.dev = BPF_CORE_READ(inode, i_sb, s_dev),
			.ino = BPF_CORE_READ(inode, i_ino),
		};

		control = bpf_map_lookup_elem(&gs_simfiles, &sf);
		return control ? 1 + (*control == 1) : 0;
	}
	rdev = BPF_CORE_READ(inode, i_rdev);
	if (rdev >> 20 != NVIDIA_MAJOR || (BPF_CORE_READ(inode, i_mode) & S_IFMT) != S_IFCHR)
		return 0;
	if ((rdev & 0xfffff) == NVIDIA_MODESET_MINOR)
		return 0;
	return 1 + ((rdev & 0xfffff) == 255);
}

/* in the kernel's file_ref_t, 0 means one reference, and values from here on mean none */
#define GS_REF_RELEASED 0xc000000000000000ull

static __always_inline int gs_file_referenced(gs_u64 file)
{
	gs_u64 n = 0;

	if (bpf_core_field_exists(((struct file___count *)0)->f_count)) {
		bpf_core_read(&n, sizeof(n), &((struct file___count *)file)->f_count);
		return n != 0;
	}
	if (bpf_core_field_exists(((struct file___ref *)0)->f_ref)) {
		bpf_core_read(&n, sizeof(n), &((struct file___ref *)file)->f_ref);
		return n < GS_REF_RELEASED;
	}
	return 0;
}

/*
 * True if anything still refers to the open file. A closed file's memory may hold another file by
 * now, so this also compares inode and private data with those in the entry.
 */
static __always_inline int gs_file_lives(gs_u64 file)
{
	struct gpusched_file *entry = bpf_map_lookup_elem(&gs_files, &file);
	struct gpusched_cfg *cfg = gs_cfg_of();

	return entry && cfg && gs_file_accept(cfg, (struct file *)file) &&
	       gs_file_is(file, entry) && gs_file_referenced(file);
}

/* Replaces a channel's handle in @key by its TSG's handle. Leaves a TSG's handle as it is. */
static __always_inline void gs_to_tsg(struct gpusched_key *key)
{
	struct gs_channel_ref *ref = bpf_map_lookup_elem(&gs_chantsg, key);

	if (ref)
		key->handle = ref->tsg;
}

#endif /* GPUSCHED_TABLE_CALLER_BPF_H */
