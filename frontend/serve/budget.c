// SPDX-License-Identifier: GPL-2.0-or-later
/* budget.c - see budget.h */
#include "frontend/serve/budget.h"

static double cost_ms(const struct budget_cost *c)
{
	unsigned int vcpus = c->vcpus ? c->vcpus : 1;

	return ((double)c->stood_ns + (double)c->records * BUDGET_RECORD_NS / vcpus) / 1e6;
}

double budget_ratio(const struct budget_cost *c)
{
	return c->traced_ms > 0 ? cost_ms(c) / (double)c->traced_ms : 0;
}

int64_t budget_pause_ms(const struct budget_cost *c, double percent)
{
	double allowed = percent / 100, pause;

	if (allowed <= 0)
		return 0;
	/* A tracer that was let go before it had begun to trace has cost something, too. */
	pause = cost_ms(c) / allowed - (double)c->traced_ms;
	if (pause <= 0)
		return 0;
	return pause < (double)BUDGET_PAUSE_MAX_MS ? (int64_t)pause : BUDGET_PAUSE_MAX_MS;
}
