// SPDX-License-Identifier: MIT
/*
 * sheet.c - exchanges figures with the daemon, through a page that the daemon gives
 *
 * The page stays mapped at its first address, even when another daemon's page replaces it or the
 * daemon is gone: any thread of the program may be reading it.
 */
#include <sys/mman.h>

#include "agent/agent.h"
#include "agent/launches.h"
#include "agent/requests.h"
#include "basic/cleanup.h"
#include "basic/clock.h"
#include "rm/costs.h"

#define ALONE_NS (250 * NS_PER_MS) /* part of any second for pre-switches without a daemon */
#define MOST_NS (500 * NS_PER_MS)  /* the most, even if a daemon allows more */
#define TRY_NS NS_PER_S

static struct gs_agent_sheet *_Atomic sheet; /* NULL: there was no daemon yet */
static bool living;                          /* the daemon that gave the page lives */
static uint64_t next_try_ns;
static _Atomic uint64_t allowed_ns, until_ns;

void agent_sheet_after_fork(void)
{
	sheet = NULL; /* a child does not have the page (MADV_DONTFORK) */
	living = false;
	next_try_ns = 0;
	until_ns = 0;
}

static bool take(void)
{
	struct gs_agent_sheet *fresh;
	CLEANUP_FD int wake = -1;

	if (gs_agent_sheet_get(&fresh, &wake))
		return false;
	if (!sheet) {
		sheet = fresh;
	} else if (mremap(fresh, GS_AGENT_SHEET_BYTES, GS_AGENT_SHEET_BYTES,
			  MREMAP_MAYMOVE | MREMAP_FIXED, sheet) == MAP_FAILED) {
		munmap(fresh, GS_AGENT_SHEET_BYTES);
		return false;
	}
	requests_tell(sheet, TAKE_FD(wake));
	return true;
}

static bool find(uint64_t now)
{
	if (living || now < next_try_ns)
		return living;
	next_try_ns = now + TRY_NS;
	living = take();
	return living;
}

void agent_sheet_turn(const struct gs_agent_facts *facts)
{
	uint64_t now, looked, share;

	if (!find(gs_now_ns()))
		return;
	looked = sheet->looked_ns;
	share = sheet->share_ns;
	now = gs_now_ns();
	if (looked > now || now - looked > GS_AGENT_BEAT_NS) {
		until_ns = 0;
		living = false;
		return;
	}
	allowed_ns = share < MOST_NS ? share : MOST_NS;
	until_ns = looked + GS_AGENT_BEAT_NS;
	sheet->launches = facts->launches;
	sheet->graph_launches = facts->graph_launches;
	sheet->hints = facts->hints;
	sheet->holds = facts->holds;
	sheet->held_ns = facts->held_ns;
	sheet->deadline_us = facts->deadline_us;
	sheet->calls = launches_calls();
	sheet->counted_ns = facts->blind[0] ? 0 : now;
}

uint64_t agent_sheet_yield_ns(void)
{
	struct gs_agent_sheet *s = sheet;

	return s ? s->yield_ns : 0;
}

uint32_t agent_sheet_lead_us(void)
{
	struct gs_agent_sheet *s = sheet;
	uint64_t us = s ? s->lead_us : 0;

	return us && us < MOST_NS / NS_PER_US ? (uint32_t)us : gs_costs_lead_us(&gs_costs_h200);
}

uint64_t agent_sheet_share_ns(uint64_t now_ns)
{
	return now_ns < until_ns ? allowed_ns : ALONE_NS;
}
