/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bytes.h - little-endian numbers in bytes, and bytes at places of a file. */
#ifndef HVTRACE_FRONTEND_DAT_BYTES_H
#define HVTRACE_FRONTEND_DAT_BYTES_H

#include <endian.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct text;

/* What is behind the number. */
static inline uint8_t *bytes_put16(uint8_t *at, uint16_t value)
{
	value = htole16(value);
	memcpy(at, &value, sizeof(value));
	return at + sizeof(value);
}

static inline uint8_t *bytes_put32(uint8_t *at, uint32_t value)
{
	value = htole32(value);
	memcpy(at, &value, sizeof(value));
	return at + sizeof(value);
}

static inline uint8_t *bytes_put64(uint8_t *at, uint64_t value)
{
	value = htole64(value);
	memcpy(at, &value, sizeof(value));
	return at + sizeof(value);
}

static inline uint32_t bytes_get32(const uint8_t *at)
{
	uint32_t value;

	memcpy(&value, at, sizeof(value));
	return le32toh(value);
}

/* Behind what is in a text. */
void bytes_add32(struct text *t, uint32_t value);
void bytes_add64(struct text *t, uint64_t value);
/* In place of a number that is in a text. */
void bytes_set32(struct text *t, size_t at, uint32_t value);
/* The same of a length: of what is behind it. */
void bytes_set_len64(struct text *t, size_t at);

/* All of it: 0 or -errno; -EIO also for a file that ends before. */
int bytes_read(int fd, uint64_t at, void *to, size_t len);
int bytes_write(int fd, uint64_t at, const void *from, size_t len);

#endif
