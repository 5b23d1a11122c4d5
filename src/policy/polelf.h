/* SPDX-License-Identifier: MIT */
/*
 * polelf.h - a policy's object as ELF, for elf.c, reads.c, refuse.c and stack.c
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
/* The name of symbol @i or of a section; NULL past the end, or if damaged. */
const char *gs_polelf_symbol(const struct gs_polelf *e, size_t i, GElf_Sym *ret);
const char *gs_polelf_section(const struct gs_polelf *e, size_t index, GElf_Shdr *ret_head,
			      Elf_Data **ret_data);

/* Index of the section with the policy's code; 0: none. */
size_t gs_polelf_text(const struct gs_polelf *e);
/*
 * For each of the @n instructions of section @text, the index of the symbol to which it refers; 0:
 * none.
 */
int gs_polelf_relocations(const struct gs_polelf *e, size_t text, size_t n, uint32_t **ret);

/*
 * In reads.c: the facts about a TSG that the policy's callbacks read, for gs_reads_text().
 * @ret_more: they may read facts that could not be found.
 */
uint32_t gs_polelf_reads(const struct gs_polelf *e, bool *ret_more);

/*
 * In stack.c: the bytes of stack that the deepest callback takes with all that it calls, as kernels
 * before 6.8 count them; and that callback's name.
 */
uint32_t gs_polelf_stack(const struct gs_polelf *e, size_t text, char *ret_name, size_t size);

#endif /* GPUSCHED_POLICY_POLELF_H */
