// SPDX-License-Identifier: MIT
/* Reads and writes sums in rows, with wait buckets as a blob. */
#include <endian.h>
#include <string.h>

#include "history/priv.h"

#define PAIR 9 /* a bucket's number and its 64-bit count; empty buckets are left out */
#define HIST_MAX (GS_WAIT_BUCKETS * PAIR)

/* Returns the blob's length. */
static int hist_pack(const uint64_t bucket[GS_WAIT_BUCKETS], unsigned char ret[HIST_MAX])
{
	int len = 0;

	for (int i = 0; i < GS_WAIT_BUCKETS; i++) {
		uint64_t n = htole64(bucket[i]);

		if (!n)
			continue;
		ret[len] = (unsigned char)i;
		memcpy(ret + len + 1, &n, sizeof(n));
		len += PAIR;
	}
	return len;
}

/* Adds to @inout; ignores invalid bytes. */
static void hist_add(uint64_t inout[GS_WAIT_BUCKETS], const unsigned char *blob, int len)
{
	for (; len >= PAIR; len -= PAIR, blob += PAIR) {
		uint64_t n;

		memcpy(&n, blob + 1, sizeof(n));
		if (blob[0] < GS_WAIT_BUCKETS)
			inout[blob[0]] += le64toh(n);
	}
}

void hist_sum(sqlite3_context *ctx, int n, sqlite3_value **v)
{
	uint64_t bucket[GS_WAIT_BUCKETS] = { 0 };
	unsigned char blob[HIST_MAX];

	for (int i = 0; i < n; i++) {
		const unsigned char *b = sqlite3_value_blob(v[i]);

		if (b)
			hist_add(bucket, b, sqlite3_value_bytes(v[i]));
	}
	sqlite3_result_blob(ctx, blob, hist_pack(bucket, blob), SQLITE_TRANSIENT);
}

void sums_read(sqlite3_stmt *st, int at, struct gs_history_sums *ret)
{
	const unsigned char *blob;

	memset(ret, 0, sizeof(*ret));
	for (int i = 0; i < GS_SUM_MAX; i++)
		ret->v[i] = (uint64_t)sqlite3_column_int64(st, at + i);
	blob = sqlite3_column_blob(st, at + GS_SUM_MAX);
	if (blob)
		hist_add(ret->wait_bucket, blob, sqlite3_column_bytes(st, at + GS_SUM_MAX));
}

int sums_bind(sqlite3_stmt *st, int at, const struct gs_history_sums *s)
{
	unsigned char blob[HIST_MAX];
	int rc = SQLITE_OK;

	for (int i = 0; i < GS_SUM_MAX && rc == SQLITE_OK; i++)
		rc = sqlite3_bind_int64(st, at + i, (sqlite3_int64)s->v[i]);
	if (rc == SQLITE_OK)
		rc = sqlite3_bind_blob(st, at + GS_SUM_MAX, blob, hist_pack(s->wait_bucket, blob),
				       SQLITE_TRANSIENT);
	return rc;
}

bool gs_history_sums_is_nothing(const struct gs_history_sums *sums)
{
	for (int i = 0; i < GS_SUM_SEEN; i++)
		if (sums->v[i])
			return false;
	return true;
}

void gs_history_sums_add(struct gs_history_sums *inout, const struct gs_history_sums *s)
{
	for (int i = 0; i < GS_SUM_MAX; i++)
		inout->v[i] += s->v[i];
	for (int i = 0; i < GS_WAIT_BUCKETS; i++)
		inout->wait_bucket[i] += s->wait_bucket[i];
	if (s->worst_late_ns > inout->worst_late_ns)
		inout->worst_late_ns = s->worst_late_ns;
}

static void sub(uint64_t *inout, uint64_t v)
{
	*inout -= *inout < v ? *inout : v;
}

void gs_history_sums_sub(struct gs_history_sums *inout, const struct gs_history_sums *s)
{
	for (int i = 0; i < GS_SUM_MAX; i++)
		sub(&inout->v[i], s->v[i]);
	for (int i = 0; i < GS_WAIT_BUCKETS; i++)
		sub(&inout->wait_bucket[i], s->wait_bucket[i]);
}
