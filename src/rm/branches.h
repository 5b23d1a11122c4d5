/* SPDX-License-Identifier: MIT */
/*
 * branches.h - the driver branches that gpusched knows, and the sizes in which they differ
 *
 * A new branch is one new row. tests/check/driver_headers.sh compares the rows with the numbers in
 * tests/rm/abi, which has those of each tag of NVIDIA's open kernel modules.
 */
#ifndef GPUSCHED_RM_BRANCHES_H
#define GPUSCHED_RM_BRANCHES_H

#ifdef __KERNEL__
#include <linux/types.h>
#else
#include <stdbool.h>
#include <stdint.h>
#endif

/* The best source by which a branch is known. Each includes those before it. */
enum nv_witness {
	NV_HEADERS, /* the headers of all its public tags */
	NV_MODEL,   /* the simulated RM has its sizes: tests/e2e/branches.sh */
	NV_GPU,     /* a GPU: 'gpusched qualify' passed, with a SUSPEND that does not wait */
};

/*
 * Columns: the branch; the first and the last version known; the witness; then sizes.
 *
 * @schedule, @name, @memory: bytes of struct nv_schedule, nv_gpu_name, nv_memory_params. RM takes
 * the last size from the class, so that it does no harm to pass a longer structure.
 * @fb: entries of struct nv_fb_info.
 * @engine, @engines: bytes of an engine's entry in a sample of usage, and how many it has. 0: usage
 * is not asked, since the list is longer than NV_USAGE_SAMPLES.
 *
 * The simulated RM and its programs alone need these:
 * @infos: entries of the list in GPU_GET_INFO_V2.
 * @probed, @channel: bytes of GPU_GET_PROBED_IDS, and of what allocates a channel.
 */
/* clang-format off */
#define NV_BRANCHES(X)                                                                             \
	/*       first        last     witness  sch name    fb eng engs mem infos probed channel */\
	X(515, "515.43.04", "515.105.01", HEADERS, 2, 132, 0x36, 116, 4, 120, 0x3e, 256, 304)      \
	X(520, "520.56.06", "520.61.07",  HEADERS, 2, 132, 0x36, 116, 0, 120, 0x3e, 256, 304)      \
	X(525, "525.47.04", "525.147.05", HEADERS, 2, 132, 0x36, 116, 4, 120, 0x3e, 256, 304)      \
	X(530, "530.30.02", "530.41.03",  HEADERS, 2, 132, 0x36, 116, 4, 120, 0x3f, 256, 304)      \
	X(535, "535.43.02", "535.288.01", MODEL,   2, 132, 0x36, 116, 4, 120, 0x40, 256, 360)      \
	X(545, "545.23.06", "545.29.06",  HEADERS, 2, 132, 0x37, 116, 4, 128, 0x41, 256, 360)      \
	X(550, "550.40.07", "550.163.01", MODEL,   2, 132, 0x37, 116, 6, 128, 0x41, 256, 360)      \
	X(555, "555.42.02", "555.58.02",  HEADERS, 2, 132, 0x37, 116, 6, 128, 0x41, 256, 360)      \
	X(560, "560.28.03", "560.35.03",  HEADERS, 2, 132, 0x39, 116, 6, 128, 0x41, 256, 360)      \
	X(565, "565.57.01", "565.77",     HEADERS, 2, 132, 0x39, 116, 6, 128, 0x41, 256, 360)      \
	X(570, "570.86.15", "570.211.01", MODEL,   2, 132, 0x39, 128, 6, 128, 0x41, 256, 368)      \
	X(575, "575.51.02", "575.64.05",  HEADERS, 3, 132, 0x39, 128, 6, 128, 0x42, 256, 368)      \
	X(580, "580.65.06", "580.159.04", GPU,     3, 132, 0x80, 128, 6, 128, 0x46, 384, 368)      \
	X(590, "590.44.01", "590.48.01",  HEADERS, 3, 132, 0x80, 128, 6, 128, 0x46, 384, 368)      \
	X(595, "595.44.02", "595.45.04",  MODEL,   3,  68, 0x80, 128, 6, 128, 0x46, 384, 368)
/* clang-format on */

struct nv_branch {
	uint16_t branch;
	uint8_t witness; /* enum nv_witness */
	const char *first, *last;
	uint32_t schedule, name, fb, engine, engines, memory, infos, probed, channel;
};

enum nv_branch_numbers {
#define X(branch, ...) NV_BRANCH_##branch = branch,
	NV_BRANCHES(X)
#undef X
		NV_BRANCH_AFTER, /* one more than the last row's */
	NV_BRANCH_LAST = NV_BRANCH_AFTER - 1,
	NV_BRANCH_FIRST = NV_BRANCH_515,
};

/* NULL: there are no more than @i rows. */
static inline const struct nv_branch *nv_branch_at(unsigned int i)
{
	static const struct nv_branch rows[] = {
#define X(branch, first, last, witness, ...) { branch, NV_##witness, first, last, __VA_ARGS__ },
		NV_BRANCHES(X)
#undef X
	};

	return i < sizeof(rows) / sizeof(rows[0]) ? &rows[i] : 0;
}

/*
 * Returns the row of @branch. For a number between two rows, that is the one before it; so an unknown
 * newer branch has the last row. 0 (unknown) has the last row, too.
 */
static inline const struct nv_branch *nv_branch(unsigned int branch)
{
	const struct nv_branch *ret = nv_branch_at(0), *row;

	for (unsigned int i = 1; (row = nv_branch_at(i)); i++)
		if (!branch || row->branch <= branch)
			ret = row;
	return ret;
}

/* True if tests run with @branch, not only its headers are known. */
static inline bool nv_branch_tested(const struct nv_branch *row)
{
	return row->witness >= NV_MODEL;
}

#endif /* GPUSCHED_RM_BRANCHES_H */
