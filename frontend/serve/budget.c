// SPDX-License-Identifier: GPL-2.0-or-later
/* budget.c - see budget.h */
#include "frontend/serve/budget.h"

double budget_ratio(const struct budget_cost *c)
{
	unsigned int vcpus = c->vcpus ? c->vcpus : 1;
	double ns = (double)c->stood_ns + (double)c->records * BUDGET_RECORD_NS / vcpus;

	return c->traced_ms > 0 ? ns / ((double)c->traced_ms * 1e6) : 0;
}

int64_t budget_pause_ms(const struct budget_cost *c, double percent)
{
	double allowed = percent / 100, ratio = budget_ratio(c), pause;

	if (allowed <= 0 || ratio <= allowed)
		return 0;
	pause = (double)c->traced_ms * (ratio / allowed - 1);
	return pause < (double)BUDGET_PAUSE_MAX_MS ? (int64_t)pause : BUDGET_PAUSE_MAX_MS;
}
