// SPDX-License-Identifier: MIT
/*
 * elf.c - writes an ELF file that makes a reader of its symbol tables read too much
 *
 *   helper elf FILE SECTIONS BYTES
 *
 * All its sections name the same symbol table of BYTES bytes. A reader of every table thus reads
 * SECTIONS * BYTES.
 */
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "helper.h"

#define NAMES 4096
#define AT_ONCE 1024

static void put(int fd, const void *data, size_t size)
{
	if (write(fd, data, size) != (ssize_t)size)
		die("write");
}

static void put_header(int fd, uint16_t sections)
{
	Elf64_Ehdr h = { .e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
				      EV_CURRENT },
			 .e_type = ET_DYN,
			 .e_machine = EM_X86_64,
			 .e_version = EV_CURRENT,
			 .e_shoff = sizeof(h),
			 .e_ehsize = sizeof(h),
			 .e_shentsize = sizeof(Elf64_Shdr),
			 .e_shnum = sections,
			 .e_shstrndx = 1 };

	put(fd, &h, sizeof(h));
}

static void put_symbols(int fd, uint32_t n)
{
	Elf64_Sym some[AT_ONCE];

	for (uint32_t i = 0; i < AT_ONCE; i++)
		some[i] = (Elf64_Sym){ .st_name = 1,
				       .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
				       .st_shndx = 1,
				       .st_value = 0x1000,
				       .st_size = 16 };
	for (; n; n -= n < AT_ONCE ? n : AT_ONCE)
		put(fd, some, (n < AT_ONCE ? n : AT_ONCE) * sizeof(some[0]));
}

int verb_elf(int nwords, char **words)
{
	uint32_t sections = number(nwords, words, 1);
	uint32_t n = number(nwords, words, 2) / (uint32_t)sizeof(Elf64_Sym);
	uint64_t at = sizeof(Elf64_Ehdr) + sections * sizeof(Elf64_Shdr);
	Elf64_Shdr none = { 0 };
	Elf64_Shdr strings = { .sh_name = 1,
			       .sh_type = SHT_STRTAB,
			       .sh_offset = at + n * sizeof(Elf64_Sym),
			       .sh_size = NAMES,
			       .sh_addralign = 1 };
	Elf64_Shdr table = { .sh_name = 1,
			     .sh_type = SHT_DYNSYM,
			     .sh_flags = SHF_ALLOC,
			     .sh_offset = at,
			     .sh_size = n * sizeof(Elf64_Sym),
			     .sh_link = 1,
			     .sh_addralign = 8,
			     .sh_entsize = sizeof(Elf64_Sym) };
	/* one letter longer than a real name, so that each comparison reads it to its end */
	char names[NAMES] = "\0cuLaunchKernelZ";
	int fd = open(words[0], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);

	if (fd < 0)
		die(words[0]);
	put_header(fd, (uint16_t)sections);
	put(fd, &none, sizeof(none));
	put(fd, &strings, sizeof(strings));
	for (uint32_t i = 2; i < sections; i++)
		put(fd, &table, sizeof(table));
	put_symbols(fd, n);
	put(fd, names, sizeof(names));
	return 0;
}
