// SPDX-License-Identifier: MIT
#include "account/usage.h"

#include <string.h>

#include "basic/clock.h"
#include "rm/abi.h"

#define FULL 10000.0 /* samples are in hundredths of a percent */
#define PERIOD_NS (NS_PER_S / 7)

uint32_t gs_usage_size(unsigned int branch)
{
	uint32_t sample = nv_usage_sample_size(branch);

	return sample ? (uint32_t)sizeof(struct nv_usage) + NV_USAGE_SAMPLES * sample : 0;
}

void gs_usage_ask(void *params, unsigned int branch)
{
	const struct nv_usage p = {
		.type = NV_USAGE_ENGINES,
		.size = NV_USAGE_SAMPLES * nv_usage_sample_size(branch),
	};

	memcpy(params, &p, sizeof(p));
}

bool gs_usage_take(struct gs_usage *inout, const void *params, unsigned int branch, double *ret)
{
	const uint8_t *at = (const uint8_t *)params + sizeof(struct nv_usage);
	uint64_t since = inout->newest;
	unsigned int n = 0;
	double sum = 0;

	for (unsigned int i = 0; i < NV_USAGE_SAMPLES; i++, at += nv_usage_sample_size(branch)) {
		uint64_t when;
		uint32_t busy;

		memcpy(&when, at, sizeof(when));
		memcpy(&busy, at + nv_usage_graphics_at(branch), sizeof(busy));
		if (when <= since)
			continue;
		sum += busy > FULL ? 1 : busy / FULL;
		n++;
		if (when > inout->newest)
			inout->newest = when;
	}
	if (!n || !since)
		return false;
	*ret = sum / n;
	return true;
}

uint64_t gs_usage_idle_ns(const void *params, unsigned int branch)
{
	const uint32_t size = nv_usage_sample_size(branch);
	const uint8_t *first = (const uint8_t *)params + sizeof(struct nv_usage);
	uint64_t when, worked = 0, n = 0;
	uint32_t busy;

	for (unsigned int i = 0; i < NV_USAGE_SAMPLES; i++) {
		memcpy(&when, first + i * size, sizeof(when));
		memcpy(&busy, first + i * size + nv_usage_graphics_at(branch), sizeof(busy));
		if (busy >= GS_USAGE_IDLE * FULL && when > worked)
			worked = when;
	}
	for (unsigned int i = 0; i < NV_USAGE_SAMPLES; i++) {
		memcpy(&when, first + i * size, sizeof(when));
		n += when > worked;
	}
	return n * PERIOD_NS;
}

struct gs_usage_told gs_usage_told(double part, uint64_t idle_ns)
{
	return (struct gs_usage_told){
		.known = true,
		.busy_x100 = (uint32_t)(part * FULL + 0.5),
		.idle_ms = (uint32_t)(idle_ns / NS_PER_MS),
	};
}
