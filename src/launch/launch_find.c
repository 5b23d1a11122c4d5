// SPDX-License-Identifier: MIT
/*
 * launch_find.c - finds libcudas and the offsets of their functions, and computes launch rates
 */
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "launch/launch.bpf.h"
#include "launch/launch.h"
#include "launch/launch_find.h"

static void in_dir(const char *dir, size_t len, void (*fn)(const char *path, void *user),
		   void *user)
{
	char path[512];

	if (!len || len > 400)
		return;
	snprintf(path, sizeof(path), "%.*s/libcuda.so.1", (int)len, dir);
	if (!access(path, R_OK))
		fn(path, user);
}

void gs_launch_find_usual(void (*fn)(const char *path, void *user), void *user)
{
	static const char *const dirs[] = {
		"/usr/lib/" GS_MULTIARCH,
		"/usr/lib64",
		"/usr/lib",
		"/usr/local/nvidia/lib64",
		"/usr/local/cuda/compat",
		"/run/opengl-driver/lib",
	};
	const char *p = getenv("LD_LIBRARY_PATH");

	while (p && *p) {
		size_t len = strcspn(p, ":");

		in_dir(p, len, fn, user);
		p += len;
		p += *p == ':';
	}
	for (size_t i = 0; i < GS_COUNT(dirs); i++)
		in_dir(dirs[i], strlen(dirs[i]), fn, user);
}

uint64_t gs_launch_rate_mhz(const struct gpusched_task *t, uint64_t now)
{
	if (!t->last_launch_ns || now <= t->last_launch_ns)
		return t->launch_rate_mhz;
	return gs_rate_decayed(t->launch_rate_mhz, now - t->last_launch_ns);
}

/*
 * ---- ELF -------------------------------------------------------------------------------------
 *
 * A file of root that is called libcuda may be something else. So this code does not map the file,
 * and limits how much it reads.
 */
#define MAX_SEGMENTS 64
#define MAX_SECTIONS 1024    /* a libcuda has some 40 */
#define MAX_TABLES 2         /* tables of symbols; a library has one */
#define MAX_TABLE (4u << 20) /* symbols and their names; a libcuda's have some 100 KiB */

static void elf_close(Elf **elf)
{
	elf_end(*elf);
}

/* Returns the file offset of @address; 0: no loaded segment contains it. */
static uint64_t file_offset(Elf *elf, uint64_t address)
{
	size_t n = 0;

	if (elf_getphdrnum(elf, &n) || n > MAX_SEGMENTS)
		return 0;
	for (size_t i = 0; i < n; i++) {
		GElf_Phdr ph;

		if (!gelf_getphdr(elf, (int)i, &ph) || ph.p_type != PT_LOAD)
			continue;
		if (address >= ph.p_vaddr && address - ph.p_vaddr < ph.p_filesz)
			return address - ph.p_vaddr + ph.p_offset;
	}
	return 0;
}

static void take_symbol(Elf *elf, const char *name, uint64_t address, const char *const *names,
			size_t n, uint64_t *offsets)
{
	uint64_t at;

	for (size_t i = 0; name && i < n; i++) {
		if (strcmp(names[i], name) != 0)
			continue;
		at = file_offset(elf, address);
		for (size_t k = 0; k < n; k++)
			if (offsets[k] == at)
				return;
		offsets[i] = at;
		return;
	}
}

/* True for a file that is no 64-bit ELF, or that has more sections than any libcuda. */
static bool is_strange(int fd)
{
	Elf64_Ehdr h;

	return pread(fd, &h, sizeof(h), 0) != sizeof(h) ||
	       memcmp(h.e_ident, ELFMAG, SELFMAG) != 0 || h.e_ident[EI_CLASS] != ELFCLASS64 ||
	       !h.e_shnum || h.e_shnum > MAX_SECTIONS;
}

static bool has_symbols(Elf *elf, Elf_Scn *scn, GElf_Shdr *ret)
{
	GElf_Shdr names;

	return gelf_getshdr(scn, ret) && ret->sh_type == SHT_DYNSYM && ret->sh_entsize &&
	       ret->sh_size <= MAX_TABLE && gelf_getshdr(elf_getscn(elf, ret->sh_link), &names) &&
	       names.sh_size <= MAX_TABLE;
}

int gs_launch_find_offsets(int fd, const char *const *names, size_t n, uint64_t *ret_offsets)
{
	CLEANUP(elf_close) Elf *elf = NULL;
	unsigned int tables = 0;
	Elf_Scn *scn = NULL;
	GElf_Shdr sh;

	memset(ret_offsets, 0, n * sizeof(*ret_offsets));
	if (elf_version(EV_CURRENT) == EV_NONE)
		return -ENOTSUP;
	if (is_strange(fd))
		return -ENOEXEC;
	elf = elf_begin(fd, ELF_C_READ, NULL);
	if (!elf || elf_kind(elf) != ELF_K_ELF || gelf_getclass(elf) != ELFCLASS64)
		return -ENOEXEC;
	while ((scn = elf_nextscn(elf, scn))) {
		Elf_Data *data;

		if (!has_symbols(elf, scn, &sh))
			continue;
		if (++tables > MAX_TABLES)
			return -ENOEXEC;
		data = elf_getdata(scn, NULL);
		for (size_t i = 0; data && i < sh.sh_size / sh.sh_entsize; i++) {
			GElf_Sym sym;

			if (gelf_getsym(data, (int)i, &sym) &&
			    GELF_ST_TYPE(sym.st_info) == STT_FUNC && sym.st_shndx != SHN_UNDEF)
				take_symbol(elf, elf_strptr(elf, sh.sh_link, sym.st_name),
					    sym.st_value, names, n, ret_offsets);
		}
	}
	return 0;
}
