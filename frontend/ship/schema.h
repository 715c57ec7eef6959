/* SPDX-License-Identifier: GPL-2.0-or-later */
/* schema.h - the tables that records go to: scripts/clickhouse/schema.sql, compiled in. */
#ifndef HVTRACE_FRONTEND_SHIP_SCHEMA_H
#define HVTRACE_FRONTEND_SHIP_SCHEMA_H

/* Statements that end with ";\n", with comments, lines that begin with "--", before them. */
extern const char ship_schema[];

#endif
