// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * ctf-graph.c - see ctf-local.h. The library's graphs ask their sources for messages; ours has some
 * when it is given some, so the graph runs as long as there are any.
 */
#include "frontend/export/ctf-local.h"

#include <stdlib.h>

enum { QUEUE = 256 };

struct ctf_graph {
	const struct ctf_library *lib;
	bt_graph *graph;
	bt_self_message_iterator *iterator;
	bt_message *queue[QUEUE];
	size_t at, nr;
	bool ended, failed;
	bool (*make)(void *arg, bt_self_component *self);
	void *arg;
};

/* --- the source --------------------------------------------------------------------------------
 */

static bt_component_class_initialize_method_status
source_init(bt_self_component_source *source, bt_self_component_source_configuration *configuration,
	    const bt_value *params, void *data)
{
	struct ctf_graph *g = data;
	bt_self_component *self = bt_self_component_source_as_self_component(source);

	(void)configuration;
	(void)params;
	g->lib->bt_self_component_set_data(self, g);
	if (!g->make(g->arg, self) ||
	    g->lib->bt_self_component_source_add_output_port(source, "out", NULL, NULL) !=
		    BT_SELF_COMPONENT_ADD_PORT_STATUS_OK)
		return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_MEMORY_ERROR;
	return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_OK;
}

static struct ctf_graph *graph_of(bt_self_message_iterator *it)
{
	const struct ctf_library *lib = ctf_library();

	return lib->bt_self_component_get_data(lib->bt_self_message_iterator_borrow_component(it));
}

static bt_message_iterator_class_initialize_method_status
iterator_init(bt_self_message_iterator *it, bt_self_message_iterator_configuration *configuration,
	      bt_self_component_port_output *port)
{
	(void)configuration;
	(void)port;
	graph_of(it)->iterator = it;
	return BT_MESSAGE_ITERATOR_CLASS_INITIALIZE_METHOD_STATUS_OK;
}

static bt_message_iterator_class_next_method_status iterator_next(bt_self_message_iterator *it,
								  bt_message_array_const messages,
								  uint64_t capacity,
								  uint64_t *count)
{
	struct ctf_graph *g = graph_of(it);
	uint64_t nr = 0;

	while (g->at < g->nr && nr < capacity)
		messages[nr++] = g->queue[g->at++];
	*count = nr;
	if (nr)
		return BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_OK;
	return g->ended ? BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_END
			: BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_AGAIN;
}

/* --- the graph ---------------------------------------------------------------------------------
 */

static const bt_component_source *add_source(struct ctf_graph *g)
{
	const struct ctf_library *lib = g->lib;
	bt_message_iterator_class *it = lib->bt_message_iterator_class_create(iterator_next);
	bt_component_class_source *of = NULL;
	const bt_component_source *source = NULL;

	if (it && !lib->bt_message_iterator_class_set_initialize_method(it, iterator_init))
		of = lib->bt_component_class_source_create("trace", it);
	if (of && !lib->bt_component_class_source_set_initialize_method(of, source_init) &&
	    lib->bt_graph_add_source_component_with_initialize_method_data(
		    g->graph, of, "trace", NULL, g, BT_LOGGING_LEVEL_NONE, &source))
		source = NULL;
	lib->bt_component_class_source_put_ref(of);
	lib->bt_message_iterator_class_put_ref(it);
	return source;
}

static const bt_component_sink *add_sink(struct ctf_graph *g, const char *folder, bool several)
{
	const struct ctf_library *lib = g->lib;
	const bt_component_class_sink *of =
		lib->bt_plugin_borrow_sink_component_class_by_name_const(lib->plugin, "fs");
	const bt_component_sink *sink = NULL;
	bt_value *params = lib->bt_value_map_create();

	if (of && params && !lib->bt_value_map_insert_string_entry(params, "path", folder) &&
	    !lib->bt_value_map_insert_bool_entry(params, "assume-single-trace", !several) &&
	    !lib->bt_value_map_insert_bool_entry(params, "quiet", BT_TRUE) &&
	    lib->bt_graph_add_sink_component(g->graph, of, "files", params, BT_LOGGING_LEVEL_NONE,
					     &sink))
		sink = NULL;
	lib->bt_value_put_ref(params);
	return sink;
}

static bool connect(struct ctf_graph *g, const bt_component_source *source,
		    const bt_component_sink *sink)
{
	return !g->lib->bt_graph_connect_ports(
		g->graph, g->lib->bt_component_source_borrow_output_port_by_index_const(source, 0),
		g->lib->bt_component_sink_borrow_input_port_by_index_const(sink, 0), NULL);
}

/* Until all that is queued is written. */
static bool run(struct ctf_graph *g)
{
	bt_graph_run_once_status status = BT_GRAPH_RUN_ONCE_STATUS_OK;

	while (status == BT_GRAPH_RUN_ONCE_STATUS_OK)
		status = g->lib->bt_graph_run_once(g->graph);
	g->at = g->nr = 0;
	if (status != BT_GRAPH_RUN_ONCE_STATUS_AGAIN && status != BT_GRAPH_RUN_ONCE_STATUS_END) {
		g->lib->bt_current_thread_clear_error();
		g->failed = true;
	}
	return !g->failed;
}

static bool make_graph(struct ctf_graph *g, const char *folder, bool several)
{
	const bt_component_source *source;
	const bt_component_sink *sink;

	g->graph = g->lib->bt_graph_create(0);
	source = g->graph ? add_source(g) : NULL;
	sink = source ? add_sink(g, folder, several) : NULL;
	return sink && connect(g, source, sink) && run(g) && g->iterator;
}

struct ctf_graph *ctf_graph_new(const char *folder, bool several,
				bool (*make)(void *arg, bt_self_component *self), void *arg)
{
	struct ctf_graph *g = calloc(1, sizeof(*g));

	if (!g)
		return NULL;
	g->lib = ctf_library();
	g->make = make;
	g->arg = arg;
	if (make_graph(g, folder, several))
		return g;
	g->lib->bt_current_thread_clear_error();
	ctf_graph_free(g);
	return NULL;
}

void ctf_graph_free(struct ctf_graph *g)
{
	if (!g)
		return;
	for (; g->at < g->nr; g->at++)
		g->lib->bt_message_put_ref(g->queue[g->at]);
	/* babeltrace2 (2.0.4) frees twice what it could not write. */
	if (!g->failed)
		g->lib->bt_graph_put_ref(g->graph);
	free(g);
}

bt_self_message_iterator *ctf_graph_iterator(const struct ctf_graph *g)
{
	return g->iterator;
}

bool ctf_graph_send(struct ctf_graph *g, bt_message *message)
{
	if (!message)
		g->failed = true;
	if (g->failed) {
		g->lib->bt_message_put_ref(message);
		return false;
	}
	g->queue[g->nr++] = message;
	return g->nr < QUEUE || run(g);
}

bool ctf_graph_end(struct ctf_graph *g)
{
	g->ended = true;
	return !g->failed && run(g);
}
