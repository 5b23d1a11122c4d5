// SPDX-License-Identifier: MIT
/*
 * refuse.c - refuses policies with forbidden code, without the kernel's help
 *
 * A policy may contain callbacks, their static functions, maps and options. A running BPF program
 * cannot be stopped. So this file refuses everything that could make a callback run long: loop
 * helpers, other programs, and global functions, which the verifier would check only one by one.
 */
#include <elf.h>
#include <linux/bpf.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "basic/cleanup.h"
#include "policy/polelf.h"

#define PREFIX_OPS "gpusched_ops_"

/* The kernel helpers that policies may call, through gpusched_lookup() and similar functions. */
static const struct {
	int id;
	const char *name;
} allowed[] = {
	{ BPF_FUNC_map_lookup_elem, "gpusched_lookup" },
	{ BPF_FUNC_map_update_elem, "gpusched_update" },
	{ BPF_FUNC_map_delete_elem, "gpusched_delete" },
};

static const char *const host_functions[] = {
	"gpusched_host_now",   "gpusched_host_random",  "gpusched_host_log",
	"gpusched_host_fail",  "gpusched_host_count",   "gpusched_host_kick",
	"gpusched_host_facts", "gpusched_host_runlist", "gpusched_host_job",
	"gpusched_host_gpu",   "gpusched_host_limit",   "gpusched_host_find",
	"gpusched_host_wall",  "gpusched_host_promise",
};

/* Names of the helpers, as the kernel's header lists them. */
static const char *helper_name(int id)
{
#define NAME(name) [BPF_FUNC_##name] = #name
	static const char *const names[] = { __BPF_FUNC_MAPPER(NAME) };
#undef NAME

	return id > 0 && (size_t)id < GS_COUNT(names) && names[id] ? names[id] : "unknown";
}

struct checker {
	const struct gs_polelf *e;
	char *why;
	size_t size;
	size_t text;       /* index of .text; 0: none */
	uint32_t *symbols; /* by instruction of .text: the symbol to which it refers */
};

static int refuse(struct checker *c, const char *format, ...) __attribute__((format(printf, 2, 3)));

static int refuse(struct checker *c, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(c->why, c->size, format, args);
	va_end(args);
	return -EINVAL;
}

static bool begins(const char *s, const char *with)
{
	return strncmp(s, with, strlen(with)) == 0;
}

static bool is_host_function(const char *name)
{
	for (size_t i = 0; i < GS_COUNT(host_functions); i++)
		if (strcmp(name, host_functions[i]) == 0)
			return true;
	return false;
}

static bool is_callback(const char *name)
{
	static const char *const names[] = {
		"init",          "exit",        "task_init",     "schedule",
		"timeslice_set", "work_submit", "request_begin", "request_end",
		"task_destroy",  "tick_begin",  "tick",          "tick_end",
	};

	if (!begins(name, PREFIX_OPS))
		return false;
	for (size_t i = 0; i < GS_COUNT(names); i++)
		if (strcmp(name + strlen(PREFIX_OPS), names[i]) == 0)
			return true;
	return false;
}

static int check_sections(struct checker *c)
{
	Elf_Scn *scn = NULL;

	while ((scn = elf_nextscn(c->e->elf, scn))) {
		size_t at = elf_ndxscn(scn);
		GElf_Shdr sh;
		Elf_Data *data = NULL;
		const char *name = gs_polelf_section(c->e, at, &sh, &data);

		if (!name)
			return refuse(c, "a damaged section");
		if ((sh.sh_flags & SHF_EXECINSTR) && sh.sh_size > 0) {
			if (strcmp(name, ".text"))
				return refuse(c,
					      "a program of its own in section '%s': a policy "
					      "holds callbacks only",
					      name);
			c->text = at;
		}
		if (strcmp(name, "maps") == 0 || begins(name, ".struct_ops") ||
		    begins(name, "struct_ops"))
			return refuse(c,
				      "section '%s': a policy holds callbacks and "
				      "GPUSCHED_MAP()s only",
				      name);
		if (strcmp(name, "license") == 0 &&
		    (!data || data->d_size != sizeof("Dual MIT/GPL") ||
		     memcmp(data->d_buf, "Dual MIT/GPL", data->d_size)))
			return refuse(c,
				      "another licence than \"Dual MIT/GPL\", which it is linked "
				      "with: leave the one of GPUSCHED_POLICY()");
	}
	return 0;
}

static int check_defined(struct checker *c, const char *name, const GElf_Sym *sym)
{
	bool callback = is_callback(name);

	if (GELF_ST_TYPE(sym->st_info) == STT_FUNC) {
		if (!callback)
			return refuse(c, "a global function '%s': make it static", name);
		return 0;
	}
	if (callback || begins(name, "gs_"))
		return refuse(c, "the name '%s', which is the host's", name);
	if (begins(name, "gpusched_") && strcmp(name, "gpusched_policy") &&
	    strcmp(name, "gpusched_license") && !begins(name, "gpusched_opt_"))
		return refuse(c, "the name '%s', which is the host's", name);
	return 0;
}

static int check_symbols(struct checker *c)
{
	bool any = false;

	for (size_t i = 1; i < c->e->nsymbols; i++) {
		GElf_Sym sym;
		const char *name = gs_polelf_symbol(c->e, i, &sym);
		unsigned int bind;
		int r = 0;

		if (!name)
			return refuse(c, "a damaged symbol");
		bind = GELF_ST_BIND(sym.st_info);
		if (bind == STB_LOCAL)
			continue;
		if (sym.st_shndx == SHN_UNDEF) {
			if (!is_host_function(name))
				r = refuse(c, "'%s', which policy.bpf.h does not offer", name);
		} else {
			r = check_defined(c, name, &sym);
			any = any || is_callback(name);
		}
		if (r < 0)
			return r;
	}
	return any ? 0 : refuse(c, "no callback");
}

/* Returns the name of the symbol to which instruction @at refers; NULL: none. */
static const char *named(const struct checker *c, uint64_t at, GElf_Sym *ret)
{
	return c->symbols[at] ? gs_polelf_symbol(c->e, c->symbols[at], ret) : NULL;
}

/* Allows calls of static functions and of the host's functions, but never of a callback. */
static int check_call(struct checker *c, uint64_t at, int imm)
{
	GElf_Sym sym = { 0 };
	const char *name = named(c, at, &sym);
	uint64_t target;

	if (name && GELF_ST_TYPE(sym.st_info) != STT_SECTION)
		return is_callback(name) ? refuse(c, "a call of its own callback '%s'", name) : 0;
	target = (name ? 0 : at * 8) + 8 * (1 + (uint64_t)(int64_t)imm);
	for (size_t i = 1; i < c->e->nsymbols; i++) {
		name = gs_polelf_symbol(c->e, i, &sym);
		if (name && sym.st_shndx == c->text && sym.st_value == target && is_callback(name))
			return refuse(c, "a call of its own callback '%s'", name);
	}
	return 0;
}

static int check_insn(struct checker *c, const struct bpf_insn *insn, uint64_t at)
{
	if (insn->code == (BPF_LD | BPF_IMM | BPF_DW)) {
		GElf_Sym sym = { 0 };
		const char *name = named(c, at, &sym);

		/* Only loop helpers and timers need a function's address. */
		if (name && (GELF_ST_TYPE(sym.st_info) == STT_FUNC ||
			     (GELF_ST_TYPE(sym.st_info) == STT_SECTION && sym.st_shndx == c->text)))
			return refuse(c, "a function's address: loops by helper are not offered");
		return 0;
	}
	if (insn->code != (BPF_JMP | BPF_CALL))
		return 0;
	if (insn->src_reg == BPF_PSEUDO_CALL)
		return check_call(c, at, insn->imm);
	if (insn->src_reg != 0)
		return refuse(c, "a call of a kernel function");
	for (size_t i = 0; i < GS_COUNT(allowed); i++)
		if (allowed[i].id == insn->imm)
			return 0;
	return refuse(c,
		      "a call of the kernel helper bpf_%s (%d), which policies may not use; see "
		      "gpusched/policy.bpf.h for what there is",
		      helper_name(insn->imm), insn->imm);
}

static int check_text(struct checker *c)
{
	struct bpf_insn insn;
	Elf_Data *data = NULL;
	size_t n;

	if (!c->text || !gs_polelf_section(c->e, c->text, NULL, &data) || !data || !data->d_buf)
		return refuse(c, "no code");
	n = data->d_size / sizeof(insn);
	if (gs_polelf_relocations(c->e, c->text, n, &c->symbols) < 0)
		return refuse(c, "more code than there is memory for");
	for (size_t i = 0; i < n; i++) {
		int r;

		/* copied, since in a damaged object the code may be unaligned */
		memcpy(&insn, (const char *)data->d_buf + i * sizeof(insn), sizeof(insn));
		r = check_insn(c, &insn, i);
		if (r < 0)
			return r;
		if (insn.code == (BPF_LD | BPF_IMM | BPF_DW))
			i++;
	}
	return 0;
}

int gs_polobj_refuse(const struct gs_polobj *obj, char *why, size_t size)
{
	CLEANUP(gs_polelf_close) struct gs_polelf e = { 0 };
	struct checker c = { .e = &e, .why = why, .size = size };
	int r;

	if (gs_polelf_open(obj, &e) < 0)
		return refuse(&c, "no relocatable BPF object");
	r = check_sections(&c);
	if (r == 0)
		r = check_symbols(&c);
	if (r == 0)
		r = check_text(&c);
	free(c.symbols);
	return r;
}
