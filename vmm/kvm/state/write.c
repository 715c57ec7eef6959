// SPDX-License-Identifier: GPL-2.0-or-later
/* write.c - sections are gathered, and a file is written: see state.h */
#include "vmm/kvm/state/state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PAGE	  4096u
#define ROUND8(n) (((n) + 7) & ~(size_t)7)

uint64_t state_sum(const void *data, size_t len)
{
	const uint8_t *p = data;
	uint64_t sum = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < len; i++)
		sum = (sum ^ p[i]) * UINT64_C(0x100000001b3);
	return sum;
}

/* Room for so many bytes more, zeroed. NULL: no memory. */
static uint8_t *sections_grow(struct state_sections *s, size_t more)
{
	uint8_t *at;

	if (s->len + more > s->room) {
		size_t room = 2 * s->room + more;
		uint8_t *data = realloc(s->data, room);

		if (!data)
			return NULL;
		s->data = data;
		s->room = room;
	}
	at = s->data + s->len;
	memset(at, 0, more);
	s->len += more;
	return at;
}

void state_put(struct state_sections *s, enum state_type type, uint32_t index, const void *data,
	       size_t len)
{
	const struct state_section_head head = {.type = type, .index = index, .len = len};
	uint8_t *at = s->failed ? NULL : sections_grow(s, sizeof(head) + ROUND8(len));

	if (!at) {
		s->failed = true;
		return;
	}
	memcpy(at, &head, sizeof(head));
	if (len)
		memcpy(at + sizeof(head), data, len);
}

void state_sections_free(struct state_sections *s)
{
	free(s->data);
}

int state_put_file(void *arg, const void *data, size_t len, uint64_t at)
{
	const int *fd = arg;
	const uint8_t *p = data;

	while (len) {
		ssize_t n = pwrite(*fd, p, len, (off_t)at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -EIO;
		p += n;
		at += (uint64_t)n;
		len -= (size_t)n;
	}
	return 0;
}

static bool page_is_zero(const uint8_t *page)
{
	return !page[0] && !memcmp(page, page + 1, PAGE - 1);
}

/* Runs of pages that hold something; the others stay holes. */
int state_write_memory(const struct state_sink *to, const uint8_t *host, uint64_t size, uint64_t at)
{
	uint64_t from = 0, end;
	int rc = 0;

	while (!rc && from < size) {
		while (from < size && page_is_zero(host + from))
			from += PAGE;
		end = from;
		while (end < size && !page_is_zero(host + end))
			end += PAGE;
		if (end > from)
			rc = to->put(to->arg, host + from, end - from, at + from);
		from = end;
	}
	return rc;
}

int state_write_end(const struct state_sink *to, uint64_t memory, const struct state_sections *s)
{
	struct state_header h = {
		.magic = STATE_MAGIC,
		.version = STATE_VERSION,
		.size = sizeof(h),
		.memory = memory,
		.sections = s->len,
		.sum = state_sum(s->data, s->len),
	};
	int rc = s->failed ? -ENOMEM
		 : s->len > STATE_LEN_MAX
			 ? -EFBIG
			 : to->put(to->arg, s->data, s->len, STATE_RAM_AT + memory);

	h.header_sum = state_sum(&h, offsetof(struct state_header, header_sum));
	return rc ? rc : to->put(to->arg, &h, sizeof(h), 0);
}
