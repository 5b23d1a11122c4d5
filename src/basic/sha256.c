// SPDX-License-Identifier: MIT
/* sha256.c - computes SHA-256 as FIPS 180-4 defines it */
#include "basic/sha256.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define BLOCK 64

/* fractional parts of the cube roots of the first 64 primes */
static const uint32_t round_words[64] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4,
	0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe,
	0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f,
	0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7,
	0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc,
	0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
	0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116,
	0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
	0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
	0xc67178f2,
};

static uint32_t turn_right(uint32_t v, unsigned int by)
{
	return v >> by | v << (32 - by);
}

/* Spreads a block's 16 words over 64. */
static void expand_block(const unsigned char *block, uint32_t w[64])
{
	for (unsigned int i = 0; i < 16; i++)
		w[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 |
		       (uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
	for (unsigned int i = 16; i < 64; i++) {
		uint32_t a = w[i - 15], b = w[i - 2];

		w[i] = w[i - 16] + w[i - 7] + (turn_right(a, 7) ^ turn_right(a, 18) ^ a >> 3) +
		       (turn_right(b, 17) ^ turn_right(b, 19) ^ b >> 10);
	}
}

static void add_block(uint32_t sum[8], const unsigned char *block)
{
	uint32_t w[64], v[8];

	expand_block(block, w);
	memcpy(v, sum, sizeof(v));
	for (unsigned int i = 0; i < 64; i++) {
		uint32_t a = v[0], e = v[4];
		uint32_t one = v[7] + (turn_right(e, 6) ^ turn_right(e, 11) ^ turn_right(e, 25)) +
			       ((e & v[5]) ^ (~e & v[6])) + round_words[i] + w[i];
		uint32_t two = (turn_right(a, 2) ^ turn_right(a, 13) ^ turn_right(a, 22)) +
			       ((a & v[1]) ^ (a & v[2]) ^ (v[1] & v[2]));

		memmove(&v[1], &v[0], 7 * sizeof(v[0]));
		v[4] += one;
		v[0] = one + two;
	}
	for (unsigned int i = 0; i < 8; i++)
		sum[i] += v[i];
}

void gs_sha256(const void *data, size_t len, char ret[GS_SHA256_LEN])
{
	/* fractional parts of the square roots of the first 8 primes */
	uint32_t sum[8] = {
		0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
		0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
	};
	unsigned char last[2 * BLOCK] = { 0 };
	size_t whole = len / BLOCK * BLOCK, left = len - whole;
	size_t end = left + 9 <= BLOCK ? BLOCK : 2 * BLOCK;

	for (size_t at = 0; at < whole; at += BLOCK)
		add_block(sum, (const unsigned char *)data + at);
	if (left)
		memcpy(last, (const unsigned char *)data + whole, left);
	last[left] = 0x80;
	for (unsigned int i = 0; i < 8; i++)
		last[end - 1 - i] = (unsigned char)((uint64_t)len * 8 >> 8 * i);
	for (size_t at = 0; at < end; at += BLOCK)
		add_block(sum, last + at);
	for (unsigned int i = 0; i < 8; i++)
		snprintf(ret + 8 * i, 9, "%08x", sum[i]);
}
