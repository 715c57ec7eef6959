// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * branches.c - trace_stat/branch_annotated: how often the likely() and unlikely() of a kernel that
 * counts them (CONFIG_PROFILE_ANNOTATED_BRANCHES) were right. The counters lie in its memory, so
 * the guest does nothing for it. Columns and order are those of kernel/trace/trace_branch.c and
 * trace_stat.c, 6.1.
 */
#include "tracer/core/trace.h"
#include "tracer/guest/likely.h"
#include "tracer/lib/text.h"
#include "tracer/stat/files.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct branch_count {
	struct likely likely;
	uint32_t nr;
};

bool trace_counts_branches(const struct trace *t)
{
	struct likely_layout at;

	return likely_layout_learn(t->gs, &at);
}

/* All of them, for the caller to free: their number. */
static size_t branches_read(struct trace *t, const struct likely_layout *at,
			    struct branch_count **all)
{
	uint64_t first;
	size_t n = likely_table(&t->guest, t->gs, at, &first);
	struct likely *likely = calloc(n + 1, sizeof(*likely));

	*all = calloc(n + 1, sizeof(**all));
	if (!likely || !*all || likely_read(&t->guest, at, first, likely, n))
		n = 0;
	for (size_t i = 0; i < n; i++)
		(*all)[i] = (struct branch_count){likely[i], (uint32_t)i};
	free(likely);
	return n;
}

/* --- order and columns ------------------------------------------------------------------------ */

static int64_t percent_wrong(const struct likely *l)
{
	if (!l->correct)
		return l->incorrect ? 100 : -1;
	if (!(l->correct + l->incorrect))
		return -1;
	return (int64_t)(l->incorrect * 100 / (l->correct + l->incorrect));
}

static int compare(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

/* The worst first; of what is the same in all the later one, for it is sorted in before the other.
 */
static int by_wrong(const void *left, const void *right)
{
	const struct branch_count *left_count = left, *right_count = right;
	const struct likely *a = &left_count->likely, *b = &right_count->likely;
	int64_t pa = percent_wrong(a), pb = percent_wrong(b);

	if (pa != pb)
		return pa > pb ? -1 : 1;
	if (a->incorrect != b->incorrect)
		return compare(b->incorrect, a->incorrect);
	if (a->correct != b->correct)
		return compare(a->correct, b->correct);
	return compare(right_count->nr, left_count->nr);
}

static void print_counts(const struct likely *l, struct text *out)
{
	char constant[32];
	int len;

	if (!l->constant) {
		text_printf(out, "%8" PRIu64 " %8" PRIu64 " ", l->correct, l->incorrect);
		return;
	}
	len = snprintf(constant, sizeof(constant), "/%" PRIu64, l->constant);
	text_printf(out, "%8" PRIu64 "%s %*" PRIu64 " ", l->correct, constant,
		    len > 8 ? 0 : 8 - len, l->incorrect);
}

static void print_branch(struct trace *t, const struct likely *l, struct text *out)
{
	char func[LIKELY_NAME_MAX], file[LIKELY_NAME_MAX];
	int64_t percent = percent_wrong(l);

	likely_func_name(&t->guest, l, func);
	likely_file_name(&t->guest, l, file);
	print_counts(l, out);
	if (percent < 0)
		text_puts(out, "  X ");
	else
		text_printf(out, "%3" PRId64 " ", percent);
	text_printf(out, "%-30.30s %-20.20s %" PRId32 "\n", func, file, l->line);
}

void trace_print_branches(struct trace *t, struct text *out)
{
	struct branch_count *all = NULL;
	struct likely_layout at;
	size_t n = likely_layout_learn(t->gs, &at) ? branches_read(t, &at, &all) : 0;

	text_puts(
		out,
		" correct incorrect  %        Function                  File              Line\n"
		" ------- ---------  -        --------                  ----              ----\n");
	if (n)
		qsort(all, n, sizeof(*all), by_wrong);
	for (size_t i = 0; i < n; i++)
		print_branch(t, &all[i].likely, out);
	free(all);
}
