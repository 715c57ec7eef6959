// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * ctf.c - a folder with a trace of the Common Trace Format 1.8, for babeltrace2 and Trace Compass.
 * Each vCPU has a stream, of packets between which the events are that were lost. With a host's
 * events there are two traces, since they are of two kernels: numbers of CPUs and tasks of one mean
 * nothing in the other. By its UUID readers know that they have one clock.
 */
#include "frontend/dat/bytes.h"
#include "frontend/export/ctf-local.h"
#include "frontend/export/machine.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A stream has a file that stays open. */
enum { STREAMS_MAX = 512, PACKET_EVENTS = 8192 };

/* A trace, and whose it is. */
struct side {
	const char *name;
	const struct dat *dat;
	struct formats *formats;
	struct ctf_classes *classes;
	bt_trace *trace;
	bool any; /* streams */
};

/* Of a CPU, in a buffer. */
struct stream {
	const struct side *side;
	size_t buffer;
	unsigned int cpu;
	bt_stream *of;
	bt_packet *packet; /* NULL: none is open */
	uint64_t last;	   /* time */
	uint32_t nr;	   /* events in the packet */
};

enum { GUEST, HOST, SIDES };

struct ctf {
	struct export *x;
	const struct ctf_library *lib;
	struct ctf_graph *graph;
	struct side side[SIDES];
	size_t nr_sides;
	struct stream stream[STREAMS_MAX];
	size_t nr;
};

static void send(struct ctf *c, bt_message *message)
{
	if (!ctf_graph_send(c->graph, message) && !c->x->error)
		c->x->error = -EIO;
}

/* --- streams and their packets -----------------------------------------------------------------
 */

static void name_stream(const struct stream *s, char name[NAMES_LEN])
{
	const char *buffer = dat_buffer(s->side->dat, s->buffer)->name;
	char clean[NAMES_LEN];

	names_clean(clean, buffer, strlen(buffer));
	snprintf(name, NAMES_LEN, "%.200s%scpu%u", clean, *clean ? " " : "", s->cpu);
}

/* NULL: there are too many, or no memory. */
static struct stream *make_stream(struct ctf *c, struct side *side, const struct decode_event *ev)
{
	struct stream *s = &c->stream[c->nr];
	char name[NAMES_LEN];

	if (c->nr == STREAMS_MAX)
		return NULL;
	*s = (struct stream){.side = side, .buffer = ev->buffer, .cpu = ev->cpu, .last = ev->time};
	s->of = c->lib->bt_stream_create(ctf_classes_stream(side->classes), side->trace);
	name_stream(s, name);
	if (!s->of || c->lib->bt_stream_set_name(s->of, name)) {
		c->x->failed = true;
		return NULL;
	}
	c->nr++;
	side->any = true;
	send(c, c->lib->bt_message_stream_beginning_create(ctf_graph_iterator(c->graph), s->of));
	return s;
}

static struct stream *stream_of(struct ctf *c, struct side *side, const struct decode_event *ev)
{
	for (size_t i = 0; i < c->nr; i++)
		if (c->stream[i].cpu == ev->cpu && c->stream[i].buffer == ev->buffer &&
		    c->stream[i].side == side)
			return &c->stream[i];
	return make_stream(c, side, ev);
}

static void begin_packet(struct ctf *c, struct stream *s, uint64_t time)
{
	bt_field *context;

	s->packet = c->lib->bt_packet_create(s->of);
	s->nr = 0;
	if (!s->packet) {
		c->x->failed = true;
		return;
	}
	context = c->lib->bt_packet_borrow_context_field(s->packet);
	c->lib->bt_field_integer_unsigned_set_value(
		c->lib->bt_field_structure_borrow_member_field_by_index(context, 0), s->cpu);
	send(c, c->lib->bt_message_packet_beginning_create_with_default_clock_snapshot(
			ctf_graph_iterator(c->graph), s->packet, time));
}

static void end_packet(struct ctf *c, struct stream *s)
{
	if (!s->packet)
		return;
	send(c, c->lib->bt_message_packet_end_create_with_default_clock_snapshot(
			ctf_graph_iterator(c->graph), s->packet, s->last));
	c->lib->bt_packet_put_ref(s->packet);
	s->packet = NULL;
}

/*
 * Packets tell how many were lost up to their end, so this time is one: there has to be a packet
 * before, and the event that comes now has one to itself.
 */
static void lose(struct ctf *c, struct stream *s, const struct decode_event *ev)
{
	bt_message *message;

	if (!s->packet)
		begin_packet(c, s, s->last);
	end_packet(c, s);
	message = c->lib->bt_message_discarded_events_create_with_default_clock_snapshots(
		ctf_graph_iterator(c->graph), s->of, s->last, ev->time);
	if (message && ev->lost != DECODE_LOST_UNKNOWN)
		c->lib->bt_message_discarded_events_set_count(message, ev->lost);
	send(c, message);
}

/* --- the trace ---------------------------------------------------------------------------------
 */

static void set_text(struct ctf *c, const struct side *side, const char *name, const char *text)
{
	if (text && c->lib->bt_trace_set_environment_entry_string(side->trace, name, text))
		c->x->failed = true;
}

static void describe(struct ctf *c, const struct side *side)
{
	const struct dat_info *info = dat_info(side->dat);
	char word[NAMES_LEN];

	set_text(c, side, "domain", "kernel");
	set_text(c, side, "sysname", machine_uname(info, DAT_UNAME_SYSTEM, word));
	set_text(c, side, "hostname", machine_uname(info, DAT_UNAME_NODE, word));
	set_text(c, side, "kernel_release", machine_uname(info, DAT_UNAME_RELEASE, word));
	set_text(c, side, "trace_clock",
		 info->clock ? names_clean(word, info->clock, strlen(info->clock)) : NULL);
}

static bool make_side(struct ctf *c, struct side *side, const struct ctf_clock *clock,
		      bt_self_component *self)
{
	side->classes = ctf_classes_new(side->formats, clock, self);
	if (side->classes)
		side->trace = c->lib->bt_trace_create(ctf_classes_trace(side->classes));
	if (!side->trace || (c->nr_sides > 1 && c->lib->bt_trace_set_name(side->trace, side->name)))
		return false;
	describe(c, side);
	return !c->x->failed;
}

/* With a host the times are by its clock. */
static bool make_traces(void *arg, bt_self_component *self)
{
	struct ctf *c = arg;
	struct ctf_clock clock = {.name = c->side[c->nr_sides - 1].name};
	uint8_t uuid[16];

	if (c->nr_sides > 1) {
		bytes_put64(uuid, dat_info(c->side[HOST].dat)->trace_id);
		bytes_put64(uuid + 8, dat_info(c->side[GUEST].dat)->trace_id);
		clock.uuid = uuid;
	}
	for (size_t i = 0; i < c->nr_sides; i++)
		if (!make_side(c, &c->side[i], &clock, self))
			return false;
	return true;
}

/* --- the format --------------------------------------------------------------------------------
 */

static void ctf_free(void *self)
{
	struct ctf *c = self;

	for (size_t i = 0; i < c->nr; i++) {
		c->lib->bt_packet_put_ref(c->stream[i].packet);
		c->lib->bt_stream_put_ref(c->stream[i].of);
	}
	for (size_t i = 0; i < c->nr_sides; i++) {
		c->lib->bt_trace_put_ref(c->side[i].trace);
		ctf_classes_free(c->side[i].classes);
	}
	ctf_graph_free(c->graph);
	free(c);
}

static void add_side(struct ctf *c, const char *name, const struct dat *dat, struct formats *f)
{
	c->side[c->nr_sides++] = (struct side){.name = name, .dat = dat, .formats = f};
}

static void *ctf_begin(struct export *x)
{
	struct ctf *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->x = x;
	c->lib = ctf_library();
	add_side(c, "guest", x->in->dat, x->in->formats);
	if (x->in->host.records)
		add_side(c, "host", x->in->host.dat, x->in->host.formats);
	c->graph = ctf_graph_new(x->in->folder, c->nr_sides > 1, make_traces, c);
	if (c->graph)
		return c;
	ctf_free(c);
	return NULL;
}

static void send_event(struct ctf *c, struct stream *s, const bt_event_class *of,
		       const struct decode_event *ev)
{
	bt_message *message =
		c->lib->bt_message_event_create_with_packet_and_default_clock_snapshot(
			ctf_graph_iterator(c->graph), of, s->packet, ev->time);

	if (message && !ctf_classes_fill(s->side->classes, ev,
					 c->lib->bt_message_event_borrow_event(message))) {
		c->lib->bt_message_put_ref(message);
		message = NULL;
	}
	send(c, message);
	s->last = ev->time;
	s->nr++;
}

static void add_event(struct ctf *c, struct side *side, const struct decode_event *ev)
{
	const bt_event_class *of = formats_event(side->formats, ev->id)
					   ? ctf_classes_event(side->classes, ev->id)
					   : NULL;
	struct stream *s = of ? stream_of(c, side, ev) : NULL;

	if (!s) {
		c->x->result.left_out++;
		return;
	}
	if (ev->lost)
		lose(c, s, ev);
	else if (s->nr == PACKET_EVENTS)
		end_packet(c, s);
	if (!s->packet)
		begin_packet(c, s, ev->time);
	if (s->packet)
		send_event(c, s, of, ev);
	if (ev->lost)
		end_packet(c, s);
}

static void ctf_event(void *self, const struct decode_event *ev)
{
	struct ctf *c = self;

	add_event(c, &c->side[GUEST], ev);
}

static void ctf_host_event(void *self, const struct decode_event *ev)
{
	struct ctf *c = self;

	add_event(c, &c->side[HOST], ev);
}

/* A folder without a stream is no trace. */
static void make_empty_stream(struct ctf *c, struct side *side)
{
	const struct decode_event none = {0};
	struct stream *s = make_stream(c, side, &none);

	if (s)
		begin_packet(c, s, 0);
}

static void ctf_end(void *self)
{
	struct ctf *c = self;

	for (size_t i = 0; i < c->nr_sides; i++)
		if (!c->side[i].any)
			make_empty_stream(c, &c->side[i]);
	for (size_t i = 0; i < c->nr; i++) {
		end_packet(c, &c->stream[i]);
		send(c, c->lib->bt_message_stream_end_create(ctf_graph_iterator(c->graph),
							     c->stream[i].of));
	}
	if (!ctf_graph_end(c->graph) && !c->x->error)
		c->x->error = -EIO;
}

const struct export_format export_ctf = {
	.name = "ctf",
	.about = "a folder with a trace for babeltrace2 and Trace Compass (CTF 1.8)",
	.folder = true,
	.missing = ctf_library_missing,
	.begin = ctf_begin,
	.event = ctf_event,
	.host_event = ctf_host_event,
	.end = ctf_end,
	.free = ctf_free,
};
