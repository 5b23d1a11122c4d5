/* SPDX-License-Identifier: MIT */
/*
 * polelf.h - reads a policy's object as an ELF file, and analyses its code
 */
#ifndef GPUSCHED_POLICY_POLELF_H
#define GPUSCHED_POLICY_POLELF_H

#include <gelf.h>
#include <libelf.h>

#include "policy/priv.h"

struct gs_polelf {
	Elf *elf;
	GElf_Ehdr head;
	size_t names; /* index of the section with section names */
	Elf_Data *symbols;
	size_t nsymbols, strings;
};
/* -EINVAL: not a relocatable BPF object. */
int gs_polelf_open(const struct gs_polobj *obj, struct gs_polelf *ret);
void gs_polelf_close(struct gs_polelf *e);
/* Return the name of symbol @i or of section @index; NULL past the end, or if damaged. */
const char *gs_polelf_symbol(const struct gs_polelf *e, size_t i, GElf_Sym *ret);
const char *gs_polelf_section(const struct gs_polelf *e, size_t index, GElf_Shdr *ret_head,
			      Elf_Data **ret_data);

/* Returns the index of the section with the policy's code; 0: none. */
size_t gs_polelf_text(const struct gs_polelf *e);
/*
 * Returns an array with, for each of the @n instructions of section @text, the index of the symbol
 * to which it refers; 0: none.
 */
int gs_polelf_relocations(const struct gs_polelf *e, size_t text, size_t n, uint32_t **ret);

/*
 * In reads.c: returns the facts about a TSG that the policy's callbacks read, for gs_reads_text().
 * @ret_more: they may read further facts, which the analysis did not find.
 */
uint32_t gs_polelf_reads(const struct gs_polelf *e, bool *ret_more);

/*
 * True if schedule() returns GPUSCHED_HOLD, and no callback can admit a TSG. False if that is not
 * certain. @ticks: the policy's tick is called.
 */
bool gs_polelf_reads_no_admit(const struct gs_polelf *e, bool ticks);

/*
 * In uses.c: true if it is certain that the code does not use the map after the policy's start.
 */
bool gs_polelf_uses_not(const struct gs_polelf *e, const char *map);

/*
 * In stack.c: returns the bytes of stack that the deepest callback needs with all that it calls, as
 * kernels before 6.8 count them. *ret_name: that callback.
 */
uint32_t gs_polelf_stack(const struct gs_polelf *e, size_t text, char *ret_name, size_t size);

#endif /* GPUSCHED_POLICY_POLELF_H */
