// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * perfetto-ftrace.c - bundles of ftrace's events. Which of the schema's messages an event becomes,
 * and which of its fields go where, is told by their names: those in perfetto.proto are the
 * kernel's. An event that has no message of its own is generic: names and values.
 */
#include "frontend/export/perfetto-local.h"

#include "frontend/decode/fields.h"
#include "frontend/export/message.h"
#include "frontend/export/names.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* What waits to be written, of all vCPUs. */
enum { WAITING_MAX = 512 << 10, TEXT_MAX = 4096, VALUES_MAX = 64, IDS = 65536 };

/* Of FtraceEventBundle and TracePacket. */
enum { FIELD_EVENT = 2, FIELD_BUNDLE = 1 };

/* Where the texts of one event are while it is packed. */
struct texts {
	char *buf; /* of TEXT_MAX bytes each, VALUES_MAX of them */
	size_t nr;
};

/* How an event of the file is to be written. */
struct plan {
	const struct tep_event *event;	       /* NULL: not looked at yet, or unknown */
	const ProtobufCFieldDescriptor *of;    /* within FtraceEvent; NULL: generic */
	const struct tep_format_field **field; /* of the message's fields, each; NULL: not there */
};

struct bundles {
	struct formats *formats;
	uint32_t machine;
	FILE *out;
	struct plan *plan; /* by id */
	struct texts texts;
	struct text *waiting; /* by vCPU */
	bool *is_waiting, *lost;
	unsigned int *queue; /* vCPUs that have any */
	size_t nr_queue, bytes;
	void *message; /* as large as any */
};

/* --- plans -------------------------------------------------------------------------------------
 */

static bool is_known_system(const char *system)
{
	static const char *const known[] = {"ftrace", "sched", "irq", "task"};

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (!strcmp(known[i], system))
			return true;
	return false;
}

static const ProtobufCMessageDescriptor *message_of(const ProtobufCFieldDescriptor *of)
{
	return of->descriptor;
}

static void plan_fields(struct plan *p, struct tep_event *event)
{
	const ProtobufCMessageDescriptor *message = message_of(p->of);

	p->field = calloc(message->n_fields, sizeof(*p->field));
	for (unsigned int i = 0; p->field && i < message->n_fields; i++)
		p->field[i] = tep_find_field(event, message->fields[i].name);
}

/* NULL: the file has no such event. */
static const struct plan *plan_of(struct bundles *b, int id)
{
	struct plan *p = &b->plan[id];
	struct tep_event *event;

	if (p->event)
		return p;
	event = formats_event(b->formats, id);
	if (!event)
		return NULL;
	p->event = event;
	if (is_known_system(event->system))
		p->of = protobuf_c_message_descriptor_get_field_by_name(
			&pf__ftrace_event__descriptor, event->name);
	if (p->of && p->of->type != PROTOBUF_C_TYPE_MESSAGE)
		p->of = NULL;
	if (p->of)
		plan_fields(p, event);
	return p;
}

/* --- values ------------------------------------------------------------------------------------
 */

/* NULL: there is no room. */
static char *text_room(struct bundles *b)
{
	return b->texts.nr < VALUES_MAX ? b->texts.buf + TEXT_MAX * b->texts.nr++ : NULL;
}

static char *text_value(struct bundles *b, struct field_bytes bytes)
{
	char *text = text_room(b);

	if (text)
		names_clean(text, (const char *)bytes.at, bytes.len);
	return text;
}

/* "[1,2,3]" */
static char *array_value(struct bundles *b, const struct tep_format_field *field,
			 struct field_bytes bytes)
{
	size_t size = fields_element(field), len = 1;
	char *text = text_room(b);

	if (!text)
		return NULL;
	text[0] = '[';
	for (size_t at = 0; at + size <= bytes.len && len < TEXT_MAX - 24; at += size)
		len += (size_t)snprintf(text + len, TEXT_MAX - len, "%s%" PRId64, at ? "," : "",
					fields_number(field, bytes.at + at, size));
	snprintf(text + len, TEXT_MAX - len, "]");
	return text;
}

/* --- messages of their own ---------------------------------------------------------------------
 */

/* A number or a text into a member of a message, as large as the descriptor says. */
static void set_member(struct bundles *b, const ProtobufCFieldDescriptor *to, uint8_t *message,
		       const struct tep_format_field *field, const struct decode_event *ev)
{
	struct field_bytes bytes = fields_bytes(field, ev);
	const protobuf_c_boolean has = 1;
	int64_t n;

	if (to->type == PROTOBUF_C_TYPE_STRING) {
		char *text = text_value(b, bytes);

		memcpy(message + to->offset, &text, sizeof(text));
		return;
	}
	if (!fields_is_number(bytes.len))
		return;
	n = fields_number(field, bytes.at, bytes.len);
	memcpy(message + to->offset, &n,
	       to->type == PROTOBUF_C_TYPE_INT32 || to->type == PROTOBUF_C_TYPE_UINT32 ? 4 : 8);
	memcpy(message + to->quantifier_offset, &has, sizeof(has));
}

static void fill_own(struct bundles *b, const struct plan *p, const struct decode_event *ev,
		     Pf__FtraceEvent *to)
{
	const ProtobufCMessageDescriptor *d = message_of(p->of);
	const uint32_t which = p->of->id;

	protobuf_c_message_init(d, b->message);
	for (unsigned int i = 0; p->field && i < d->n_fields; i++)
		if (p->field[i])
			set_member(b, &d->fields[i], b->message, p->field[i], ev);
	memcpy(&to->event_case, &which, sizeof(which));
	/* All members of the union are pointers to messages. */
	memcpy((uint8_t *)to + p->of->offset, &b->message, sizeof(b->message));
}

/* --- generic ones ------------------------------------------------------------------------------
 */

static void set_value(struct bundles *b, Pf__Generic__Field *to,
		      const struct tep_format_field *field, const struct decode_event *ev)
{
	struct field_bytes bytes = fields_bytes(field, ev);
	bool is_text = field->flags & TEP_FIELD_IS_STRING;

	if (is_text || field->flags & (TEP_FIELD_IS_ARRAY | TEP_FIELD_IS_DYNAMIC)) {
		to->str_value = is_text ? text_value(b, bytes) : array_value(b, field, bytes);
		if (to->str_value)
			to->value_case = PF__GENERIC__FIELD__VALUE_STR_VALUE;
	} else if (fields_is_number(bytes.len)) {
		to->int_value = fields_number(field, bytes.at, bytes.len);
		to->value_case = field->flags & TEP_FIELD_IS_SIGNED
					 ? PF__GENERIC__FIELD__VALUE_INT_VALUE
					 : PF__GENERIC__FIELD__VALUE_UINT_VALUE;
	}
}

static void add_generic(struct bundles *b, const struct plan *p, const struct decode_event *ev,
			Pf__FtraceEvent *to)
{
	Pf__Generic__Field field[VALUES_MAX], *fields[VALUES_MAX];
	Pf__Generic generic = PF__GENERIC__INIT;
	const struct tep_format_field *f = p->event->format.fields;

	for (; f && generic.n_field < VALUES_MAX; f = f->next) {
		Pf__Generic__Field *value = &field[generic.n_field];

		pf__generic__field__init(value);
		value->name = f->name;
		set_value(b, value, f, ev);
		fields[generic.n_field++] = value;
	}
	generic.event_name = p->event->name;
	generic.field = fields;
	to->event_case = PF__FTRACE_EVENT__EVENT_GENERIC;
	/* cppcheck-suppress autoVariables ; until it is packed */
	to->generic = &generic;
	message_add(&b->waiting[ev->cpu], FIELD_EVENT, &to->base);
	to->generic = NULL;
}

/* --- bundles -----------------------------------------------------------------------------------
 */

struct bundles *bundles_new(struct formats *f, uint32_t machine, FILE *out)
{
	struct bundles *b = calloc(1, sizeof(*b));

	if (!b)
		return NULL;
	b->formats = f;
	b->machine = machine;
	b->out = out;
	b->plan = calloc(IDS, sizeof(*b->plan));
	b->texts.buf = malloc(TEXT_MAX * VALUES_MAX);
	b->waiting = calloc(DAT_CPUS_MAX, sizeof(*b->waiting));
	b->is_waiting = calloc(DAT_CPUS_MAX, sizeof(*b->is_waiting));
	b->lost = calloc(DAT_CPUS_MAX, sizeof(*b->lost));
	b->queue = calloc(DAT_CPUS_MAX, sizeof(*b->queue));
	b->message = calloc(1, 512);
	if (b->plan && b->texts.buf && b->waiting && b->is_waiting && b->lost && b->queue &&
	    b->message)
		return b;
	bundles_free(b);
	return NULL;
}

void bundles_free(struct bundles *b)
{
	if (!b)
		return;
	for (size_t i = 0; b->plan && i < IDS; i++)
		free(b->plan[i].field);
	for (size_t i = 0; b->waiting && i < DAT_CPUS_MAX; i++)
		text_free(&b->waiting[i]);
	free(b->plan);
	free(b->texts.buf);
	free(b->waiting);
	free(b->is_waiting);
	free(b->lost);
	free(b->queue);
	free(b->message);
	free(b);
}

/* The events first, then what is said of them all: the order of fields is free. */
static void write_bundle(struct bundles *b, unsigned int cpu)
{
	struct text *t = &b->waiting[cpu];
	Pf__FtraceEventBundle bundle = PF__FTRACE_EVENT_BUNDLE__INIT;
	uint8_t *at = (uint8_t *)text_begin(t, 32);

	bundle.has_cpu = 1;
	bundle.cpu = cpu;
	bundle.has_lost_events = bundle.lost_events = b->lost[cpu];
	if (at)
		text_end(t, (const char *)at + pf__ftrace_event_bundle__pack(&bundle, at));
	packet_write_packed(FIELD_BUNDLE, t, b->machine, b->out);
	b->lost[cpu] = b->is_waiting[cpu] = false;
	/* There may be thousands of vCPUs. */
	text_free(t);
	*t = (struct text){0};
}

void bundles_flush(struct bundles *b)
{
	for (size_t i = 0; i < b->nr_queue; i++)
		write_bundle(b, b->queue[i]);
	b->nr_queue = b->bytes = 0;
}

static void enqueue(struct bundles *b, unsigned int cpu)
{
	if (b->is_waiting[cpu])
		return;
	b->is_waiting[cpu] = true;
	b->queue[b->nr_queue++] = cpu;
}

/* A reader drops what is before the first bundle after a loss: what waits goes on its own. */
bool bundles_lost(struct bundles *b, const struct decode_event *ev)
{
	if (b->is_waiting[ev->cpu])
		bundles_flush(b);
	enqueue(b, ev->cpu);
	b->lost[ev->cpu] = true;
	return true;
}

bool bundles_add(struct bundles *b, const struct decode_event *ev)
{
	const struct plan *p = plan_of(b, ev->id);
	struct text *t = &b->waiting[ev->cpu];
	Pf__FtraceEvent event = PF__FTRACE_EVENT__INIT;
	size_t before = t->len;

	if (!p)
		return true;
	enqueue(b, ev->cpu);
	b->texts.nr = 0;
	event.has_timestamp = event.has_pid = 1;
	event.timestamp = ev->time;
	event.pid = (uint32_t)ev->pid;
	if (p->of) {
		fill_own(b, p, ev, &event);
		message_add(t, FIELD_EVENT, &event.base);
	} else {
		add_generic(b, p, ev, &event);
	}
	b->bytes += t->len - before;
	if (t->failed)
		return false;
	if (b->bytes >= WAITING_MAX)
		bundles_flush(b);
	return true;
}
