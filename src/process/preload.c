// SPDX-License-Identifier: MIT
/*
 * preload.c - says why a library that nobody asked for does not go into a command by LD_PRELOAD
 *
 * Such a library goes into each program that the command starts. It must not meet another one, a
 * profiler or a sanitizer, and must not leave the machine.
 */
#include "process/preload.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "basic/starter.h"
#include "process/command.h"

#define HEADERS_MOST 64 /* a program has some 13 program headers */
#define NEEDED_MOST 512 /* and names some 10 libraries */

static bool preload_unfit(char *why, size_t size, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
static bool preload_unfit(char *why, size_t size, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(why, size, format, args);
	va_end(args);
	return false;
}

/* A variable of another tool that is, or wants to be, in the program. NULL: there is none. */
static const char *preload_rival(void)
{
	static const char *const names[] = {
		"LD_PRELOAD",
		"LD_AUDIT",
		"CUDA_INJECTION64_PATH",
		"NSYS_PROFILING_SESSION_ID",
		"ASAN_OPTIONS",
		"LSAN_OPTIONS",
		"MSAN_OPTIONS",
		"TSAN_OPTIONS",
		"UBSAN_OPTIONS",
	};

	for (size_t i = 0; i < GS_COUNT(names); i++)
		if (getenv(names[i]) && *getenv(names[i]))
			return names[i];
	return NULL;
}

/* ---- the program's file ------------------------------------------------------------------------ */

static void preload_close(Elf **elf)
{
	elf_end(*elf);
}

static bool preload_is_privileged(int fd)
{
	struct stat st;

	return (!fstat(fd, &st) && st.st_mode & (S_ISUID | S_ISGID)) ||
	       fgetxattr(fd, "security.capability", NULL, 0) > 0;
}

/* A sanitizer's library that the program needs; it has to be loaded first. NULL: there is none. */
static const char *preload_sanitizer(Elf *elf)
{
	static const char *const names[] = { "libasan.", "libtsan.", "liblsan.", "libhwasan." };
	Elf_Scn *section = NULL;
	Elf_Data *data;
	GElf_Shdr header;

	while ((section = elf_nextscn(elf, section)) && gelf_getshdr(section, &header))
		if (header.sh_type == SHT_DYNAMIC)
			break;
	data = section ? elf_getdata(section, NULL) : NULL;
	for (int i = 0; data && i < NEEDED_MOST; i++) {
		GElf_Dyn entry;
		const char *name;

		if (!gelf_getdyn(data, i, &entry) || entry.d_tag == DT_NULL)
			break;
		name = entry.d_tag == DT_NEEDED ? elf_strptr(elf, header.sh_link, entry.d_un.d_val)
						: NULL;
		for (size_t k = 0; name && k < GS_COUNT(names); k++)
			if (!strncmp(name, names[k], strlen(names[k])))
				return name;
	}
	return NULL;
}

/* Copies the name of the program's loader; "": it is linked statically. */
static void preload_loader(int fd, Elf *elf, char *name, size_t size)
{
	size_t n = 0;

	*name = 0;
	if (elf_getphdrnum(elf, &n))
		n = 0;
	for (size_t i = 0; i < n && i < HEADERS_MOST; i++) {
		GElf_Phdr header;
		ssize_t got;

		if (!gelf_getphdr(elf, (int)i, &header) || header.p_type != PT_INTERP)
			continue;
		got = pread(fd, name, header.p_filesz < size ? header.p_filesz : size - 1,
			    (off_t)header.p_offset);
		name[got > 0 ? got : 0] = 0;
	}
}

/* False: the loader would not put the agent into this program, or the program would end by it. */
static bool preload_fits_file(const char *exe, char *why, size_t size)
{
	CLEANUP_FD int fd = open(exe, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	__attribute__((cleanup(preload_close))) Elf *elf = NULL;
	const char *sanitizer;
	char loader[256];

	elf_version(EV_CURRENT);
	if (fd >= 0 && preload_is_privileged(fd))
		return preload_unfit(why, size, "%s has its file's rights (setuid)", exe);
	elf = fd < 0 ? NULL : elf_begin(fd, ELF_C_READ, NULL);
	if (!elf || elf_kind(elf) != ELF_K_ELF)
		return preload_unfit(why, size, "%s cannot be read", exe);
	if (gelf_getclass(elf) != (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32))
		return preload_unfit(why, size, "%s is not a 64-bit program", exe);
	preload_loader(fd, elf, loader, sizeof(loader));
	if (!*loader)
		return preload_unfit(why, size, "%s is linked statically", exe);
	if (strstr(loader, "musl"))
		return preload_unfit(why, size, "%s has another C library (%s)", exe, loader);
	sanitizer = preload_sanitizer(elf);
	if (sanitizer)
		return preload_unfit(why, size, "%s has a sanitizer (%s)", exe, sanitizer);
	return true;
}

bool gs_preload_fits(char *const argv[], char *why, size_t size)
{
	const char *rival = preload_rival();
	struct gs_program program;
	int r;

	if (rival)
		return preload_unfit(why, size, "%s is set", rival);
	r = gs_command_program(argv, &program);
	if (r && r != -E2BIG) /* it cannot be executed: that is reported later */
		return preload_unfit(why, size, "%s", "");
	if (gs_starter_of(program.exe) == GS_STARTER_ELSEWHERE)
		return preload_unfit(why, size, "%s starts programs elsewhere", argv[0]);
	return preload_fits_file(program.exe, why, size);
}
