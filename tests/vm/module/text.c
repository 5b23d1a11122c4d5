// SPDX-License-Identifier: MIT
/* text.c - print kernel code from memory, which shows how static keys have patched it */
#include "program.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TEXT_MAX 65536

/*
 * Finds the range of a function up to the next symbol, or of a "[MODULE]" from its first to its
 * last function.
 */
static void find(const char *name, uint64_t *ret_from, uint64_t *ret_to)
{
	FILE *f = fopen("/proc/kallsyms", "r");
	unsigned long long at;
	char line[512], type, symbol[256], module[64];
	uint64_t to = UINT64_MAX, from = 0;

	if (!f)
		die("/proc/kallsyms");
	while (fgets(line, sizeof(line), f)) {
		*module = '\0';
		if (!strstr(line, name) ||
		    sscanf(line, "%llx %c %255s %63s", &at, &type, symbol, module) < 3)
			continue;
		if (!strcmp(symbol, name))
			from = at;
		else if (*name == '[' && !strcmp(module, name) && strchr("tT", type)) {
			from = !from || at < from ? at : from;
			to = to == UINT64_MAX || at > to ? at : to;
		}
	}
	rewind(f);
	while (*name != '[' && fgets(line, sizeof(line), f)) {
		at = strtoull(line, NULL, 16);
		to = at > from && at < to ? at : to;
	}
	fclose(f);
	if (!from || to - from > TEXT_MAX)
		die(name);
	*ret_from = from;
	*ret_to = to;
}

/*
 * Returns the range's offset in /proc/kcore, an ELF core file of the kernel's memory; -1 if it is
 * not there.
 */
static long place(int fd, uint64_t from, uint64_t to)
{
	Elf64_Ehdr e;
	Elf64_Phdr p;

	if (pread(fd, &e, sizeof(e), 0) != sizeof(e))
		return -1;
	for (unsigned int i = 0; i < e.e_phnum; i++)
		if (pread(fd, &p, sizeof(p), (long)(e.e_phoff + i * sizeof(p))) == sizeof(p) &&
		    p.p_type == PT_LOAD && from >= p.p_vaddr && to <= p.p_vaddr + p.p_filesz)
			return (long)(p.p_offset + from - p.p_vaddr);
	return -1;
}

void text(const char *name)
{
	int fd = open("/proc/kcore", O_RDONLY | O_CLOEXEC);
	static unsigned char code[TEXT_MAX];
	uint64_t from, to;
	long n;

	find(name, &from, &to);
	n = (long)(to - from);
	if (fd < 0 || pread(fd, code, (size_t)n, place(fd, from, to)) != n)
		die("/proc/kcore");
	close(fd);
	for (long i = 0; i < n; i++)
		printf("%02x ", code[i]);
	putchar('\n');
}
