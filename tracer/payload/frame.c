// SPDX-License-Identifier: GPL-2.0-or-later
/* frame.c - see frame.h */
#include "tracer/payload/frame.h"
#include "tracer/payload/code.h"

#include <stddef.h>

bool payload_frame_at(uint32_t off, struct payload_frame *f)
{
	size_t lo = 0, hi = (size_t)(payload_frames_end - payload_frames);
	uint32_t frame;

	if (off >= (uint32_t)(payload_code_end - payload_code))
		return false;
	while (lo < hi) { /* the first that is behind it */
		size_t mid = lo + (hi - lo) / 2;

		if (payload_frames[mid].from <= off)
			lo = mid + 1;
		else
			hi = mid;
	}
	frame = lo ? payload_frames[lo - 1].frame : FRAME_NONE;
	f->words = frame & FRAME_WORDS;
	f->bare = frame & FRAME_BARE;
	return f->words != FRAME_NONE;
}
