// SPDX-License-Identifier: MIT
#include "preempt/cost.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rm/costs.h"

uint32_t cost_usual_us(void)
{
	return gs_costs_slice_us(&gs_costs_h200);
}

/*
 * Reads the time in us at @key of the JSON object that ends at @end. (A GPU's object contains no
 * other object, so it ends at the next '}'.) Returns ns; 0: no such key, null, or not plausible.
 */
static uint64_t number(const char *object, const char *end, const char *key)
{
	const char *at = strstr(object, key);
	double us;

	if (!at || at > end)
		return 0;
	us = strtod(at + strlen(key), NULL);
	return us > 0 && us < 1e6 ? (uint64_t)(us * 1e3) : 0;
}

uint32_t cost_of_us(const char *gpus_json, const unsigned char *uuid)
{
	const char *at, *end;
	struct gs_costs c = { 0 };
	char name[48] = "GPU-";
	size_t n = 4;

	for (int i = 0; i < 16; i++)
		n += (size_t)snprintf(name + n, sizeof(name) - n, "%s%02x",
				      i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", uuid[i]);
	at = strstr(gpus_json, name);
	end = at ? strchr(at, '}') : NULL;
	while (at && at > gpus_json && *at != '{')
		at--;
	if (!end)
		return 0;
	c.switch_ns = number(at, end, "\"switch_us\":");
	c.save_ns = number(at, end, "\"save_us\":");
	return gs_costs_slice_us(&c);
}
