/* SPDX-License-Identifier: MIT */
/*
 * steady.h - follows the wall clock, but not a jump of it, until CLOCK_BOOTTIME has agreed for hours
 *
 * A wall clock may be wrong for a while: a bad time server, an empty battery. Records that are deleted or
 * forgiven meanwhile do not come back. The first reading may be the wrong one. Records of the time
 * before it tell: no time before them can be right. Pure: no clock is read here.
 */
#ifndef GPUSCHED_BASIC_STEADY_H
#define GPUSCHED_BASIC_STEADY_H

#include <stdbool.h>
#include <stdint.h>

#define GS_STEADY_JUMP_S 60           /* more is a jump; less, the clock was adjusted */
#define GS_STEADY_AGREE_S (3 * 3600u) /* how long a reading has to agree until it is believed */

struct gs_steady {
	bool read;
	int64_t off_s;         /* wall clock less CLOCK_BOOTTIME, as believed */
	int64_t seen_s;        /* the same, as read last */
	uint64_t since_boot_s; /* since when readings agree with @seen_s */
	bool sure;             /* a reading has agreed for hours */
	/* the newest record of before the first reading, in s since 1970; 0: none is known */
	int64_t known_s;
	unsigned int corrected; /* how often a wrong first reading was found */
};

static inline bool gs_steady_near(int64_t a, int64_t b)
{
	return a - b <= GS_STEADY_JUMP_S && b - a <= GS_STEADY_JUMP_S;
}

/* True if the wall clock has agreed with CLOCK_BOOTTIME for hours. */
static inline bool gs_steady_agrees(const struct gs_steady *s, uint64_t boot_s)
{
	return s->read && boot_s - s->since_boot_s >= GS_STEADY_AGREE_S;
}

/* True if the time that is believed is before records that exist. */
static inline bool gs_steady_is_behind(const struct gs_steady *s, uint64_t boot_s)
{
	return s->read && !s->sure && (int64_t)boot_s + s->off_s < s->known_s;
}

/*
 * True if the first reading was wrong and @wall_s is right, as far as records tell. A clock that was
 * wrong comes back to a time after them.
 */
static inline bool gs_steady_corrects(const struct gs_steady *s, uint64_t boot_s, int64_t wall_s)
{
	return !s->sure && s->known_s && wall_s >= s->known_s &&
	       (wall_s < (int64_t)boot_s + s->off_s || gs_steady_is_behind(s, boot_s));
}

/* Takes a reading of both clocks; returns the time that is believed, in s since 1970. */
static inline int64_t gs_steady_now(struct gs_steady *s, uint64_t boot_s, int64_t wall_s)
{
	int64_t off = wall_s - (int64_t)boot_s;

	if (!s->read)
		*s = (struct gs_steady){ true, off, off, boot_s };
	if (!gs_steady_near(off, s->seen_s))
		s->since_boot_s = boot_s;
	s->seen_s = off;
	s->sure |= gs_steady_agrees(s, boot_s);
	if (gs_steady_near(off, s->off_s) || gs_steady_agrees(s, boot_s)) {
		s->off_s = off;
	} else if (gs_steady_corrects(s, boot_s, wall_s)) {
		s->off_s = off;
		s->corrected++;
	}
	return (int64_t)boot_s + s->off_s;
}

#endif /* GPUSCHED_BASIC_STEADY_H */
