// SPDX-License-Identifier: GPL-2.0-or-later
/* init.c - what prints a trace, from its beginning to its end. */
#include "tracer/output/internal.h"

#include <string.h>

void output_init(struct output *o, const struct output_config *cfg, struct text *text)
{
	*o = (struct output){.cfg = *cfg, .text = text, .options = cfg->options};
	o->is_graph = cfg->graph || !strcmp(cfg->tracer, "function_graph");
	o->is_blk = !strcmp(cfg->tracer, "blk");
	o->is_mmio = !strcmp(cfg->tracer, "mmiotrace");
	o->is_branch = !strcmp(cfg->tracer, "branch");
	o->is_hw_branch = !strcmp(cfg->tracer, "hw-branch-tracer");
	if (o->is_graph)
		o->graph = output_graph_new(cfg->cpus);
	if (cfg->symbols_version)
		o->symbols_version = cfg->symbols_version(cfg->arg);
	o->symbols = output_symbols_new();
}

void output_exit(struct output *o)
{
	output_symbols_free(o->symbols);
	o->symbols = NULL;
	output_graph_free(o->graph);
	o->graph = NULL;
}
