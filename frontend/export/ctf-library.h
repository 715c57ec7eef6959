/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ctf-library.h - libbabeltrace2, loaded when something is exported by it: it brings GLib along,
 * which nothing else needs. Its own API is documented in babeltrace2's headers.
 */
#ifndef HVTRACE_FRONTEND_EXPORT_CTF_LIBRARY_H
#define HVTRACE_FRONTEND_EXPORT_CTF_LIBRARY_H

#include <babeltrace2/babeltrace.h>
#include <stddef.h>

#define CTF_FUNCTIONS(F)                                                                           \
	F(bt_clock_class_create)                                                                   \
	F(bt_clock_class_put_ref)                                                                  \
	F(bt_clock_class_set_frequency)                                                            \
	F(bt_clock_class_set_name)                                                                 \
	F(bt_clock_class_set_origin_is_unix_epoch)                                                 \
	F(bt_clock_class_set_uuid)                                                                 \
	F(bt_component_class_source_create)                                                        \
	F(bt_component_class_source_put_ref)                                                       \
	F(bt_component_class_source_set_initialize_method)                                         \
	F(bt_component_sink_borrow_input_port_by_index_const)                                      \
	F(bt_component_source_borrow_output_port_by_index_const)                                   \
	F(bt_current_thread_clear_error)                                                           \
	F(bt_event_borrow_common_context_field)                                                    \
	F(bt_event_borrow_payload_field)                                                           \
	F(bt_event_class_create)                                                                   \
	F(bt_event_class_put_ref)                                                                  \
	F(bt_event_class_set_name)                                                                 \
	F(bt_event_class_set_payload_field_class)                                                  \
	F(bt_field_array_borrow_element_field_by_index)                                            \
	F(bt_field_array_dynamic_set_length)                                                       \
	F(bt_field_class_array_dynamic_create)                                                     \
	F(bt_field_class_array_static_create)                                                      \
	F(bt_field_class_integer_set_field_value_range)                                            \
	F(bt_field_class_integer_set_preferred_display_base)                                       \
	F(bt_field_class_integer_signed_create)                                                    \
	F(bt_field_class_integer_unsigned_create)                                                  \
	F(bt_field_class_put_ref)                                                                  \
	F(bt_field_class_string_create)                                                            \
	F(bt_field_class_structure_append_member)                                                  \
	F(bt_field_class_structure_create)                                                         \
	F(bt_field_integer_signed_set_value)                                                       \
	F(bt_field_integer_unsigned_set_value)                                                     \
	F(bt_field_string_append_with_length)                                                      \
	F(bt_field_string_clear)                                                                   \
	F(bt_field_structure_borrow_member_field_by_index)                                         \
	F(bt_graph_add_sink_component)                                                             \
	F(bt_graph_add_source_component_with_initialize_method_data)                               \
	F(bt_graph_connect_ports)                                                                  \
	F(bt_graph_create)                                                                         \
	F(bt_graph_put_ref)                                                                        \
	F(bt_graph_run_once)                                                                       \
	F(bt_message_discarded_events_create_with_default_clock_snapshots)                         \
	F(bt_message_discarded_events_set_count)                                                   \
	F(bt_message_event_borrow_event)                                                           \
	F(bt_message_event_create_with_packet_and_default_clock_snapshot)                          \
	F(bt_message_iterator_class_create)                                                        \
	F(bt_message_iterator_class_put_ref)                                                       \
	F(bt_message_iterator_class_set_initialize_method)                                         \
	F(bt_message_packet_beginning_create_with_default_clock_snapshot)                          \
	F(bt_message_packet_end_create_with_default_clock_snapshot)                                \
	F(bt_message_put_ref)                                                                      \
	F(bt_message_stream_beginning_create)                                                      \
	F(bt_message_stream_end_create)                                                            \
	F(bt_packet_borrow_context_field)                                                          \
	F(bt_packet_create)                                                                        \
	F(bt_packet_put_ref)                                                                       \
	F(bt_plugin_borrow_sink_component_class_by_name_const)                                     \
	F(bt_plugin_find)                                                                          \
	F(bt_plugin_put_ref)                                                                       \
	F(bt_self_component_set_data)                                                              \
	F(bt_self_component_get_data)                                                              \
	F(bt_self_component_source_add_output_port)                                                \
	F(bt_self_message_iterator_borrow_component)                                               \
	F(bt_stream_class_create)                                                                  \
	F(bt_stream_class_put_ref)                                                                 \
	F(bt_stream_class_set_default_clock_class)                                                 \
	F(bt_stream_class_set_event_common_context_field_class)                                    \
	F(bt_stream_class_set_packet_context_field_class)                                          \
	F(bt_stream_class_set_supports_discarded_events)                                           \
	F(bt_stream_class_set_supports_packets)                                                    \
	F(bt_stream_create)                                                                        \
	F(bt_stream_put_ref)                                                                       \
	F(bt_stream_set_name)                                                                      \
	F(bt_trace_class_create)                                                                   \
	F(bt_trace_class_put_ref)                                                                  \
	F(bt_trace_create)                                                                         \
	F(bt_trace_put_ref)                                                                        \
	F(bt_trace_set_environment_entry_string)                                                   \
	F(bt_trace_set_name)                                                                       \
	F(bt_value_map_create)                                                                     \
	F(bt_value_map_insert_bool_entry)                                                          \
	F(bt_value_map_insert_string_entry)                                                        \
	F(bt_value_put_ref)

/* NOLINTNEXTLINE(bugprone-macro-parentheses): a declaration */
#define CTF_MEMBER(name) __typeof__(&name) name;

struct ctf_library {
	CTF_FUNCTIONS(CTF_MEMBER)
	const bt_plugin *plugin; /* that has the files' format */
};

/* Load it and its plugin, once in a process. NULL, or what is missing, in one line. */
const char *ctf_library_missing(void);
/* Its functions, after that. */
const struct ctf_library *ctf_library(void);

#endif
