// SPDX-License-Identifier: GPL-2.0-or-later
/* quantity.c - see quantity.h */
#include "frontend/config/quantity.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct unit {
	const char *name;
	uint64_t in; /* bytes, ns */
};

/* The largest one first; the last has nothing before it. */
static const struct unit sizes[] = {
	{"T", UINT64_C(1) << 40},
	{"G", UINT64_C(1) << 30},
	{"M", UINT64_C(1) << 20},
	{"K", UINT64_C(1) << 10},
	{"", 1},
	{0},
};

static const struct unit times[] = {
	{"d", UINT64_C(86400000000000)},
	{"h", UINT64_C(3600000000000)},
	{"m", UINT64_C(60000000000)},
	{"s", UINT64_C(1000000000)},
	{"ms", 1000000},
	{"us", 1000},
	{"ns", 1},
	{0},
};

static const struct unit *find_unit(const struct unit *units, const char *name)
{
	for (; units->name; units++)
		if (!strcmp(units->name, name))
			return units;
	return NULL;
}

/* Digits, and up to nine more behind a point: 12.5 is 12 and 500000000. */
static const char *take_number(const char *text, uint64_t *whole, uint64_t *billionth)
{
	uint64_t worth = 100000000;

	*whole = *billionth = 0;
	if (*text < '0' || *text > '9')
		return NULL;
	for (; *text >= '0' && *text <= '9'; text++) {
		if (*whole > UINT64_MAX / 100)
			return NULL;
		*whole = *whole * 10 + (uint64_t)(*text - '0');
	}
	if (*text != '.')
		return text;
	text++;
	if (*text < '0' || *text > '9')
		return NULL;
	for (; *text >= '0' && *text <= '9'; text++, worth /= 10)
		*billionth += worth * (uint64_t)(*text - '0');
	return text;
}

static bool parse(const struct unit *units, const char *text, uint64_t *to)
{
	uint64_t whole, billionth;
	const char *name = take_number(text, &whole, &billionth);
	const struct unit *unit = name ? find_unit(units, name) : NULL;

	/* With room for what is behind the point. */
	if (!unit || whole > UINT64_MAX / unit->in - 1)
		return false;
	*to = whole * unit->in + (uint64_t)((double)billionth / 1e9 * (double)unit->in + 0.5);
	return true;
}

bool size_parse(const char *text, uint64_t *bytes)
{
	return parse(sizes, text, bytes);
}

bool time_parse(const char *text, uint64_t *ns)
{
	return parse(times, text, ns);
}

static const char *print(const struct unit *units, uint64_t value, char buf[QUANTITY_LEN])
{
	while (value % units->in)
		units++;
	snprintf(buf, QUANTITY_LEN, "%" PRIu64 "%s", value / units->in, units->name);
	return buf;
}

const char *size_text(uint64_t bytes, char buf[QUANTITY_LEN])
{
	return print(bytes ? sizes : &sizes[4], bytes, buf);
}

const char *time_text(uint64_t ns, char buf[QUANTITY_LEN])
{
	return print(ns ? times : &times[3], ns, buf);
}
