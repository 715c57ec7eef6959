/* SPDX-License-Identifier: GPL-2.0-or-later */
/* order.h - what comes first in a report. */
#ifndef HVTRACE_FRONTEND_REPORT_ORDER_H
#define HVTRACE_FRONTEND_REPORT_ORDER_H

#include "frontend/report/calltree.h"

enum order { ORDER_TOTAL, ORDER_SELF, ORDER_CALLS, ORDER_AVG, ORDER_MAX, ORDER_CPU, ORDER_NAME };

#define ORDER_NAMES "total, self, calls, avg, max, cpu or name"

/* i from 0 on, up to NULL. */
const char *order_name(unsigned int i);
bool order_parse(const char *name, enum order *order);
/* The average is that of total. */
uint64_t order_value(const struct call_stats *st, enum order order);
/*
 * The children of a node, the greatest first, at equal values by name; to be freed by free().
 * NULL with *nr 0: there are none, or no memory.
 */
uint32_t *order_children(const struct calltree *t, uint32_t node, enum order order, size_t *nr);

#endif
