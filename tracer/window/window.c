// SPDX-License-Identifier: GPL-2.0-or-later
/* window.c - the window as a whole: opened, closed, and copied to and from. */
#include "tracer/window/internal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

_Static_assert(WINDOW_RINGS < WINDOW_PIECE, "all that is not rings is in the first piece");

/* --- copying ---------------------------------------------------------------------------------- */

typedef int copy_fn(struct machine *m, uint64_t pa, void *buf, size_t len);

static int copy_write(struct machine *m, uint64_t pa, void *buf, size_t len)
{
	return machine_write(m, pa, buf, len);
}

static int copy_write_text(struct machine *m, uint64_t pa, void *buf, size_t len)
{
	return machine_write_text(m, pa, buf, len);
}

/* Piece by piece: they lie anywhere. */
static int window_copy(struct window *w, uint64_t off, void *buf, size_t len, copy_fn *copy)
{
	uint8_t *at = buf;

	if (off > w->header.size || len > w->header.size - off)
		return -EFAULT;
	while (len) {
		uint64_t in = off % WINDOW_PIECE, left = WINDOW_PIECE - in;
		size_t part = left < len ? left : len;
		int ret = copy(w->g->m, w->header.piece_pa[off / WINDOW_PIECE] + in, at, part);

		if (ret)
			return ret;
		off += part;
		at += part;
		len -= part;
	}
	return 0;
}

int window_read(struct window *w, uint64_t off, void *buf, size_t len)
{
	return window_copy(w, off, buf, len, machine_read);
}

int window_write(struct window *w, uint64_t off, const void *buf, size_t len)
{
	union {
		const void *from;
		void *buf; /* copy_write() only reads it */
	} bytes = {.from = buf};

	return window_copy(w, off, bytes.buf, len, copy_write);
}

int window_write_text(struct window *w, uint64_t off, const void *buf, size_t len)
{
	union {
		const void *from;
		void *buf;
	} bytes = {.from = buf};

	return window_copy(w, off, bytes.buf, len, copy_write_text);
}

int window_header_write(struct window *w)
{
	return window_write(w, WINDOW_HEADER, &w->header, sizeof(w->header));
}

/* --- opening and closing ---------------------------------------------------------------------- */

int window_open(struct window *w, struct guest_kernel *g, struct borrow *b, size_t size, size_t min,
		char *err, size_t errlen)
{
	*w = (struct window){
		.g = g,
		.header = {.magic = PAYLOAD_MAGIC, .size = size},
	};
	if (!size || size % WINDOW_PIECE || size / WINDOW_PIECE > WINDOW_MAX_PIECES) {
		snprintf(err, errlen, "a window has 2 to %d MiB, in steps of 2: %zu bytes are none",
			 WINDOW_MAX_PIECES * (WINDOW_PIECE >> 20), size);
		return -EINVAL;
	}
	return b ? window_pieces_borrow(w, b, min, err, errlen) : window_pieces_own(w, err, errlen);
}

/* Our own machine's, whatever the guest has written into the header. */
static int close_own(struct window *w, char *err, size_t errlen)
{
	static const char no_magic[sizeof(w->header.magic)];
	int ret = 0;

	if (w->mapped) {
		machine_pause_for(w->g->m, "taking its code away");
		ret = window_unmap(w, 0, w->header.nr_pieces);
		machine_resume(w->g->m);
	}
	if (ret) {
		snprintf(err, errlen, "the window cannot be unmapped: %s", strerror(-ret));
		return ret;
	}
	/* What the guest gets back does not look like a window. */
	ret = window_write(w, WINDOW_HEADER, no_magic, sizeof(no_magic));
	if (ret)
		snprintf(err, errlen, "the window cannot be written: %s", strerror(-ret));
	return ret;
}

int window_close(struct window *w, struct borrow *b, char *err, size_t errlen)
{
	if (!w->header.borrowed || !b)
		return close_own(w, err, errlen);
	return window_return(w, b, err, errlen);
}
