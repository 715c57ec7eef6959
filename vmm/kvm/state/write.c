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

static int write_all(int fd, const void *data, size_t len, uint64_t at)
{
	const uint8_t *p = data;

	while (len) {
		ssize_t n = pwrite(fd, p, len, (off_t)at);

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
static int write_ram(int fd, const struct state_ram *ram, uint64_t at)
{
	uint64_t from = 0, to;
	int rc = 0;

	while (!rc && from < ram->size) {
		while (from < ram->size && page_is_zero(ram->host + from))
			from += PAGE;
		to = from;
		while (to < ram->size && !page_is_zero(ram->host + to))
			to += PAGE;
		rc = write_all(fd, ram->host + from, to - from, at + from);
		from = to;
	}
	return rc;
}

static int write_header(int fd, uint64_t ram, const struct state_sections *s)
{
	struct state_header h = {
		.magic = STATE_MAGIC,
		.version = STATE_VERSION,
		.size = sizeof(h),
		.ram = ram,
		.sections = s->len,
		.sum = state_sum(s->data, s->len),
	};

	h.header_sum = state_sum(&h, offsetof(struct state_header, header_sum));
	return write_all(fd, &h, sizeof(h), 0);
}

static int write_file(int fd, const struct state_ram *ram, unsigned int n,
		      const struct state_sections *s)
{
	uint64_t at = STATE_RAM_AT;
	int rc = s->failed ? -ENOMEM : 0;

	if (!rc && ftruncate(fd, 0))
		rc = -errno;
	for (unsigned int i = 0; i < n && !rc; i++) {
		rc = write_ram(fd, &ram[i], at);
		at += ram[i].size;
	}
	if (!rc)
		rc = write_all(fd, s->data, s->len, at);
	return rc ? rc : write_header(fd, at - STATE_RAM_AT, s);
}

int state_write(int fd, const struct state_ram *ram, unsigned int n, const struct state_sections *s)
{
	int rc = write_file(fd, ram, n, s);

	if (rc && ftruncate(fd, 0))
		return rc; /* without its header it is not taken for one either */
	return rc;
}
