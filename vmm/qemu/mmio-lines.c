// SPDX-License-Identifier: GPL-2.0-or-later
/* mmio-lines.c - see mmio-lines.h */
#include "vmm/qemu/mmio-lines.h"

#include <string.h>
#include <time.h>

#define NS_OF_S UINT64_C(1000000000)

/* What is left of a line. */
struct rest {
	const char *at, *end;
};

static bool take_text(struct rest *r, const char *text)
{
	size_t len = strlen(text);

	if ((size_t)(r->end - r->at) < len || memcmp(r->at, text, len) != 0)
		return false;
	r->at += len;
	return true;
}

static int digit_of(char c, unsigned int base)
{
	int digit = -1;

	if (c >= '0' && c <= '9')
		digit = c - '0';
	else if (c >= 'a' && c <= 'f')
		digit = c - 'a' + 10;
	return digit < (int)base ? digit : -1;
}

/* One digit at least, and no more than the number has room for. */
static bool take_number(struct rest *r, unsigned int base, uint64_t *n)
{
	const char *first = r->at;
	int digit;

	for (*n = 0; r->at < r->end && (digit = digit_of(*r->at, base)) >= 0; r->at++)
		if (__builtin_mul_overflow(*n, base, n) ||
		    __builtin_add_overflow(*n, (unsigned int)digit, n))
			return false;
	return r->at > first;
}

static bool take_word(struct rest *r)
{
	const char *first = r->at;

	while (r->at < r->end && *r->at != ' ')
		r->at++;
	return r->at > first;
}

/* Digits behind a point, of which the first is a tenth of a second. */
static bool take_fraction(struct rest *r, uint64_t *ns)
{
	uint64_t unit = NS_OF_S / 10;
	int digit;

	for (*ns = 0; r->at < r->end && (digit = digit_of(*r->at, 10)) >= 0; r->at++) {
		*ns += unit * (uint64_t)digit;
		unit /= 10;
	}
	return unit < NS_OF_S / 10;
}

static uint64_t stamp_of(uint64_t s, uint64_t ns)
{
	return s < UINT64_MAX / NS_OF_S ? s * NS_OF_S + ns : 0;
}

/* "PID@SECONDS.MICROSECONDS:", as the backend has it up to QEMU 10.1 */
static bool take_old_stamp(struct rest *r, uint64_t *ns)
{
	struct rest at = *r;
	uint64_t pid, s, fraction;

	if (!take_number(&at, 10, &pid) || !take_text(&at, "@") || !take_number(&at, 10, &s) ||
	    !take_text(&at, ".") || !take_fraction(&at, &fraction) || !take_text(&at, ":"))
		return false;
	*ns = stamp_of(s, fraction);
	*r = at;
	return true;
}

/* "2026-11-27T08:09:10.123456Z ", as qemu_log() of util/log.c has it since */
static bool take_date(struct rest *r, uint64_t *ns)
{
	static const char *const between[] = {"-", "-", "T", ":", ":", ""};
	struct rest at = *r;
	uint64_t n[6], fraction = 0;
	struct tm tm = {0};
	time_t s;

	for (size_t i = 0; i < sizeof(n) / sizeof(n[0]); i++)
		if (!take_number(&at, 10, &n[i]) || n[i] > 9999 || !take_text(&at, between[i]))
			return false;
	if ((take_text(&at, ".") && !take_fraction(&at, &fraction)) || !take_text(&at, "Z "))
		return false;
	tm.tm_year = (int)n[0] - 1900;
	tm.tm_mon = (int)n[1] - 1;
	tm.tm_mday = (int)n[2];
	tm.tm_hour = (int)n[3];
	tm.tm_min = (int)n[4];
	tm.tm_sec = (int)n[5];
	s = timegm(&tm);
	*ns = s < 0 ? 0 : stamp_of((uint64_t)s, fraction);
	*r = at;
	return true;
}

static bool size_is_right(uint64_t size)
{
	return size == 1 || size == 2 || size == 4 || size == 8;
}

/* "cpu 0 mr 0x55d0c0ffee00 addr 0xfe000014 value 0x1 size 1 name 'virtio-pci-common-rng'"; a cpu of
 * -1 is none. */
static bool take_access(struct rest *r, struct mmio_line *line)
{
	uint64_t cpu, size;

	if (!take_text(r, " cpu ") || !take_number(r, 10, &cpu) || cpu > UINT32_MAX - 1 ||
	    !take_text(r, " mr ") || !take_word(r) || !take_text(r, " addr 0x") ||
	    !take_number(r, 16, &line->addr) || !take_text(r, " value 0x") ||
	    !take_number(r, 16, &line->value) || !take_text(r, " size ") ||
	    !take_number(r, 10, &size) || !size_is_right(size) || !take_text(r, " "))
		return false;
	line->cpu = (uint32_t)cpu;
	line->size = (uint8_t)size;
	if (size < sizeof(line->value))
		line->value &= (UINT64_C(1) << 8 * size) - 1;
	return true;
}

bool mmio_line_parse(const char *text, size_t len, struct mmio_line *line)
{
	struct rest r = {text, text + len};

	*line = (struct mmio_line){0};
	if (!take_old_stamp(&r, &line->ns))
		take_date(&r, &line->ns);
	if (!take_text(&r, "memory_region_ops_"))
		return false;
	line->is_write = take_text(&r, "write");
	return (line->is_write || take_text(&r, "read")) && take_access(&r, line);
}

void mmio_lines_feed(struct mmio_lines *l, const char *bytes, size_t len,
		     void (*access)(void *arg, const struct mmio_line *line), void *arg)
{
	while (len) {
		const char *end = memchr(bytes, '\n', len);
		size_t part = end ? (size_t)(end - bytes) : len;
		struct mmio_line line;

		if (part > sizeof(l->part) - l->len)
			l->too_long = true;
		if (!l->too_long) {
			memcpy(l->part + l->len, bytes, part);
			l->len += part;
		}
		if (!end)
			return;
		if (!l->too_long && mmio_line_parse(l->part, l->len, &line))
			access(arg, &line);
		l->len = 0;
		l->too_long = false;
		bytes += part + 1;
		len -= part + 1;
	}
}
