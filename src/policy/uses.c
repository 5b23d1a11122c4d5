// SPDX-License-Identifier: MIT
/*
 * uses.c - finds out whether a policy's code uses a map after its start
 */
#include <string.h>

#include "basic/cleanup.h"
#include "policy/polelf.h"

/* True if instruction @at is in a function that runs only at the policy's start and end. */
static bool is_at_ends(const struct gs_polelf *e, size_t text, size_t at)
{
	for (size_t i = 0; i < e->nsymbols; i++) {
		GElf_Sym sym;
		const char *name = gs_polelf_symbol(e, i, &sym);

		if (name && sym.st_shndx == text && at >= sym.st_value / 8 &&
		    at < (sym.st_value + sym.st_size) / 8 &&
		    (!strcmp(name, "gpusched_ops_init") || !strcmp(name, "gpusched_ops_exit")))
			return true;
	}
	return false;
}

bool gs_polelf_uses_not(const struct gs_polelf *e, const char *map)
{
	CLEANUP_FREE uint32_t *symbols = NULL;
	size_t text = gs_polelf_text(e), n;
	Elf_Data *data = NULL;

	if (!text || !gs_polelf_section(e, text, NULL, &data) || !data)
		return false;
	n = data->d_size / 8;
	if (gs_polelf_relocations(e, text, n, &symbols) < 0)
		return false;
	for (size_t i = 0; i < n; i++) {
		GElf_Sym sym;
		const char *name = symbols[i] ? gs_polelf_symbol(e, symbols[i], &sym) : NULL;

		if (name && !strcmp(name, map) && !is_at_ends(e, text, i))
			return false;
	}
	return true;
}
