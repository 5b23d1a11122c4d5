// SPDX-License-Identifier: MIT
/*
 * polelf.c - reads a policy's object as an ELF file: sections, symbols, relocations
 */
#include <elf.h>
#include <gelf.h>
#include <libelf.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "basic/cleanup.h"
#include "policy/polelf.h"
#include "policy/priv.h"

void gs_polelf_close(struct gs_polelf *e)
{
	if (e->elf)
		elf_end(e->elf);
	e->elf = NULL;
}

int gs_polelf_open(const struct gs_polobj *obj, struct gs_polelf *ret)
{
	struct gs_polelf e = { 0 };
	Elf_Scn *scn = NULL;
	GElf_Shdr sh;

	if (elf_version(EV_CURRENT) == EV_NONE)
		return -EINVAL;
	e.elf = elf_memory((char *)obj->data, obj->len);
	if (!e.elf || !gelf_getehdr(e.elf, &e.head) || e.head.e_machine != EM_BPF ||
	    e.head.e_type != ET_REL || elf_getshdrstrndx(e.elf, &e.names) < 0) {
		gs_polelf_close(&e);
		return -EINVAL;
	}
	while ((scn = elf_nextscn(e.elf, scn))) {
		if (!gelf_getshdr(scn, &sh) || sh.sh_type != SHT_SYMTAB || sh.sh_entsize == 0)
			continue;
		e.symbols = elf_getdata(scn, NULL);
		e.nsymbols = e.symbols ? e.symbols->d_size / sh.sh_entsize : 0;
		e.strings = sh.sh_link;
	}
	if (!e.symbols) {
		gs_polelf_close(&e);
		return -EINVAL;
	}
	*ret = e;
	return 0;
}

const char *gs_polelf_symbol(const struct gs_polelf *e, size_t i, GElf_Sym *ret)
{
	if (!gelf_getsym(e->symbols, (int)i, ret))
		return NULL;
	return elf_strptr(e->elf, e->strings, ret->st_name);
}

const char *gs_polelf_section(const struct gs_polelf *e, size_t index, GElf_Shdr *ret_head,
			      Elf_Data **ret_data)
{
	Elf_Scn *scn = elf_getscn(e->elf, index);
	GElf_Shdr sh;

	if (!scn || !gelf_getshdr(scn, &sh))
		return NULL;
	if (ret_head)
		*ret_head = sh;
	if (ret_data)
		*ret_data = sh.sh_type == SHT_NOBITS ? NULL : elf_getdata(scn, NULL);
	return elf_strptr(e->elf, e->names, sh.sh_name);
}

size_t gs_polelf_text(const struct gs_polelf *e)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr sh;

	while ((scn = elf_nextscn(e->elf, scn)))
		if (gelf_getshdr(scn, &sh) && (sh.sh_flags & SHF_EXECINSTR) && sh.sh_size > 0)
			return elf_ndxscn(scn);
	return 0;
}

int gs_polelf_relocations(const struct gs_polelf *e, size_t text, size_t n, uint32_t **ret)
{
	CLEANUP_FREE uint32_t *symbols = calloc(n, sizeof(*symbols));
	Elf_Scn *scn = NULL;

	if (!symbols)
		return -ENOMEM;
	while ((scn = elf_nextscn(e->elf, scn))) {
		Elf_Data *data = NULL;
		GElf_Shdr sh;

		if (!gs_polelf_section(e, elf_ndxscn(scn), &sh, &data) || sh.sh_type != SHT_REL ||
		    sh.sh_info != text || !data || !sh.sh_entsize)
			continue;
		for (size_t i = 0; i < data->d_size / sh.sh_entsize; i++) {
			GElf_Rel rel;

			if (gelf_getrel(data, (int)i, &rel) && rel.r_offset / 8 < n)
				symbols[rel.r_offset / 8] = (uint32_t)GELF_R_SYM(rel.r_info);
		}
	}
	*ret = TAKE_PTR(symbols);
	return 0;
}
