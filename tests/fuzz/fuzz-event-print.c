// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fuzz-event-print.c - print fmts and records of a guest: a line of text, where bytes above 127
 * stand for words that print fmts have; then flags, how many fields, two bytes for each of them;
 * then the record.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tracer/ring/entry.h"
#include "tracer/output/output.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { FIELDS = 8, EVENT_ID = 300, FMT_MAX = 2048 };

static const struct {
	const char *type;
	uint32_t size;
	uint8_t kind;
} kinds[] = {
	{"int", 4, GUESTSYM_EVENT_NUMBER},
	{"u64", 8, GUESTSYM_EVENT_NUMBER},
	{"u8[16]", 16, GUESTSYM_EVENT_NUMBER},
	{"char[16]", 16, GUESTSYM_EVENT_STRING},
	{"const char *", 8, GUESTSYM_EVENT_PTR_STRING},
	{"__data_loc char[]", 4, GUESTSYM_EVENT_DYN_STRING},
	{"__rel_loc char[]", 4, GUESTSYM_EVENT_RDYN_STRING},
	{"__data_loc u32[]", 4, GUESTSYM_EVENT_NUMBER},
	{"struct sockaddr_in6", 28, GUESTSYM_EVENT_NUMBER},
	{"s8", 1, GUESTSYM_EVENT_NUMBER},
	{"unsigned short", 2, GUESTSYM_EVENT_NUMBER},
	{"void *", 8, GUESTSYM_EVENT_FUNCTION},
	{"u16[]", 0, GUESTSYM_EVENT_NUMBER},
};

static const char *const field_names[FIELDS] = {"a", "b", "c", "d", "e", "f", "g", "__probe_ip"};

struct input {
	const uint8_t *at;
	size_t len;
};

static uint8_t take(struct input *in)
{
	if (!in->len)
		return 0;
	in->len--;
	return *in->at++;
}

static bool find_symbol(void *arg, uint64_t addr, struct output_symbol *sym)
{
	(void)arg;
	*sym = (struct output_symbol){.name = "symbol", .off = addr & 255, .size = 256};
	return addr & 1;
}

static const char *read_string(void *arg, uint64_t addr)
{
	(void)arg;
	return addr & 2 ? "a string" : NULL;
}

static uint64_t find_variable(void *arg, const char *name)
{
	(void)arg;
	return name[0] == 'y' ? 8 : 0;
}

static bool read_variable(void *arg, uint64_t addr, uint64_t *value)
{
	(void)arg;
	*value = addr;
	return true;
}

static bool find_constant(void *arg, const char *name, uint64_t *value)
{
	(void)arg;
	*value = (uint64_t)name[0];
	return name[0] != 'x' && name[0] != 'y';
}

static void take_fields(struct input *in, struct guestsym_event *ev,
			struct guestsym_event_field *fields)
{
	ev->flags = take(in) & 0xc0;
	ev->nr_fields = take(in) % (FIELDS + 1);
	ev->fields = fields;
	for (size_t i = 0; i < ev->nr_fields; i++) {
		size_t kind = take(in) % (sizeof(kinds) / sizeof(kinds[0]));

		fields[i] = (struct guestsym_event_field){
			.type = kinds[kind].type,
			.name = field_names[i],
			.offset = take(in),
			.size = kinds[kind].size,
			.is_signed = kind & 1,
			.kind = kinds[kind].kind,
		};
	}
}

static const char *const words[] = {
	"\"%s\", ",
	"\"%d %s\", ",
	"\"%p %lx\", ",
	"\"%*ph\", ",
	"\"%pISpc %s\", ",
	"\"%pI6c\", ",
	"\"%*pbl\", ",
	"\"%pM\", ",
	"\"%pS\", ",
	"\"%-*.*s\", ",
	"\"%c%%\", ",
	"REC->a",
	"REC->b",
	"REC->c",
	"REC->d",
	"REC->e",
	"REC->f",
	"REC->g",
	"REC->__probe_ip",
	"&REC->b",
	"__get_str(e)",
	"__get_str(f)",
	"__get_rel_str(g)",
	"__get_dynamic_array(f)",
	"__get_dynamic_array_len(f)",
	"__get_bitmask(e)",
	"__get_sockaddr(f)",
	"__print_flags(",
	"__print_symbolic(",
	"{ 1, \"A\" }",
	", { 2 | 4, \"B\" })",
	"__print_hex(",
	"__print_hex_str(",
	"__print_array(",
	"__print_dynamic_array(f, 4)",
	"__print_ns_to_secs(",
	"jiffies_to_msecs(",
	"nvme_trace_disk_name(p, ",
	"mc_event_error_type(",
	"(unsigned long)",
	"(void *)",
	"(u8 *)",
	"(int)",
	"sizeof(",
	"[",
	"]",
	") ",
	", ",
	" ? ",
	" : ",
	" << ",
	" >> ",
	" / ",
	" % ",
	" && ",
	" - ",
	"~",
	"-1",
	"1",
	"0x7fffffff",
	"64",
	"16",
	"*",
	"((",
};

static void take_fmt(struct input *in, char fmt[FMT_MAX])
{
	size_t len = 0;

	while (in->len && *in->at != '\n' && len < FMT_MAX - 1) {
		char c = (char)take(in);
		const char *word = words[(uint8_t)c % (sizeof(words) / sizeof(words[0]))];

		if ((uint8_t)c < 128)
			fmt[len++] = c;
		else if (len + strlen(word) < FMT_MAX)
			len = (size_t)(stpcpy(fmt + len, word) - fmt);
	}
	fmt[len] = '\0';
	take(in);
}

/* In memory of its own, so that nothing is read behind it unseen. */
static void print(const struct input *in, struct event_printer *events, uint32_t options)
{
	struct trace_entry ent = {.type = EVENT_ID};
	struct ring_event ev = {.len = (unsigned int)(sizeof(ent) + in->len)};
	struct output_config cfg = {
		.options = options,
		.tracer = "nop",
		.release = "6.1",
		.cpus = 1,
		.comms = comms_new(1),
		.events = events,
		.symbol = find_symbol,
		.string = read_string,
	};
	uint8_t *record = malloc(ev.len);
	struct text text = {0};
	struct output o;

	if (!record || !cfg.comms)
		abort();
	memcpy(record, &ent, sizeof(ent));
	memcpy(record + sizeof(ent), in->at, in->len);
	ev.data = record;
	output_init(&o, &cfg, &text);
	output_event(&o, 0, &ev, 0);
	output_exit(&o);
	text_free(&text);
	comms_free(cfg.comms);
	free(record);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct expr_names names = {.constant = find_constant,
						.variable = find_variable,
						.read = read_variable,
						.hz = 250};
	struct input in = {data, size};
	struct guestsym_event_field fields[FIELDS];
	char fmt[FMT_MAX];
	struct guestsym_event ev = {
		.system = "fuzz", .name = "event", .id = EVENT_ID, .print_fmt = fmt};
	const struct guestsym_event_list list = {.v = &ev, .n = 1};
	struct event_printer *events = event_printer_new(&names);

	take_fmt(&in, fmt);
	take_fields(&in, &ev, fields);
	if (!events || event_printer_add(events, &list))
		abort();
	if (in.len < 4096)
		print(&in, events, OUTPUT_DEFAULT);
	event_printer_free(events);
	return 0;
}
