// SPDX-License-Identifier: GPL-2.0-or-later
/* accept.c - what a scraper would like best, by its headers (RFC 9110, 12.5.1 and 12.5.3). */
#include "frontend/metrics/answer.h"

#include <ctype.h>
#include <string.h>
#include <stdbool.h>
#include <strings.h>

#define BLANKS	" \t"
#define Q_WHOLE 1000

/* What is left of a header. */
struct span {
	const char *at, *end;
};

/* Up to the next one of these characters, which is taken away too; without blanks around it. */
static struct span take(struct span *s, char upto)
{
	const char *found = memchr(s->at, upto, (size_t)(s->end - s->at));
	struct span part = {s->at, found ? found : s->end};

	s->at = found ? found + 1 : s->end;
	while (part.at < part.end && strchr(BLANKS, *part.at))
		part.at++;
	while (part.at < part.end && strchr(BLANKS, part.end[-1]))
		part.end--;
	return part;
}

static bool is(struct span s, const char *word)
{
	size_t len = strlen(word);

	return (size_t)(s.end - s.at) == len && !strncasecmp(s.at, word, len);
}

/* "0.75" in thousandths; what makes no sense is 0: it was not asked for. */
static unsigned int quality(struct span s)
{
	unsigned int q = 0, unit = Q_WHOLE;

	for (const char *p = s.at; p < s.end; p++) {
		if (p == s.at + 1 && *p == '.')
			continue;
		if (!isdigit((unsigned char)*p) || !unit)
			return 0;
		q += (unsigned int)(*p - '0') * unit;
		unit /= 10;
	}
	return q <= Q_WHOLE ? q : 0;
}

/* One range, with its parameters: how much each of the formats is wanted by it. */
static void take_range(struct span range, unsigned int want[2])
{
	struct span type = take(&range, ';');
	bool known = true; /* a version that is written here */
	unsigned int q = Q_WHOLE, format;

	if (is(type, "application/openmetrics-text"))
		format = METRICS_OPENMETRICS;
	else if (is(type, "text/plain") || is(type, "text/*") || is(type, "*/*"))
		format = METRICS_TEXT;
	else
		return;
	while (range.at < range.end) {
		struct span value = take(&range, ';'), name = take(&value, '=');

		value = take(&value, ';');
		if (is(name, "q"))
			q = quality(value);
		else if (is(name, "version") && format == METRICS_OPENMETRICS)
			known = is(value, "1.0.0");
	}
	if (known && q > want[format])
		want[format] = q;
}

enum metrics_format answer_format(const char *accept)
{
	unsigned int want[2] = {0, 0};
	struct span all = {accept, accept ? accept + strlen(accept) : NULL};

	while (all.at < all.end)
		take_range(take(&all, ','), want);
	return want[METRICS_OPENMETRICS] && want[METRICS_OPENMETRICS] >= want[METRICS_TEXT]
		       ? METRICS_OPENMETRICS
		       : METRICS_TEXT;
}

bool answer_may_pack(const char *accept)
{
	struct span all = {accept, accept ? accept + strlen(accept) : NULL};
	bool may = false;

	while (all.at < all.end) {
		struct span range = take(&all, ','), name = take(&range, ';');

		if (is(name, "gzip"))
			may = !is(take(&range, '='), "q") || quality(take(&range, ';'));
	}
	return may;
}
