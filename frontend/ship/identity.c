// SPDX-License-Identifier: GPL-2.0-or-later
/* identity.c - see identity.h: a hash, FNV-1a with its bits mixed at the end. */
#include "frontend/ship/identity.h"

#include <string.h>

#define FNV_BEGIN UINT64_C(0xcbf29ce484222325)
#define FNV_PRIME UINT64_C(0x100000001b3)

static void add(uint64_t *hash, const void *bytes, size_t len)
{
	const uint8_t *at = bytes;

	for (size_t i = 0; i < len; i++)
		*hash = (*hash ^ at[i]) * FNV_PRIME;
}

static void add_number(uint64_t *hash, uint64_t n)
{
	add(hash, &n, sizeof(n));
}

/* With its end, so that "ab", "c" is not "a", "bc". */
static void add_text(uint64_t *hash, const char *text)
{
	add(hash, text, strlen(text) + 1);
}

static void add_vcpu(uint64_t *hash, struct dat *d, const struct dat_buffer *b,
		     const struct dat_vcpu *v)
{
	struct dat_pages *pages = dat_pages_open(d, b, v);
	const void *page;
	size_t size;

	add_number(hash, v->cpu);
	add_number(hash, v->size);
	if (pages && dat_pages_next(pages, &page, &size) == 1)
		add(hash, page, size);
	dat_pages_close(pages);
}

static uint64_t mix(uint64_t n)
{
	n = (n ^ n >> 32) * UINT64_C(0xd6e8feb86659fd93);
	n = (n ^ n >> 32) * UINT64_C(0xd6e8feb86659fd93);
	return n ^ n >> 32;
}

uint64_t identity_of(struct dat *d, const char *host, const char *guest)
{
	const struct dat_info *info = dat_info(d);
	uint64_t hash = FNV_BEGIN;

	add_text(&hash, host);
	add_text(&hash, guest);
	add_number(&hash, info->has_trace_id ? info->trace_id : 0);
	for (size_t i = 0; i < dat_nr_buffers(d); i++) {
		const struct dat_buffer *b = dat_buffer(d, i);

		add_text(&hash, b->name);
		for (unsigned int v = 0; v < b->nr_vcpus; v++)
			add_vcpu(&hash, d, b, &b->vcpus[v]);
	}
	return mix(hash);
}
