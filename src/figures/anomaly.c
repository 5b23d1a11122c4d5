// SPDX-License-Identifier: MIT
#include "figures/anomaly.h"

#include "basic/cleanup.h"
#include "basic/clock.h"

#define SHORT_TURNS 50.0 /* turns a second; fewer do no harm */
#define BURST_MIN 1000.0 /* launches a second */
#define BURST_FACTOR 10.0
#define USUAL_LOOKS 3   /* samples before a usual rate is known */
#define USUAL_MIN 10.0  /* launches a second: a slower program may well pause */
#define USUAL_PART 0.25 /* weight of the new rate in the usual rate */

const char *gs_anomaly_name(enum gs_anomaly odd)
{
	static const char *const names[] = {
#define X(sym, name, text) name,
		GS_ANOMALIES(X)
#undef X
	};

	return odd < GS_COUNT(names) ? names[odd] : "";
}

/* Returns the anomalies of @is that have just begun. */
static uint32_t begun(struct gs_anomaly_state *s, uint32_t is)
{
	uint32_t news = is & ~s->told;

	s->told |= is;
	for (unsigned int i = 0; i < GS_ANOMALY_MAX; i++) {
		s->calm[i] = is & 1u << i ? 0 : s->calm[i] + 1;
		if (s->calm[i] >= GS_ANOMALY_CALM)
			s->told &= ~(1u << i);
	}
	return news;
}

static double grown(uint64_t before, uint64_t now)
{
	return now > before ? (double)(now - before) : 0;
}

static uint32_t judge_turns(struct gs_anomaly_state *s, const struct gs_anomaly_look *now,
			    double ns)
{
	const struct gs_anomaly_look *b = &s->before;
	double held = grown(b->held_ns, now->held_ns), turns = grown(b->turns, now->turns);
	double waited = now->waiting && turns == 0 ? ns : grown(b->wait_ns, now->wait_ns);
	uint32_t is = 0;

	s->rates.held = held / ns;
	s->rates.waited = waited / ns;
	s->rates.turns = turns * (double)NS_PER_S / ns;
	if (s->rates.turns >= SHORT_TURNS && held / turns < (double)now->short_ns &&
	    2 * grown(b->slice_ended, now->slice_ended) > turns)
		is |= 1u << GS_ANOMALY_CUT_SHORT;
	return is;
}

static uint32_t judge_launches(struct gs_anomaly_state *s, const struct gs_anomaly_look *now,
			       double ns)
{
	double rate = grown(s->before.launches, now->launches) * (double)NS_PER_S / ns;
	bool usual = s->looks >= USUAL_LOOKS;
	uint32_t is = 0;

	s->rates.launches = rate;
	s->silent = rate > 0 ? 0 : s->silent + 1;
	if (usual && rate >= BURST_MIN && rate > BURST_FACTOR * s->usual)
		is |= 1u << GS_ANOMALY_LAUNCH_BURST;
	if (usual && s->usual >= USUAL_MIN && s->silent >= GS_ANOMALY_CALM)
		is |= 1u << GS_ANOMALY_LAUNCHES_STOPPED;
	if (rate > 0) { /* while the TSG is silent, its usual rate stays */
		s->usual += (s->looks ? USUAL_PART : 1) * (rate - s->usual);
		s->looks++;
	}
	return is;
}

uint32_t gs_anomaly_tsg(struct gs_anomaly_state *s, const struct gs_anomaly_look *now)
{
	double ns = grown(s->before.ns, now->ns);
	bool second = s->before.ns && ns > 0;
	uint32_t is = 0;

	s->rates = (struct gs_anomaly_rates){ 0 };
	if (second && now->timed && s->before.timed)
		is |= judge_turns(s, now, ns);
	if (second && now->counted && s->before.counted)
		is |= judge_launches(s, now, ns);
	s->before = *now;
	return begun(s, is);
}
