// SPDX-License-Identifier: GPL-2.0-or-later
/* cpus.c - CPUS{0-3,8} of an event filter: sets of CPUs. */
#include <errno.h>

#include "tracer/events/filter/internal.h"

static bool cpu_set_has(const struct cpu_set *set, uint64_t cpu)
{
	return cpu < EVENT_CPUS_MAX && set->bits[cpu / 64] >> cpu % 64 & 1;
}

/* A number, or N for the last CPU. */
static int list_number(const char **list, unsigned int nr, unsigned int *value)
{
	unsigned int n = 0;

	if (**list == 'N') {
		++*list;
		*value = nr - 1;
		return 0;
	}
	if (!filter_isdigit(**list))
		return -EINVAL;
	for (; filter_isdigit(**list); ++*list) {
		n = 10 * n + (unsigned int)(**list - '0');
		if (n >= EVENT_CPUS_MAX)
			return -ERANGE;
	}
	*value = n;
	return 0;
}

/* A range of the list: N, N-M, N-M:USED/GROUP or all. */
struct list_range {
	unsigned int first, last, used, group;
};

static int list_range(const char **list, unsigned int nr, struct list_range *r)
{
	int err;

	*r = (struct list_range){.last = nr - 1, .used = 1, .group = 1};
	if (!strncmp(*list, "all", 3)) {
		*list += 3;
	} else {
		err = list_number(list, nr, &r->first);
		if (err)
			return err;
		r->last = r->first;
		if (**list != '-')
			return 0;
		++*list;
		err = list_number(list, nr, &r->last);
		if (err)
			return err;
	}
	if (**list != ':')
		return 0;
	++*list;
	err = list_number(list, nr, &r->used);
	if (err || **list != '/')
		return -EINVAL;
	++*list;
	return list_number(list, nr, &r->group);
}

static int add_range(struct cpu_set *set, const struct list_range *r, unsigned int nr)
{
	if (r->first > r->last || !r->group || r->used > r->group)
		return -EINVAL;
	if (r->last >= nr)
		return -ERANGE;
	for (unsigned int cpu = r->first; cpu <= r->last; cpu++)
		if ((cpu - r->first) % r->group < r->used)
			set->bits[cpu / 64] |= 1ULL << cpu % 64;
	return 0;
}

int cpu_set_parse(struct cpu_set *set, const char *list, unsigned int nr)
{
	struct list_range range;
	int err;

	if (!nr || nr > EVENT_CPUS_MAX)
		nr = EVENT_CPUS_MAX;
	if (!*list)
		return -EINVAL;
	for (;;) {
		while (filter_isspace(*list) || *list == ',')
			list++;
		if (!*list)
			return 0;
		err = list_range(&list, nr, &range);
		if (!err)
			err = add_range(set, &range, nr);
		if (err)
			return err;
		if (*list && *list != ',' && !filter_isspace(*list))
			return -EINVAL;
	}
}

static uint64_t bits_word(const uint8_t *bits, size_t len, size_t word)
{
	uint64_t value = 0;
	size_t at = word * sizeof(value);

	if (at < len)
		memcpy(&value, bits + at, len - at < sizeof(value) ? len - at : sizeof(value));
	return value;
}

bool cpu_set_compare(const struct cpu_set *set, enum filter_op op, const void *bits, size_t len)
{
	bool common = false, same = true;

	for (size_t i = 0; i < EVENT_CPUS_MAX / 64; i++) {
		uint64_t word = bits_word(bits, len, i);

		common |= word & set->bits[i];
		same &= word == set->bits[i];
	}
	if (op == FILTER_OP_BAND)
		return common;
	return same == (op == FILTER_OP_EQ);
}

bool cpu_set_compare_one(const struct cpu_set *set, enum filter_op op, uint64_t cpu)
{
	size_t weight = 0;

	if (op == FILTER_OP_BAND)
		return cpu_set_has(set, cpu);
	for (size_t i = 0; i < EVENT_CPUS_MAX / 64; i++)
		weight += (size_t)__builtin_popcountll(set->bits[i]);
	return (weight == 1 && cpu_set_has(set, cpu)) == (op == FILTER_OP_EQ);
}
