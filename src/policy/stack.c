// SPDX-License-Identifier: MIT
/*
 * stack.c - computes how much stack a callback needs, with all that it calls
 *
 * A chain of calls in BPF has 512 bytes of stack together, and kernels before 6.8 round each
 * function's part up to a multiple of 32. The host's functions that call a callback, and those that
 * it calls, need their part. A policy that needs more than the rest may pass a newer kernel's
 * verifier, but not start on an older kernel.
 */
#include <linux/bpf.h>
#include <stdio.h>
#include <string.h>

#include "basic/cleanup.h"
#include "policy/polelf.h"

#define MAX_DEPTH 8        /* functions in a chain; the kernel refuses longer chains itself */
#define MAX_STEPS 1000000u /* most instructions looked at: a damaged object could take for ever */
#define ROUND 32u
#define HOST 32u /* stack of a host function that a policy calls; tests/check/stack.sh checks it */

struct code {
	const struct gs_polelf *e;
	size_t text, n;
	struct bpf_insn *insn;
	uint32_t *symbols; /* by instruction: the symbol to which it refers */
	uint32_t *depths;  /* stack of functions, by their first instruction; 0: unknown yet */
	uint32_t steps;
};

/* Returns the index of the first instruction after the function at byte @at; 0: no function. */
static size_t function_end(const struct code *c, uint64_t at)
{
	for (size_t i = 1; i < c->e->nsymbols; i++) {
		GElf_Sym sym;
		const char *name = gs_polelf_symbol(c->e, i, &sym);

		if (name && GELF_ST_TYPE(sym.st_info) == STT_FUNC && sym.st_shndx == c->text &&
		    sym.st_value == at && at / 8 <= c->n && sym.st_size / 8 <= c->n - at / 8)
			return (size_t)(at + sym.st_size) / 8;
	}
	return 0;
}

/* Returns how many bytes below the frame pointer instruction @i reaches. */
static uint32_t reach(const struct code *c, size_t i)
{
	const struct bpf_insn *insn = &c->insn[i], *next = insn + 1;
	uint8_t class = BPF_CLASS(insn->code);
	int32_t to = 0;

	if ((class == BPF_LDX && insn->src_reg == BPF_REG_10) ||
	    ((class == BPF_STX || class == BPF_ST) && insn->dst_reg == BPF_REG_10))
		to = insn->off;
	/* the function computes an address on its stack: frame pointer minus a number */
	if (insn->code == (BPF_ALU64 | BPF_MOV | BPF_X) && insn->src_reg == BPF_REG_10 &&
	    i + 1 < c->n && BPF_CLASS(next->code) == BPF_ALU64 && BPF_OP(next->code) == BPF_ADD &&
	    BPF_SRC(next->code) == BPF_K && next->dst_reg == insn->dst_reg)
		to = next->imm;
	return to < 0 ? (uint32_t)-to : 0;
}

/*
 * Returns the start, in bytes, of the static function that instruction @i calls; UINT64_MAX: the
 * instruction calls a function of the host.
 */
static uint64_t callee(const struct code *c, size_t i)
{
	GElf_Sym sym = { 0 };
	const char *name = c->symbols[i] ? gs_polelf_symbol(c->e, c->symbols[i], &sym) : NULL;

	if (name && GELF_ST_TYPE(sym.st_info) != STT_SECTION)
		return sym.st_shndx == c->text ? sym.st_value : UINT64_MAX;
	return (name ? 0 : i * 8) + 8 * (1 + (uint64_t)(int64_t)c->insn[i].imm);
}

/* Returns the stack in bytes that the function at @at and its deepest chain of calls need. */
static uint32_t depth_of(struct code *c, uint64_t at, unsigned int level)
{
	size_t end = function_end(c, at);
	uint32_t own = 1, below = 0, r;

	if (end && c->depths[at / 8])
		return c->depths[at / 8];
	for (size_t i = at / 8; i < end && c->steps++ < MAX_STEPS; i++) {
		const struct bpf_insn *insn = &c->insn[i];

		r = reach(c, i);
		own = r > own ? r : own;
		if (insn->code == (BPF_JMP | BPF_CALL) && insn->src_reg == BPF_PSEUDO_CALL) {
			r = callee(c, i) == UINT64_MAX ? HOST
			    : level < MAX_DEPTH        ? depth_of(c, callee(c, i), level + 1)
						       : 0;
			below = r > below ? r : below;
		}
		i += insn->code == (BPF_LD | BPF_IMM | BPF_DW);
	}
	r = (own + ROUND - 1) / ROUND * ROUND + below;
	if (end)
		c->depths[at / 8] = r;
	return r;
}

uint32_t gs_polelf_stack(const struct gs_polelf *e, size_t text, char *ret_name, size_t size)
{
	struct code c = { .e = e, .text = text };
	Elf_Data *data = NULL;
	uint32_t most = 0;

	if (!text || !gs_polelf_section(e, text, NULL, &data) || !data || !data->d_buf)
		return 0;
	c.n = data->d_size / sizeof(*c.insn);
	c.insn = calloc(c.n + 1, sizeof(*c.insn));
	c.depths = calloc(c.n + 1, sizeof(*c.depths));
	if (c.insn && c.depths && !gs_polelf_relocations(e, text, c.n, &c.symbols)) {
		memcpy(c.insn, data->d_buf, c.n * sizeof(*c.insn));
		for (size_t i = 1; i < e->nsymbols; i++) {
			GElf_Sym sym;
			const char *name = gs_polelf_symbol(e, i, &sym);
			uint32_t depth;

			if (!name || GELF_ST_BIND(sym.st_info) == STB_LOCAL ||
			    GELF_ST_TYPE(sym.st_info) != STT_FUNC || sym.st_shndx != text ||
			    strncmp(name, "gpusched_ops_", sizeof("gpusched_ops_") - 1))
				continue;
			depth = depth_of(&c, sym.st_value, 1);
			if (depth > most) {
				most = depth;
				snprintf(ret_name, size, "%s", name + sizeof("gpusched_ops_") - 1);
			}
		}
	}
	free(c.insn);
	free(c.depths);
	free(c.symbols);
	return most;
}
