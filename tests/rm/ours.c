// SPDX-License-Identifier: MIT
/* ours.c - prints the numbers of numbers.h as src/rm has them. Usage: ours BRANCH */
#include <stdio.h>
#include <stdlib.h>

#include "rm/abi.h"
#include "rm/decode.h"

#define UNKNOWN (~0ull)
#define USAGE_KNOWN(size) (nv_usage_sample_size(branch) ? (size) : UNKNOWN)

/* Each word is its own offset, so that the decoder returns the offset where it looks. */
static unsigned int alloc_status_at(unsigned int branch)
{
	struct gs_alloc a = { 0 };
	gs_u32 words[8];

	for (gs_u32 i = 0; i < 8; i++)
		words[i] = 4 * i;
	gs_decode_alloc(words, sizeof(words), branch, &a);
	return a.status;
}

static void print(const char *name, unsigned long long value)
{
	if (value == UNKNOWN)
		printf("%s -\n", name);
	else
		printf("%s %llu\n", name, value);
}

int main(int argc, char **argv)
{
	unsigned int branch = argc > 1 ? (unsigned int)strtoul(argv[1], NULL, 10) : 0;
	const struct nv_branch *row = nv_branch(branch);

#define X(name, theirs, ours) print(#name, (unsigned long long)(ours));
#include "numbers.h"
#undef X
	return 0;
}
