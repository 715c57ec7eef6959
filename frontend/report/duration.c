// SPDX-License-Identifier: GPL-2.0-or-later
/* duration.c - see duration.h */
#include "frontend/report/duration.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct unit {
	const char *name;
	double ns;
};

static const struct unit units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};

enum { NR_UNITS = sizeof(units) / sizeof(units[0]) };

/* What would be rounded up to a thousand is shown in the next unit. */
const char *duration_text(uint64_t ns, char buf[DURATION_LEN])
{
	size_t i = 0;

	if (ns < 1000) {
		snprintf(buf, DURATION_LEN, "%u ns", (unsigned int)ns);
		return buf;
	}
	while (i + 1 < NR_UNITS && (double)ns >= 999.995 * units[i].ns)
		i++;
	snprintf(buf, DURATION_LEN, "%.2f %s", (double)ns / units[i].ns, units[i].name);
	return buf;
}

bool duration_parse(const char *text, uint64_t *ns)
{
	const struct unit *unit = &units[1];
	double n, max = 1e18;
	char *end;

	if (!isdigit((unsigned char)*text) || text[1] == 'x')
		return false;
	n = strtod(text, &end);
	for (size_t i = 0; *end && i < NR_UNITS; i++) {
		if (strcmp(end, units[i].name))
			continue;
		unit = &units[i];
		end += strlen(end);
	}
	if (*end || !(n * unit->ns <= max))
		return false;
	*ns = (uint64_t)(n * unit->ns);
	return true;
}
