// SPDX-License-Identifier: MIT
/*
 * reads.c - finds out which facts about a TSG a policy's code reads
 *
 * A callback's first argument is a pointer to the record. This code follows the pointer through
 * registers, the stack and static functions, along every branch. Each load through the pointer
 * reads a field, and a helper that gets an address in the record reads there. The analysis misses
 * pointers to the record that are stored elsewhere (the verifier forbids that), and cannot tell
 * whether a value is used.
 *
 * Where a host does not know a fact, a policy that needs this fact compiles and starts, but never
 * acts. Policies do not declare the facts that they need, since an author would forget one without
 * noticing. `policy check` and `sim run` list the facts that a host does not know.
 */
#include <linux/bpf.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "basic/cleanup.h"
#include "policy/polelf.h"
#include "policy/priv.h"

#define MAX_INSNS 65536u /* most instructions of a policy; each has one state */
#define STEPS 64u        /* most steps per instruction, on average; usual policies take 2 */
#define STACK_SLOTS 64   /* of 8 bytes */
#define FP BPF_REG_10

/* Content of a register or a stack slot: one of these kinds, plus an offset; 0: anything else. */
#define RECORD 0x10000 /* a pointer into the record, with the offset below */
#define STACK 0x20000  /* a pointer into the stack, with the offset from its end */
#define SOME 0x30000   /* a pointer into the record or the stack, with an unknown offset */
#define FACT 0x40000   /* a field of struct gpusched_facts, with its offset there */
#define FACTS 0x50000  /* a pointer into struct gpusched_facts, with the offset below */
#define HOLDS 0x60000  /* the number GPUSCHED_HOLD */
#define KIND 0x70000

#define PLACES (FP + 1 + STACK_SLOTS)
struct state {
	uint32_t reg[PLACES]; /* registers, then the stack's slots */
	bool seen;
};

struct follower {
	const struct gs_polelf *e;
	const struct bpf_insn *insn;
	const uint32_t *symbols; /* by instruction: the symbol to which it refers */
	size_t n, text;
	struct state *at;
	uint32_t *queue; /* instructions with a changed state */
	size_t nqueue;
	bool *queued;
	uint32_t fields;
	bool lost;
	bool holds;                    /* schedule() returns GPUSCHED_HOLD */
	bool wishes;                   /* a callback may change a wish for the TSG */
	size_t schedule, schedule_end; /* its instructions */
};

static const struct {
	const char *name;
	uint32_t known, at;
	bool fact;
} fields[] = {
#define FIELD(member, bit) \
	{ \
#member, GPUSCHED_KNOWN_##bit, offsetof(struct gpusched_task, member), false \
	}
#define FACT_FIELD(member, bit) \
	{ \
#member, GPUSCHED_KNOWN_##bit, offsetof(struct gpusched_facts, member), true \
	}
	FIELD(launches, LAUNCHES),        FIELD(launches_since_ns, LAUNCHES),
	FIELD(last_launch_ns, LAUNCHES),  FIELD(launch_rate_mhz, RATE),
	FIELD(gpu_time_ns, GPU_TIME),     FIELD(wait_time_ns, GPU_TIME),
	FIELD(switches, GPU_TIME),        FIELD(last_run_ns, LAST_RUN),
	FIELD(block_time_ns, BLOCK_TIME), FIELD(deadline_us, DEADLINE),
	FACT_FIELD(work_ns, GPU_TIME),    FACT_FIELD(block_ns, BLOCK_TIME),
#undef FIELD
#undef FACT_FIELD
};

bool gs_reads_text(uint32_t reads, uint32_t known, char *ret, size_t size)
{
	size_t at = 0;

	*ret = '\0';
	for (size_t i = 0; i < GS_COUNT(fields) && at < size; i++)
		if (reads & 1u << i && !(fields[i].known & known))
			at += (size_t)snprintf(ret + at, size - at, "%s%s", at ? ", " : "",
					       fields[i].name);
	return at;
}

/* ---- states ---------------------------------------------------------------------------------- */

/* Joins the values that a place may hold on two paths. A pointer counts if either path has it. */
static uint32_t either(uint32_t a, uint32_t b)
{
	if (a == HOLDS && b)
		return b;
	if (b == HOLDS && a)
		return a;
	return !a || a == b ? b : !b ? a : SOME;
}

/* Records that control may reach instruction @to in state @s. */
static void go(struct follower *f, size_t to, const struct state *s)
{
	struct state *t;
	bool changed;

	if (to >= f->n) /* the verifier refuses such a jump */
		return;
	t = &f->at[to];
	changed = !t->seen;
	t->seen = true;
	for (size_t i = 0; i < PLACES; i++) {
		uint32_t *old = &t->reg[i], new = either(*old, s->reg[i]);

		changed |= *old != new;
		*old = new;
	}
	if (!changed || f->queued[to])
		return;
	f->queued[to] = true;
	f->queue[f->nqueue++] = (uint32_t)to;
}

/* Records a read at @offset from @pointer, by a load or by a helper that gets the address. */
static void reads(struct follower *f, uint32_t pointer, int offset)
{
	uint32_t at = (uint32_t)((int)(pointer & 0xffff) + offset);

	if ((pointer & KIND) == SOME)
		f->lost = true;
	if ((pointer & KIND) != RECORD)
		return;
	for (size_t i = 0; i < GS_COUNT(fields); i++)
		if (!fields[i].fact && at >= fields[i].at && at < fields[i].at + sizeof(gs_u64))
			f->fields |= 1u << i;
}

static void reads_fact(struct follower *f, uint32_t at)
{
	for (size_t i = 0; i < GS_COUNT(fields); i++)
		if (fields[i].fact && fields[i].at == at)
			f->fields |= 1u << i;
}

/* Returns the stack slot at @offset from @pointer; NULL: it is no stack slot. */
static uint32_t *slot_of(struct state *s, uint32_t pointer, int offset)
{
	int at = (int)(int16_t)(pointer & 0xffff) + offset;

	if ((pointer & KIND) != STACK || at >= 0 || at < -8 * STACK_SLOTS || at % 8)
		return NULL;
	return &s->reg[FP + -at / 8];
}

/* ---- instructions ---------------------------------------------------------------------------- */

static void load(struct follower *f, const struct bpf_insn *i, struct state *s)
{
	uint32_t *slot = slot_of(s, s->reg[i->src_reg], i->off);

	reads(f, s->reg[i->src_reg], i->off);
	if (slot && (*slot & KIND) == FACT)
		reads_fact(f, *slot & 0xffff);
	if ((s->reg[i->src_reg] & KIND) == FACTS)
		reads_fact(f, (s->reg[i->src_reg] & 0xffff) + (uint32_t)i->off);
	s->reg[i->dst_reg] =
		slot && BPF_SIZE(i->code) == BPF_DW && (*slot & KIND) != FACT ? *slot : 0;
}

/* Notes a write at @pointer plus @offset, of 8 bytes at most. */
static void writes(struct follower *f, uint32_t pointer, int offset)
{
	const int from = offsetof(struct gpusched_task, want),
		  to = from + (int)sizeof(struct gpusched_settings);
	int at = (int)(pointer & 0xffff) + offset;

	f->wishes |= (pointer & KIND) == SOME ||
		     ((pointer & KIND) == RECORD && at < to && at + 8 > from);
}

static void store(struct follower *f, const struct bpf_insn *i, struct state *s)
{
	uint32_t *slot = slot_of(s, s->reg[i->dst_reg], i->off);

	writes(f, s->reg[i->dst_reg], i->off);
	if (slot)
		*slot = BPF_CLASS(i->code) == BPF_STX && BPF_MODE(i->code) == BPF_MEM
				? s->reg[i->src_reg]
				: 0;
}

static void calculate(const struct bpf_insn *i, struct state *s)
{
	uint32_t *dst = &s->reg[i->dst_reg];
	bool wide = BPF_CLASS(i->code) == BPF_ALU64;

	if (BPF_OP(i->code) == BPF_MOV && BPF_SRC(i->code) == BPF_K && i->imm == GPUSCHED_HOLD)
		*dst = HOLDS;
	else if (BPF_OP(i->code) == BPF_MOV && BPF_SRC(i->code) == BPF_X &&
		 (wide || s->reg[i->src_reg] == HOLDS))
		*dst = s->reg[i->src_reg];
	else if (*dst == HOLDS)
		*dst = 0;
	else if (wide && BPF_OP(i->code) == BPF_ADD && BPF_SRC(i->code) == BPF_K && *dst)
		*dst = (*dst & KIND) | ((*dst + (uint32_t)i->imm) & 0xffff);
	else if (wide && BPF_OP(i->code) == BPF_ADD && *dst)
		*dst = SOME;
	else
		*dst = 0;
}

/* Handles a call of gpusched_facts(). It follows facts on the stack only. */
static void ask_facts(struct follower *f, struct state *s)
{
	f->fields |= GS_READS_FACTS;
	if ((s->reg[2] & KIND) != STACK)
		f->lost = true;
	for (unsigned int at = 0; at < sizeof(struct gpusched_facts); at += 8) {
		uint32_t *slot = slot_of(s, s->reg[2], (int)at);

		if (slot)
			*slot = FACT | at;
	}
}

/*
 * Converts an argument for the called function. A pointer to facts on the caller's stack becomes a
 * pointer of kind FACTS, since the callee's own stack is followed in the same slots.
 */
static uint32_t handed(struct state *s, uint32_t value)
{
	const uint32_t *slot = slot_of(s, value, 0);

	return slot && (*slot & KIND) == FACT ? FACTS | (*slot & 0xffff) : value;
}

/* Follows a static function. A helper counts as one that reads through each of its arguments. */
static void call(struct follower *f, const struct bpf_insn *i, size_t at, struct state *s)
{
	GElf_Sym sym = { 0 };
	const char *name = f->symbols[at] ? gs_polelf_symbol(f->e, f->symbols[at], &sym) : NULL;
	bool own = i->src_reg == BPF_PSEUDO_CALL && (!name || sym.st_shndx == f->text);

	if (own) {
		size_t base = !name                                      ? at
			      : GELF_ST_TYPE(sym.st_info) == STT_SECTION ? 0
									 : sym.st_value / 8;
		bool symbol = name && GELF_ST_TYPE(sym.st_info) != STT_SECTION;
		struct state callee = { .seen = true };

		for (int r = 1; r <= 5; r++)
			callee.reg[r] = handed(s, s->reg[r]);
		callee.reg[FP] = STACK;
		go(f, symbol ? base : base + 1 + (size_t)(int64_t)i->imm, &callee);
	}
	if (name && !strcmp(name, "gpusched_host_facts"))
		ask_facts(f, s);
	if (name && !strcmp(name, "gpusched_host_gpu"))
		f->fields |= GS_READS_GPU;
	for (int r = 1; r <= 5; r++) {
		if (!own)
			reads(f, s->reg[r], 0);
		if (!own && (s->reg[r] & KIND) == RECORD)
			f->wishes = true; /* the host may write there */
		s->reg[r] = 0;
	}
	s->reg[0] = 0;
}

static void jump(struct follower *f, const struct bpf_insn *i, size_t at, struct state *s)
{
	unsigned int op = BPF_OP(i->code);

	if (op == BPF_EXIT) {
		f->holds |= s->reg[0] == HOLDS && at >= f->schedule && at < f->schedule_end;
		return;
	}
	if (op == BPF_CALL)
		call(f, i, at, s);
	else
		go(f, at + 1 + (size_t)(int64_t)i->off, s);
	if (op != BPF_JA)
		go(f, at + 1, s);
}

static void step(struct follower *f, size_t at)
{
	const struct bpf_insn *i = &f->insn[at];
	struct state s = f->at[at];

	if (i->dst_reg > FP || i->src_reg > FP)
		return;
	switch (BPF_CLASS(i->code)) {
	case BPF_LDX:
		load(f, i, &s);
		break;
	case BPF_ST:
	case BPF_STX:
		store(f, i, &s);
		break;
	case BPF_ALU:
	case BPF_ALU64:
		calculate(i, &s);
		break;
	case BPF_LD: /* this constant takes two instructions */
		s.reg[i->dst_reg] = 0;
		go(f, at + 2, &s);
		return;
	default:
		jump(f, i, at, &s);
		return;
	}
	go(f, at + 1, &s);
}

/* ---- the object ------------------------------------------------------------------------------ */

static bool has_word(const char *words, const char *word)
{
	size_t n = strlen(word);

	for (const char *at = words; (at = strstr(at, word)); at++)
		if ((at == words || at[-1] == ' ') && (at[n] == ' ' || !at[n]))
			return true;
	return false;
}

/* Starts with the callbacks of these @names, which are separated by spaces. */
static void begin(struct follower *f, const char *names)
{
	const struct state entry = { .reg = { [1] = RECORD, [FP] = STACK }, .seen = true };

	for (size_t i = 0; i < f->e->nsymbols; i++) {
		GElf_Sym sym;
		const char *name = gs_polelf_symbol(f->e, i, &sym);

		if (!name || sym.st_shndx != f->text || strncmp(name, "gpusched_ops_", 13) ||
		    !has_word(names, name + 13))
			continue;
		if (!strcmp(name + 13, "schedule")) {
			f->schedule = sym.st_value / 8;
			f->schedule_end = f->schedule + sym.st_size / 8;
		}
		go(f, sym.st_value / 8, &entry);
	}
}

static void follow(struct follower *f, const char *names)
{
	begin(f, names);
	for (size_t steps = 0; f->nqueue; steps++) {
		size_t at = f->queue[--f->nqueue];

		if (steps > STEPS * f->n) {
			f->lost = true;
			break;
		}
		f->queued[at] = false;
		step(f, at);
	}
}

/* Follows the code from the callbacks of these @names. In *ret only results are valid. */
static void look(const struct gs_polelf *e, const char *names, struct follower *ret)
{
	CLEANUP_FREE struct bpf_insn *insns = NULL;
	CLEANUP_FREE struct state *states = NULL;
	CLEANUP_FREE uint32_t *queue = NULL, *symbols = NULL;
	CLEANUP_FREE bool *queued = NULL;
	struct follower f = { .e = e, .text = gs_polelf_text(e) };
	Elf_Data *data = NULL;

	*ret = (struct follower){ .lost = true };
	if (!f.text || !gs_polelf_section(e, f.text, NULL, &data) || !data || !data->d_buf)
		return;
	f.n = data->d_size / sizeof(*insns);
	if (!f.n || f.n > MAX_INSNS)
		return;
	f.insn = insns = calloc(f.n, sizeof(*insns));
	if (insns) /* copied, since in a damaged object they may be unaligned */
		memcpy(insns, data->d_buf, f.n * sizeof(*insns));
	f.at = states = calloc(f.n, sizeof(*states));
	f.queue = queue = calloc(f.n, sizeof(*queue));
	f.queued = queued = calloc(f.n, sizeof(*queued));
	if (!insns || !states || !queue || !queued ||
	    gs_polelf_relocations(e, f.text, f.n, &symbols) < 0)
		return;
	f.symbols = symbols;
	follow(&f, names);
	*ret = f;
}

uint32_t gs_polelf_reads(const struct gs_polelf *e, bool *ret_lost)
{
	struct follower f;

	look(e,
	     "task_init schedule timeslice_set work_submit request_begin request_end "
	     "task_destroy tick",
	     &f);
	*ret_lost = f.lost;
	return f.fields;
}

/*
 * Wishes of schedule() do not count: it is called before the TSG is held. A class change calls
 * task_init again, which may admit.
 */
bool gs_polelf_reads_no_admit(const struct gs_polelf *e, bool ticks)
{
	struct follower f;

	look(e, "schedule", &f);
	if (!f.holds)
		return false;
	look(e,
	     ticks ? "task_init timeslice_set work_submit request_begin request_end tick"
		   : "task_init timeslice_set work_submit request_begin request_end",
	     &f);
	return !f.lost && !f.wishes;
}
