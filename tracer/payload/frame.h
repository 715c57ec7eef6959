/* SPDX-License-Identifier: GPL-2.0-or-later */
/* frame.h - what the payload's code has on the stack, for whoever finds it interrupted. */
#ifndef HVTRACE_TRACER_PAYLOAD_FRAME_H
#define HVTRACE_TRACER_PAYLOAD_FRAME_H

#include <stdbool.h>
#include <stdint.h>

struct payload_frame {
	uint8_t words; /* from %rsp up to the address that it returns to, be that in the payload */
	/*
	 * That is the end of a site where a function begins or returns: there is nothing else of
	 * the function's on the stack but the address that it returns to.
	 */
	bool bare;
};

/*
 * At the instruction at this offset of the code. False: what is executed there are instructions of
 * the kernel's own (DETOUR_REST), or none.
 */
bool payload_frame_at(uint32_t off, struct payload_frame *f);

#endif
