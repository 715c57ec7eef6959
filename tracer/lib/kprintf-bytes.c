// SPDX-License-Identifier: GPL-2.0-or-later
/* kprintf-bytes.c - the forms of %p that look at what is there; see kprintf.h. */
#include "tracer/lib/kprintf.h"

#include <ctype.h>
#include <sys/socket.h>

enum { HEX_MAX = 64 };

/* What is to be printed, and how. */
struct form {
	struct text *t;
	const struct kprintf_spec *spec;
	const char *kind;
	const uint8_t *bytes;
	size_t room;
};

/* As the kernel says that it does not print a pointer: short. */
static void print_error(const struct form *f, const char *error)
{
	struct kprintf_spec spec = *f->spec;

	if (spec.precision < 0)
		spec.precision = 16;
	kprintf_string(f->t, &spec, error, strlen(error));
}

static bool has(const struct form *f, size_t len)
{
	if (f->room >= len)
		return true;
	print_error(f, "(efault)");
	return false;
}

static char *put_byte(char *at, uint8_t byte)
{
	return text_put_hex(at, byte, 2);
}

static void print_string(const struct form *f, const char *s, const char *end)
{
	kprintf_string(f->t, f->spec, s, (size_t)(end - s));
}

/* 0x and all digits of an integer, whatever the width. */
static void print_whole(const struct form *f, size_t size)
{
	uint64_t value = 0;
	char *at;

	if (!has(f, size))
		return;
	memcpy(&value, f->bytes, size);
	at = text_begin(f->t, 2 + 2 * size);
	if (!at)
		return;
	*at++ = '0';
	*at++ = 'x';
	text_end(f->t, text_put_hex(at, value, (unsigned int)(2 * size)));
}

/* --- hex, bits ---------------------------------------------------------------------------- */

static char separator_of(char kind)
{
	switch (kind) {
	case 'C':
		return ':';
	case 'D':
		return '-';
	case 'N':
		return '\0';
	default:
		return ' ';
	}
}

/* The width is how many. */
static void print_hex(const struct form *f)
{
	size_t len = f->spec->width < 0 ? 1 : (size_t)f->spec->width;
	char separator = separator_of(f->kind[1]), *at;

	if (!len)
		return;
	if (len > HEX_MAX)
		len = HEX_MAX;
	at = has(f, len) ? text_begin(f->t, len * 3) : NULL;
	if (!at)
		return;
	for (size_t i = 0; i < len; i++) {
		if (i && separator)
			*at++ = separator;
		at = put_byte(at, f->bytes[i]);
	}
	text_end(f->t, at);
}

static uint32_t bit_chunk(const uint8_t *bytes, size_t bit, unsigned int bits)
{
	uint32_t value = 0;

	memcpy(&value, bytes + bit / 8, (bits + 7) / 8);
	return bits < 32 ? value & ((UINT32_C(1) << bits) - 1) : value;
}

/* The width is how many bits: 32 of them at a time, the highest first. */
static void print_bitmap(const struct form *f)
{
	size_t bits = f->spec->width < 0 ? 0 : (size_t)f->spec->width;
	unsigned int chunk = bits % 32 ? bits % 32 : 32;
	char *at = has(f, (bits + 7) / 8) ? text_begin(f->t, bits / 3 + 16) : NULL;

	if (!at)
		return;
	for (size_t left = bits; left; chunk = 32) {
		if (left != bits)
			*at++ = ',';
		left -= chunk;
		at = text_put_hex(at, bit_chunk(f->bytes, left, chunk), (chunk + 3) / 4);
	}
	text_end(f->t, at);
}

static bool bit_set(const struct form *f, size_t bit)
{
	return f->bytes[bit / 8] >> bit % 8 & 1;
}

static void print_bitmap_list(const struct form *f)
{
	size_t bits = f->spec->width < 0 ? 0 : (size_t)f->spec->width, last;
	const char *comma = "";

	if (!has(f, (bits + 7) / 8))
		return;
	for (size_t first = 0; first < bits; first++) {
		if (!bit_set(f, first))
			continue;
		for (last = first; last + 1 < bits && bit_set(f, last + 1);)
			last++;
		text_printf(f->t, last > first ? "%s%zu-%zu" : "%s%zu", comma, first, last);
		comma = ",";
		first = last;
	}
}

static void print_bits(const struct form *f)
{
	if (f->kind[1] == 'l')
		print_bitmap_list(f);
	else
		print_bitmap(f);
}

/* --- addresses of networks ------------------------------------------------------------------ */

static void print_mac(const struct form *f)
{
	char buf[18], *at = buf, separator = f->kind[1] == 'F' ? '-' : ':';

	if (!has(f, 6))
		return;
	for (int i = 0; i < 6; i++) {
		at = put_byte(at, f->bytes[f->kind[1] == 'R' ? 5 - i : i]);
		if (f->kind[0] == 'M' && i < 5)
			*at++ = separator;
	}
	print_string(f, buf, at);
}

/* Order: h, l, n, b; of the host that is traced, little endian. */
static char *put_ip4(char *at, const uint8_t *addr, bool zeros, char order)
{
	bool backwards = order == 'h' || order == 'l';

	for (int i = 0; i < 4; i++) {
		if (i)
			*at++ = '.';
		at = text_put_dec(at, addr[backwards ? 3 - i : i], zeros ? 3 : 0, '0');
	}
	return at;
}

static uint16_t word_of(const uint8_t *addr, int i)
{
	return (uint16_t)(addr[2 * i] << 8 | addr[2 * i + 1]);
}

static char *put_ip6(char *at, const uint8_t *addr, bool colons)
{
	for (int i = 0; i < 8; i++) {
		if (i && colons)
			*at++ = ':';
		at = text_put_hex(at, word_of(addr, i), 4);
	}
	return at;
}

/* ::ffff:a.b.c.d, or an interface identifier that says it is of an IPv4 address (ISATAP) */
static bool ends_in_ip4(const uint8_t *addr)
{
	static const uint8_t mapped[12] = {[10] = 0xff, 0xff};

	return !memcmp(addr, mapped, sizeof(mapped)) ||
	       ((addr[8] | 2) == 2 && !addr[9] && addr[10] == 0x5e && addr[11] == 0xfe);
}

/* The first longest run of more than one zero word: how long it is. */
static int longest_zeros(const uint8_t *addr, int words, int *start)
{
	int longest = 1;

	*start = -1;
	for (int i = 0; i < words; i++) {
		int n = 0;

		while (i + n < words && !word_of(addr, i + n))
			n++;
		if (n > longest) {
			longest = n;
			*start = i;
		}
	}
	return longest;
}

static char *put_ip6_short(char *at, const uint8_t *addr)
{
	bool ip4 = ends_in_ip4(addr), colon = false;
	int words = ip4 ? 6 : 8, zeros_at, zeros = longest_zeros(addr, words, &zeros_at);

	for (int i = 0; i < words; i++) {
		if (i == zeros_at) {
			if (colon || !i)
				*at++ = ':';
			*at++ = ':';
			colon = false;
			i += zeros - 1;
			continue;
		}
		if (colon)
			*at++ = ':';
		at = text_put_hex(at, word_of(addr, i), 0);
		colon = true;
	}
	if (!ip4)
		return at;
	if (colon)
		*at++ = ':';
	return put_ip4(at, addr + 12, false, '\0');
}

/* A number behind an address: its port, flow or scope. */
static char *put_behind(char *at, char separator, uint32_t value)
{
	*at++ = separator;
	return text_put_dec(at, value, 0, ' ');
}

static bool asked(const struct form *f, char what)
{
	for (const char *c = f->kind + 2; isalpha((unsigned char)*c); c++) {
		if (*c == what)
			return true;
	}
	return false;
}

static uint32_t big_endian(const uint8_t *bytes, int nr)
{
	uint32_t value = 0;

	while (nr--)
		value = value << 8 | *bytes++;
	return value;
}

/* struct sockaddr_in */
static void print_socket4(const struct form *f)
{
	static const char orders[] = "hlnb";
	char buf[32], *at, order = '\0';

	if (!has(f, 8))
		return;
	for (const char *c = orders; *c; c++) {
		if (asked(f, *c))
			order = *c;
	}
	at = put_ip4(buf, f->bytes + 4, f->kind[0] == 'i', order);
	if (asked(f, 'p'))
		at = put_behind(at, ':', big_endian(f->bytes + 2, 2));
	print_string(f, buf, at);
}

/* struct sockaddr_in6: port, flow, address, scope */
static void print_socket6(const struct form *f)
{
	bool brackets = asked(f, 'p') || asked(f, 's') || asked(f, 'f');
	char buf[96], *at = buf;
	uint32_t scope;

	if (!has(f, 28))
		return;
	if (brackets)
		*at++ = '[';
	if (f->kind[0] == 'I' && asked(f, 'c'))
		at = put_ip6_short(at, f->bytes + 8);
	else
		at = put_ip6(at, f->bytes + 8, f->kind[0] == 'I');
	if (brackets)
		*at++ = ']';
	if (asked(f, 'p'))
		at = put_behind(at, ':', big_endian(f->bytes + 2, 2));
	if (asked(f, 'f'))
		at = put_behind(at, '/', big_endian(f->bytes + 4, 4) & 0x0fffffff);
	if (asked(f, 's')) {
		memcpy(&scope, f->bytes + 24, sizeof(scope));
		at = put_behind(at, '%', scope);
	}
	print_string(f, buf, at);
}

static void print_socket(const struct form *f)
{
	uint16_t family;

	if (!has(f, sizeof(family)))
		return;
	memcpy(&family, f->bytes, sizeof(family));
	if (family == AF_INET)
		print_socket4(f);
	else if (family == AF_INET6)
		print_socket6(f);
	else
		print_error(f, "(einval)");
}

static void print_ip(const struct form *f)
{
	char buf[64], *at;

	switch (f->kind[1]) {
	case '4':
		if (!has(f, 4))
			return;
		at = put_ip4(buf, f->bytes, f->kind[0] == 'i', f->kind[2]);
		break;
	case '6':
		if (!has(f, 16))
			return;
		if (f->kind[0] == 'I' && f->kind[2] == 'c')
			at = put_ip6_short(buf, f->bytes);
		else
			at = put_ip6(buf, f->bytes, f->kind[0] == 'I');
		break;
	case 'S':
		print_socket(f);
		return;
	default:
		print_error(f, f->kind[0] == 'i' ? "(%pi?)" : "(%pI?)");
		return;
	}
	print_string(f, buf, at);
}

/* --- others --------------------------------------------------------------------------------- */

static void print_uuid(const struct form *f)
{
	static const uint8_t big[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
	static const uint8_t little[] = {3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15};
	bool upper = f->kind[1] == 'L' || f->kind[1] == 'B';
	const uint8_t *index = f->kind[1] == 'L' || f->kind[1] == 'l' ? little : big;
	char buf[40], *at = buf;

	if (!has(f, 16))
		return;
	for (int i = 0; i < 16; i++) {
		at = put_byte(at, f->bytes[index[i]]);
		if (i == 3 || i == 5 || i == 7 || i == 9)
			*at++ = '-';
	}
	for (char *c = buf; upper && c < at; c++)
		*c = (char)toupper((unsigned char)*c);
	print_string(f, buf, at);
}

/* %p4cc: four characters, and what they are as a number. */
static void print_fourcc(const struct form *f)
{
	char buf[48], *at = buf;
	uint32_t code;

	if (f->kind[1] != 'c' || f->kind[2] != 'c') {
		print_error(f, "(%p4?)");
		return;
	}
	if (!has(f, sizeof(code)))
		return;
	memcpy(&code, f->bytes, sizeof(code));
	for (int i = 0; i < 4; i++) {
		uint8_t c = (uint8_t)((code & ~(UINT32_C(1) << 31)) >> i * 8);

		*at++ = c < 128 && isprint(c) ? (char)c : '.';
	}
	at = stpcpy(at, code >> 31 ? " big-endian (0x" : " little-endian (0x");
	at = text_put_hex(at, code, 8);
	*at++ = ')';
	print_string(f, buf, at);
}

static void print_address_value(const struct form *f)
{
	print_whole(f, 8);
}

static void print_netdev_features(const struct form *f)
{
	if (f->kind[1] == 'F')
		print_whole(f, 8);
	else
		print_error(f, "(%pN?)");
}

static const struct {
	char kind;
	void (*print)(const struct form *f);
} forms[] = {
	{'h', print_hex},
	{'b', print_bits},
	{'M', print_mac},
	{'m', print_mac},
	{'I', print_ip},
	{'i', print_ip},
	{'U', print_uuid},
	{'a', print_address_value},
	{'N', print_netdev_features},
	{'4', print_fourcc},
};

bool kprintf_bytes(struct text *t, const struct kprintf_spec *spec, const char *kind,
		   const uint8_t *bytes, size_t room)
{
	const struct form f = {.t = t, .spec = spec, .kind = kind, .bytes = bytes, .room = room};

	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		if (forms[i].kind == *kind) {
			forms[i].print(&f);
			return true;
		}
	}
	return false;
}

/* --- hash ----------------------------------------------------------------------------------- */

static uint64_t rotated(uint64_t value, unsigned int bits)
{
	return value << bits | value >> (64 - bits);
}

static void sip_rounds(uint64_t v[4], int nr)
{
	while (nr--) {
		v[0] += v[1];
		v[1] = rotated(v[1], 13) ^ v[0];
		v[0] = rotated(v[0], 32);
		v[2] += v[3];
		v[3] = rotated(v[3], 16) ^ v[2];
		v[0] += v[3];
		v[3] = rotated(v[3], 21) ^ v[0];
		v[2] += v[1];
		v[1] = rotated(v[1], 17) ^ v[2];
		v[2] = rotated(v[2], 32);
	}
}

static void sip_add(uint64_t v[4], uint64_t word)
{
	v[3] ^= word;
	sip_rounds(v, 2);
	v[0] ^= word;
}

/* SipHash-2-4 (Aumasson, Bernstein 2012) of eight bytes */
uint64_t kprintf_hash(uint64_t addr, const uint64_t key[2])
{
	uint64_t v[4] = {
		key[0] ^ UINT64_C(0x736f6d6570736575),
		key[1] ^ UINT64_C(0x646f72616e646f6d),
		key[0] ^ UINT64_C(0x6c7967656e657261),
		key[1] ^ UINT64_C(0x7465646279746573),
	};

	sip_add(v, addr);
	sip_add(v, (uint64_t)sizeof(addr) << 56);
	v[2] ^= 0xff;
	sip_rounds(v, 4);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}
