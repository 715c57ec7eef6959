/* SPDX-License-Identifier: GPL-2.0-or-later */
/* render.h - call trees as texts and pictures. text->failed: there was no memory. */
#ifndef HVTRACE_FRONTEND_REPORT_RENDER_H
#define HVTRACE_FRONTEND_REPORT_RENDER_H

#include "frontend/report/order.h"
#include "tracer/tracer.h"

/* --- render-graph.c: a table with the tree at its right -------------------------------------- */

struct render_graph {
	enum order order;
	unsigned int depth; /* so many levels of functions; 0: all */
	uint64_t min;	    /* only what took so long in total, ns */
};

void render_graph(const struct calltree *t, const struct render_graph *opt, struct text *out);

/* --- weight.c: what stacks are measured by --------------------------------------------------- */

enum weight { WEIGHT_CPU, WEIGHT_TIME, WEIGHT_CALLS };

/* i from 0 on, up to NULL. */
const char *weight_name(unsigned int i);
bool weight_parse(const char *name, enum weight *by);
/* Of the function itself; of it and all that it calls. */
uint64_t weight_self(const struct call_stats *st, enum weight by);
uint64_t weight_sum(const struct calltree *t, uint32_t node, enum weight by);

/* --- render-folded.c: one line for each stack, as flamegraph.pl reads them -------------------- */

void render_folded(const struct calltree *t, enum weight by, struct text *out);

/* --- render-flame.c: a flame graph as SVG ----------------------------------------------------- */

struct render_flame {
	enum weight by;
	const char *title;
	unsigned int width; /* pixels */
};

void render_flame(const struct calltree *t, const struct render_flame *opt, struct text *out);

/* --- render-top.c: a flat table of what a while was spent with -------------------------------- */

struct render_top {
	enum order order;
	const char *guest;	    /* NULL: it needs no name */
	double seconds;		    /* how long it was */
	double covered;		    /* how much of that is in the tree */
	unsigned int rows, columns; /* of the terminal; 0: no limit */
};

/* Of a tree by select_functions(). */
#define RENDER_TOP_HEAD 3 /* lines above the rows */
void render_top(const struct calltree *t, const struct render_top *opt, struct text *out);

/* --- render-json.c: trees and tables as objects of JSON -----------------------------------------
 */

struct json;
void render_graph_json(const struct calltree *t, const struct render_graph *opt, struct json *j);
void render_top_json(const struct calltree *t, const struct render_top *opt, struct json *j);

/* "1,234,567" */
#define RENDER_COUNT_LEN 32
const char *render_count(uint64_t n, char buf[RENDER_COUNT_LEN]);
/* The calls of a whole tree, and its time on CPUs or else in all. */
uint64_t render_calls(const struct calltree *t, uint32_t node);
/* A name of a guest's that nothing in a terminal takes for a command. */
void render_name(const char *name, struct text *out);
/* The same in XML, of at most len bytes. */
void render_xml(const char *name, size_t len, struct text *out);

#endif
