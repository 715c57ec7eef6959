// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fuzz-staging.c - a guest that makes records, and one that writes anything to its ring and to its
 * control block, before a look and in the middle of one.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "tracer/payload/staging.h"

enum { LENGTH = 128, RING = LENGTH * PAYLOAD_RECORD_SIZE };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct guest {
	const uint8_t *data;
	size_t size;
	uint8_t ctl[CTL_SIZE];
	struct payload_record ring[LENGTH];
	uint64_t head; /* as the payload has left it */
	bool hostile;  /* it has written something that no payload does */
};

static uint64_t next_bytes(struct guest *g, size_t len)
{
	uint64_t value = 0;

	if (len > g->size)
		len = g->size;
	memcpy(&value, g->data, len);
	g->data += len;
	g->size -= len;
	return value;
}

static void reserve(struct guest *g)
{
	memcpy(&g->head, g->ctl + CTL_HEAD, sizeof(g->head));
	g->head++;
	memcpy(g->ctl + CTL_HEAD, &g->head, sizeof(g->head));
}

static void make(struct guest *g, uint64_t n)
{
	while (n--) {
		reserve(g);
		g->ring[(g->head - 1) & (LENGTH - 1)].seq = (uint32_t)(g->head - 1);
	}
}

/* One thing that a guest does. */
static void act(struct guest *g)
{
	uint8_t what = (uint8_t)next_bytes(g, 1);
	uint64_t off;

	switch (what & 7) {
	case 0:
		g->hostile = true;
		off = next_bytes(g, 8);
		memcpy(g->ctl + CTL_HEAD, &off, sizeof(off));
		break;
	case 1:
		g->hostile = true;
		off = next_bytes(g, 2) % RING;
		((uint8_t *)g->ring)[off] = (uint8_t)next_bytes(g, 1);
		break;
	case 2:
		g->hostile = true;
		g->ring[what >> 1 & (LENGTH - 1)].seq = (uint32_t)next_bytes(g, 4);
		break;
	case 3:
		reserve(g);
		break;
	case 4: /* a record is written late */
		off = g->head - (what >> 3);
		g->ring[off & (LENGTH - 1)].seq = (uint32_t)off;
		break;
	case 5:
		make(g, (what >> 3) * UINT64_C(16));
		break;
	default:
		make(g, what >> 3);
	}
}

static int guest_read(void *arg, uint64_t off, void *buf, size_t len)
{
	struct guest *g = arg;

	if (g->size && g->data[0] & 0x80)
		act(g);
	if (off >= WINDOW_CTL && off + len <= WINDOW_CTL + CTL_SIZE)
		memcpy(buf, g->ctl + (off - WINDOW_CTL), len);
	else if (off >= WINDOW_RINGS && off + len <= WINDOW_RINGS + RING)
		memcpy(buf, (uint8_t *)g->ring + (off - WINDOW_RINGS), len);
	else
		abort();
	return 0;
}

static int guest_write(void *arg, uint64_t off, const void *buf, size_t len)
{
	struct guest *g = arg;

	if (off != WINDOW_CTL + CTL_TAIL || len != 8)
		abort();
	memcpy(g->ctl + CTL_TAIL, buf, len);
	return 0;
}

static void check(const struct guest *g, const struct staging *s)
{
	if (s->taken + s->lost != s->next - s->base || s->corrupt > s->lost)
		abort();
	if (!g->hostile && (s->base != LENGTH || s->corrupt))
		abort();
}

static int take(struct guest *g, struct staging *s)
{
	const struct payload_record *records;
	uint64_t first, lost;
	int n = staging_take(s, STAGING_BATCH, &records, &lost);

	if (n < 0 || n > STAGING_BATCH)
		abort();
	first = s->next - (uint64_t)n;
	for (int i = 0; i < n; i++) {
		if (records[i].seq != (uint32_t)(first + (uint64_t)i))
			abort();
	}
	check(g, s);
	return n;
}

/* The guest writes every record that it has reserved: then all is taken or lost. */
static void finish(struct guest *g, struct staging *s)
{
	memcpy(&g->head, g->ctl + CTL_HEAD, sizeof(g->head));
	for (uint64_t i = 1; i <= LENGTH; i++)
		g->ring[(g->head - i) & (LENGTH - 1)].seq = (uint32_t)(g->head - i);
	g->size = 0;
	while (take(g, s))
		;
	if (s->next != g->head || (!g->hostile && s->taken + s->lost != g->head - LENGTH))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* Its memory is kept from one input to the next: it is most of the work. */
	static struct staging empty;
	struct guest *g = calloc(1, sizeof(*g));
	struct staging_io io = {guest_read, guest_write, g};
	struct staging s;

	if (!g || (!empty.batch && staging_init(&empty, &io, 0, RING)))
		abort();
	s = empty;
	s.io = io;
	g->data = data;
	g->size = size;
	g->head = LENGTH;
	memcpy(g->ctl + CTL_HEAD, &g->head, sizeof(g->head));
	s.lossless = next_bytes(g, 1) & 1;
	while (g->size) {
		act(g);
		take(g, &s);
	}
	finish(g, &s);
	free(g);
	return 0;
}
