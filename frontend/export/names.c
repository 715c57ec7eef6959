// SPDX-License-Identifier: GPL-2.0-or-later
/* names.c - see names.h */
#include "frontend/export/names.h"

#include "frontend/lib/json.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { CACHE = 1 << 16 };

/* What was found out about an address. */
struct known {
	uint64_t addr;
	uint32_t name; /* 0: nothing */
};

struct names {
	struct tep_handle *tep;
	struct calltree *tree;
	struct known cache[CACHE];
};

struct names *names_new(struct formats *f, struct calltree *tree)
{
	struct names *n = calloc(1, sizeof(*n));

	if (!n)
		return NULL;
	n->tep = formats_tep(f);
	n->tree = tree;
	return n;
}

void names_free(struct names *n)
{
	free(n);
}

/* Bytes that are no text, and characters that are for terminals, become question marks. */
const char *names_clean(char buf[NAMES_LEN], const char *text, size_t len)
{
	const uint8_t *at = (const uint8_t *)text;
	size_t to = 0;

	while (len && *at && to < NAMES_LEN - 1) {
		size_t n = utf8_len(at, len);

		if (n > NAMES_LEN - 1 - to)
			break;
		if (!n || *at < ' ' || *at == 0x7f)
			buf[to++] = '?';
		else
			memcpy(buf + to, at, n);
		to += n > 0 && *at >= ' ' && *at != 0x7f ? n : 0;
		at += n ? n : 1;
		len -= n ? n : 1;
	}
	buf[to] = '\0';
	return buf;
}

uint32_t names_text(struct names *n, const char *text, size_t len)
{
	char clean[NAMES_LEN];
	uint32_t name;

	names_clean(clean, text, len);
	name = calltree_name(n->tree, clean, strlen(clean));
	return name == CALLTREE_NONE ? 0 : name;
}

uint32_t names_function(struct names *n, uint64_t addr)
{
	struct known *k = &n->cache[(addr * UINT64_C(0x9e3779b97f4a7c15)) >> 48];
	const char *name;
	char number[24];

	if (k->name && k->addr == addr)
		return k->name;
	name = tep_find_function(n->tep, addr);
	if (!name) {
		snprintf(number, sizeof(number), "0x%" PRIx64, addr);
		name = number;
	}
	*k = (struct known){addr, names_text(n, name, strlen(name))};
	return k->name;
}
