// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fuzz-decode.c - pages of records, whatever is in them, of events that have a kernel's formats:
 * all are chosen by and printed, and each of their fields is asked for. (Formats that are no
 * kernel's are more than libtraceevent copes with; that is what the sandbox is for.)
 */
#include "tests/unit/decode-world.h"

#include "frontend/api/local.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const any[] = {"*"};
static const char *const filters[] = {"sched_switch:prev_comm=~\".*\"",
				      "irq_handler_entry:name!=\"x\"", "print:buf==\"x\""};
static const struct select_config wanted = {
	.has_to = true,
	.to = UINT64_MAX - 1,
	.functions = {any, 1},
	.events = {any, 1},
	.comms = {any, 1},
};
static const struct select_config filtered = {.filters = {filters, 3}};

/* Read once: what is looked for is in records. */
static struct formats *formats;
static struct select *selects[3];

static void prepare(void)
{
	static const struct select_config everything;
	const struct select_config *const configs[] = {&wanted, &filtered, &everything};
	struct decode_world w = decode_world();
	char err[256];

	formats = w.f;
	for (size_t i = 0; i < 3; i++) {
		selects[i] = select_new(configs[i], w.d, formats, err, sizeof(err));
		if (!selects[i])
			abort();
	}
	records_close(w.r);
	dat_close(w.d);
}

static void print_all(struct dat *d, size_t choice, const struct print_config *cfg, FILE *out)
{
	struct records *r = records_open(d, RECORDS_ALL);
	struct print *p = print_new(d, formats, r, cfg);
	const struct decode_event *ev;

	records_select(r, select_wants, selects[choice]);
	while ((ev = records_next(r))) {
		if (cfg->plain)
			print_json(d, formats, NULL, ev, out);
		if (!cfg->plain || cfg->raw)
			print_text(p, ev, out);
	}
	print_free(p);
	records_close(r);
}

/* Reads all that it is given. */
static void touch(const void *bytes, size_t len)
{
	volatile uint8_t sum = 0;

	for (size_t i = 0; i < len; i++)
		sum = (uint8_t)(sum + ((const uint8_t *)bytes)[i]);
}

static void ask_for_fields(const struct hvtrace_event *ev)
{
	for (size_t i = 0; i < hvtrace_event_fields(ev); i++) {
		size_t len;
		const void *bytes = hvtrace_field_bytes(ev, i, &len);

		touch(bytes, len);
		touch(hvtrace_field_string(ev, i), strlen(hvtrace_field_string(ev, i)));
		if (hvtrace_field_type(ev, i) < HVTRACE_STRING)
			hvtrace_event_symbol(ev, hvtrace_field_number(ev, i));
	}
	touch(hvtrace_event_text(ev), strlen(hvtrace_event_text(ev)));
}

static void ask_all(struct dat *d)
{
	struct records *r = records_open(d, RECORDS_ALL);
	const struct decode_event *now;
	struct hvtrace_event ev;

	if (api_event_init(&ev))
		abort();
	while ((now = records_next(r))) {
		api_event_set(&ev, formats, d, now);
		ask_for_fields(&ev);
	}
	api_event_exit(&ev);
	records_close(r);
}

/* Half of the bytes are one vCPU's, half another's. */
static struct dat *dat_of(const uint8_t *data, size_t size)
{
	const size_t half = size / 2;
	const struct made_vcpu vcpus[] = {{0, data, half}, {1, data + half, size - half}};
	const struct made_buffer buffers[] = {{"", "global", vcpus, 2}, {NULL, NULL, NULL, 0}};
	const struct made_dat_spec s = {.version = 7, .cpus = 2, .buffers = buffers};

	return made_open(&s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static FILE *out;
	struct dat *d = dat_of(data, size);

	if (!formats)
		prepare();
	if (!out)
		out = fopen("/dev/null", "w");
	if (!out)
		abort();
	print_all(d, 0, &(struct print_config){.latency = true, .graph_tail = true}, out);
	print_all(d, 1, &(struct print_config){.raw = true, .plain = true}, out);
	print_all(d, 2, &(struct print_config){.plain = true}, out);
	ask_all(d);
	dat_close(d);
	return 0;
}
