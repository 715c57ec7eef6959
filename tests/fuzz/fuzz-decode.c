// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fuzz-decode.c - pages of records, whatever is in them, of events that have a kernel's formats:
 * all are chosen by and printed. (Formats that are no kernel's are more than libtraceevent copes
 * with; that is what the sandbox is for.)
 */
#include "tests/unit/decode-world.h"

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
	dat_close(d);
	return 0;
}
