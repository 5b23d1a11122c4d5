// SPDX-License-Identifier: MIT
/*
 * fuzz_nri.c - a container runtime that says arbitrary bytes to the plugin, in pieces
 *
 * The first byte plus 1 is the size of the pieces. Checked: the plugin's output is bounded, and its
 * news for the daemon are JSON objects.
 */
#include <stdint.h>
#include <stdlib.h>

#include "nri/pods.h"
#include "nri/session.h"

static void must(int condition)
{
	if (!condition)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	size_t piece = n ? 1 + data[0] : 1;
	struct gs_nri_pods *pods;
	struct gs_nri_session s;

	if (gs_nri_pods_new(&pods))
		return 0;
	must(!gs_nri_session_begin(&s, pods, "90"));
	for (size_t at = 1; at < n; at += piece) {
		size_t part = n - at < piece ? n - at : piece;

		if (gs_nri_session_in(&s, data + at, part))
			break;
	}
	must(s.frames.out.n < 4u << 20);
	for (int i = 0; i < 100; i++) {
		char *text;
		enum gs_nri_news news = gs_nri_pods_news(pods, &text);

		if (news == GS_NRI_SET)
			must(text[0] == '{');
		gs_nri_pods_told(pods, news, text);
		free(text);
		if (news == GS_NRI_NOTHING)
			break;
	}
	gs_nri_session_end(&s);
	gs_nri_pods_free(pods);
	return 0;
}
